#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The examples of the manual that show output show what is really printed: each
is run on a recording of the example program. Numbers may differ, words may not."""
import os
import re
import subprocess

from support import HEAPWAKE, Check, events, native, record

check = Check()
ROOT = os.environ["ROOT"]
PAGES = sorted(re.findall(r"heapwake-(\w+)\.1", " ".join(os.listdir(f"{ROOT}/man"))))
MIXED = """#include <stdlib.h>
__attribute__((noinline)) char *begin()
{
    return new char[48];
}

__attribute__((noinline)) int finish(char *block)
{
    free(block);
    return 0;
}

int main()
{
    char *block = begin();
    return finish(block);
}
"""


def examples(page):
    """(commands, output) of the literal blocks that have both."""
    text = open(f"{ROOT}/man/heapwake-{page}.1", encoding="utf-8").read()
    for block in re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed", text, re.M | re.S):
        lines = block.replace("\\&", "").splitlines()
        if lines[0].startswith("$ ") and any(not line.startswith("$ ") for line in lines):
            yield [line[2:] for line in lines if line.startswith("$ ")], [line for line in lines if not line.startswith("$ ")]


def shape(lines):
    """Words without numbers, their units and how much room they take."""
    text = "\n".join(" ".join(line.split()) for line in lines)
    text = text.replace(os.path.realpath("."), "/srv")
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", text)
    text = re.sub(r"\b[0-9a-f]{40}\b", "BUILD", text)
    text = re.sub(r"\d[\d.,]*", "N", text)
    text = re.sub(r"N (?:min N s|ns|us|ms|s|min)\b", "TIME", text)
    text = re.sub(r"N (?:bytes?|[KMG]iB)\b", "SIZE", text)
    return re.sub(r"N million|N thousand", "N", text).strip().splitlines()


os.mkdir("bin")
os.symlink(HEAPWAKE, "bin/heapwake")
os.symlink(os.path.join(os.path.dirname(HEAPWAKE), "examples/kitchen"), "kitchen")
record(["./kitchen"], "kitchen.wake")
record(["./kitchen"], "again.wake")
with open("mixed.cc", "w", encoding="utf-8") as f:
    f.write(MIXED)
check.equal("compiler", 0, native(["g++", "-g", "-O1", "-fno-optimize-sibling-calls", "-w", "mixed.cc", "-o", "mixed"]).status)
native([HEAPWAKE, "export", "-f", "heaptrack", "-o", "kitchen.heaptrack", "kitchen.wake"])
course = next(e.address for e in events("kitchen.wake") if e.size == 1 << 20)
env = {**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}", "LC_ALL": "C"}
for page in PAGES:
    found = list(examples(page))
    check.holds(found, f"heapwake-{page}.1 shows no output.")
    for commands, expected in found:
        command = re.sub(r"0x[0-9a-f]+", hex(course), "; ".join(commands))
        done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, check=False)
        said = done.stderr if any(line.startswith("heapwake: ") for line in expected) else ""
        check.equal(f"{page}: {command}", shape(expected), shape((done.stdout + said).splitlines()))
check.done()
