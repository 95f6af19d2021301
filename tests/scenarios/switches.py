#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The switches of recording do what they say, as an option of record and as a variable:
stacks of frees, precise times, zeroed memory, small buffers."""
import collections
import os
import re
import signal
import struct
import subprocess
import time

from support import HEAPWAKE, Check, Ledger, events, leave_out, native, record, tool, truth, workload


def check_zero(check):
    check.about("zero memory")
    alone = truth(native([workload("fresh")]))
    check.holds(alone["malloc"] > 0 and alone["others"] > 0, f"Alone all memory is zero too: {alone}")
    for options, env in (((["--zero-memory"]), {}), ([], {"HEAPWAKE_ZERO_MEMORY": "1"})):
        check.equal(f"{options or env}", {"malloc": 0, "others": 0}, truth(record([workload("fresh")], options=options, env=env)))
        check.pairs(Ledger(events("out.wake")))
        check.sound("out.wake")
    check.holds(truth(record([workload("fresh")]))["malloc"] > 0, "Recorded, memory is zero without being asked for.")


def check_free_stacks(check):
    check.about("free stacks")
    record([workload("fresh")], options=["--free-stacks"])
    check.sound("out.wake")
    frees = [e for e in events("out.wake") if e.event == "free" and e.kind == "free"]
    check.holds(len(frees) > 5000 and all(e.stack != "0" for e in frees), "A free has no stack.")
    text = tool("dump", "--stacks", "out.wake").out.decode().splitlines()
    named = collections.Counter()
    for n, line in enumerate(text[:-1]):
        if re.search(r"  free  stack \d+$", line):
            named[text[n + 1].split()[0]] += 1
    check.holds(named["dirty"] > 5000 and named["check"] > 1000 and set(named) <= {"dirty", "check", "main"},
                f"Frees come from {dict(named)}.")
    record([workload("fresh")])
    check.equal("stacks of frees by default", {"0"}, {e.stack for e in events("out.wake") if e.event == "free"})


def check_times(check):
    check.about("precise timestamps")
    shares = {}
    for options in ([], ["--precise-timestamps"]):
        record([workload("fresh")], options=options)
        check.sound("out.wake")
        times = [e.time for e in events("out.wake")]
        shares[bool(options)] = len(set(times)) / len(times)
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        text = f.read()
    if os.uname().machine != "x86_64" or "nonstop_tsc" in text:  # else there is no clock that is fine enough
        check.holds(shares[True] > 0.9 > shares[False], f"Share of events with a time of their own: {shares}.")


def check_pool(check):
    check.about("pool")
    for size in ("1M", "64M"):
        run = record([workload("fresh")], options=["--pool", size])
        check.equal(f"exit status with {size}", 0, run.status)
        facts = check.sound("out.wake")
        check.holds(facts["allocations"] > 10000, f"Only {facts['allocations']} allocations are recorded with {size}.")


def child(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return int(f.read().split()[0])


def buffers(pid):
    """KiB of shared memory that a process has touched, once that grows no more."""
    seen = [-1, 0]
    while seen[-1] != seen[-2]:
        time.sleep(0.5)
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            seen.append(int(re.search(r"RssShmem:\s*(\d+)", f.read()).group(1)))
    return seen[-1]


def check_buffers(check, around, find_recorder, pool):
    """How much is told before a program waits: its recorder is stopped. `around` is what runs the recorder."""
    blocks = 1000000
    process = subprocess.Popen([*around, HEAPWAKE, "record", "-q", "-o", "small.wake", "--", workload("steady"), str(blocks),
                                "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check.equal("first line", b"half\n", process.stdout.readline())
    recorder = find_recorder(process.pid)
    os.kill(recorder, signal.SIGSTOP)
    process.stdin.write(b"\n")
    process.stdin.flush()
    used = buffers(child(recorder))
    os.kill(recorder, signal.SIGCONT)
    process.communicate()
    check.equal("exit status", 8, process.returncode)
    check.holds(pool * 1000 < used < pool * 1024 + 512, f"The buffers take {used} KiB; {pool} MiB were expected.")
    check.equal("blocks", 2 * blocks, Ledger(events("small.wake")).made[7069])
    check.sound("small.wake")


def check_small_machine(check):
    """Where the kernel says that the machine has little memory."""
    for memory, pool in ((64, 4), (8, 1)):
        check.about(f"a machine with {memory} MiB")
        system = struct.pack("<4Q6QHxxxxxx2QI4x", *[0] * 4, memory << 20, *[0] * 5, 1, 0, 0, 1)
        check_buffers(check, ["strace", "-f", "-qq", "-o", "log", "-e", "trace=sysinfo",
                              "-e", f"inject=sysinfo:poke_exit=@arg1={system.hex()}"], child, pool)


def control_group(memory):
    """A new control group with so many bytes, or None; and the file that takes processes into it."""
    for top, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = os.path.join(top, f"heapwake-{os.getpid()}")
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            with open(os.path.join(group, limit), "w", encoding="ascii") as f:
                f.write(str(memory))
            return group
        except OSError:
            os.rmdir(group)
    return None


def remove_group(group):
    """With what is still in there."""
    while True:
        with open(os.path.join(group, "cgroup.procs"), encoding="ascii") as f:
            left = f.read().split()
        for pid in left:
            os.kill(int(pid), signal.SIGKILL)
        if not left:
            break
        time.sleep(0.1)
    os.rmdir(group)


def check_control_group(check):
    """Where the machine has memory enough, but the program is in a container that has not: it would be killed."""
    group = control_group(48 << 20)
    if group is None:
        leave_out("a control group with little memory: none can be made here.")
        return
    check.about("a control group with 48 MiB")
    try:
        check_buffers(check, ["sh", "-c", f"echo $$ > {group}/cgroup.procs && exec \"$@\"", "sh"], lambda pid: pid, 3)
    finally:
        remove_group(group)


if __name__ == "__main__":
    check = Check()
    check_zero(check)
    check_free_stacks(check)
    check_times(check)
    check_pool(check)
    check_small_machine(check)
    check_control_group(check)
    check.done()
