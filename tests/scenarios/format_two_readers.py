#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""heapwake's reader and the one written from docs/format.md see the same events in a recording of a real program."""
import os
import subprocess
import sys

reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
heapwake = os.environ["HEAPWAKE"]
kitchen = os.path.join(os.environ["BUILD"], "examples/kitchen")

subprocess.run([heapwake, "record", "-q", "-o", "kitchen.wake", "--", kitchen], stdout=subprocess.DEVNULL, check=True)
subprocess.run([sys.executable, reader, "--check", "kitchen.wake"], check=True)
ours = subprocess.run([heapwake, "dump", "--tsv", "kitchen.wake"], capture_output=True, check=True).stdout
theirs = subprocess.run([sys.executable, reader, "kitchen.wake"], capture_output=True, check=True).stdout
if ours != theirs:
    for n, (a, b) in enumerate(zip(ours.splitlines(), theirs.splitlines()), 1):
        if a != b:
            sys.exit(f"Line {n}: heapwake says\n{a.decode()}\nand wake_reader.py\n{b.decode()}")
    sys.exit("One of the readers sees more events than the other.")
if ours.count(b"\n") < 100:
    sys.exit("The recording is too short to mean anything.")
