#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Threads by the ten thousand, a thousand at once, cancelled, outliving main, with
keys, on the smallest stacks: exact counts, the same end as alone."""
# timeout: 600
from support import Check, Ledger, events, native, record, truth, workload

MODES = (("many", 20000), ("live", 1000), ("mainexit", 0), ("cancel", 0), ("async", 0), ("keys", 0), ("names", 0),
         ("tiny", 0))
check = Check()
for mode, count in MODES:
    for i in range(1 if count else 5):
        check.about(f"{mode}, run {i}")
        run = record([workload("threads"), mode, count])
        if not check.equal("exit status", 0, run.status):
            continue
        told = truth(run)
        facts = check.sound("out.wake")
        check.equal("threads", told["threads"], facts["threads"])
        ledger = Ledger(events("out.wake"))
        check.pairs(ledger)
        check.equal("made", told["made"], ledger.made[7069])
        check.equal("released", told["freed"], ledger.freed[7069])
check.done()
