#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every system call that the probe makes inside a program, and those that the
collector makes, fails once, with each of several errors (strace --inject). The
program ends as if alone; the recording is sound, or says what it lacks, or
there is none and that is said.

Which calls are the probe's own is seen from where they are made: the address of
the instruction lies in libheapwake.so. SWEEP=all fails every one of the first 200
of each call of the collector too; otherwise it is a sample.
"""
# timeout: 3000
import collections
import concurrent.futures
import glob
import os
import random
import re
import shutil
import sys

from support import HEAPWAKE, PROBE, Check, Ledger, events, info, native, skip, tool, truths, workload

PROGRAM = [os.path.join(os.environ["BUILD"], "tests/hostile/cage"), "not_dumpable"]  # threads, a child, deep stacks
ALL = os.environ.get("SWEEP") == "all"
SAMPLE = 150  # of the collector's
MOST = 200
ERRORS = {"write": ("ENOSPC", "EIO", "EINTR"), "pwrite64": ("ENOSPC", "EIO", "EINTR"), "mmap": ("ENOMEM", "EPERM", "EAGAIN"),
          "connect": ("ECONNREFUSED", "EAGAIN", "EINTR"), "sendmsg": ("EAGAIN", "EPIPE", "EINTR"),
          "memfd_create": ("ENOSYS", "EMFILE", "ENOMEM"), "socket": ("EMFILE", "EPERM", "ENOMEM")}
NEVER = {"getpid", "getppid", "gettid"}  # do not fail
# A close that fails has closed all the same, which strace cannot do; the others belong to libc or end all.
KEPT = {"close", "execve", "exit_group", "brk", "arch_prctl", "set_tid_address", "set_robust_list", "rseq"}
USUAL = ("ENOMEM", "EPERM", "EINTR", "ENOSYS")
LINE = re.compile(r"(\d+)\s+\[([0-9a-f]+)\] (\w+)\((.*)")


def calls_of(log):
    """(tracee, call, which of its kind there, from the probe?) in order."""
    counts, places, asked, found = collections.Counter(), {}, set(), []
    with open(log, encoding="utf-8", errors="replace") as f:
        for line in f:
            match = LINE.match(line)
            if not match:
                continue
            tracee, ip, call, rest = match[1], int(match[2], 16), match[3], match[4]
            counts[tracee, call] += 1
            if call == "openat" and os.path.basename(PROBE) in rest:
                asked.add(tracee)
            elif call == "mmap" and tracee in asked and rest.startswith("NULL, "):
                asked.discard(tracee)
                places["from"] = int(rest.rsplit("= ", 1)[1], 16)
                places["to"] = places["from"] + int(rest.split(", ")[1])
            elif call == "execve":
                counts = collections.Counter({key: n for key, n in counts.items() if key[0] != tracee})
                found = [entry for entry in found if entry[0] != tracee]
            found.append((tracee, call, counts[tracee, call], places.get("from", 0) <= ip < places.get("to", 0)))
    return found


def traced(log, inject=()):
    return ["setarch", "-R", "strace", "-f", "-i", "-qq", "-o", log, *inject, *PROGRAM]


def run_traced(who, folder, inject=()):
    """Under record, or preloaded: then the probe starts a collector of its own, and strace waits for both."""
    path, argv = os.path.join(folder, "out.wake"), traced("trace.log", inject)
    if who == "probe":
        argv = [HEAPWAKE, "record", "--symbols", "no", "-o", path, "--", *argv]
    elif who == "preloaded":
        settings = {"LD_PRELOAD": PROBE, "HEAPWAKE_COLLECTOR": HEAPWAKE, "HEAPWAKE_OUTPUT": path, "HEAPWAKE_SYMBOLS": "0"}
        argv[3:3] = [word for item in settings.items() for word in ("-E", "=".join(item))]
    else:
        argv = ["strace", "-qq", "-i", "-o", "trace.log", *inject, HEAPWAKE, "record", "-o", path, "--", *PROGRAM]
    return native(argv, cwd=folder)


def plan_of_probe(who):
    """Which of which call to fail: those that are the probe's wherever they occur."""
    os.mkdir(who)
    run_traced(who, os.path.abspath(who))
    calls = calls_of(f"{who}/trace.log")
    mine = {(call, n) for _, call, n, is_probe in calls if is_probe}
    others = {(call, n) for _, call, n, is_probe in calls if not is_probe}
    return sorted((call, n) for call, n in mine - others if call not in NEVER)


