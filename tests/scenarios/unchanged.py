#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a program can see of itself and its surroundings is the same with and
without heapwake, in the program, in a forked child and in an executed one."""
import difflib
import glob
import os
import resource
import signal

from support import PROBE, Check, leave_out, native, record, workload

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


def with_core():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def core_size():
    """KiB on disk of the one core in this folder."""
    cores = glob.glob("core*")
    sizes = [os.stat(name).st_blocks // 2 for name in cores]
    for name in cores:
        os.unlink(name)
    return sizes[0] if len(sizes) == 1 else 0


def check_core():
    """It holds the program, not our buffers."""
    check.about("core")
    program = [workload("ends"), "abort", "1", "200"]
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as f:
        is_plain = f.read().startswith("core")
    alone = native(program, preexec_fn=with_core) if is_plain else None
    before = core_size()
    if before == 0:
        leave_out("the size of a core: none is written into the current folder.")
        return
    check.equal("exit status", alone.status, record(program, "aborted.wake", preexec_fn=with_core).status)
    after = core_size()
    check.holds(before <= after < before + 2048, f"It has {after} KiB, alone {before}.")


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
check_core()
check.done()
