#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The benchmarks tell goal and verdict beside each figure, measure heaptrack in the
same run where it is installed, and exit 1 exactly where a goal is missed."""
import os
import re
import shutil
import subprocess

from support import Check

check = Check()
done = subprocess.run([os.path.join(os.environ["ROOT"], "bench/run"), "--quick", "W4", "true"], stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, text=True, check=False)
lines = done.stdout.splitlines()
table = [[word.strip() for word in line.strip("|").split("|")] for line in lines if line.startswith("|")]
verdict = re.search(r"^(\d+) of (\d+) goals met\.$", done.stdout, re.M)
if check.equal("a table and a verdict", (True, True), (len(table) == 3, verdict is not None)):
    row = dict(zip(table[0], table[2]))
    check.equal("workload", "W4", row["workload"])
    check.holds(float(row["heapwake"]) > 0 and float(row["goal"]) > 0, f"no figure, or no goal: {row}")
    check.equal("verdict on its time", "yes" if float(row["heapwake"]) <= float(row["goal"]) else "NO", row["met"])
    check.equal("heaptrack beside it", shutil.which("heaptrack") is not None, row["heaptrack"] != "-")
    check.equal("exit status", 0 if verdict.group(1) == verdict.group(2) else 1, done.returncode)
else:
    print(done.stdout, done.stderr)
check.done()
