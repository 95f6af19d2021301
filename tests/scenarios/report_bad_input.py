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

# The totals are sound and the events are not: whoever reads events says so, however late in the report that is.
place = next(n for n in range(64, len(good), 100)
             if "The events chunk at" in ask("dump", put("events.wake", good[:n] + bytes([good[n] ^ 0xff]) + good[n + 1:])).stderr)
for words in (["--misuse"], ["--advice"], ["--without", "main"], ["--maps"], ["--since", "10%"], ["--histogram"]):
    done = ask("report", *words, "events.wake")
    check.holds("is damaged and is left out" in done.stderr, f"byte {place}, report {words}: it says {done.stderr!r}.")
    check.holds("recorded      in part" in done.stdout, f"byte {place}, report {words}: {done.stdout!r}")
    check.equal(f"byte {place}, report {words} --json: complete", False,
                json.loads(ask("report", "--json", *words, "events.wake").stdout)["summary"]["complete"])
for argv in (("history", "events.wake", "0x1000"), ("strip", "--threshold", "1s", "events.wake", "-o", "thin.wake"),
             ("replay", "--allocators", "glibc", "events.wake"), ("export", "-f", "csv", "events.wake")):
    done = ask(*argv)
    check.holds("is damaged and is left out" in done.stderr, f"byte {place}, {argv[0]}: it says {done.stderr!r}.")
check.equal("history --json of it: complete", False, json.loads(ask("history", "--json", "events.wake", "0x1000").stdout)["complete"])
check.equal("history --json of a sound one: complete", True, json.loads(ask("history", "--json", "good.wake", "0x1000").stdout)["complete"])

# Of several damages one is named, and the command that names the others.
places = [n for n in range(64, len(good), 100) if n != place]
for n in places:
    both = bytearray(good)
    both[place] ^= 0xff
    both[n] ^= 0xff
    said = ask("report", "--histogram", put("both.wake", bytes(both))).stderr
    if "damages" in said:
        break
check.holds(" is one of 2 damages, which 'heapwake verify' names" in said, f"Of two damages: {said!r}")
check.equal("damages that verify names", 2, ask("verify", "both.wake").stderr.count(" damaged"))
check.done()
