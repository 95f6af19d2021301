#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files that are no recordings, or damaged ones: replay, anonymize and merge say one sentence about what is wrong and leave no file; of a damaged
recording they take what is sound, as report does, and never call the result whole. What they make gets its name when it is whole, and
takes that of no pipe or device."""
import json
import os
import random
import stat

from support import HEAPWAKE, Check, ask, info, native, no_recordings, put, record, workload

check = Check()
record([workload("relay")], "good.wake")
with open("good.wake", "rb") as f:
    good = f.read()
random.seed(11)


def refused(what, path, word):
    for argv in (("replay", "--allocators", "glibc", path), ("anonymize", path, "-o", "new.wake"),
                 ("merge", "good.wake", path, "-o", "new.wake")):
        done = ask(*argv)
        lines = done.stderr.strip().splitlines()
        check.equal(f"{what}, {argv[0]}: exit status", 1, done.returncode)
        check.holds(len(lines) == 1 and word in lines[0] and lines[0].endswith("."), f"{what}, {argv[0]}: {done.stderr!r}")
        check.equal(f"{what}, {argv[0]}: standard output", "", done.stdout)
        check.holds(not os.path.exists("new.wake"), f"{what}, {argv[0]}: there is a file.")


def sums(*paths):
    """What report adds up, or None where nothing can be read."""
    done = ask("report", "--json", "-n", "1", "--no-built-in-suppressions", *paths)
    if done.returncode != 0:
        return None
    report = json.loads(done.stdout)
    return [report[m]["total_bytes"] for m in ("peak", "leaks", "calls")]


for what, path, word in no_recordings():
    refused(what, path, word)

whole = info("good.wake")
cuts = sorted({random.randrange(64, len(good)) for _ in range(12)} | {len(good) - 1, 64, 65, 100})
flips = [random.randrange(64, len(good)) for _ in range(16)]
for name, data in [(f"cut at {n}", good[:n]) for n in cuts] + [
        (f"byte {n} flipped", good[:n] + bytes([good[n] ^ 0xff]) + good[n + 1:]) for n in flips]:
    check.about(name)
    before = sums(put("damaged.wake", data))
    lost_events = "events chunk" in ask("verify", "damaged.wake").stderr + ask("verify", "damaged.wake").stdout
    for argv in (("anonymize", "damaged.wake"), ("merge", "damaged.wake", "good.wake")):
        done = ask(*argv, "-o", "new.wake")
        check.holds(done.returncode in (0, 1), f"{argv[0]}: exit status {done.returncode}.")
        check.equal(f"{argv[0]}: succeeds where report does", before is not None, done.returncode == 0)
        if done.returncode != 0:
            check.holds(done.stderr != "" and not os.path.exists("new.wake"), f"{argv[0]}: {done.stderr!r}")
            continue
        old, new = sums(*argv[1:]), sums("new.wake")
        # Totals of a process whose events are left out are not believed any more.
        fits = old == new or (lost_events and all(n <= o for n, o in zip(new, old)))
        check.holds(fits, f"{argv[0]}: sums {old}, in the result {new}.")
        check.holds(info("new.wake")["complete"] is False or done.stderr == "", f"{argv[0]}: the result is called whole.")
        os.unlink("new.wake")
    done = ask("replay", "--json", "--allocators", "glibc", "damaged.wake")
    check.holds(done.returncode in (0, 1), f"replay: exit status {done.returncode}.")
    if done.returncode == 0:
        played = json.loads(done.stdout)["process"]
        check.holds(played["allocations"] <= whole["allocations"], f"replay: {played}")
    else:
        check.holds(done.stderr.strip().endswith("."), f"replay: {done.stderr!r}")

check.about("what has the name already")
ask("export", "-f", "dhat", "-o", "good.dhat", "good.wake")
makers = (["import", "good.dhat"], ["strip", "--threshold", "1ns", "good.wake"], ["anonymize", "good.wake"], ["merge", "good.wake"],
          ["export", "-f", "json", "good.wake"])
os.mkfifo("taken")
for argv in makers:
    done = ask(*argv, "-o", "taken")
    check.equal(f"{argv[0]} to a pipe: exit status", 1, done.returncode)
    check.holds("taken is not a regular file and is not replaced by one." in done.stderr, f"{argv[0]} to a pipe: {done.stderr!r}")
    check.holds(stat.S_ISFIFO(os.stat("taken").st_mode), f"{argv[0]} has replaced a pipe.")
for argv in makers:
    put("old.wake", b"precious")
    files = set(os.listdir())
    done = native(["sh", "-c", 'ulimit -f 1; exec "$@"', "-", HEAPWAKE, *argv, "-o", "old.wake"])
    check.equal(f"{argv[0]} without room: exit status", 1, done.status)
    with open("old.wake", "rb") as f:
        check.equal(f"{argv[0]} without room: what was there", b"precious", f.read())
    check.equal(f"{argv[0]} without room: files left behind", set(), set(os.listdir()) - files)
check.about("what a killed recorder left, under the name that it was to get")
put("left.wake.partial", good)
for argv in makers[1:4]:
    done = ask(*argv[:-1], "left.wake.partial", "-o", "left.wake")
    check.equal(f"{argv[0]}: exit status", 0, done.returncode)
    with open("left.wake.partial", "rb") as f:
        check.equal(f"{argv[0]}: the source", good, f.read())
    os.unlink("left.wake")
record([workload("relay")], "whole.wake", ["--embed-binaries"])
for argv in (["diff", "--svg", "new.svg", "good.wake", "whole.wake"], ["extract", "-C", "folder", "whole.wake"],
             ["replay", "--allocators", "glibc", "good.wake"]):
    files = {folder: set(found) for folder, _, found in os.walk(".")}
    done = native(["sh", "-c", 'ulimit -f 1; exec "$@"', "-", HEAPWAKE, *argv])
    check.equal(f"{argv[0]} without room: exit status", 1, done.status)
    check.holds(done.err.endswith(b".\n"), f"{argv[0]} without room: {done.err!r}")
    check.equal(f"{argv[0]} without room: files left behind", [],
                [name for folder, _, found in os.walk(".") for name in set(found) - files.get(folder, set())])
check.done()
