#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Several processes: each has its own peak, at its own time, with and without a filter, in one recording or several;
what all hold together is called so."""
import json
import re
import shutil
import subprocess
import time

from support import Check, record, tool, workload

CHILDREN = 3
SOURCE = """#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile kept;
static void tell(long peak, long large) { char line[99]; int n = snprintf(line, 99, "%d %ld %ld\\n", getpid(), peak, large);
                                           if (write(1, line, n) != n) _exit(9); }
int main(void)
{
    char *mine = malloc(100000);
    for (int child = 1; child <= 3; child++) {
        if (fork() == 0) {
            free(malloc(1000));
            void *volatile small = malloc(5000), *volatile large = malloc(20000 * child);
            usleep(20000);
            tell(5000 + 20000 * child, 20000 * child);
            free(child == 2 ? small : large);
            kept = malloc(10);
            usleep(20000);
            _exit(0);
        }
        wait(NULL);
    }
    tell(100000, 100000);
    free(mine);
    return 0;
}
"""
check = Check()
with open("tribe.c", "w", encoding="ascii") as f:
    f.write(SOURCE)
subprocess.run(["gcc", "-g", "-O0", "-o", "tribe", "tribe.c"], check=True)
run = record(["./tribe"], "tribe.wake")
told = {int(pid): (int(peak), int(large)) for pid, peak, large in map(str.split, run.out.decode().splitlines())}
check.equal("processes that told", CHILDREN + 1, len(told))


def answer(*options):
    done = tool("report", "--json", "--peak", *options)
    check.equal(f"exit status of {options}", 0, done.status)
    return json.loads(done.out)


def peaks(*options):
    """What each process held at its peak, and when; largest first, as the list is."""
    found = answer("--by", "process", *options)
    groups = found["peak"]["groups"]
    check.equal(f"{options}: groups", len(groups), found["peak"]["group_count"])
    check.equal(f"{options}: order", sorted((g["bytes"] for g in groups), reverse=True), [g["bytes"] for g in groups])
    check.equal(f"{options}: total", groups[0]["bytes"], found["peak"]["total_bytes"])
    return {g["pid"]: (g["bytes"], g["time_ns"]) for g in groups}, found


check.about("one recording")
each, whole = peaks("tribe.wake")
check.equal("peaks", {pid: peak for pid, (peak, _) in told.items()}, {pid: value for pid, (value, _) in each.items()})
check.equal("the highest", whole["summary"]["peak_bytes"], whole["peak"]["total_bytes"])
check.equal("its time", whole["summary"]["peak_time_ns"], each[whole["summary"]["peak_pid"]][1])
for pid, (value, time_ns) in each.items():
    alone = answer("--pid", str(pid), "tribe.wake")
    check.equal(f"process {pid} asked alone", value, alone["peak"]["total_bytes"])
    # All that is live then, and nothing is when it begins.
    live = json.loads(tool("report", "--json", "--at", f"{time_ns}ns", "--pid", str(pid), "tribe.wake").out)["live"]
    check.equal(f"process {pid} at that time", value, live["total_bytes"])

check.about("filter")
large, _ = peaks("--where", "size-min=20000", "tribe.wake")
check.equal("peaks", {pid: size for pid, (_, size) in told.items()}, {pid: value for pid, (value, _) in large.items()})
small, _ = peaks("--where", "size-max=1000", "tribe.wake")
check.equal("peaks of small blocks", {1000}, {value for value, _ in small.values()})
check.equal("who has them", CHILDREN, len(small))

check.about("two recordings")
shutil.copy("tribe.wake", "again.wake")
twice = answer("--by", "process", "tribe.wake", "again.wake")["peak"]
check.equal("groups", 2 * len(told), twice["group_count"])
check.equal("total", whole["peak"]["total_bytes"], twice["total_bytes"])
check.equal("sum", 2 * sum(peak for peak, _ in told.values()), sum(g["bytes"] for g in twice["groups"]))

later = answer("--at", "1h", "tribe.wake", "again.wake")["live"]
check.equal("live when all have ended", (0, 0), (later["total_blocks"], later["total_bytes"]))
check.holds(b"Live at that time of each recording: nothing" in tool("report", "--at", "1h", "tribe.wake", "again.wake").out,
            "The page does not say of which time it speaks.")
# So it is whichever way a time is given, and asked for. One alone is looked at as it was at its end.
record([workload("moments")], "short.wake")
record([workload("moments")], "other.wake")
left = answer("--no-built-in-suppressions", "--leaks", "short.wake")["leaks"]["total_blocks"]
check.holds(left > 0, "Nothing is left of the short one.")
day = json.loads(tool("export", "-f", "json", "other.wake").out)["wall_ns"] // 10**9 + 86400
for when in ("1h", time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(day))):
    check.about(f"two recordings, {when}")
    check.equal("live", 0, answer("--at", when, "short.wake", "other.wake")["live"]["total_blocks"])
    alive = answer("--allocated", "--where", f"alive-at={when}", "short.wake", "other.wake")["allocated"]
    check.equal("alive", 0, alive["total_blocks"])
    change = json.loads(tool("report", "--json", "--since", when, "short.wake", "other.wake").out)["change"]
    check.equal("changed since", (0, 0), (change["total_blocks"], change["site_count"]))
    one = tool("report", "--json", "--no-built-in-suppressions", "--at", when, "--where", f"alive-at={when}", "short.wake")
    check.equal("alone: live at its end", left, json.loads(one.out)["live"]["total_blocks"])
    check.equal("alone: that is said", 1, one.err.count(b"ends at"))
    only = tool("report", "--json", "--allocated", "--where", f"alive-at={when}", "short.wake")
    check.equal("alone: it is said of a condition", 1, only.err.count(b"ends at"))
check.equal("a window may end later", b"", tool("report", "--allocated", "--to", "1h", "short.wake").err)

check.about("the dead")
ends = {p["pid"]: p["end_ns"] for p in json.loads(tool("info", "--json", "tribe.wake").out)["processes_list"]}
parent = whole["summary"]["peak_pid"]
for pid, end_ns in ends.items():
    for share, when in (("half way", end_ns // 2), ("behind its end", end_ns + 1000000)):
        live = answer("--at", f"{when}ns", "--by", "process", "tribe.wake")["live"]
        seen = {g["pid"] for g in live["groups"]}
        check.holds(all(ends[other] >= when for other in seen), f"{share} of {pid}: the dead hold memory: {seen}")
late = json.loads(tool("report", "--json", "--peak", "--from", f"{ends[min(set(ends) - {parent})] + 1}ns", "--pid",
                       str(min(set(ends) - {parent})), "tribe.wake").out)["peak"]
check.equal("peak behind the end", 0, late["total_bytes"])
check.equal("alive behind its end", 0, json.loads(tool(
    "report", "--json", "--allocated", "--where", f"alive-at={ends[min(set(ends) - {parent})] + 1}ns", "--pid",
    str(min(set(ends) - {parent})), "tribe.wake").out)["allocated"]["total_blocks"])

end_ns = max(ends.values())
for asked, words in (("tribe.wake@end", "tribe.wake"), ("tribe.wake", f"tribe.wake@{end_ns}ns")):
    sides = json.loads(tool("diff", "--json", asked, words).out)
    check.equal(f"{asked} and {words}", sides["before"]["live_bytes"], sides["after"]["live_bytes"])
half = f"{end_ns // 2}ns"
sides = json.loads(tool("diff", "--json", "--to", half, "tribe.wake@10%", "tribe.wake").out)
check.equal("an end that is the window's", answer("--at", half, "tribe.wake")["live"]["total_bytes"], sides["after"]["live_bytes"])
check.equal("since, to the end of the window", tool("report", "--json", "--since", "10%", "--until", half, "tribe.wake").out,
            tool("report", "--json", "--since", "10%", "--to", half, "tribe.wake").out)
title = tool("report", "--since", "10%", "--to", half, "tribe.wake").out.decode()
check.holds("live from 10% to the end of the window" in title, f"The change ends elsewhere:\n{title}")
for when in (end_ns // 2, end_ns):
    there = json.loads(tool("export", "-f", "json", "--to", f"{when}ns", "tribe.wake").out)["total"]["live_bytes"]
    check.equal(f"live at {when}, export and report", answer("--at", f"{when}ns", "tribe.wake")["live"]["total_bytes"], there)

check.about("together")
lives = {p["pid"]: (p["start_ns"], p["end_ns"]) for p in json.loads(tool("info", "--json", "tribe.wake").out)["processes_list"]}
most = max(sum(told[pid][0] for pid, (begin, end) in lives.items() if begin <= start < end or begin == start)
           for start, _ in lives.values())
check.holds(most < sum(peak for peak, _ in told.values()), "All are there at once: this tests too little.")
ticks = json.loads(tool("report", "--json", "tribe.wake").out)["timeline"]
check.holds(told[parent][0] <= max(t["live_bytes"] for t in ticks) <= most,
            f"At most {most} bytes were held at once, and the timeline has {max(t['live_bytes'] for t in ticks)}.")

check.about("page")
page = tool("report", "--peak", "--by", "process", "tribe.wake").out.decode()
table = page[page.index("The peak of each process"):].splitlines()[2:]
check.equal("pids", sorted(told), sorted(int(re.search(r" (\d+) tribe$", line).group(1)) for line in table))
check.holds("4 processes together" in tool("report", "tribe.wake").out.decode(), "The plot does not say whose it is.")
one = tool("report", "--pid", str(next(iter(told))), "tribe.wake").out.decode()
check.holds("together" not in one, "The plot of one process speaks of several.")
check.done()
