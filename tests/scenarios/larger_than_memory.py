#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A recording that is larger than the memory there is. Every command may have half as
many bytes as the file has, and says what it says when it has enough."""
import os
import resource

from support import HEAPWAKE, Check, native, record, workload

check = Check()
COMMANDS = (
    ["report", "--json"],
    ["report", "--json", "--peak", "--where", "size-min=100"],
    ["report", "--json", "--peak", "--where", "state=temporary"],  # one reading, counted at death
    ["report", "--json", "--peak", "--where", "lifetime-max=1s"],  # two readings
    ["report", "--json", "--peak", "--where", "group-interval-min=50%"],
    ["report", "--json", "--histogram"],
    ["export", "-f", "heaptrack"],
    ["export", "-f", "csv"],
    ["verify"],
    ["info", "--json"],
)


def compare(argv, limit):
    check.about(" ".join(argv))
    argv = [HEAPWAKE, *argv, "out.wake"]
    free = native(argv)
    confined = native(argv, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
    check.equal("exit status", 0, free.status)
    if check.equal(f"exit status in {limit} bytes", 0, confined.status):
        check.holds(free.out == confined.out and len(free.out) > 0, "It says something else with little memory.")
    else:
        check.holds(False, f"It says {confined.err!r}.")


if check.equal("status of record", 0, record([workload("order"), "4", "400000"]).status):
    size = os.path.getsize("out.wake")
    check.holds(size > 7 << 20, f"{size} bytes: the recording is too small to show anything.")
    for command in COMMANDS:
        compare(command, size // 2)
check.done()
