#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What was live when the resident set was largest: as a moment, as a condition, and in one command for another tool."""
import csv
import json
import subprocess

from support import Check, record, tool

HELD, SMALL, LATE = 40_000_000, 1234, 50_000_000  # the last is not touched: more bytes live, and fewer of them resident
check = Check()
with open("resident.c", "w", encoding="ascii") as f:
    f.write("""#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static __attribute__((noinline)) void *hold(size_t n) { char *volatile p = malloc(n); return p; }
int main(void)
{
    void *small = hold(%d), *held = hold(%d);
    memset(held, 1, %d);
    usleep(500000);
    free(held);
    void *late = hold(%d);
    usleep(500000);
    free(late);
    free(small);
    return 0;
}
""" % (SMALL, HELD, HELD, LATE))
subprocess.run(["gcc", "-O1", "-g", "-o", "resident", "resident.c"], check=True)
record(["./resident"])
check.sound("out.wake")
EXPECTED = (2, HELD + SMALL)


def section(name, *argv):
    told = json.loads(tool("report", "--json", *([f"--{name}"] if name != "live" else []), "--where", "function=hold", *argv, "out.wake").out)[name]
    return told["total_blocks"], told["total_bytes"]


check.equal("at the peak of the heap", (2, LATE + SMALL), section("peak"))
for argv in (["--at", "peak-rss"], ["--where", "at=peak-rss"]):
    check.equal(" ".join(argv), EXPECTED, section("live", *argv))
for key in ("alive-at", "alive-at-2"):
    check.equal(f"{key}=peak-rss", EXPECTED, section("allocated", "--where", f"{key}=peak-rss"))
check.equal("the peak of a later window", (2, LATE + SMALL), section("live", "--at", "peak-rss", "--from", "70%"))
done = tool("report", "--where", "alive-at=mark:peak-rss", "out.wake")
check.holds(done.status == 1 and b'no mark called "peak-rss"' in done.err, f"A mark of this name: {done}")
for argv in (["--at", "peak-rss"], ["--where", "at=peak-rss"]):
    folded = tool("export", "-f", "folded", "--where", "function=hold", *argv, "out.wake").out.decode().splitlines()
    check.equal(f"folded {' '.join(argv)}", HELD + SMALL, sum(int(line.rpartition(" ")[2]) for line in folded))
    for name in ("dot", "gprof2dot", "flamegraph"):
        done = tool("export", "-f", name, *argv, "out.wake")
        check.holds(done.status == 0 and b"hold" in done.out, f"{name} {argv}: {done.err.decode()}")
told = json.loads(tool("export", "-f", "gprof2dot", "--where", "function=hold", "--at", "peak-rss", "out.wake").out)
check.equal("gprof2dot", HELD + SMALL, sum(e["cost"][0] for e in told["events"]))
rows = csv.DictReader(tool("export", "-f", "csv", "--where", "alive-at=peak-rss", "--where", "function=hold", "out.wake").out.decode().splitlines())
check.equal("csv", sorted([HELD, SMALL]), sorted(int(row["size"]) for row in rows))
for argv, words in ((["-f", "csv", "--at", "peak-rss"], b"csv does not tell what is live at a moment"),
                    (["-f", "dot", "--at", "1s", "--leaks"], b"dot shows one measure; two are given."),
                    (["-f", "dot", "--at", "1s", "--where", "at=2s"], b"'at' is given twice")):
    done = tool("export", *argv, "out.wake")
    check.holds(done.status == 2 and words in done.err, f"{argv}: {done}")
check.done()
