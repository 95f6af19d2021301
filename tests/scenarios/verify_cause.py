#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake verify` says first what is wrong with the file, then what follows from it."""
import os
import signal
import subprocess
import time

from support import HEAPWAKE, Check, put, record, tool, workload

check = Check()


def said(path):
    done = tool("verify", path)
    check.equal(f"{path}: exit status", 1, done.status)
    return done.err.decode().splitlines()


record([workload("blame")], "blame.wake")
whole = open("blame.wake", "rb").read()
found = 0
for at in range(len(whole) // 8, len(whole), len(whole) // 8):
    data = bytearray(whole)
    data[at] ^= 0x55
    lines = said(put("damaged.wake", bytes(data)))
    causes = [i for i, line in enumerate(lines) if "is damaged" in line or "not a whole chunk" in line]
    check.holds(causes and causes == list(range(len(causes))), f"byte {at}: the damage is not said first: {lines[:3]}")
    found += len(lines) > len(causes)
check.holds(found > 0, "Nowhere anything follows from the damage: this tests too little.")
lines = said(put("cut.wake", whole[:len(whole) // 2]))
check.holds("The file ends inside" in lines[0] or "not a whole chunk" in lines[0], f"A cut file: {lines[:3]}")
check.holds(any("Process" in line for line in lines[1:]), f"A cut file has no process without an end: {lines}")

recorder = subprocess.Popen([HEAPWAKE, "record", "-q", "-o", "killed.wake", "--", "sh", "-c", "ls >/dev/null; exec sleep 20"])
for _ in range(200):
    time.sleep(0.1)
    if os.path.exists("killed.wake.partial") and os.path.getsize("killed.wake.partial") > 1000:
        break
children = subprocess.run(["pgrep", "-P", str(recorder.pid)], capture_output=True, text=True, check=False).stdout.split()
recorder.send_signal(signal.SIGKILL)
recorder.wait()
for pid in children:
    os.kill(int(pid), signal.SIGKILL)
lines = said("killed.wake.partial")
check.holds(lines and not lines[0].split(": ", 1)[1].startswith("Process") and len(lines) > 1, f"A recorder that was killed: {lines}")
check.done()
