#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A recorder whose disk is full, that is killed, or whose kernel is old, every time
otherwise (many_times.py). The program, of tests/hostile, judges itself: it ends as if alone; what is
recorded is true, and what is missing is said."""
# timeout: 1200
import glob
import os
import time

from hostile import blocks_of, lines_of, seen_in
from many_times import many_times
from support import HEAPWAKE, TIMEOUT_S, Ledger, events, info, leave_out, native, writers

HOSTILE = os.path.join(os.environ["BUILD"], "tests/hostile")
KEEPER = os.path.join(HOSTILE, "keeper")
# What kernels got after 3.10, as far as anybody here might ask for it (x86-64).
YOUNG = {"kcmp": 312, "renameat2": 316, "getrandom": 318, "memfd_create": 319, "execveat": 322, "membarrier": 324,
         "copy_file_range": 326, "preadv2": 327, "statx": 332, "rseq": 334, "pidfd_send_signal": 424, "pidfd_open": 434,
         "clone3": 435, "close_range": 436, "openat2": 437, "pidfd_getfd": 438, "faccessat2": 439, "process_madvise": 440,
         "epoll_pwait2": 441, "landlock_create_ruleset": 444, "process_mrelease": 448, "futex_waitv": 449}
PROGRAMS = (["keeper", "only_works", "200"], ["wander", "handed_over"], ["kin", "generations"], ["kin", "fork_from_thread"])


def told_by(check, run):
    told, _, rest = lines_of(run)
    check.equal("complaints", [], [line["complaints"] for line in told if line["complaints"]])
    return told, rest


def compare(check, told, paths, is_whole, torn=False):
    """What the files have of what was told: all of it, or no more than that."""
    seen = sum((seen_in(Ledger(events(path, torn))) for path in paths), start=blocks_of([]))
    for key, count in blocks_of(told).items():
        check.holds(seen[key] == count or not is_whole and seen[key] < count, f"{key}: told {count}, recorded {seen[key]}.")
    return sum(count - seen[key] for key, count in blocks_of(told).items())


def clear():
    for path in os.listdir("."):
        if os.path.isfile(path):
            os.unlink(path)


def full_disk(check, chance):
    """A disk of some pages: the events that find no room are counted, and nobody is disturbed."""
    os.makedirs("small", exist_ok=True)
    pages, made = chance.randint(2, 20), chance.randint(1000, 4000)
    script = (f"mount -t tmpfs -o size={pages * 4}k none small && '{HEAPWAKE}' record --symbols no -o small/full.wake -- "
              f"'{KEEPER}' only_works {made}; status=$?; cp small/* . 2>/dev/null; exit $status")
    run = native(["unshare", "-m", "sh", "-c", script])
    if not check.equal(f"{pages} pages, {made} blocks: status", 0, run.status):
        return
    told, _ = told_by(check, run)
    files = glob.glob("full.wake*")
    check.holds(run.err.startswith(b"heapwake: "), f"it says {run.err!r}.")
    if files:
        facts = check.honest(files[0])
        missing = compare(check, told, files, is_whole=False)
        check.holds(missing == 0 or b"space" in run.err, f"{missing} events are missing; said is {run.err!r}.")
        check.holds(missing <= facts["lost_events"] <= (missing + 100 if missing else 0),
                    f"{missing} events are missing, {facts['lost_events']} are counted as lost.")
    clear()


def killed_recorder(check, chance):
    """The program kills its recorder after so many blocks, goes on, and has a child."""
    blocks = chance.randint(0, 2000)
    run = native([HEAPWAKE, "record", "-q", "--symbols", "no", "-o", "out.wake", "--", "sh", "-c", '"$@"; echo status $?', "sh",
                  KEEPER, "kills_recorder", blocks], {"HEAPWAKE_POOL": "1M"})
    told, rest = told_by(check, run)
    check.equal(f"after {blocks} blocks: status of record, of the program, stderr", (-9, [b"status 0"], b""), (run.status, rest, run.err))
    check.equal("processes that told", 2, len(told))
    last = time.monotonic() + TIMEOUT_S
    while writers("*"):
        if time.monotonic() > last:
            check.holds(False, "somebody writes for ever.")
            break
        time.sleep(0.01)
    paths = [path for path in glob.glob("*.wake*") if os.path.getsize(path) >= 64]
    for path in paths:
        if not path.endswith(".spool"):
            facts = check.honest(path, torn=True)
            check.holds("out.wake" not in path or not facts["complete"], f"{path} is called complete.")
    compare(check, told, paths, is_whole=False, torn=True)
    clear()


def old_kernel(check, chance):
    """All that is young is missing, or some of it."""
    missing = YOUNG if chance.random() < 0.3 else dict(chance.sample(sorted(YOUNG.items()), chance.randint(1, len(YOUNG))))
    program = chance.choice(PROGRAMS)
    check.about(f"{check.where}{program[0]} without {' '.join(missing)}")
    argv = [os.path.join(HOSTILE, program[0]), *program[1:]]
    without = [os.path.join(HOSTILE, "old_kernel"), ",".join(map(str, missing.values()))]
    alone = native([*without, *argv])
    run = native([*without, HEAPWAKE, "record", "--symbols", "no", "-o", "out.wake", "--", *argv])
    check.equal("status", alone.status, run.status)
    check.holds(run.err.startswith(b"heapwake: ") and run.err.count(b"\n") == 1, f"it says {run.err!r}.")
    told, _ = told_by(check, run)
    check.equal("processes that told", len(told_by(check, alone)[0]), len(told))
    if "memfd_create" in missing:  # there is no memory to share with a recorder: each process has a spool
        check.equal("spools and recordings", (len({line["pid"] for line in told}), 0), (len(glob.glob("*.spool")), len(glob.glob("*.wake"))))
    else:
        check.sound("out.wake")
        check.equal("processes that could not be recorded", 0, info("out.wake")["unrecorded_processes"])
    compare(check, told, glob.glob("*.wake") + glob.glob("*.spool"), is_whole=True)
    clear()


if __name__ == "__main__":
    CASES = {"full_disk": full_disk, "killed_recorder": killed_recorder, "old_kernel": old_kernel}
    os.mkdir("try")
    if os.geteuid() != 0 or native(["unshare", "-m", "mount", "-t", "tmpfs", "none", "try"]).status != 0:
        leave_out("A small disk cannot be made here: full disks are not tried.")
        del CASES["full_disk"]
    many_times(CASES)
