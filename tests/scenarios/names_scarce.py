#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where there is no memory to look up names, a recorded program ends as it would and its recording is
sound, and a report is whole or fails with a sentence that says how to do without names."""
import json
import os

from support import HEAPWAKE, Check, native, record, workload

STEP = 512  # KiB
check = Check()


def limited(kib, argv, env=None):
    return native(["sh", "-c", f'ulimit -d {kib} && exec "$@"', "sh", *argv], env)


def least(env):
    """The least limit with which a report comes out at all."""
    for kib in range(STEP, 200 * STEP, STEP):
        if limited(kib, REPORT, env).status == 0:
            return kib
    raise SystemExit("No limit is enough for a report.")


def total(run):
    return json.loads(run.out)["allocated"]["total_bytes"]


REPORT = [HEAPWAKE, "report", "--json", "--allocated", "out.wake"]
NAMELESS = {"HEAPWAKE_SYMBOLS": "0"}
record([workload("blame")], "out.wake", env=NAMELESS)
whole = native(REPORT)
check.holds(b'"file":"' in whole.out.replace(b" ", b"").replace(b'"file":""', b""), "The report has no lines.")
limit = least(NAMELESS)
check.equal("bytes, without names", total(whole), total(limited(limit + 2 * STEP, REPORT, NAMELESS)))
failed = 0
for kib in range(limit, limit + 40 * STEP, STEP):
    check.about(f"{kib} KiB")
    run = limited(kib, REPORT)
    if run.status == 0:
        check.holds(run.out == whole.out and run.err == b"", f"The report differs: {run.err.decode()}")
        continue
    failed += 1
    check.equal("exit status", 1, run.status)
    check.holds(run.err.startswith(b"heapwake: Out of memory") and run.err.count(b"\n") == 1,
                f"It says {run.err.decode()}")
check.about("")
check.holds(0 < failed < 40, f"{failed} of 40 limits were too low.")
check.holds(b"HEAPWAKE_SYMBOLS=0" in limited(limit + 2 * STEP, REPORT).err, "It does not say how to do without names.")

recorded = 0
for kib in range(limit + 2 * STEP, limit + 40 * STEP, 4 * STEP):
    check.about(f"record, {kib} KiB")
    run = limited(kib, [HEAPWAKE, "record", "-q", "-o", "limited.wake", "sh", "-c", "exit 7"])
    check.equal("exit status", 7, run.status)
    files = [name for name in os.listdir(".") if name.startswith("limited")]
    if run.err.startswith(b"heapwake: Nothing was recorded"):
        check.equal("files", [], files)
        continue
    check.holds(run.err == b"" or run.err.startswith(b"heapwake: Out of memory"), f"It says {run.err.decode()}")
    check.equal("files", ["limited.wake"], files)
    check.equal("exit status of verify", 0, native([HEAPWAKE, "verify", "limited.wake"]).status)
    os.remove("limited.wake")
    recorded += 1
check.about("")
check.holds(recorded > 3, f"Only {recorded} recordings were made.")
check.done()
