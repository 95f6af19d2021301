#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a library that is loaded with RTLD_DEEPBIND allocates by its own calls is not recorded: the recording names the library,
once, in each face. Of other libraries nothing is said."""
import glob
import json
import os

from support import Check, Ledger, ask, events, lonely, native, record, tool, workload

check = Check()
library = glob.glob(os.path.dirname(workload("deepbound")) + "/libdeepbound.so")[0]


def check_recording(path, is_deep):
    sentence = f"{library} is loaded with RTLD_DEEPBIND: its own calls of malloc go to libc, past heapwake, and are not recorded."
    for command in ("info", "report"):
        answer = json.loads(tool(command, "--json", path).out)
        check.equal(f"{command} --json", [sentence] * is_deep, answer.get("notes", answer.get("summary", {}).get("notes")))
        check.equal(f"{command}", is_deep, "RTLD_DEEPBIND: its own" in " ".join(ask(command, path).stdout.split()))
    check.equal("check", is_deep, sentence in ask("check", "--max-leak", "1G", path).stderr)
    ledger = Ledger(events(path))
    check.equal("made by the program and the library", (10, 0 if is_deep else 10), (ledger.made[7001], ledger.made[7027]))
    check.equal("marks", 0, sum(e.event == "mark" for e in ledger.others))


for way in ("deep", "usual", "asked"):
    check.about(way)
    argv = [workload("deepbound"), library, way]
    check.equal("alone", 0, native(argv).status)
    check.equal("recorded", 0, record(argv).status)
    check_recording("out.wake", way == "deep")
    for path in glob.glob("*.spool"):
        os.unlink(path)
    check.equal("without a recorder", 0, native(argv, lonely()).status)
    check_recording(glob.glob("*.spool")[0], way == "deep")
check.done()
