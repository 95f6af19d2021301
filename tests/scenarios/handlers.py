#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Signal handlers that allocate in the middle of anything, leave by siglongjmp, or
run on a small alternate stack: what is recorded and what is counted as lost is
all that there was."""
import json
import os

from support import Check, Ledger, events, info, record, tool, truth, workload

check = Check()
STRIDE = os.environ.get("STRIDE", "151")  # 1 takes an hour


def way(site):
    """The number that the functions on the way to malloc stand for (handlers.c)."""
    names = [f["function"] for f in reversed(site["frames"]) if f["function"] in ("malloc_zero", "malloc_one")]
    return sum((name == "malloc_one") << i for i, name in enumerate(names[1:]))


check.about("steps")
run = record([workload("handlers"), "steps", STRIDE])
if check.equal("exit status", 0, run.status):
    told = truth(run)
    ledger = Ledger(events("out.wake"))
    check.sound("out.wake")
    check.equal("calls that came through", 3, told["whole"])
    check.holds(told["whole"] <= ledger.freed[101] <= ledger.made[101] <= told["rounds"],
                f"{told['rounds']} rounds, {ledger.made[101]} blocks made, {ledger.freed[101]} freed.")
    answer = tool("report", "--json", "--calls", "-n", "100000", "--where", "size-min=7103", "--where",
                  "size-max=7103", "out.wake")
    sites = json.loads(answer.out)["calls"]["sites"]
    check.equal("places of the calls that followed a jump", [(n, 1) for n in range(told["rounds"])],
                sorted((way(site), site["blocks"]) for site in sites))

check.about("within")
run = record([workload("handlers"), "within"])
if check.equal("exit status", 0, run.status):
    told = truth(run)
    check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    check.equal("made", told["handler_made"], ledger.made[7069])
    check.equal("released", told["handler_freed"], ledger.freed[7069])
    check.equal("cut stacks", 0, info("out.wake")["cut_stacks"])

check.about("edge")
run = record([workload("handlers"), "edge"])
if check.equal("exit status", 0, run.status):
    told = truth(run)
    check.sound("out.wake")
    check.equal("made", told["handler_made"], Ledger(events("out.wake")).made[7069])
    check.equal("cut stacks", 0, info("out.wake")["cut_stacks"])
    answer = tool("report", "--json", "--calls", "--where", "size-min=7069", "--where", "size-max=7069", "out.wake")
    names = {tuple(f["function"] for f in site["frames"] if f["function"] in ("stop_at_edge", "call_at_edge", "edge_mode", "main"))
             for site in json.loads(answer.out)["calls"]["sites"]}
    check.equal("the way to the interrupted function", {("stop_at_edge", "call_at_edge", "edge_mode", "main")}, names)

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
