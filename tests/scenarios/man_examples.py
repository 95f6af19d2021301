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
PAGES = ["diff", "check", "history", "import", "report", "replay", "anonymize", "merge"]


def examples(page):
    """(command, output) of the literal blocks that have both."""
    text = open(f"{ROOT}/man/heapwake-{page}.1", encoding="utf-8").read()
    for block in re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed", text, re.M | re.S):
        lines = block.replace("\\&", "").splitlines()
        if len(lines) > 1 and lines[0].startswith("$ ") and not lines[1].startswith("$ "):
            yield lines[0][2:], lines[1:]


def shape(lines):
    """Words without numbers, their units and how much room they take."""
    text = "\n".join(" ".join(line.split()) for line in lines)
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", text)
    text = re.sub(r"\d[\d.,]*", "N", text)
    text = re.sub(r"N (?:min N s|ns|us|ms|s|min)\b", "TIME", text)
    text = re.sub(r"N (?:bytes?|[KMG]iB)\b", "SIZE", text)
    return re.sub(r"N million|N thousand", "N", text).strip().splitlines()


os.mkdir("bin")
os.symlink(HEAPWAKE, "bin/heapwake")
os.symlink(os.path.join(os.path.dirname(HEAPWAKE), "examples/kitchen"), "kitchen")
record(["./kitchen"], "kitchen.wake")
native([HEAPWAKE, "export", "-f", "heaptrack", "-o", "kitchen.heaptrack", "kitchen.wake"])
course = next(e.address for e in events("kitchen.wake") if e.size == 1 << 20)
env = {**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}", "LC_ALL": "C"}
for page in PAGES:
    found = list(examples(page))
    check.holds(found, f"heapwake-{page}.1 shows no output.")
    for command, expected in found:
        command = re.sub(r"0x[0-9a-f]+", hex(course), command)
        done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, check=False)
        check.equal(f"{page}: {command}", shape(expected), shape(done.stdout.splitlines()))
check.done()
