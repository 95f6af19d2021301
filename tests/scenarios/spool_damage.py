#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Spool files: one of a program that ended in order is sealed to its last event, and of one that was killed verify, info and
report say which events are unchecked. Of damaged ones (bits flipped, cut, overwritten) none is read with wrong totals and without a
word. DAMAGE=5000 is a long run."""
# timeout: 1200
import glob
import json
import os
import random

from support import Check, Ledger, events, info, lonely, native, tool, truths, workload

DAMAGES = int(os.environ.get("DAMAGE", "250"))
SUMS = ("processes", "allocations", "frees", "allocated_bytes", "peak_bytes", "leaked_blocks", "leaked_bytes", "threads")
PAGE, CHUNK = 4096, 8192
UNSEALED = "has no seal at its end"
check = Check()
chance = random.Random(11)  # the same damage in each run


def spool_of(*argv):
    """The spools that a program leaves, and how it ended."""
    for path in glob.glob("*.spool"):
        os.unlink(path)
    run = native([workload(argv[0]), *argv[1:]], lonely())
    return run, sorted(glob.glob("*.spool"))


def used(data):
    """Which bytes mean something: head and text, lanes, free list, chunks that were handed out."""
    lane_at, next_at, chunk_at = (int.from_bytes(data[at:at + 4], "little") for at in (24, 40, 32))
    fresh = int.from_bytes(data[200:204], "little")
    lanes = int.from_bytes(data[204:208], "little")
    return [(0, 512), (PAGE, PAGE + 200), (lane_at, lane_at + 4 * lanes), (next_at, next_at + 4 * fresh),
            (chunk_at, chunk_at + CHUNK * fresh)]


def mutate(data):
    """One to three of the things that happen to files, where they matter."""
    data, places = bytearray(data), used(data)
    front, chunks = places[:-1], places[-1:]
    for _ in range(chance.randint(1, 3)):
        first, last = chance.choice(chance.choice((front, chunks)))
        at, way, length = chance.randrange(first, last), chance.randrange(5), chance.choice((1, 4, 8, 100, 4096))
        if way == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif way == 1:
            data[at:at + length] = chance.randbytes(length)
        elif way == 2:
            data[at:at + length] = bytes(length)
        elif way == 3:
            other = chance.randrange(*chunks[0])
            data[at:at + length] = data[other:other + length]
        else:
            del data[at:]
            break
    return bytes(data)


def sums(facts):
    return {key: facts[key] for key in SUMS}


def check_whole(path, is_sealed):
    """What is said of a spool that nobody has damaged."""
    facts = info(path)
    said = [note for note in facts["notes"] if "spool" in note]
    check.equal("complete", True, facts["complete"])
    check.equal("notes of the spool", 0 if is_sealed else 1, len(said))
    verified, reported = tool("verify", path), tool("report", path)
    check.equal("verify", 0, verified.status)
    for what, out in (("verify", verified.out), ("report", reported.out)):
        words = " ".join(out.decode().split())
        check.equal(f"{what} says that it is not sealed", not is_sealed, UNSEALED in words)
    return facts


def check_damaged(data, truth):
    """Whether the damage is said wherever sums are wrong."""
    with open("bad.spool", "wb") as f:
        f.write(data)
    done = tool("info", "--json", "bad.spool")
    check.holds(done.status in (0, 1), f"info ends with {done.status}: {done.err[-300:]}")
    if done.status != 0:
        check.holds(done.err.startswith(b"heapwake") and done.err.count(b"\n") == 1, f"info refuses it with {done.err!r}")
        return False
    facts = json.loads(done.out)
    said = [note for note in facts["notes"] if "spool" in note]
    wrong = {key: (value, truth[key]) for key, value in sums(facts).items() if value != truth[key]}
    check.holds(said or not wrong, f"info says {wrong}, and nothing else.")
    if not facts["complete"]:
        check.equal("verify", 1, tool("verify", "bad.spool").status)
    return bool(said)


for way in ("return", "exit", "_exit", "_Exit", "quick_exit", "abort", "kill", "term", "exec"):
    for threads in (1, 4):
        check.about(f"{way}, {threads} threads")
        run, found = spool_of("ends", way, threads, 20000)
        for path, told in zip(found[:1], truths(run)):
            check_whole(path, way not in ("kill", "term"))
            check.equal("made", told["made"], Ledger(events(path)).made[told["size"]])
        check.holds(found, "there is no spool.")

check.about("children")
run, found = spool_of("family", "fork")
for path in found:
    check_whole(path, True)

for argv, is_sealed in ((["ends", "return", 4, 20000], True), (["ends", "kill", 4, 20000], False), (["ends", "exit", 1, 60000], True)):
    run, (path,) = spool_of(*argv)
    truth = sums(info(path))
    with open(path, "rb") as f:
        data = f.read().rstrip(b"\0")
    data += bytes(CHUNK)
    check.about(f"{argv[1]}, without the zeros at its end")
    check_damaged(data, truth)
    hits = 0
    for i in range(DAMAGES // 2):
        check.about(f"{argv[1]}, damage {i}")
        hits += check_damaged(mutate(data), truth)
    check.holds(hits > DAMAGES // 4, f"of {DAMAGES // 2} damages {hits} are told")
check.done()
