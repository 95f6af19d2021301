#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A variable that makes no sense gives one line and the default; the program runs
all the same. HEAPWAKE_LOG chooses how much is said, HEAPWAKE_LOGFILE where."""
import os
import re
import subprocess
import sys
import time

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
                    ("HEAPWAKE_ROTATE", "1K"), ("HEAPWAKE_ROTATE", "never"), ("HEAPWAKE_MAP_USAGE", "5"), ("HEAPWAKE_MAP_USAGE", "1s"),
                    ("HEAPWAKE_LOGFILE", "/nowhere/at/all")):
    run = record({name: value})
    expect(f"{name}={value}", run.returncode == 3 and run.stdout == "out\n", run)
    expect(f"{name}={value} gives one line", run.stderr.count("\n") == 1 and name in run.stderr and value in run.stderr,
           run)
for name, value in (("HEAPWAKE_DEPTH", "64"), ("HEAPWAKE_MMAP", "0"), ("HEAPWAKE_CHILDREN", "no"),
                    ("HEAPWAKE_SYMBOLS", "0"), ("HEAPWAKE_EMBED_BINARIES", "0"), ("HEAPWAKE_LOG", "error"), ("HEAPWAKE_ENABLED", "0"),
                    ("HEAPWAKE_FREE_STACKS", "1"), ("HEAPWAKE_PRECISE_TIMESTAMPS", "1"), ("HEAPWAKE_ZERO_MEMORY", "1"),
                    ("HEAPWAKE_POOL", "1m"), ("HEAPWAKE_POOL", "524288K"), ("HEAPWAKE_SIGUSR1", "toggle"), ("HEAPWAKE_MAP_USAGE", "0"), ("HEAPWAKE_MAP_USAGE", "10")):
    run = record({name: value})
    expect(f"{name}={value} says nothing", run.returncode == 3 and run.stderr == "", run)

lines = [record({"HEAPWAKE_LOG": level}).stderr.count("\n") for level in ("error", "warn", "info", "debug", "trace")]
if not (lines[0] == lines[1] == 0 < lines[2] < lines[3] < lines[4]):
    wrong.append(f"Lines said at error, warn, info, debug, trace: {lines}; each should say more than the last.")
run = record({"HEAPWAKE_LOG": "info", "HEAPWAKE_LOGFILE": "log.txt"})
with open("log.txt", encoding="utf-8") as f:
    text = f.read()
expect("HEAPWAKE_LOGFILE takes the lines", run.stderr == "" and text.count("\n") == lines[2], run)

# Its name has what a recording's has, of the first process.
run = record({"HEAPWAKE_LOG": "info", "HEAPWAKE_LOGFILE": "log.%e.%p.%j.%%.txt", "SLURM_JOB_ID": "77", "HEAPWAKE_DEPTH": "banana"},
             ("sh", "-c", "echo $$"))
name = f"log.sh.{run.stdout.strip()}.77.%.txt"
expect(f"HEAPWAKE_LOGFILE is called {name}, and nothing goes elsewhere", run.stderr == "" and os.path.exists(name), run)
with open(name, encoding="utf-8") as f:
    text = f.read()
expect(f"{name} has all lines: {text}", text.startswith("heapwake: HEAPWAKE_DEPTH is 'banana'") and text.count("\n") == lines[2] + 1, run)
for n in range(2):
    run = record({"HEAPWAKE_LOG": "info", "HEAPWAKE_LOGFILE": "count.%n.txt"})
    expect(f"count.{n}.txt is there", run.stderr == "" and os.path.exists(f"count.{n}.txt"), run)
run = record({"HEAPWAKE_LOGFILE": "log.%q.txt"})
expect("a placeholder that there is not gives one line",
       run.returncode == 3 and run.stderr.count("\n") == 1 and "HEAPWAKE_LOGFILE" in run.stderr and "%q" in run.stderr, run)
run = record({"HEAPWAKE_LOGFILE": "/nowhere/%e.txt"})
expect("a folder that there is not gives one line", run.returncode == 3 and run.stderr.count("\n") == 1 and "/nowhere" in run.stderr, run)
run = record({"HEAPWAKE_LOGFILE": "%e.none.txt", "HEAPWAKE_DEPTH": "banana"}, ("./absent",))
expect("without a process the file has the program's name all the same", os.path.exists("absent.none.txt"), run)
run = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, env={
    **os.environ, "LD_PRELOAD": os.environ["PROBE"], "HEAPWAKE_LOG": "info", "HEAPWAKE_LOGFILE": "alone.%e.%p.txt", "HEAPWAKE_OUTPUT": "alone.wake"})
name = f"alone.sh.{run.stdout.strip()}.txt"
for _ in range(600):
    if os.path.exists("alone.wake"):
        break
    time.sleep(0.1)
expect(f"{name} is that of a program that runs by itself", os.path.exists(name) and run.stderr == "", run)

for option, value in (("--depth", "banana"), ("--mmap", "maybe"), ("--enabled", "2"), ("--pool", "12"), ("--pool", "9G"),
                      ("--sigusr1", "kill"), ("--sigusr2", ""), ("--log", "loud"), ("--logfile", ""), ("--children", "some"),
                      ("--symbols", "1"), ("--nonsense", "1")):
    run = subprocess.run([HEAPWAKE, "record", "-o", "s.wake", option, value, "--", "sh", "-c", "echo out"],
                         capture_output=True, text=True)
    expect(f"{option} {value!r} is refused", run.returncode == 2 and run.stdout == "" and run.stderr.count("\n") == 1 and
           option in run.stderr, run)
run = subprocess.run([HEAPWAKE, "record", "-q", "-o", "s.wake", "--log", "info", "--logfile=yes", "--depth", "9", "--mmap", "no",
                      "--enabled", "yes", "--pool=2M", "--sigusr1", "tag", "--free-stacks", "--precise-timestamps",
                      "--zero-memory", "--", "sh", "-c", "echo out; exit 3"], capture_output=True, text=True)
expect("all options together", (run.returncode, run.stdout, run.stderr) == (3, "out\n", "") and os.path.exists("yes"), run)
help_text = subprocess.run([HEAPWAKE, "help", "record"], capture_output=True, text=True).stdout
with open(os.path.join(os.environ["ROOT"], "man/heapwake.1"), encoding="utf-8") as f:
    page = f.read()
with open(os.path.join(os.environ["ROOT"], "src/cmd/settings.c"), encoding="utf-8") as f:
    table = re.findall(r'^ *{"(HEAPWAKE_[A-Z0-9_]+)", ', f.read(), re.M)
for name in table:
    if f".It Ev {name}" not in page:
        wrong.append(f"heapwake(1) has no entry for {name}.")
    if "--" + name[len("HEAPWAKE_"):].lower().replace("_", "-") not in help_text:
        wrong.append(f"'heapwake help record' has no option for {name}.")
if len(table) < 14:
    wrong.append(f"The table of settings cannot be read: {table}")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
