#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Faults on purpose: a program with eight threads is killed at any instant, a program
with busy threads forks again and again, the disk fills up at any size. What
was finished is recorded, what is recorded is true, and what is missing is counted.

KILLS=1000 FORKS=10000 DISKS=100 are the long run; the numbers here are for every day.
"""
# timeout: 3000
import glob
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import time

from support import HEAPWAKE, Check, Ledger, events, leave_out, native, record, truth, truths, workload

KILLS, FORKS, DISKS = (int(os.environ.get(name, usual)) for name, usual in (("KILLS", 25), ("FORKS", 300), ("DISKS", 8)))
VICTIM = os.path.join(os.environ["BUILD"], "tests/hostile/victim")
THREADS, SMALLEST = 8, 11003
PATIENCE_S = 200  # before a program counts as hanging
check = Check()
chance = random.Random(11)


def read_progress(path="progress"):
    with open(path, "rb") as f:
        return struct.unpack(f"<{2 * THREADS + 1}Q", f.read(8 * (2 * THREADS + 1)))


def kill_once(wait_s):
    """The recorded program, killed so long after its first block."""
    for old in glob.glob("killed.wake*") + glob.glob("progress"):
        os.unlink(old)
    process = subprocess.Popen([HEAPWAKE, "record", "-q", "--symbols", "no", "-o", "killed.wake", "--", VICTIM, "progress"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and not (os.path.exists("progress") and os.path.getsize("progress") >= 4096):
        time.sleep(0.0005)
    with open("progress", "r+b") as f, mmap.mmap(f.fileno(), 4096) as words:
        while time.monotonic() < until and not any(words[16:136]):
            time.sleep(0.0005)
        pid = struct.unpack("<Q", words[:8])[0]
    time.sleep(wait_s)
    os.kill(pid, signal.SIGKILL)
    return process.wait(PATIENCE_S), read_progress()


def kills():
    for i in range(KILLS):
        wait_s = chance.random() * 0.04
        check.about(f"killed after {wait_s * 1000:.2f} ms, run {i}")
        status, words = kill_once(wait_s)
        check.holds(status in (-9, 137), f"record ended with {status}.")
        check.sound("killed.wake")
        ledger = Ledger(events("killed.wake"))
        check.pairs(ledger)
        for thread in range(THREADS):
            size = SMALLEST + 2 * thread
            made, freed = words[2 * thread + 1], words[2 * thread + 2]
            check.holds(made <= ledger.made[size] <= made + 1 and freed <= ledger.freed[size] <= freed + 1,
                        f"thread {thread} finished {made} and {freed}, recorded are {ledger.made[size]} and {ledger.freed[size]}.")
            check.holds(ledger.made[size] + ledger.freed[size] <= made + freed + 1, f"thread {thread} did two things at once.")


def count_by_process(path, size):
    """Blocks of this size that each process made and released: of millions of events, so without a Ledger."""
    counts = {}
    dump = subprocess.Popen([HEAPWAKE, "dump", "--tsv", path], stdout=subprocess.PIPE)
    names, wanted = dump.stdout.readline().split(), b"%d" % size
    pid, event, bytes_at = (names.index(name) for name in (b"pid", b"event", b"size"))
    for line in dump.stdout:
        words = line.split(b"\t", bytes_at + 1)
        if words[bytes_at] == wanted:
            key = words[pid], words[event]
            counts[key] = counts.get(key, 0) + 1
    check.equal("dump", 0, dump.wait())
    return {int(pid): (counts[pid, b"alloc"], counts.get((pid, b"free"), 0)) for pid, event in counts if event == b"alloc"}


def forks(count):
    check.about(f"{count} forks of a program with busy threads")
    run = record([workload("family"), "forkthreads", count], "forks.wake", ["--symbols", "no"])
    check.equal("exit status", 0, run.status)
    told = {}
    for line in truths(run):
        made, freed = told.get(line["pid"], (0, 0))
        told[line["pid"]] = (made + line["made"], freed + line["freed"])
    check.equal("processes", count + 1, len(told))
    check.equal("blocks of each process", told, count_by_process("forks.wake", 7069))
    check.sound("forks.wake")


def orphans():
    """The collector is gone when the program forks and becomes other programs."""
    check.about("children after the collector's death")
    expected = sorted((line["made"], line["freed"]) for line in truths(native([workload("family"), "fork"])))
    for i in range(5):
        process = subprocess.Popen([HEAPWAKE, "record", "-q", "-o", "orphan.wake", "--", "sh", "-c",
                                    'echo ready; read line; "$0" fork; echo "status $?"', workload("family")],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check.equal("first line", b"ready\n", process.stdout.readline())
        process.kill()
        process.wait()
        out, err = process.communicate(b"\n", timeout=PATIENCE_S)
        check.equal("last line", b"status 0", out.splitlines()[-1] if out else b"")
        told = [json.loads(line) for line in out.splitlines() if line.startswith(b"{")]
        check.equal("told", expected, sorted((line["made"], line["freed"]) for line in told))
        check.equal("stderr", b"", err)
        check.equal("files that they leave", [], glob.glob("family.*") + glob.glob("sh.*"))
        for left in glob.glob("orphan.wake*"):
            os.unlink(left)


def disk(size_kib):
    """On a disk of that size, where the system lets us make one."""
    check.about(f"a disk of {size_kib} KiB")
    for old in glob.glob("full.wake*"):
        os.unlink(old)
    script = (f"mount -t tmpfs -o size={size_kib}k none small && '{HEAPWAKE}' record --symbols no -o small/full.wake -- "
              f"'{workload('order')}' 4 60000; status=$?; cp small/* . 2>/dev/null; exit $status")
    run = native(["unshare", "-m", "sh", "-c", script])
    check.equal("exit status", 0, run.status)
    told, files = truth(run), glob.glob("full.wake*")
    sizes = [int(size) for size in told["made"]]
    all_of_it = sum(told["made"].values()) + sum(told["freed"].values())
    if not files:
        check.holds(b"heapwake: " in run.err, "there is no recording, and it is not said.")
        return False
    facts = check.honest(files[0])
    ledger = Ledger(events(files[0]))
    missing = all_of_it - sum(ledger.made[size] + ledger.freed[size] for size in sizes)
    check.holds(missing == 0 or b"space" in run.err, f"{missing} events are missing; said is {run.err!r}.")
    check.holds(missing <= facts["lost_events"] <= (missing + 100 if missing else 0),
                f"{missing} events are missing, {facts['lost_events']} are counted as lost.")
    return missing > 0


def disks():
    os.makedirs("small", exist_ok=True)
    if os.geteuid() != 0 or native(["unshare", "-m", "mount", "-t", "tmpfs", "none", "small"]).status != 0:
        leave_out("A small disk cannot be made here: full disks are not tested.")
        return
    sizes = [int(64 * (64 ** (i / max(1, DISKS - 1)))) for i in range(DISKS)]  # 64 KiB to 4 MiB
    full = [disk(size // 4 * 4) for size in sizes]
    check.about("disks")
    check.holds(any(full), "no disk was too small.")


kills()
for first in range(0, FORKS, 250):
    forks(min(250, FORKS - first))
orphans()
disks()
print(f"{KILLS} kills, {FORKS} forks, {DISKS} disks.")
check.done()
