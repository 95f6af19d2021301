#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a program can see of itself and its surroundings is the same with and
without heapwake, in the program, in a forked child and in an executed one."""
import difflib
import os
import signal

from support import PROBE, Check, native, record, workload

check = Check()


def compare(how, alone, other):
    check.about(how)
    check.equal("exit status", alone.status, other.status)
    for what, a, b in (("stdout", alone.out, other.out), ("stderr", alone.err, other.err)):
        lines = [line for line in difflib.unified_diff(a.decode().splitlines(), b.decode().splitlines(), lineterm="", n=0)
                 if not line.startswith(("---", "+++", "@@"))]
        check.equal(what, [], lines)


# Settings that are not the usual ones, so that a reset would show.
def unusual():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGWINCH})
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.umask(0o137)
    os.nice(1)


for setting, prepare in (("as usual", None), ("with unusual settings", unusual)):
    program = [workload("world"), "parent"]
    alone = native(program, preexec_fn=prepare)
    check.holds(alone.out.count(b"== ") == 4 and b"threads 1\n" in alone.out, "The program shows nothing.")
    compare(f"record, {setting}", alone, record(program, preexec_fn=prepare))
    compare(f"record without children, {setting}", alone,
            record(program, "no.wake", ["--children", "no"], preexec_fn=prepare))
    compare(f"preloaded, {setting}", alone,
            native(program, {"LD_PRELOAD": PROBE, "HEAPWAKE_OUTPUT": "bare.wake"}, preexec_fn=prepare))
check.about("")
check.holds(os.path.exists("out.wake") and os.path.exists("no.wake"), "Nothing was recorded.")
check.done()
