#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A day of 1,000 allocations a second, culled, stays under 100 MB.

A day has 86,400 seconds and a test has ten: what the file gains a second (events, samples of
the resident set, the index over both) is what it gains in the next one too, and the rest (stacks,
names, totals) does not grow. A slow machine makes fewer allocations a second, which is no worse."""
import os

from scenarios.support import Check, native, record, truth, workload

DAY = 86400
LIMIT = 100e6
GROWING = ("events", "samples", "marks", "index")
READER = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
check = Check()


def sizes(path):
    """Bytes of each kind of chunk, with their headers."""
    sums = {}
    for line in native([READER, "--chunks", path]).out.decode().splitlines():
        fields = line.split("\t")
        if fields[0].isdigit():
            sums[fields[1]] = sums.get(fields[1], 0) + int(fields[4]) + 40
    return sums


# 200 ms: half a second is a long life then, as a minute is with the default of ten seconds.
told = truth(record([workload("daily"), "10"], "day.wake", ["--cull", "--cull-ms", "200"]))
facts = check.sound("day.wake")
seconds = facts["runtime_ns"] / 1e9
parts = sizes("day.wake")
check.holds(parts.get("events", 0) > 0 and parts.get("samples", 0) > 0, f"The chunks are {parts}.")
check.holds(facts["allocations"] >= told["made"], f"{told['made']} blocks were made, {facts['allocations']} are counted.")
check.holds(facts["culled_blocks"] > 0.95 * told["made"], f"Only {facts['culled_blocks']} of {told['made']} were culled.")
growing = sum(parts.get(kind, 0) for kind in GROWING)
day = growing / seconds * DAY + (os.path.getsize("day.wake") - growing)
check.holds(day < LIMIT, f"A day would take {day / 1e6:.0f} MB: {growing} bytes in {seconds:.1f} s, {parts}.")
lines = len(native([READER, "day.wake"]).out.splitlines())
check.holds(lines < told["made"] / 5, f"{lines} events are left of {told['made']} blocks.")
check.done()
