#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files that are no recordings, or damaged ones: report and export say one sentence about what is wrong, show what is sound, and neither
crash, hang nor lie."""
import json
import random

from support import Check, ask, no_recordings, put, record, workload

check = Check()
record([workload("stacks_cxx")], output="good.wake")
with open("good.wake", "rb") as f:
    good = f.read()
random.seed(7)


def refused(what, path, word):
    for argv in (("report", path), ("report", "--json", path), ("export", "-f", "folded", path), ("info", path)):
        done = ask(*argv)
        lines = done.stderr.strip().splitlines()
        check.equal(f"{what}, {argv[0]}: exit status", 1, done.returncode)
        check.holds(len(lines) == 1 and word in lines[0] and lines[0].endswith("."), f"{what}, {argv[0]}: {done.stderr!r}")
        check.equal(f"{what}, {argv[0]}: standard output", "", done.stdout)


for what, path, word in no_recordings():
    refused(what, path, word)
whole = json.loads(ask("report", "--json", "-n", "0", "good.wake").stdout)
limit = {m: whole[m]["total_bytes"] for m in ("peak", "leaks", "calls")}
cuts = sorted({random.randrange(64, len(good)) for _ in range(60)} | {len(good) - 1, 64, 65, 100})
flips = [random.randrange(64, len(good)) for _ in range(60)]
for name, data in [(f"cut at {n}", good[:n]) for n in cuts] + [
        (f"byte {n} flipped", good[:n] + bytes([good[n] ^ 0xff]) + good[n + 1:]) for n in flips]:
    done = ask("report", "--json", "-n", "0", put("damaged.wake", data))
    check.holds(done.returncode in (0, 1), f"{name}: exit status {done.returncode}.")
    if done.returncode != 0:
        continue
    report = json.loads(done.stdout)
    same = all(report[m]["total_bytes"] == limit[m] for m in limit)
    check.holds(done.stderr != "" or (same and report["summary"]["complete"]), f"{name}: not a word about it.")
    check.holds(all(report[m]["total_bytes"] <= limit[m] for m in ("calls",)), f"{name}: more than there was.")
    text = ask("report", "damaged.wake")
    check.equal(f"{name}: text", 0, text.returncode)
check.done()
