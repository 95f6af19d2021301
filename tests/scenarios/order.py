#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Threads hand blocks over as fast as they can, release and reallocate what others
made: millions of events, and each release still finds its own allocation. Once
as on a CPU without a counter that all cores agree on."""
# timeout: 1800
import os

from support import Check, Ledger, events, record, truth, workload

check = Check()
scale = int(os.environ.get("REPEAT", "1"))
CASES = ((2, 150000, "counter"), (4, 150000, "counter"), (8, 100000, "counter"), (4, 100000, "sequence"))
for threads, rounds, stamps in CASES:
    check.about(f"{threads} threads, stamps by {stamps}")
    run = record([workload("order"), threads, rounds * scale], env={"HEAPWAKE_TEST_STAMPS": stamps})
    told = truth(run)
    check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    check.pairs(ledger)
    for what, truly, seen in (("made", told["made"], ledger.made), ("released", told["freed"], ledger.freed)):
        wrong = {size: (count, seen[int(size)]) for size, count in truly.items() if seen[int(size)] != count}
        check.equal(f"sizes whose blocks {what} differ", {}, wrong)
    left = {(address, e.size) for (_, address), e in ledger.live.items() if str(e.size) in told["made"]}
    check.equal("blocks left", sorted(map(tuple, told["left"])), sorted(left))
check.done()
