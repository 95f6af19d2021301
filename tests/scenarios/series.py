#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A series of rotated files is one recording to every command that reads one: named by a
pattern it gives the answers that a single file of the same program gives."""
import glob
import json
import os
import shutil

from support import Check, ask, events, record, tool, workload

check = Check()
SERIES = "s.wake.*"
record([workload("turnover"), "40000"], "s.wake", ["--rotate", "64K"])
record([workload("turnover"), "40000"], "one.wake")
check.holds(len(glob.glob(SERIES)) >= 3, f"There are only the files {glob.glob(SERIES)}.")


def answer(*argv):
    done = ask(*argv)
    check.equal(f"exit status of {argv}", 0, done.returncode)
    return done.stdout


def same(what, make):
    check.equal(what, make("one.wake"), make(SERIES))


def facts(path):
    found = json.loads(answer("info", "--json", path))
    return {key: found[key] for key in ("processes", "allocations", "frees", "allocated_bytes", "peak_bytes", "peak_blocks",
                                        "leaked_bytes", "leaked_blocks", "complete")}


def limits(path):
    done = ask("check", "--json", "--max-peak", "1K", "--max-leak", "1G", path)
    check.equal(f"exit status of check {path}", 1, done.returncode)
    return [(limit["limit"], limit["kept"], limit["seen"]) for limit in json.loads(done.stdout)["limits"]]


def replayed(path):
    return json.loads(answer("replay", "--json", "--allocators", "glibc", path))["process"]["allocations"]


same("info", facts)
same("check", limits)
same("export", lambda path: answer("export", "-f", "folded", path))
same("events", lambda path: [(e.event, e.size, e.kind) for e in events(path) if e.event in ("alloc", "free")])
same("replay", replayed)
check.equal("verify", 0, tool("verify", SERIES).status)
diff = json.loads(answer("diff", "--json", "--allocated", "--leaks", "one.wake", SERIES))
check.equal("sites that differ", [0, 0], [diff[key]["site_count"] for key in ("allocated", "leaks")])
moments = json.loads(answer("diff", "--json", SERIES + "@0%", SERIES + "@end"))["live"]
check.equal("live in the end", (0, facts("one.wake")["leaked_bytes"]), (moments["before_bytes"], moments["after_bytes"]))
address = next(e.address for e in events(SERIES) if e.event == "alloc")
check.equal("history", sum(e.address == address for e in events(SERIES) if e.event in ("alloc", "free")),
            sum(h["address"] == hex(address) for h in json.loads(answer("history", "--json", SERIES, hex(address)))["events"]))
answer("strip", "--threshold", "1h", SERIES, "-o", "stripped.wake")
check.sound("stripped.wake")
check.equal("totals of the stripped copy", facts("one.wake")["allocated_bytes"], facts("stripped.wake")["allocated_bytes"])

misuse = answer("report", "--misuse", *sorted(glob.glob(SERIES)))
check.holds("Misuse: none seen" in misuse, f"report --misuse of a series says {misuse}")
check.equal("report --misuse of two recordings", 2, tool("report", "--misuse", "one.wake", SERIES).status)
check.holds("Misuse: none seen" in answer("report", "--misuse", SERIES), "report --misuse takes no pattern.")

def lifetimes(path):
    """(ns, size) of all blocks that were freed."""
    live, found = {}, []
    for e in events(path):
        if e.event == "alloc":
            live[e.address] = e
        elif e.event == "free":
            found.append((e.time - live[e.address].time, e.size))
            del live[e.address]
    return sorted(found)


# One of them alone begins with blocks that others have made, whose numbers have gaps.
for option, words in (("--maps", "what was mapped before"), ("--pools", "what was put into pools before")):
    for path, times in (("s.wake.1", 0), ("s.wake.2", 1), ("s.wake.*", 0)):
        said = tool("report", option, path).err.decode()
        check.equal(f"{option} of {path} says what is missing", times, said.count(words))
record([workload("scattered")], "gaps.wake", ["--rotate", "256K"])
parts = sorted(glob.glob("gaps.wake.*"), key=lambda name: int(name.rsplit(".", 1)[1]))
check.holds(len(parts) >= 3, f"There are only the files {parts}.")
for part in parts[1:3]:
    lived = lifetimes(part)
    for least in [lived[len(lived) * n // 8][0] for n in range(1, 8)]:
        found = json.loads(answer("report", "--json", "--peak", "--allocated", "-n", "0", "--where", "state=freed", "--where",
                                  f"lifetime-min={least}ns", part))["allocated"]
        meant = [size for ns, size in lived if ns >= least]
        check.equal(f"{part}: blocks that lived for {least} ns", (len(meant), sum(meant)), (found["total_blocks"], found["total_bytes"]))

# Without its last file a series is not whole; a file that is read alone says that another follows it.
os.mkdir("cut")
for path in sorted(glob.glob("s.wake.*"))[:2]:
    shutil.copy(path, "cut")
GOES_ON = "The recording goes on in another file of its series"
for path, goes_on in (("cut/s.wake.*", True), ("cut/s.wake.1", True), (SERIES, False)):
    check.about(path)
    is_gap = path.startswith("cut") and "*" in path
    verified, checked = ask("verify", path), ask("check", "--max-leak", "10G", path)
    check.equal("verify", 1 if is_gap else 0, verified.returncode)
    check.equal("verify: the missing file", is_gap, "Part 3 of the series is not there." in verified.stderr)
    check.equal("check", 2 if goes_on else 0, checked.returncode)
    for what, said in (("info --json", answer("info", "--json", path)), ("report --json", answer("report", "--json", path)),
                       ("verify", verified.stdout), ("check", checked.stderr), ("info", " ".join(answer("info", path).split()))):
        check.equal(f"{what} says that it goes on", goes_on, GOES_ON in said)
check.about("")

# What is no series, and names that only look like a pattern.
for argv, status, sentence in ((["info", "*.wake*"], 1, "recordings; one is needed"), (["info", "none.*"], 1, "No file is called"),
                               (["merge", SERIES, "-o", "m.wake"], 1, "one of a series"),
                               (["info", *sorted(glob.glob(SERIES))], 2, "pattern in quotes")):
    done = ask(*argv)
    check.equal(f"exit status of {argv}", status, done.returncode)
    check.holds(sentence in done.stderr, f"{argv} says {done.stderr!r}")
shutil.copy("one.wake", "odd[1].wake")
check.equal("a file with a name like a pattern", facts("one.wake"), facts("odd[1].wake"))
check.done()
