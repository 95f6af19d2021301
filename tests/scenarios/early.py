#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Blocks made before any constructor of ours, during relocation, and after main
and all handlers, are in the recording."""
from support import Check, Ledger, events, native, record, truth, workload

check = Check()
check.equal("told alone and recorded", native([workload("early")]).out, record([workload("early")]).out)
told = truth(native([workload("early")]))
for i in range(5):
    run = record([workload("early")])
    check.equal("exit status", 0, run.status)
    check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    check.pairs(ledger)
    for size, (made, freed) in told.items():
        check.equal(f"{size} made and released", (made, freed), (ledger.made[int(size)], ledger.freed[int(size)]))
check.done()
