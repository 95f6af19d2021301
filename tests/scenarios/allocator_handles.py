#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What passes no hook of an allocator's own functions gets a note in the recording: heaps by handle, arenas that are
destroyed as a whole, blocks in batches. Releases of such blocks are no misuse."""
import os
import re

from support import HEAPWAKE, PROBE, Check, Ledger, allocators, ask, events, info, lonely, native, record, skip, truth, truths, workload

PROGRAM = workload("arena_handles")
NOTES = {"": [], "heap": ["mi_heap_*"], "fork": ["mi_heap_*"], "destroy": ["resets or destroys arenas"], "mib": ["resets or destroys arenas"],
         "batch": ["experimental.batch_alloc"], "plain": []}
CASES = (("mimalloc", "heap"), ("mimalloc", "fork"), ("mimalloc", "plain"), ("jemalloc", "destroy"), ("jemalloc", "mib"),
         ("jemalloc", "batch"), ("jemalloc", "plain"))
there = {re.search("jemalloc|tcmalloc|mimalloc", os.path.basename(path)).group(): path for path in allocators()}
check = Check()


def noted(path, what):
    notes = info(path)["notes"]
    check.equal("notes", len(NOTES[what]), len(notes))
    for words in NOTES[what]:
        check.holds(any(words in note for note in notes), f"The notes are {notes}.")
        check.holds(words in " ".join(ask("report", path).stdout.split()), f"The report does not say {words}.")


if not {"jemalloc", "mimalloc"} <= set(there):
    skip("jemalloc or mimalloc is not installed.")
for family, what in CASES:
    check.about(f"{family}, {what}")
    env = {"LD_PRELOAD": there[family]}
    alone, run = native([PROGRAM, what], env), record([PROGRAM, what], env=env)
    check.equal("status", (0, 0), (alone.status, run.status))
    check.equal("output", alone.out, run.out)
    check.equal("results", {0}, {said["result"] for said in truths(alone)})
    noted("out.wake", what)
    check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    check.equal("blocks of 7001", (ledger.made[7001], 0), (ledger.freed[7001], ledger.left(7001)))
    check.holds(ledger.made[7001] in (200, 300), f"{ledger.made[7001]} blocks of 7001 were made.")
    misuse = ask("report", "--misuse", "out.wake").stdout
    check.holds("none seen" in misuse, f"Misuse is reported: {misuse}")
    if what != "fork":
        native([PROGRAM, what], {**lonely(), "LD_PRELOAD": lonely()["LD_PRELOAD"] + ":" + there[family]})
        spools = [name for name in os.listdir() if name.endswith(".spool") or ".spool" in name]
        check.holds(spools, f"There is no spool among {os.listdir()}.")
        for name in spools:
            noted(name, what)
            os.unlink(name)
check.about("tables that cannot be written")
program, env = workload("allocator_names"), {"LD_PRELOAD": there["jemalloc"]}
run = native([workload("no_mprotect"), HEAPWAKE, "record", "-q", "-o", "out.wake", "env", f"LD_PRELOAD={PROBE}:{there['jemalloc']}", program])
check.equal("status", 0, run.status)
check.equal("names", truth(native([program], env))["there"], truth(run)["there"])
notes = [note for note in info("out.wake")["notes"] if "change the tables" in note]
check.equal("notes", 1, len(notes))
check.sound("out.wake")
check.done()
