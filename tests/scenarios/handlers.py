#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Signal handlers that allocate in the middle of anything, leave by siglongjmp, or
run on a small alternate stack: what is recorded and what is counted as lost is
all that there was."""
from support import Check, Ledger, events, info, record, tool, truth, workload

check = Check()
for i in range(2):
    for mode in ("timer", "timers"):
        check.about(f"{mode}, run {i}")
        run = record([workload("handlers"), mode])
        if not check.equal("exit status", 0, run.status):
            continue
        told = truth(run)
        ledger = Ledger(events("out.wake"))
        lost = info("out.wake")["lost_events"]
        check.equal("verify", 0, tool("verify", "out.wake").status)
        check.pairs(ledger)
        check.equal("made by main", told["made"], ledger.made[101])
        check.equal("released by main", told["freed"], ledger.freed[101])
        missing = (told["handler_made"] - ledger.made[7069]) + (told["handler_freed"] - ledger.freed[7069])
        if mode == "timer":
            check.equal("events of the handler that are not recorded", 0, missing)
            check.equal("lost_events", 0, lost)
        else:  # the third level may be lost, but then it is counted
            check.equal("events of handlers that are neither recorded nor counted as lost", 0, missing - lost)

    for mode in ("jump", "deeper"):
        check.about(f"{mode}, run {i}")
        run = record([workload("handlers"), mode])
        if not check.equal("exit status", 0, run.status):
            continue
        told = truth(run)
        ledger = Ledger(events("out.wake"))
        check.equal("verify", 0, tool("verify", "out.wake").status)
        check.equal("made after the last jump", told["after"], ledger.made[7103])
        # A jump may come after the call was told and before the program knows of it, or before either.
        check.holds(told["done"] - told["jumps"] <= ledger.made[101] <= told["begun"],
                    f"calls begun {told['begun']}, done {told['done']}, recorded {ledger.made[101]}.")

    check.about(f"alternate stack, run {i}")
    run = record([workload("handlers"), "stack"])
    if check.equal("exit status", 0, run.status):
        told = truth(run)
        check.sound("out.wake")
        ledger = Ledger(events("out.wake"))
        check.equal("made", told["handler_made"], ledger.made[7069])
        check.equal("released", told["handler_freed"], ledger.freed[7069])
check.done()
