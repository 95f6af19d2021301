#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a program starts, or becomes, behind a seccomp filter is not recorded: the recording says how many these are, is not
complete, and check does not judge it. Without such processes nothing is said."""
import glob
import json
import os

from support import HEAPWAKE, Check, Ledger, ask, died_alike, events, info, lonely, native, tool, workload

CASES = (((), 0), (("refused",), 0), (("fork",), 1), (("spawn",), 1), (("vfork",), 1), (("exec",), 1), (("refused", "fork", "vfork", "spawn", "exec"), 4),
         (("fork", "kill"), 1))
check = Check()


def check_recording(path, missing):
    facts = info(path)
    check.equal("unrecorded processes", missing, facts["unrecorded_processes"])
    notes = [note for note in facts["notes"] if "seccomp" in note]
    check.equal("notes", [] if missing == 0 else [f"{missing} process{' was' if missing == 1 else 'es were'} not recorded: a program that had "
                                                 f"installed a seccomp filter started {'it' if missing == 1 else 'them'}, or became "
                                                 f"{'it' if missing == 1 else 'one of them'} by exec."], notes)
    check.equal("report --json", missing, json.loads(tool("report", "--json", path).out)["summary"]["unrecorded_processes"])
    check.equal("report", missing != 0, "seccomp filter" in " ".join(ask("report", path).stdout.split()))
    check.equal("check", 0 if missing == 0 else 2, ask("check", "--max-leak", "1G", path).returncode)
    ledger = Ledger(events(path))
    check.equal("made", (10, 0), (ledger.made[7019], ledger.made[7013]))


for ways, missing in CASES:
    if not ways:
        ways = ("nothing",)
    for path in glob.glob("*.spool"):
        os.unlink(path)
    argv = [workload("confined"), *ways]
    alone = native(argv)
    check.about(f"{' '.join(ways)}, with a recorder")
    run = native([HEAPWAKE, "record", "-o", "out.wake", "--", *argv])
    check.holds(died_alike(alone, run), f"alone it ends with {alone.status}, recorded with {run.status}.")
    said = f"; {missing} more process{' behind a seccomp filter was' if missing == 1 else 'es behind a seccomp filter were'} not recorded"
    check.equal("closing line", missing != 0, said in run.err.decode())
    check_recording("out.wake", missing)
    check.about(f"{' '.join(ways)}, without a recorder")
    run = native(argv, lonely())
    check.equal("exit status", alone.status, run.status)
    found = glob.glob("*.spool")
    if check.equal("spools", 1, len(found)):
        check_recording(found[0], missing)
check.about("HEAPWAKE_CHILDREN=no")
run = native([HEAPWAKE, "record", "-o", "out.wake", "--children", "no", "--", workload("confined"), "fork"])
check.equal("unrecorded processes", 0, info("out.wake")["unrecorded_processes"])
check.done()
