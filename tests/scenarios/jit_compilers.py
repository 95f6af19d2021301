#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stacks through the code of real JIT compilers, as far as these announce unwind tables: LLVM's are
whole, LuaJIT's end in its traces. The programs do what they do alone."""
import os
import shutil

from stack_truth import by_size
from support import Check, native, put, record, skip

LLVM = b"""
#include <stdlib.h>
__attribute__((noinline)) void *inner(int n) { char *p = malloc(7069 + n); if (p) *p = 1; return p; }
__attribute__((noinline)) int outer(int n) { char *p = inner(n); return p[0] + n; }
int main(void) { return outer(0) + outer(1) == 3 ? 5 : 6; }
"""


def llvm(check):
    """LLVM announces what it makes: stacks go through to main()."""
    check.about("lli")
    put("made.c", LLVM)
    check.equal("clang", 0, native(["clang", "-O1", "-funwind-tables", "-emit-llvm", "-S", "made.c", "-o", "made.ll"]).status)
    for kind in ("mcjit", "orc"):
        run = record(["lli", f"--jit-kind={kind}", "made.ll"], "lli.wake")
        check.equal(f"{kind}: exit status", 5, run.status)
        blocks = by_size("lli.wake")
        stacks = blocks[7069] + blocks[7070]
        check.equal(f"{kind}: blocks", 2, len(stacks))
        for frames in stacks:
            where = [frame.rpartition("+")[0].rpartition("/")[2] for frame in frames]
            check.holds(where[:3] == ["[jit]"] * 3 and "[jit]" not in where[3:] and where[-1] == "lli", f"{kind}: {frames}.")


LUA = b"""
local ffi = require "ffi"
ffi.cdef [[void *malloc(size_t);]]
local function leak(n) for i = 1, n do ffi.C.malloc(7069) end end
local function deep(i) if i == 150 then error("stop at " .. i) end return i end
local function sum(n) local s = 0 for i = 1, n do s = s + deep(i) end return s end
leak(500)
for round = 1, 5 do print(pcall(sum, 1000)) end
io.stderr:write(require "jit.util".traceinfo(1) and "compiled" or "interpreted")
"""


def luajit(check):
    """LuaJIT announces unwind tables that say nothing of the frame: stacks end in its code, and
    errors still find their way through it. Without its compiler stacks are whole."""
    check.about("luajit")
    put("errors.lua", LUA)
    alone = native(["luajit", "errors.lua"])
    check.equal("lines of the script alone", 5, alone.out.count(b"errors.lua:5: stop at 150"))
    for options in ([], ["-joff"]):
        run = record(["luajit", *options, "errors.lua"], "lua.wake")
        check.equal("exit status and output", (alone.status, alone.out), (run.status, run.out))
        stacks = by_size("lua.wake")[7069]
        check.equal("blocks", 500, len(stacks))
        cut = [s for s in stacks if s[-1] == "(cut: code without unwind data)"]
        check.holds(all(len(s) == 2 and s[0].startswith("0x") for s in cut), f"{cut[:1]} is cut elsewhere.")
        check.holds(all("/luajit+0x" in s[-1] for s in stacks if s not in cut), "a stack ends elsewhere.")
        # It does not always find memory near enough for its code.
        is_compiled = run.err.endswith(b"compiled")
        check.holds(not (is_compiled and options), "compiled although that was switched off.")
        check.holds(len(cut) > 100 if is_compiled else not cut, f"{len(cut)} stacks are cut with options {options}.")


for needed in ("clang", "lli", "luajit"):
    if not shutil.which(needed):
        skip(f"There is no {needed}; scripts/bootstrap check installs it.")
os.environ["HEAPWAKE_SYMBOLS"] = "0"  # stacks are read as module+offset
check = Check()
llvm(check)
luajit(check)
check.done()
