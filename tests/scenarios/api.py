#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every call of include/heapwake.h does what the header says, from C, from C++ and
through dlsym; without heapwake each costs a test and nothing else happens."""
import collections
import glob
import json
import re

from support import Check, Ledger, events, native, record, tool, truth, workload

OFF = "recording off"
ON = "recording on"


def tags(path):
    return [e.kind for e in events(path) if e.event == "tag"]


def memlogs(program):
    paths = glob.glob(f"{program}-*-*.memlog")
    return sorted(paths, key=lambda path: int(re.search(r"-(\d+)\.memlog$", path).group(1)))


def check_alone(check):
    check.about("alone")
    told = truth(native([workload("told"), "calls"]))
    check.equal("answers", {"report": -1, "again": -1, "snapshot": -1, "flush": -1, "off": 0, "on": 0, "errno": 77}, told)
    check.equal("pools", 1, truth(native([workload("told"), "pools"]))["same"])
    check.equal("C++", {"found": 0, "flush": -1}, truth(native([workload("told_cxx")])))
    check.equal("no file is written", [], glob.glob("*.memlog"))


def check_calls(check):
    check.about("calls")
    told = truth(record([workload("told"), "calls"]))
    check.equal("answers", {"report": 0, "again": 0, "snapshot": 0, "flush": 0, "off": 0, "on": 1, "errno": 77}, told)
    facts = check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    check.pairs(ledger)
    for size, made, freed, why in ((7101, 1, 1, "made while on, freed while off"), (7102, 1, 1, "reallocated while off"),
                                   (7103, 1, 0, "leaked"), (7104, 0, 0, "made while off, freed while on"),
                                   (7105, 0, 0, "made by a realloc while off"), (7106, 1, 1, "ignored, then freed"),
                                   (7107, 1, 1, "ignored, kept"), (7108, 0, 0, "suppressed, freed"),
                                   (7109, 0, 0, "suppressed, kept"), (7110, 1, 0, "made after the scope"),
                                   (7150, 1, 1, "made by the thread")):
        check.equal(f"{size} ({why}) made and freed", (made, freed), (ledger.made[size], ledger.freed[size]))
    check.equal("frees of blocks never seen", 0, facts["unknown_frees"])
    check.equal("tags", ["begun", "one", OFF, ON, "snapped", "two"], tags("out.wake"))
    kinds = {e.size: e.kind for e in events("out.wake") if e.event == "free" and e.size in (7101, 7102, 7106)}
    check.equal("how they ended", {7101: "free", 7102: "realloc", 7106: "ignore"}, kinds)
    named = [line for line in tool("dump", "out.wake").out.decode().splitlines() if " 7150 bytes" in line]
    check.holds(named and "(told-thread)" in named[0], f"The thread has another name: {named[:1]}")
    report = json.loads(tool("report", "--json", "--leaks", "-n", "0", "out.wake").out)
    leaks = {site["bytes"] for site in report["leaks"]["sites"]}
    check.holds(7107 not in leaks and 7110 in leaks, f"An ignored block is no leak: {sorted(leaks)}")


def check_reports(check):
    check.about("reports")
    paths = memlogs("told")
    check.equal("reports", 3, len(paths))  # two, and the rest at the end
    total = 0
    for path in paths:
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
        head = re.fullmatch(r"Outanding bytes: (\d+) \(([+-]\d+)\)", lines[0])
        check.holds(head is not None, f"{path} begins with {lines[0]!r}.")
        rows = [int(line) for line in lines[1:] if re.fullmatch(r"[+-]\d+", line)]
        frames = [line for line in lines[1:] if line.startswith("\t")]
        check.equal(f"lines of {path}", len(lines), 1 + len(rows) + len(frames))
        check.holds(all(re.fullmatch(r"\t[^\t]+\t\(.+\)|\t\S+", frame) for frame in frames), f"frames of {path}: {frames[:3]}")
        check.equal(f"order of {path}", sorted(rows, reverse=True), rows)
        check.equal(f"sum of {path}", int(head.group(2)), sum(rows))
        total += sum(rows)
        check.equal(f"sum of all reports up to {path}", int(head.group(1)), total)
        with open(path.replace(".memlog", ".json"), encoding="utf-8") as f:
            twin = json.load(f)
        check.equal(f"{path} as JSON", (int(head.group(1)), sum(rows)),
                    (twin["live_bytes"], sum(site["bytes"] for site in twin["change"]["sites"])))
    with open(paths[0], encoding="utf-8") as f:
        first = f.read()
    check.holds("+14203\n\tmake\t(" in first, f"The two blocks of make are one entry:\n{first[:300]}")
    with open(paths[1], encoding="utf-8") as f:
        second = f.read()
    check.holds("-7093\n\tmake\t(" in second and "+7103\n\tmake_elsewhere\t(" in second,
                f"make gave back 14203 and holds 7110 since:\n{second[:600]}")
    facts = json.loads(tool("info", "--json", "out.wake").out)
    check.equal("the sum is what leaked", facts["leaked_bytes"], total)
    windows = (("--since", "one", "--until", "two"), ("--since", "two"), ("--until", "one"))
    changes = [json.loads(tool("report", "--json", *w, "out.wake").out)["change"]["total_bytes"] for w in windows]
    check.equal("report --since and --until add up", facts["leaked_bytes"], sum(changes))
    short = json.loads(tool("report", "--json", "--since", "begun", "--depth", "1", "out.wake").out)["change"]
    check.equal("depth", {1}, {len(site["frames"]) for site in short["sites"]})
    every = ("--since", "one", "--until", "two")
    sites = [site["bytes"] for site in json.loads(tool("report", "--json", *every, "-n", "0", "out.wake").out)["change"]["sites"]]
    check.holds(sites[0] > 0 > sites[-1] and len(sites) > 2, f"Between one and two sites grow and shrink: {sites}")
    for words in (["-n", "1"], ["--threshold", "40"], ["--threshold", "100"]):
        chosen = json.loads(tool("report", "--json", *every, *words, "out.wake").out)["change"]
        least = 0 if words[0] == "-n" else float(words[1]) / 100 * sum(abs(one) for one in sites)
        expected = [sites[0], sites[-1]] if words[0] == "-n" else [one for one in sites if abs(one) >= least]
        check.equal(f"changes with {words}", (expected, len(sites)), ([site["bytes"] for site in chosen["sites"]], chosen["site_count"]))
        page = tool("report", *every, *words, "out.wake").out.decode()
        check.equal(f"the same on the page with {words}", len(expected), len(re.findall(r"^  [+-][\d.]+ \w+ ", page, re.M)))


def check_tags(check):
    check.about("tags")
    for words in (["--at", "nowhere"], ["--since", "nowhere"], ["--until", "nowhere"], ["--from", "nowhere"], ["--where", "mark=nowhere"],
                  ["--maps", "--where", "mark=nowhere"]):
        done = tool("report", *words, "out.wake")
        check.holds(done.status == 1 and b'no mark called "nowhere"' in done.err and b'"begun", "one"' in done.err and done.out == b"",
                    f"{words}: {done.status} {done.err.decode()}")
    record(["true"], "unmarked.wake")
    for names in (["unmarked.wake", "out.wake"], ["out.wake", "unmarked.wake"]):
        done = tool("report", "--where", "mark=one", *names)
        check.holds(done.status == 0 and b"no mark" not in done.err, f"mark=one in one of {names}: {done.status} {done.err.decode()}")
    live = json.loads(tool("report", "--json", "--at", "one", "out.wake").out)["live"]
    check.equal("live at 'one'", 7101 + 7102, live["total_bytes"])


def check_pools(check):
    check.about("pools")
    told = truth(record([workload("told"), "pools"]))
    facts = check.sound("out.wake")
    seen = list(events("out.wake"))
    for name, live in (("cells", told["cells_live"]), ("doors", told["doors_live"])):
        made = sum(e.size for e in seen if e.event == "pool_alloc" and e.kind == name)
        freed = sum(e.size for e in seen if e.event == "pool_free" and e.kind == name)
        check.equal(f"live in {name}", live, made - freed)
    check.equal("cells made", told["cells"], sum(e.event == "pool_alloc" and e.kind == "cells" for e in seen))
    check.equal("one pool a name", 1, told["same"])
    pools = {pool["name"]: pool for pool in json.loads(tool("report", "--json", "--pools", "out.wake").out)["pools"]}
    check.equal("pools", {"cells": "bytes", "doors": "doors"}, {name: pool["unit"] for name, pool in pools.items()})
    for name, live in (("cells", told["cells_live"]), ("doors", told["doors_live"])):
        check.equal(f"report of {name}", live, pools[name]["live"])
        check.equal(f"sites of {name}", live, sum(site["live"] for site in pools[name]["sites"]))
    check.equal("the most that cells held", 6400, pools["cells"]["peak"])
    inside = pools["cells"]["inside"]
    check.equal("cells lie in the slab", (told["cells_live"], "make"), (inside[0]["size"], inside[0]["frames"][0]["function"]))
    check.equal("doors lie in no block", [], pools["doors"]["inside"])
    screen = tool("report", "out.wake").out.decode()
    check.holds("Pools, which are not counted in the heap" in screen and "4 doors live" in screen, f"The screen:\n{screen[-400:]}")
    check.equal("the heap has the slab once", told["slab"], facts["leaked_bytes"])


def check_scopes(check):
    check.about("scopes")
    times = truth(record([workload("told"), "scopes"]))["times"]
    facts = check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    check.pairs(ledger)
    for size, count, why in ((7201, times, "made before"), (7202, 0, "made within"), (7203, 0, "that one reallocated within"),
                             (7204, times, "reallocated within"), (7205, 0, "made and freed within"),
                             (7206, times, "made within, reallocated behind")):
        check.equal(f"{size} ({why}) made and freed", (count, count), (ledger.made[size], ledger.freed[size]))
    check.equal("frees of blocks never seen", 0, facts["unknown_frees"])


def check_handed(check):
    check.about("handed")
    times = truth(record([workload("told"), "handed"]))["times"]
    check.sound("out.wake")
    ledger = Ledger(events("out.wake"))
    check.pairs(ledger)
    check.equal("blocks of the other made and freed", (times, times // 2), (ledger.made[7301], ledger.freed[7301]))
    check.equal("blocks that do not count", 0, ledger.made[7302])


def check_shared(check):
    check.about("shared pools")
    told = truth(record([workload("told"), "shared"]))
    check.sound("out.wake")
    pools = json.loads(tool("report", "--json", "--pools", "out.wake").out)["pools"]
    check.equal("pools", told["pools"], len({pool["name"] for pool in pools}))
    check.equal("no name twice", len(pools), len({pool["name"] for pool in pools}))
    check.equal("live in each", {told["live"]}, {pool["live"] for pool in pools})
    made = collections.Counter(e.kind for e in events("out.wake") if e.event == "pool_alloc")
    check.equal("made in each", {told["made"]}, set(made.values()))


def check_cxx(check):
    check.about("C++")
    told = truth(record([workload("told_cxx")]))
    check.equal("answers", {"found": 1, "flush": 0}, told)
    check.equal("tags", ["c++", "by name"], tags("out.wake"))
    ledger = Ledger(events("out.wake"))
    check.equal("made", {7201: 1, 7202: 0, 7203: 1}, {size: ledger.made[size] for size in (7201, 7202, 7203)})
    check.equal("left", {7201: 0, 7203: 0}, {size: ledger.left(size) for size in (7201, 7203)})
    check.sound("out.wake")


if __name__ == "__main__":
    check = Check()
    check_alone(check)
    check_calls(check)
    check_reports(check)
    check_tags(check)
    check_pools(check)
    check_scopes(check)
    check_handed(check)
    check_shared(check)
    check_cxx(check)
    check.done()
