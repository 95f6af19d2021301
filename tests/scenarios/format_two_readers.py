#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""heapwake's reader and the one written from docs/format.md see the same events in recordings of real programs."""
import os
import subprocess
import sys

reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
heapwake = os.environ["HEAPWAKE"]
kitchen = os.path.join(os.environ["BUILD"], "examples/kitchen")

told = os.path.join(os.environ["WORKLOADS"], "told")


def compare(program, options, least):
    subprocess.run([heapwake, "record", "-q", "-o", "two.wake", *options, "--", *program], stdout=subprocess.DEVNULL,
                   check=True)
    subprocess.run([sys.executable, reader, "--check", "two.wake"], check=True)
    ours = subprocess.run([heapwake, "dump", "--tsv", "two.wake"], capture_output=True, check=True).stdout
    theirs = subprocess.run([sys.executable, reader, "two.wake"], capture_output=True, check=True).stdout
    if ours != theirs:
        for n, (a, b) in enumerate(zip(ours.splitlines(), theirs.splitlines()), 1):
            if a != b:
                sys.exit(f"Line {n}: heapwake says\n{a.decode()}\nand wake_reader.py\n{b.decode()}")
        sys.exit("One of the readers sees more events than the other.")
    if ours.count(b"\n") < least:
        sys.exit("The recording is too short to mean anything.")
    return ours


compare([kitchen], [], 100)
compare([os.path.join(os.environ["WORKLOADS"], "arenas")], [], 400)
if b"pool_free" not in compare([told, "pools"], [], 150):
    sys.exit("No release of a pool block is there.")
frees = [line.split(b"\t") for line in compare([told, "calls"], ["--free-stacks"], 10).splitlines()]
if not all(words[6] != b"0" for words in frees if words[3] == b"free" and words[7] == b"free"):
    sys.exit("A free has no stack.")
