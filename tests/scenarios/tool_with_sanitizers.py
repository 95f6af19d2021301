#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 1500
"""Every command of the outside tool, the collector among them, under the address and
undefined-behaviour sanitizers and under the one for threads: no finding, and the same
answers as without."""
import os
import shutil
import subprocess
import sys

from support import HEAPWAKE, PROBE, Check, native, workload

ROOT, BUILD = os.environ["ROOT"], os.environ["BUILD"]
FORMATS = "callgrind csv dhat dot flamegraph folded gprof2dot heaptrack html json massif perfetto pprof speedscope".split()
ENVIRONMENT = {"HEAPWAKE_PROBE": PROBE, "UBSAN_OPTIONS": "halt_on_error=1:exitcode=66",
               "ASAN_OPTIONS": "exitcode=66:detect_leaks=0", "TSAN_OPTIONS": "halt_on_error=1:exitcode=66"}
COMMANDS = [
    ["info", "--json", "a.wake"], ["verify", "a.wake"], ["dump", "--tsv", "b.wake"], ["dump", "--stacks", "b.wake"],
    ["report", "a.wake"], ["report", "--verdict", "--misuse", "--advice", "--histogram", "a.wake"],
    ["report", "--tree", "--json", "a.wake"], ["report", "--leaks", "--peak", "-n", "0", "a.wake", "b.wake"],
    ["report", "--without", "function~feast", "a.wake"], ["diff", "a.wake", "b.wake"], ["diff", "--json", "a.wake@30%", "a.wake"],
    ["check", "--max-peak", "1G", "--max-growth-vs", "b.wake", "5%", "a.wake"], ["history", "a.wake", "0x1000"],
    ["extract", "--list", "b.wake"], *(["export", "-f", name, "a.wake"] for name in FORMATS),
]


def build(kind):
    done = subprocess.run([f"{ROOT}/scripts/build-sanitized", "heapwake", kind], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return os.path.join(done.stdout.strip(), "heapwake")


def main():
    check = Check()
    programs = {"a.wake": [os.path.join(BUILD, "examples/kitchen")], "b.wake": [workload("family"), "forkthreads", "20"]}
    for name, argv in programs.items():
        check.equal("record", 0, native([HEAPWAKE, "record", "-q", "--embed-binaries", "-o", name, "--", *argv]).status)
    plain = {tuple(command): native([HEAPWAKE, *command]) for command in COMMANDS}
    for kind in ("address", "thread"):
        tool = build(kind)
        for command in COMMANDS:
            check.about(f"{kind}: {' '.join(command)}")
            run, expected = native([tool, *command], ENVIRONMENT), plain[tuple(command)]
            check.holds(run.status == expected.status, f"it ends with {run.status}, not {expected.status}: {run.err.decode()[-3000:]}")
            check.holds(run.out == expected.out, "its answer is another one.")
        for name, argv in programs.items():
            check.about(f"{kind}: recording {name}")
            run = native([tool, "record", "-o", f"{kind}-{name}", "--", *argv], ENVIRONMENT)
            check.holds(run.status == 0, f"it ends with {run.status}: {run.err.decode()[-3000:]}")
            check.sound(f"{kind}-{name}")
            shutil.copy(name, "edited.wake")
            run = native([tool, "symbolize", "--embed-binaries", "edited.wake"], ENVIRONMENT)
            check.holds(run.status == 0, f"symbolize ends with {run.status}: {run.err.decode()[-3000:]}")
            check.sound("edited.wake")
    check.done()


main()
