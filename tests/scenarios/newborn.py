#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""While one thread is in the middle of the probe's birth, fork, exec, spawn and
the like work as ever for other threads and for handlers that interrupt it. The
birth is made long by a collector that is slow to come, or goes without a word."""
import glob
import os
import time

from support import HEAPWAKE, PROBE, Check, Ledger, events, native, truth, workload

check = Check()
for name, line in (("slow", f"sleep 0.4; exec '{HEAPWAKE}' \"$@\""), ("silent", "exec sleep 0.4")):
    with open(name, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\n{line}\n")
    os.chmod(name, 0o755)

for who in ("handler", "thread"):
    argv = [workload("newborn"), who]
    alone = native(argv)
    told = truth(alone)["answers"]
    check.about(f"{who}, alone")
    check.equal("answers", [5 << 8, 7 << 8, 7 << 8, 7 << 8, 9 << 8, 9 << 8, 1, 1, 0], told)
    for collector in ("slow", "silent"):
        check.about(f"{who}, {collector} collector")
        run = native(argv, {"LD_PRELOAD": PROBE, "HEAPWAKE_COLLECTOR": os.path.abspath(collector)})
        check.equal("exit status and stderr", (0, b""), (run.status, run.err))
        if run.status != 0:
            continue
        check.equal("answers", told, truth(run)["answers"])
        path = f"newborn.{truth(run)['pid']}.wake"
        for _ in range(100):
            if collector == "silent" or os.path.exists(path):
                break
            time.sleep(0.05)
        path += ".spool" if collector == "silent" else ""
        if not check.equal("recording", True, os.path.exists(path)):
            print(glob.glob("*"))
            continue
        ledger = Ledger(events(path), pid=truth(run)["pid"])
        check.pairs(ledger)
        check.equal("blocks of main", 1, ledger.made[10007])
        check.equal("blocks of the thread", 300 if who == "thread" else 0, ledger.made[7069])
check.done()
