#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake export -f heaptrack`, read by Debian's heaptrack_print: the same
calls, sizes, peak and leaks to the byte, for the whole run, for filters and for
one process of several; and every release at its true time."""
import collections
import json
import re
import shutil
import subprocess

from support import Check, events, info, record, skip, tool, workload

if not shutil.which("heaptrack_print"):
    skip("heaptrack_print is not installed.")
check = Check()


def export(path, *argv):
    done = tool("export", "-f", "heaptrack", "-o", "out.ht", *argv, path)
    check.equal(f"exit status of export {argv}", 0, done.status)
    return done.err.decode()


def heaptrack(*argv):
    return subprocess.run(["heaptrack_print", "--disable-builtin-suppressions", *argv, "out.ht"], capture_output=True,
                          text=True, check=True)


def cost(kind):
    """The sum over all stacks of a cost, exactly: heaptrack_print's summary is rounded."""
    heaptrack("-F", "costs.txt", "--flamegraph-cost-type", kind)
    with open("costs.txt", encoding="utf-8") as f:
        return sum(int(line.rsplit(" ", 1)[1]) for line in f)


def told():
    """What heaptrack_print makes of out.ht."""
    page = heaptrack("-H", "sizes.txt")
    with open("sizes.txt", encoding="utf-8") as f:
        sizes = {int(line.split()[0]): int(line.split()[1]) for line in f}
    calls = re.search(r"calls to allocation functions: (\d+)", page.stdout)
    noise = [line for line in page.stderr.splitlines() if not line.startswith("reading file")]
    check.equal("complaints of heaptrack_print", [], noise)
    return {"calls": int(calls.group(1)), "sizes": sizes, "peak": cost("peak"), "leaked": cost("leaked"),
            "allocations": cost("allocations"), "page": page.stdout}


def report(path, *argv):
    return json.loads(tool("report", "--json", "--no-built-in-suppressions", *argv, path).out)


def check_same(name, path, facts, sizes, *argv):
    check.about(name)
    export(path, *argv)
    seen = told()
    check.equal("calls", facts["allocations"], seen["calls"])
    check.equal("allocations of all stacks", facts["allocations"], seen["allocations"])
    check.equal("peak", facts["peak_bytes"], seen["peak"])
    check.equal("leaked", facts["leaked_bytes"], seen["leaked"])
    check.equal("sizes", sizes, seen["sizes"])
    check.about("")
    return seen


def sizes_of(path, pid=None, at_least=0):
    return dict(collections.Counter(e.size for e in events(path)
                                    if e.event == "alloc" and e.size >= at_least and pid in (None, e.pid)))


def check_times(path):
    """Each + and - stands behind the c of its own millisecond."""
    start = info(path)["processes_list"][0]["start_ns"]
    expected = [("+" if e.event == "alloc" else "-", max(e.time - start, 0) // 1000000) for e in events(path)
                if e.event in ("alloc", "free")]
    seen, now = [], 0
    with open("out.ht", encoding="utf-8") as f:
        for line in f:
            if line.startswith("c "):
                now = int(line[2:], 16)
            elif line[0] in "+-":
                seen.append((line[0], now))
    check.equal("number of events", len(expected), len(seen))
    check.equal("events at another time than theirs", [], [pair for pair in zip(expected, seen) if pair[0] != pair[1]][:3])


def check_filters():
    big = report("blame.wake", "--where", "size-min=1000", "--peak", "--leaks", "--calls")
    facts = {"allocations": big["calls"]["total_blocks"], "peak_bytes": big["peak"]["total_bytes"],
             "leaked_bytes": big["leaks"]["total_bytes"]}
    check.holds(0 < facts["allocations"] < info("blame.wake")["allocations"], "The filter leaves all or nothing.")
    check_same("size-min", "blame.wake", facts, sizes_of("blame.wake", at_least=1000), "--where", "size-min=1000")
    leaks = report("blame.wake", "--where", "state=leaked", "--peak", "--calls")
    facts = {"allocations": leaks["calls"]["total_blocks"], "peak_bytes": leaks["peak"]["total_bytes"],
             "leaked_bytes": leaks["peak"]["total_bytes"]}
    export("blame.wake", "--where", "state=leaked")
    seen = told()
    check.equal("leaked blocks alone", facts["allocations"], seen["calls"])
    check.equal("leaked bytes alone", facts["leaked_bytes"], seen["leaked"])


check.equal("record blame", 0, record([workload("blame")], "blame.wake").status)
whole = check_same("blame", "blame.wake", info("blame.wake"), sizes_of("blame.wake"))
for word in ("dig", "blame.c", "PEAK MEMORY CONSUMERS"):
    check.holds(word in whole["page"], f"heaptrack_print does not show {word}.")
check_times("blame.wake")
check_filters()

check.equal("record threads", 0, record([workload("threads"), "live", "50"], "threads.wake").status)
check_same("threads", "threads.wake", info("threads.wake"), sizes_of("threads.wake"))

record([workload("family"), "fork"], "family.wake")
processes = info("family.wake")["processes_list"]
check.holds(len(processes) > 1, "The family has one member only.")
largest = max(processes, key=lambda p: p["peak_bytes"])
remark = export("family.wake")
check.holds(f"process {largest['pid']}" in remark, f"Which process it is is not said: {remark}")
for process in processes:
    if [p["pid"] for p in processes].count(process["pid"]) == 1 and process["allocations"] > 0:
        check_same(f"process {process['pid']}", "family.wake", process, sizes_of("family.wake", process["pid"]),
                   "--pid", str(process["pid"]))
check.done()
