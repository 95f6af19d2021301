#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A block that is released at once has no lifetime of a pause: after a pause of the program times are right to a
millisecond, from the first event on. Where events are rare each tells its time; where they are many the collector's clock goes on
meanwhile, as far as the machine lets it."""
import csv

from support import Check, record, tool, truth, workload

MOMENT_NS, PROMISE_NS = 100_000, 1_000_000
check = Check()


def stale(bursts, blocks, pause_us):
    """How many blocks have lived a millisecond longer than they can have."""
    told = truth(record([workload("paused"), bursts, blocks, pause_us]))
    check.sound("out.wake")
    rows = csv.DictReader(tool("export", "-f", "csv", "--where", f"size-min={told['size']}", "--where", f"size-max={told['size']}", "out.wake").out.decode().splitlines())
    lived = [int(row["lifetime_ns"]) for row in rows]
    if not check.equal("blocks", bursts * blocks, len(lived)):
        return 0
    return sum(ns > told["slow"].get(str(n), MOMENT_NS) + PROMISE_NS for n, ns in enumerate(lived))


for bursts, blocks, pause_us in ((200, 200, 5000), (20, 3000, 200_000)):
    check.about(f"{bursts} bursts of {blocks} blocks, {pause_us // 1000} ms apart")
    check.equal("blocks that live through a pause", 0, stale(bursts, blocks, pause_us))

# Without the collector's clock nearly every pause is in the life of a block.
bursts, blocks, pause_us = 100, 4000, 5000
check.about(f"{bursts} bursts of {blocks} blocks, {pause_us // 1000} ms apart")
count = stale(bursts, blocks, pause_us)
check.holds(count < bursts / 5, f"{count} blocks live through one of {bursts} pauses.")
check.done()
