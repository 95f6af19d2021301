#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Handlers that fork in the middle of our own code, whose child goes on in it; that allocate while a forked child begins; that
allocate in a thread's first call. At every so many instructions: each process is recorded as if it had been asked to."""
from support import Check, Ledger, events, info, record, tool, truths, workload

check = Check()

for mode, options in (("within", ()), ("apart", ("--children", "no")), ("limit", ())):
    check.about(mode)
    run = record([workload("twins"), mode], options=options)
    if not check.equal("exit status", 0, run.status):
        continue
    *children, parent = truths(run)
    check.equal("children that came to their end", (parent["rounds"], 0), (len(children), parent["bad_ends"]))
    check.equal("verify", 0, tool("verify", "out.wake").status)
    ledger = Ledger(events("out.wake"))
    made = ledger.by_pid[parent["pid"]][0]
    check.equal("blocks of the parent", (parent["made"], parent["rounds"] + 1), (made[53], made[101]))
    for child in children:
        check.equal(f"blocks of {child['pid']}", child["made"], ledger.by_pid[child["pid"]][0][7103])
    facts = info("out.wake")
    check.equal("processes", 1 + (len(children) if mode == "within" else 0), facts["processes"])
    check.equal("lost and cut", (0, 0), (facts["lost_events"], facts["cut_stacks"]))

check.about("begun")
run = record([workload("twins"), "begun"])
if check.equal("exit status", 0, run.status):
    *children, parent = truths(run)
    check.equal("children that came to their end", (parent["rounds"], 0), (len(children), parent["bad_ends"]))
    check.holds(sum(child["made"] for child in children) > 10, "no handler interrupted a child.")
    check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    for child in children:
        check.equal(f"blocks of {child['pid']}", child["made"], ledger.by_pid[child["pid"]][0][7069])
    check.equal("processes", 1 + len(children), info("out.wake")["processes"])

check.about("first")
run = record([workload("twins"), "first"])
if check.equal("exit status", 0, run.status):
    told = truths(run)[-1]
    check.sound("out.wake")
    check.equal("threads", told["threads"], info("out.wake")["threads"])
    check.equal("blocks of the handler", told["made"], Ledger(events("out.wake")).made[7069])
check.done()
