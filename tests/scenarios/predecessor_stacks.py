#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What recorders before this one had tests for, where no other scenario shows it: functions and
lines of blocks made while the stack is left by exceptions and longjmp, programs that look at their
own stack, values in registers across every hook, thread_local objects, libraries that come late.

Elsewhere:  return addresses while exceptions and signals are on their way, threads, recursion: stacks.py
            exceptions in great number and every kind, siglongjmp out of handlers: handlers.py
            libraries that come, go and take turns: reload.py      dlopen in every manner: hostile.py
            stacks of real programs against libunwind's: unwind_equal.py
            machine code made at run time, backtrace() through it: jit.py
            how much stack a hook needs: law_5_stack.py"""
import re

from stack_truth import BLOCK
from support import Check, ask, native, record, truths, workload

FRAME = re.compile(r"^        (.+?)(?:\(.*\))?(?: const)? (\S+):(\d+)(?: \(inlined\))?$")


def read(path):
    """[(address, size, [(function, file, line)], cut)], in order; a frame without a line is left out"""
    found = []
    for line in ask("dump", "--stacks", path).stdout.splitlines():
        block, frame = BLOCK.match(line), FRAME.match(line)
        if block:
            found.append((int(block.group(1), 16), int(block.group(2)), [], []))
        elif not line.startswith("        "):
            found.append((0, 0, [], []))
        elif line.strip().startswith("("):
            found[-1][3].append(line.strip())
        elif frame:
            found[-1][2].append((frame.group(1), frame.group(2).rpartition("/")[2], int(frame.group(3))))
    return [entry for entry in found if entry[0]]


def run_mode(check, mode):
    """The same program alone and recorded; what it told and what was recorded."""
    check.about(mode)
    argv = [workload("rewound"), mode]
    alone, run = native(argv), record(argv, "out.wake")
    check.equal("exit status alone and recorded", (0, 0), (alone.status, run.status))
    check.equal("what the program counted", truths(alone)[-1], truths(run)[-1])
    check.sound("out.wake")
    return truths(run), read("out.wake")


def compare_lines(check, mode, points):
    told, blocks = run_mode(check, mode)
    told = [line for line in told if "point" in line]
    check.equal("points told", [3] * points, [sum(t["point"] == name for t in told) for name in dict.fromkeys(t["point"] for t in told)])
    seen = {(address, size): (frames, cut) for address, size, frames, cut in blocks}
    for line in told:
        check.about(f"{mode}, {line['point']}")
        frames, cut = seen.get((line["address"], line["size"]), ([], ["not in the recording"]))
        check.equal("reasons of a cut", [], cut)
        own = [(function, number) for function, file, number in frames if file == "rewound.cc"]
        check.equal("functions and lines", [tuple(frame) for frame in line["lines"]], own)


def thread_locals(check):
    told, blocks = run_mode(check, "tls")
    check.equal("objects", 4, told[-1]["caught"])
    for size, function in ((7001, "lives::lives"), (7002, "lives::~lives")):
        stacks = [(frames, cut) for _, s, frames, cut in blocks if s == size]
        check.equal(f"blocks of {function}", 4, len(stacks))
        check.equal(f"blocks made elsewhere than in {function}", [], [f[:1] for f, _ in stacks if not f or f[0][0] != function])
        check.equal("stacks that are cut", [], [cut for _, cut in stacks if cut])
        check.equal("of them on the first thread", 1 if size == 7001 else 0,
                    sum(any(function == "main" for function, _, _ in frames) for frames, _ in stacks))


def late_library(check):
    told, blocks = run_mode(check, "dlopen")
    made = [(frames, cut) for _, size, frames, cut in blocks if size == 7001]
    check.equal("its blocks", 3, len(made))
    for frames, cut in made:
        check.equal("where they were made", ("library_make", "librewound.c", told[0]["line"]), frames[0] if frames else None)
        check.equal("who asked for them", ["library", "main"], [f for f, file, _ in frames if file == "rewound.cc"])
        check.equal("reasons of a cut", [], cut)


check = Check()
compare_lines(check, "throw", 4)
compare_lines(check, "longjmp", 4)
compare_lines(check, "backtrace", 2)
thread_locals(check)
late_library(check)
check.about("values")
for options in ((), ("--free-stacks",), ("--sample", "64"), ("--mmap", "no")):
    alone, run = native([workload("values")]), record([workload("values")], "values.wake", options)
    check.equal(f"status and output alone and recorded {options}", (0, alone.out), (run.status, run.out))
    check.sound("values.wake")
check.done()
