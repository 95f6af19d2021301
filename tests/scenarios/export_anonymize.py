#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake export --anonymize`: in no format is a name of the program left, numbers
stay, and the same name is the same token everywhere."""
import gzip
import os
import re
import shutil
import subprocess

from support import Check, native, record, tool, workload

check = Check()
THREAD, ARGUMENT = "secretname", "secretname"
FUNCTIONS = ("leak_small", "leak_large", "nothing_at_all", "churn")
shutil.copy(workload("blame"), "privateprogram")
check.equal("record", 0, record([os.path.abspath("privateprogram"), ARGUMENT], "app.wake").status)
listed = tool("export", "-f", "?", "app.wake").err.decode()
formats = re.search(r"there are (.*)\.", listed)[1].split(", ")
check.holds(len(formats) > 5, f"The formats are {formats}.")


def content(name, *options):
    """What a format holds, unpacked; None where it cannot be made here."""
    if name in ("svg", "pdf", "ps") and shutil.which("dot") is None:
        return None
    path = f"out.{name}"
    done = tool("export", "-f", name, "-o", path, *options, "app.wake")
    check.equal(f"{name} {options}: exit status", 0, done.status)
    data = open(path, "rb").read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def left_over(data, names):
    return [n for n in names if n.encode() in data]


for name in formats:
    plain = content(name)
    if plain is None or name in ("pdf", "ps"):  # drawn from the same text as svg
        continue
    named = name != "perfetto"  # it has no stacks
    if named:
        check.holds(b"hold" in plain, f"{name} has no names at all.")
    for level in ("partial", "full"):
        data = content(name, "--anonymize", level)
        check.equal(f"{name}, {level}: functions", [], left_over(data, FUNCTIONS))
        check.equal(f"{name}, {level}: threads, arguments, folders", [],
                    left_over(data, (THREAD, ARGUMENT, os.getcwd(), "blame.c")))
        if level == "full":
            check.equal(f"{name}, {level}: programs and libraries", [],
                        left_over(data, ("privateprogram", "libc.so", "libc_start", "_start")))

tokens = [set(re.findall(rb"function_[0-9a-f]{12}", content(name, "--anonymize", "full"))) for name in ("folded", "pprof")]
check.holds(tokens[0] and tokens[0] <= tokens[1], "The same names are other tokens in another format.")
numbers = [sorted(re.findall(rb" (\d+)$", content("folded", *o), re.M)) for o in ((), ("--anonymize", "full"))]
check.equal("numbers", numbers[0], numbers[1])
check.equal("another word", 2, tool("export", "-f", "folded", "--anonymize", "half", "app.wake").status)
check.done()
