#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stacks go through machine code that was made at run time, if its unwind tables were
announced (__register_frame), return address by return address, and end there if they
were not or are no more; other code in the same place has its own. Programs work as
without us. How such code is shown, and how it gets names."""
import json
import os

from stack_truth import by_size, matches, read_stacks
from support import Check, ask, native, put, record, truths, workload


def compare_block(check, line, seen):
    check.about(line["case"])
    if seen is None:
        check.holds(False, "the block is not in the recording.")
        return
    told = [None if frame is None else (frame[0] or "[jit]", frame[1]) for frame in line["frames"]]
    frames = seen["frames"]
    check.holds(frames and line["low"] <= frames[0][1] < line["high"], f"the innermost frame is {frames[:1]}, not in grab().")
    if line["case"].startswith("cut"):
        last = [frame is not None and frame[0] == "[jit]" for frame in told].index(True)
        check.equal("frames up to the code of which nothing is known", [f[1] for f in told[:last + 1]], [f[1] for f in frames[1:]])
        check.holds(frames[-1][0] in ("", "[jit]"), f"the last frame is in {frames[-1][0]}.")
        check.equal("reason of the cut", "(cut: code without unwind data)", seen["cut"])
        return
    check.equal("mark of a cut", "", seen["cut"])
    check.holds(matches(told, frames[1:]), f"frames told {told[:12]}, seen {frames[1:13]}.")


def compare_threads(check, line, path):
    check.about("threads")
    blocks = by_size(path)
    for number, page in enumerate(line["pages"]):
        stacks = blocks[line["first_size"] + number]
        check.equal("blocks of a thread", line["rounds"], len(stacks))
        wrong = [s for s in stacks if any(frame.startswith("(cut") for frame in s) or len(s) < 4 or
                 not s[1].startswith("[jit]+0x") or not page < int(s[1][6:], 16) < page + 4096 or "/jit+0x" not in s[2]]
        check.equal("blocks of a thread with another stack", [], wrong[:2])


def made(check):
    """Code that the test program makes itself."""
    run = record([workload("jit")])
    check.equal("exit status", 0, run.status)
    check.sound("out.wake")
    stacks, lines = read_stacks("out.wake"), truths(run)
    cases = {line["case"] for line in lines}
    check.holds(len(cases) == 12, f"The program told of {sorted(cases)} only.")
    for line in lines:
        if line["case"] == "threads":
            compare_threads(check, line, "out.wake")
        else:
            compare_block(check, line, stacks.get((line["address"], line["size"])))
    check.about("")
    return next(frame[1] for line in lines if line["case"] == "reused" for frame in line["frames"] if frame and not frame[0])


def frame_of(path, **wanted):
    """The first frame of the report's sites that has these members."""
    sites = json.loads(ask("report", "--json", path).stdout)["peak"]["sites"]
    return next((f for s in sites for f in s["frames"] if wanted.items() <= f.items()), None)


def named(check, address):
    """A perf map names it, and hidden names stay hidden."""
    check.about("names")
    check.holds(f"[jit]+0x{address:x}" in ask("report", "out.wake").stdout, "the report does not show the code.")
    put("perf.map", b"%x 40 made at run time\n" % (address & ~0xfff))
    check.equal("symbolize", 0, ask("symbolize", "--perf-map", "perf.map", "out.wake").returncode)
    frame = frame_of("out.wake", function="made at run time") or {}
    check.equal("module and address of the frame", ("[jit]", hex(address)), (frame.get("module"), frame.get("address")))
    check.equal("anonymize", 0, ask("anonymize", "out.wake", "-o", "hidden.wake").returncode)
    check.sound("hidden.wake")
    frame = frame_of("hidden.wake", address=hex(address)) or {}
    check.equal("module of the hidden frame", "[jit]", frame.get("module"))
    check.holds(frame.get("function", "").startswith("function_"), f"the hidden frame is {frame}.")
    check.about("")


def unchanged(check):
    """Exceptions and backtrace() go through, and a weak reference does no harm."""
    check.about("jit_throw")
    alone, run = native([workload("jit_throw")]), record([workload("jit_throw")], "throw.wake")
    check.equal("exit status and output", (alone.status, alone.out), (run.status, run.out))
    check.holds(truths(run)[0]["depths"] > 0, "backtrace() did not go through the code.")
    blocks = by_size("throw.wake")
    for first in (7000, 7100, 7200):
        stacks = [blocks[first + n] for n in range(30)]
        check.equal("blocks", [1] * 30, [len(s) for s in stacks])
        through = sum(len(s) == 1 and s[0][1].startswith("[jit]+0x") and not s[0][-1].startswith("(cut") for s in stacks)
        check.equal("stacks through the code", 30 if first < 7200 else 0, through)
    check.about("jit_weak")
    run = native([workload("jit_weak")])
    check.equal("alone", (0, [{"called": 0, "same": 1}]), (run.status, truths(run)))
    run = record([workload("jit_weak")], "weak.wake")
    check.equal("recorded", (0, [{"called": 1, "same": 1}]), (run.status, truths(run)))
    blocks = by_size("weak.wake")
    announced, withdrawn = blocks[7069], blocks[7070]
    check.holds(len(announced) == 1 and "/libc.so.6+" in announced[0][-2], f"the stack while it was announced: {announced}.")
    check.equal("the stack afterwards", ["(cut: code without unwind data)"], withdrawn[0][2:] if withdrawn else None)
    check.about("")


os.environ["HEAPWAKE_SYMBOLS"] = "0"  # stacks are read as module+offset
check = Check()
named(check, made(check))
unchanged(check)
check.done()
