#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The stacks of a recording are those that the programs say they had, return address
by return address: through libraries, libc, signals, plugins that come and go,
threads, exceptions on their way and 10,000 frames; code without unwind data cuts
the stack and is named as the reason."""
import os

from stack_truth import matches, read_stacks
from support import WORKLOADS, Check, record, tool, truths, workload


def compare(check, program, run, path, depth=None):
    stacks = read_stacks(path)
    lines = truths(run)
    check.holds(len(lines) > 10, "The program told next to nothing.")
    tail = 0
    for line in lines:
        case = line["case"]
        check.about(f"{program}, {case}")
        seen = stacks.get((line["address"], line["size"]))
        if seen is None:
            check.holds(False, "the block is not in the recording.")
            continue
        told = [None if frame is None else tuple(frame) for frame in line["frames"]]
        frames = seen["frames"]
        low, high = line["low"], line["high"]
        check.holds(frames and low <= frames[0][1] < high,
                    f"the innermost frame is {frames[:1]}, not in grab().")
        if case == "jit":
            check.equal("frames up to the code without unwind data", told[:3], frames[1:])
            check.holds("unwind" in seen["cut"], f"the reason of the cut is '{seen['cut']}'.")
            continue
        check.equal("mark of a cut", "", seen["cut"])
        if depth is None or len(told) + 2 < depth:
            check.holds(matches(told, frames[1:]), f"frames told {told[:12]}, seen {frames[1:13]}.")
            check.equal("frames left out", 0, seen["omitted"])
            if case == "chain":
                tail = len(frames) - 1 - (len(told) - 1)  # frames outside main
            continue
        inner, outer = (depth + 1) // 2, depth // 2
        check.equal("frames kept", depth, len(frames))
        check.equal("frames left out", 1 + len(told) - 1 + tail - depth, seen["omitted"])
        check.equal("inner end", told[:inner - 1], frames[1:inner])
        check.equal("outer end", told[-1 - (outer - tail):-1], frames[inner:inner + outer - tail])
    check.about("")


os.environ["HEAPWAKE_SYMBOLS"] = "0"  # stacks are read as module+offset
check = Check()
for program in ("stacks", "stacks_now", "stacks_cxx"):
    run = record([workload(program), WORKLOADS])
    check.equal(f"{program}: exit status", 0, run.status)
    check.sound("out.wake")
    compare(check, program, run, "out.wake")
run = record([workload("stacks"), WORKLOADS], env={"HEAPWAKE_DEPTH": "64"})
compare(check, "HEAPWAKE_DEPTH=64", run, "out.wake", 64)

check.about("--no-eh-frame-hdr")
run = record([workload("no_table")], "no-table.wake")
check.equal("exit status", 0, run.status)
facts = check.sound("no-table.wake")
check.equal("stacks and those of them that are cut", (3, 3), (facts["stacks"], facts["cut_stacks"]))
told = tool("dump", "--stacks", "no-table.wake").out.decode()
check.equal("allocations whose stack says why it ends", 12, told.count("(cut: code without unwind data)"))
check.equal("frames of the program", 12, told.count("no_table+0x"))
check.done()
