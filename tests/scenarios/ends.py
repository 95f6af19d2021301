#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""However a program ends, all that it allocated until then is in the recording:
every block of every thread, each release with its own, each way 100 times.

REPEAT=1000 makes it 1000 times.
"""
# timeout: 1800
import os

from support import Check, Ledger, died_alike, events, native, record, truths, workload

WAYS = ("return", "exit", "_exit", "quick_exit", "abort", "segv", "term", "kill", "exec")
check = Check()
for way in WAYS:
    alone = native([workload("ends"), way, 4, 2000])
    for i in range(int(os.environ.get("REPEAT", "100"))):
        check.about(f"{way}, run {i}")
        run = record([workload("ends"), way, 4, 2000])
        check.holds(died_alike(alone, run), f"alone it ends with {alone.status}, recorded with {run.status}.")
        told = truths(run)
        check.equal("images that told", 2 if way == "exec" else 1, len(told))
        ledger = Ledger(events("out.wake"))
        for line in told:
            check.equal("made", line["made"], ledger.made[line["size"]])
            check.equal("released", line["freed"], ledger.freed[line["size"]])
        if way != "exec":  # two images share the number of the process, but not its addresses
            check.pairs(ledger)
        if i % 20 == 0:
            check.sound("out.wake")
        os.unlink("out.wake")
check.done()
