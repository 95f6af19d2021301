#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A variable that makes no sense gives one line and the default; the program runs
all the same. HEAPWAKE_LOG chooses how much is said, HEAPWAKE_LOGFILE where."""
import os
import subprocess
import sys

HEAPWAKE = os.environ["HEAPWAKE"]
os.chdir(os.environ["TMPDIR"])
wrong = []


def record(variables, program=("sh", "-c", "echo out; exit 3")):
    return subprocess.run([HEAPWAKE, "record", "-q", "-o", "s.wake", "--", *program], env={**os.environ, **variables},
                          capture_output=True, text=True)


def expect(what, condition, run):
    if not condition:
        wrong.append(f"{what}: exit {run.returncode}, stdout {run.stdout!r}, stderr {run.stderr!r}")


for name, value in (("HEAPWAKE_DEPTH", "banana"), ("HEAPWAKE_DEPTH", "0"), ("HEAPWAKE_MMAP", "7"),
                    ("HEAPWAKE_CHILDREN", "nothing"), ("HEAPWAKE_SYMBOLS", "maybe"),
                    ("HEAPWAKE_EMBED_BINARIES", "yes"), ("HEAPWAKE_LOG", "loud"), ("HEAPWAKE_ENABLED", "off"),
                    ("HEAPWAKE_FREE_STACKS", "2"), ("HEAPWAKE_PRECISE_TIMESTAMPS", "x"), ("HEAPWAKE_ZERO_MEMORY", "-1"),
                    ("HEAPWAKE_POOL", "12"), ("HEAPWAKE_POOL", "9G"), ("HEAPWAKE_SIGUSR1", "kill"), ("HEAPWAKE_SIGUSR2", "on"),
                    ("HEAPWAKE_CULL", "often"), ("HEAPWAKE_CULL_MS", "0"), ("HEAPWAKE_CULL_PENDING", "many"),
                    ("HEAPWAKE_MAX_SIZE", "1K"), ("HEAPWAKE_SAMPLE", "half"), ("HEAPWAKE_SAMPLE", "1.5K"),
                    ("HEAPWAKE_ROTATE", "1K"), ("HEAPWAKE_ROTATE", "never"),
                    ("HEAPWAKE_LOGFILE", "/nowhere/at/all")):
    run = record({name: value})
    expect(f"{name}={value}", run.returncode == 3 and run.stdout == "out\n", run)
    expect(f"{name}={value} gives one line", run.stderr.count("\n") == 1 and name in run.stderr and value in run.stderr,
           run)
for name, value in (("HEAPWAKE_DEPTH", "64"), ("HEAPWAKE_MMAP", "0"), ("HEAPWAKE_CHILDREN", "no"),
                    ("HEAPWAKE_SYMBOLS", "0"), ("HEAPWAKE_EMBED_BINARIES", "0"), ("HEAPWAKE_LOG", "error"), ("HEAPWAKE_ENABLED", "0"),
                    ("HEAPWAKE_FREE_STACKS", "1"), ("HEAPWAKE_PRECISE_TIMESTAMPS", "1"), ("HEAPWAKE_ZERO_MEMORY", "1"),
                    ("HEAPWAKE_POOL", "1m"), ("HEAPWAKE_POOL", "524288K"), ("HEAPWAKE_SIGUSR1", "toggle")):
    run = record({name: value})
    expect(f"{name}={value} says nothing", run.returncode == 3 and run.stderr == "", run)

lines = [record({"HEAPWAKE_LOG": level}).stderr.count("\n") for level in ("error", "warn", "info", "debug", "trace")]
if not (lines[0] == lines[1] == 0 < lines[2] < lines[3] < lines[4]):
    wrong.append(f"Lines said at error, warn, info, debug, trace: {lines}; each should say more than the last.")
run = record({"HEAPWAKE_LOG": "info", "HEAPWAKE_LOGFILE": "log.txt"})
with open("log.txt", encoding="utf-8") as f:
    text = f.read()
expect("HEAPWAKE_LOGFILE takes the lines", run.stderr == "" and text.count("\n") == lines[2], run)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
