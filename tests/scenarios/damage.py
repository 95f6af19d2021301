#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Damaged recordings: cut at any byte, with flipped bits, with bytes put in, taken
out, overwritten, with pieces of others. info, report, verify, dump and export
never crash, never take long, say one sentence when they refuse a file, and where
they answer, the totals are the true ones or the damage is said: there is no wrong
total without a word.

DAMAGE=5000 flips so many bits of each recording, and does the rest in proportion;
DAMAGE=all tries every truncation, every single bit and 100,000 mutations.
"""
# timeout: 3000
import json
import os
import random
import resource
import signal
import subprocess

from support import HEAPWAKE, Check, native, record, workload

check = Check()
ALL = os.environ.get("DAMAGE") == "all"
FLIPS = int(os.environ.get("DAMAGE", "500")) if not ALL else 0
PATIENCE_S = 10
SUMS = ("processes", "allocations", "frees", "allocated_bytes", "peak_bytes", "leaked_blocks", "leaked_bytes", "threads", "unrecorded_processes")
chance = random.Random(7)  # the same damage in each run


def ask(path, *words):
    """(status, stdout, stderr) of the tool, or a failure with a name."""
    try:
        done = subprocess.run([HEAPWAKE, *words, path], capture_output=True, timeout=60 * PATIENCE_S, stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE_S, PATIENCE_S + 1)))
    except subprocess.TimeoutExpired:
        check.holds(False, f"{words[0]} does not end.")
        return 1, b"", b""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        check.holds(False, f"{words[0]} takes more than {PATIENCE_S} seconds of the CPU.")
        return 1, b"", b""
    check.holds(done.returncode in (0, 1, 2), f"{words[0]} ended with {done.returncode}: {done.stderr[-300:]}")
    return done.returncode, done.stdout, done.stderr


def check_answer(path, truth, words):
    """Whether the damage was said, and the totals right where it was not."""
    status, out, err = ask(path, *words)
    if status != 0:
        check.holds(err.startswith(b"heapwake") and err.count(b"\n") == 1, f"{words[0]} refuses it with {err!r}.")
        return True
    try:
        facts = json.loads(out)
    except ValueError as error:
        check.holds(False, f"{words[0]} prints what is no JSON: {error}.")
        return False
    summary = facts.get("summary", facts)
    said = not summary["complete"] or summary["lost_events"] != 0 or facts.get("damages")
    wrong = {key: summary[key] for key in SUMS if summary[key] != truth[key]}
    check.holds(said or not wrong, f"{words[0]} says {wrong}, the truth is {truth}.")
    return bool(said)


def check_file(data, truth, thorough):
    with open("bad.wake", "wb") as f:
        f.write(data)
    said = check_answer("bad.wake", truth, ("info", "--json"))
    if thorough:
        check_answer("bad.wake", truth, ("report", "--json"))
        status, _, _ = ask("bad.wake", "verify")
        check.holds(status != 0 or not said, "verify finds nothing where info does.")
        ask("bad.wake", "dump", "--tsv")
        ask("bad.wake", "export", "-f", "folded", "-o", os.devnull)


def mutate(data, others):
    """One to four of the things that disks, networks and people do to files."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at, way = chance.randrange(len(data) + 1), chance.randrange(7)
        length = chance.choice((1, 2, 4, 8, 100, 4096))
        if way == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif way == 1:
            data[at:at + length] = chance.randbytes(len(data[at:at + length]))
        elif way == 2:
            data[at:at] = chance.randbytes(length)
        elif way == 3:
            del data[at:at + length]
        elif way == 4:
            other = chance.choice(others)
            place = chance.randrange(len(other))
            data[at:at + length] = other[place:place + length]
        elif way == 5:
            data[at:at + length] = bytes(len(data[at:at + length]))
        else:
            data[at:at + 8] = chance.choice((0xffffffffffffffff, 1 << 63, 1 << 31, 16 << 20, 0)).to_bytes(8, "little")
    return bytes(data)


record([workload("family"), "fork"], "family.wake")
record([workload("threads"), "keys"], "threads.wake")
files = {}
for name in ("family.wake", "threads.wake"):
    with open(name, "rb") as f:
        files[name] = f.read()
for name, data in files.items():
    truth = {key: value for key, value in json.loads(native([HEAPWAKE, "info", "--json", name]).out).items() if key in SUMS}
    check.about(f"{name} itself")
    check_file(data, truth, True)
    check.holds(truth["allocations"] > 100, "the recording is empty.")
    cuts = range(len(data)) if ALL else chance.sample(range(len(data)), min(len(data), FLIPS * 3 // 10))
    for cut in cuts:
        check.about(f"{name} cut at {cut}")
        check_file(data[:cut], truth, cut % 8 == 0)
    bits = range(len(data) * 8) if ALL else chance.sample(range(len(data) * 8), min(len(data) * 8, FLIPS))
    for bit in bits:
        check.about(f"{name} with bit {bit} flipped")
        check_file(data[:bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1:], truth, bit % 16 == 0)
    for i in range(50000 if ALL else FLIPS * 6 // 10):
        check.about(f"{name}, mutation {i}")
        check_file(mutate(data, list(files.values())), truth, i % 8 == 0)

check.about("no recordings")
os.mkdir("folder")
os.mkfifo("pipe")
for name, text in (("empty", b""), ("text", b"hello\n" * 1000), ("zeros", bytes(100000)), ("head", files["family.wake"][:64])):
    with open(name, "wb") as f:
        f.write(text)
for path in ("empty", "text", "zeros", "head", "folder", "pipe", "/dev/null", "/dev/zero", "/nowhere"):
    for words in (("info", "--json"), ("info",), ("report",), ("report", "--json"), ("verify",), ("dump", "--tsv")):
        status, out, err = ask(path, *words)
        if path != "head":  # which is a recording without events
            check.holds(status != 0 and err.startswith(b"heapwake") and err.count(b"\n") == 1,
                        f"{words[0]} of {path}: status {status}, {err[:200]!r}")
print(f"{check.count} checks")
check.done()
