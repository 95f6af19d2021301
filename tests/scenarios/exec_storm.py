#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 300
"""300 times fork, malloc and execl on a busy machine, each process in a file of its own: each program is where it
belongs, and none is called one that cannot be recorded. EXECS=3000 is a long run."""
import contextlib
import glob
import os
import subprocess

from support import Check, Ledger, events, info, record, truth, workload

COUNT = int(os.environ.get("EXECS", "300"))
BUSY = 4
check = Check()


@contextlib.contextmanager
def load():
    """Busy loops beside it."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def made(paths):
    """What is in these files: how many blocks of each size, of each process image; and the notes."""
    images, notes = [], []
    for path in paths:
        notes += info(path)["notes"]
        ledger = Ledger(events(path))
        images.append((ledger.made[7069], ledger.made[7070]))
    return sorted(images), notes


for pattern, per_child in (("%p", [(10, 20)]), ("%n", [(0, 20), (10, 0)])):
    check.about(pattern)
    folder = f"files-{pattern[1]}"
    os.mkdir(folder)
    with load():
        run = record([workload("relaunch"), COUNT], f"{folder}/out.{pattern}.wake")
    check.equal("exit status", 0, run.status)
    pids = truth(run)["pids"]
    found = glob.glob(f"{folder}/*")
    if pattern == "%p":
        named = {f"{folder}/out.{pid}.wake" for pid in pids}
        extra = sorted(set(found) - named)
        check.equal("files that nobody asked for", 1, len(extra))  # the parent's
        found = [path for path in found if path in named]
    else:
        found.remove(f"{folder}/out.0.wake")
    images, notes = made(found)
    check.equal("blocks of the children", sorted(per_child * COUNT), images)
    check.equal("notes", [], notes)
check.done()
