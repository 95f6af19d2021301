#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Of a program with one thread that does little, every event has its own time: that at which it happened by the
program's own clock, although the collector looks only every ten milliseconds, or there is none."""
import glob

from support import Check, events, lonely, native, record, workload

SLACK_NS = 500_000  # the rate of the counter is measured, and what is a microsecond apart shares its time
check = Check()


def moments(run):
    """(size, event) -> the times between which it was, by the program's clock"""
    told = {}
    for line in run.out.decode().splitlines():
        size, made, made_after, freed, freed_after = map(int, line.split())
        told[size, "alloc"] = made, made_after
        told[size, "free"] = freed, freed_after
    check.equal("events told", 80, len(told))
    return told


def compare(path, told):
    """Times in a recording count from its own beginning. Every event says when that can have been: it must be the
    same moment for all."""
    sizes, seen = {}, {}
    for e in events(path):
        if e.event == "alloc" and (e.size, "alloc") in told:
            sizes[e.address] = e.size
            seen[e.size, "alloc"] = e.time
        elif e.event == "free" and e.address in sizes:
            seen[sizes.pop(e.address), "free"] = e.time
    if not check.equal("events", sorted(told), sorted(seen)):
        return
    earliest = max((told[what][0] - seen[what], what) for what in told)
    latest = min((told[what][1] - seen[what], what) for what in told)
    apart = earliest[0] - latest[0]
    check.holds(apart <= SLACK_NS, f"The times of {earliest[1]} and {latest[1]} are {apart / 1e6:.3f} ms off from each other.")


for i in range(3):
    check.about("with a collector")
    compare("out.wake", moments(record([workload("moments")])))

check.about("without a collector")
told = moments(native([workload("moments")], lonely()))
compare(*glob.glob("*.spool"), told)
check.done()
