#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sizes beyond 24 and 32 bits are exact, what fails is not an allocation, and
mappings are told apart from blocks, or not at all with HEAPWAKE_MMAP=0."""
from support import Check, Ledger, events, native, record, truth, workload

PAGE = 4096
check = Check()
for setting in ("1", "0"):
    check.about(f"HEAPWAKE_MMAP={setting}")
    run = record([workload("big")], env={"HEAPWAKE_MMAP": setting})
    told = truth(run)
    check.equal("failed calls", 3, told["failed"])
    check.equal("wrong results", 0, told["wrong"])
    check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    check.pairs(ledger)
    freed = (16777215, 16777217, 5000000029)
    sizes = {size: (1, int(size in freed)) for size in told["made"]}
    sizes.update({10007: (1, 1), 33554467: (1, 1), 50331653: (1, 0), 1 << 47: (0, 0), (1 << 63) - 1: (0, 0)})
    for size, counts in sizes.items():
        check.equal(f"{size} made and released", counts, (ledger.made[size], ledger.freed[size]))
    mine = [(e.event, e.address, e.size) for e in ledger.others if e.address in (told["first"], told["map"], told["end"])]
    expected = [("mmap", told["first"], 7 * PAGE), ("munmap", told["first"], 7 * PAGE),
                ("mmap", told["map"], 1003 * PAGE), ("munmap", told["map"], 500 * PAGE)]
    seen = [event for event in mine if event[0] in ("mmap", "munmap")]
    check.equal("mappings", expected if setting == "1" else [], seen)
    breaks = [e for e in ledger.others if e.event == "brk"]
    check.equal("moves of the break", 2 if setting == "1" else 0, len(breaks))
check.about("alone")
check.equal("failed calls", 3, truth(native([workload("big")]))["failed"])
check.done()
