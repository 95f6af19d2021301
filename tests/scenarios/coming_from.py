#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every command that docs/coming-from.md gives for another tool's works, and every
variable that it names is one that heapwake knows."""
import os
import re
import shlex
import shutil

from scenarios.support import HEAPWAKE, Check, native, record, workload

check = Check()
with open(os.path.join(os.environ["ROOT"], "docs/coming-from.md"), encoding="utf-8") as f:
    text = f.read()
with open(os.path.join(os.environ["ROOT"], "man/heapwake.1"), encoding="utf-8") as f:
    manual = f.read()

shutil.copy(workload("turnover"), "app")
for name in ("app.wake", "job.1.wake", "job.2.wake"):
    check.equal(f"record {name}", 0, record(["./app", "3000"], name).status)

spans = [span for line in text.splitlines() if line.startswith("|") for span in re.findall(r"`([^`]+)`", line)]
commands = list(dict.fromkeys(span for span in spans if span.startswith("heapwake ")))
check.holds(len(commands) > 60, f"The document has {len(commands)} commands.")
for command in commands:
    words = shlex.split(command)
    done = native([HEAPWAKE, *words[1:]])
    check.holds(done.status == 0, f"{command}: exit {done.status}, {(done.err or done.out).decode()[:200]}")

known = set(re.findall(r"HEAPWAKE_\w+", manual))
for variable in sorted(set(re.findall(r"HEAPWAKE_\w+", text))):
    check.holds(variable in known, f"{variable} is not in the manual page.")
for tool in ("memtrail", "mtrace", "memlog", "memtraq", "bytehound", "heaptrack"):
    check.holds(f"\n## {tool}\n" in text, f"There is no table for {tool}.")
check.done()