def plan_of_collector():
    os.mkdir("collector")
    run_traced("collector", os.path.abspath("collector"))
    counts, plan, is_loaded = collections.Counter(), [], False
    with open("collector/trace.log", encoding="utf-8", errors="replace") as f:
        for match in filter(None, (re.match(r"\[[0-9a-f]+\] (\w+)\(", line) for line in f)):
            call = match[1]
            counts[call] += 1
            # glibc ends a process whose locks get errors that no kernel gives.
            if is_loaded and counts[call] <= MOST and call not in KEPT | NEVER | {"futex"}:
                plan.append((call, counts[call]))
            is_loaded |= call == "munmap"  # of the loader's cache, which is its last act
    return plan


def check_outcome(check, run, path, is_told=True):
    """The program as alone; what is recorded is true, and what is missing is said."""
    told = truths(run)
    if not told and run.status not in (0, "hangs"):  # it was never started
        check.holds(run.err, f"nothing ran, status {run.status}, and nothing is said.")
        check.holds(not isinstance(run.status, int) or run.status > 0, f"the tool died: {run.status}.")
        return
    check.equal("exit status", 0, run.status)
    check.equal("processes that told", 2, len(told))
    check.equal("complaints", [], [line["complaints"] for line in told if line["complaints"]])
    # Where the name that it had while it was made cannot be taken from it, a file has two.
    files = list({os.stat(file).st_ino: file for file in sorted(glob.glob(path + "*"))}.values())
    if not files:
        check.holds(b"heapwake: " in run.err or not is_told, "there is no recording, and it is not said.")
    seen, said = collections.Counter(), not files
    for file in files:
        if tool("info", file).status != 0:
            check.holds(run.err, f"{file} cannot be read, and nothing is said.")
            said = True
            continue
        facts = check.honest(file) if not file.endswith(".spool") else info(file)
        said |= not facts["complete"] or facts["lost_events"] != 0
        for pid, (made, _) in Ledger(events(file)).by_pid.items():
            seen[pid] += made[9533]
    for line in told:
        made, pid = line["blocks"]["9533"][0], line["pid"]
        check.holds(seen[pid] <= made, f"{seen[pid]} blocks of {made} are recorded.")
        check.holds(seen[pid] in (0, made) or said, f"only {seen[pid]} blocks of {made} are recorded, and it is not said.")


def run_one(job):
    who, call, n, error = job
    check = Check()
    name = f"{who}-{call}-{n}-{error}"
    check.about(f"{who}: {call}, number {n}, fails with {error}")
    os.mkdir(name)
    run = run_traced(who, os.path.abspath(name), [f"--inject={call}:error={error}:when={n}"])
    check_outcome(check, run, os.path.abspath(f"{name}/out.wake"), who != "preloaded")
    if not check.wrong:
        shutil.rmtree(name)
    return check


def check_that_nobody_waits(n):
    """A collector without memory lets the program go, which has more to tell than fits."""
    check = Check()
    check.about(f"collector: mmap, number {n}, fails, and the program goes on for long")
    argv = [workload("steady"), "1000000"]
    run = native(["strace", "-qq", "-o", "long.log", f"--inject=mmap:error=ENOMEM:when={n}", HEAPWAKE, "record", "-o", "long.wake",
                  "--", *argv])
    check.equal("exit status", 8, run.status)
    check.honest("long.wake")
    return check.wrong


def main():
    if shutil.which("strace") is None or native(traced("try.log")).status != 0:
        skip("strace does not work here.")
    jobs = []
    wrong = []
    for who in ("probe", "preloaded"):
        plan = plan_of_probe(who)
        jobs += [(who, call, n, error) for call, n in plan for error in ERRORS.get(call, USUAL)]
        if len(plan) < 10:
            wrong.append(f"{who}: only {len(plan)} calls can be told apart.")
    collector = plan_of_collector()
    rest = [("collector", call, n, error) for call, n in collector for error in ERRORS.get(call, USUAL)[:3]]
    own = len(jobs)
    jobs += rest if ALL else random.Random(5).sample(rest, min(SAMPLE, len(rest)))
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for check in pool.map(run_one, jobs):
            wrong += check.wrong
    maps = [n for call, n in collector if call == "mmap"]
    for n in maps if ALL else maps[:4]:
        wrong += check_that_nobody_waits(n)
    print("\n".join(wrong[:60]))
    print(f"{len(jobs)} failures tried, {own} of them in the probe.")
    sys.exit(1 if wrong else 0)


main()
