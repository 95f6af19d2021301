#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plugins that take turns in the same place, far more often than the probe can
keep places: every block is found, and its stack names the plugin that was there."""
import os
import re
import subprocess

from support import HEAPWAKE, Check, Ledger, events, native, record, truth, workload

TURNS = 20000
os.environ["HEAPWAKE_SYMBOLS"] = "0"  # stacks are read as module+offset
check = Check()
argv = [workload("reload"), workload("libreload.so"), workload("libreload_b.so"), TURNS]
alone, run = native(argv), record(argv)
check.equal("exit status and stdout", alone[:2], run[:2])
check.equal("blocks made, as told", TURNS, truth(run)["made"])
check.sound("out.wake")
ledger = Ledger(events("out.wake"))
check.pairs(ledger)
check.equal("blocks of both", (TURNS // 2, TURNS // 2), (ledger.made[7069], ledger.made[7070]))

seen, size = {7069: set(), 7070: set()}, 0
dump = subprocess.Popen([HEAPWAKE, "dump", "--stacks", "out.wake"], stdout=subprocess.PIPE, text=True)
for line in dump.stdout:
    if " bytes " in line:
        size = int(re.search(r"(\d+) bytes ", line).group(1))
    elif size in seen and "libreload" in line:
        seen[size].add(re.search(r"libreload\w*\.so", line).group())
check.equal("dump", 0, dump.wait())
check.equal("plugins of the stacks", {7069: {"libreload.so"}, 7070: {"libreload_b.so"}}, seen)
check.done()
