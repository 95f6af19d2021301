#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every command that docs/coming-from.md gives for another tool's works (those of heapwake and sqlite3), every variable
that it names is one that heapwake knows, and every call is in heapwake.h."""
import os
import re
import shlex
import shutil
import subprocess

from scenarios.support import HEAPWAKE, Check, native, record, workload

check = Check()


class Idle:
    """A program that is being recorded, process 1234 of the document."""

    def __init__(self):
        self.process = subprocess.Popen([HEAPWAKE, "record", "-q", "-o", "idle.wake", workload("told"), "idle"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
            self.pid = f.read().split()[0]

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


with open(os.path.join(os.environ["ROOT"], "docs/coming-from.md"), encoding="utf-8") as f:
    text = f.read()
with open(os.path.join(os.environ["ROOT"], "man/heapwake.1"), encoding="utf-8") as f:
    manual = f.read()

shutil.copy(workload("turnover"), "app")
for name in ("app.wake", "job.1.wake", "job.2.wake"):
    check.equal(f"record {name}", 0, record(["./app", "3000"], name).status)

spans = [span for line in text.splitlines() if line.startswith("|") for span in re.findall(r"`([^`]+)`", line)]
commands = list(dict.fromkeys(span for span in spans if span.startswith(("heapwake ", "sqlite3 "))))
check.holds(len(commands) > 60, f"The document has {len(commands)} commands.")
idle = Idle()
for command in commands:
    if not command.startswith("heapwake "):
        check.equal(command, 0, subprocess.run(["sh", "-c", command], check=False).returncode)
        continue
    words = [idle.pid if word == "1234" else word for word in shlex.split(command)]
    done = native([HEAPWAKE, *words[1:]])
    check.holds(done.status == 0, f"{command}: exit {done.status}, {(done.err or done.out).decode()[:200]}")

check.equal("the program that was controlled", 0, idle.end())

with open(os.path.join(os.environ["ROOT"], "include/heapwake.h"), encoding="utf-8") as f:
    macros = set(re.findall(r"define (HEAPWAKE_\w+)\(", f.read()))
known = set(re.findall(r"HEAPWAKE_\w+", manual))
for variable in sorted(set(re.findall(r"HEAPWAKE_\w+", text))):
    check.holds(variable in known or variable in macros, f"{variable} is neither in the manual page nor in the header.")
for tool in ("memtrail", "mtrace", "memlog", "memtraq", "bytehound", "heaptrack"):
    check.holds(f"\n## {tool}\n" in text, f"There is no table for {tool}.")
check.done()
