#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake replay`: an allocator that writes everything down hears from each thread the calls that were recorded, and never of a block
before it was made; figures are what they must be; what is not installed is named and the others go on."""
import collections
import json
import os

from support import HEAPWAKE, Check, events, native, record, tool, truth, workload

check = Check()
FIRST = 10000  # blocks of the relay, which no one else makes
KINDS = {"malloc": "malloc", "calloc": "calloc", "realloc": "realloc", "posix_memalign": "aligned"}
Call = collections.namedtuple("Call", "tid verb size align address")


def replay(*argv, env=None):
    return native([HEAPWAKE, "replay", *argv], env)


def figures(*argv):
    done = replay("--json", *argv)
    check.equal(f"replay {argv}: exit status, errors", (0, b""), (done.status, done.err))
    report = json.loads(done.out)
    return report, {a["name"]: a for a in report["allocators"]}


def recorded(path):
    """By thread, what it did: (verb, size)."""
    calls, live = collections.defaultdict(list), {}
    for e in events(path):
        if e.event == "alloc":
            live[e.address] = e
            if e.size >= FIRST:
                calls[e.tid].append((KINDS[e.kind], e.size))
        elif e.event == "free" and e.address in live:
            old = live.pop(e.address)
            if old.size >= FIRST and e.kind != "realloc":
                calls[e.tid].append(("free", old.size))
    return calls


def plays(path):
    """What the witness heard, play by play."""
    found = collections.defaultdict(list)
    for line in open(path):
        found[line.split()[0]].append(line)
    return list(found.values())


def heard(lines):
    """The same of a play; blocks must be made before they are released."""
    calls, live = collections.defaultdict(list), {}
    for line in lines:
        _, tid, verb, size, align, address, _ = line.split()
        c = Call(int(tid), verb, int(size), int(align), address)
        if c.verb in ("free", "release"):
            size = live.pop(c.address, None)
            check.holds(size is not None or c.address == "(nil)", f"A block was released that was never made: {line!r}")
            if size is not None and size >= FIRST and c.verb == "free":
                calls[c.tid].append((c.verb, size))
        else:
            check.holds(c.address not in live, f"A block was made twice: {line!r}")
            live[c.address] = c.size
            if c.verb == "aligned":
                check.holds(c.align >= 64 and int(c.address, 16) % c.align == 0, f"Aligned to {c.align}.")
            if c.size >= FIRST:
                calls[c.tid].append((c.verb, c.size))
    return calls


run = record([workload("relay")], "relay.wake")
told = truth(run)
log = os.path.abspath("calls.log")
done = replay("--json", "--allocators", workload("liblistener.so"), "relay.wake", env={"LISTENER_LOG": log})
check.equal("the witness: exit status, errors", (0, b""), (done.status, done.err))
report = json.loads(done.out)
expected = recorded("relay.wake")
check.equal("blocks that were made", told["blocks"], sum(1 for c in expected.values() for v, s in c
                                                         if v != "free" and s < told["larger"]))
# Sizes are unique, so a thread of the recording and its player are found by what they did. Threads run freely, and keep together.
check.equal("plays", 2, len(plays(log)))
for lines in plays(log):
    check.equal("threads with their calls", sorted(expected.values()), sorted(heard(lines).values()))
check.equal("released by other threads", told["crossing"], report["process"]["released_by_other_threads"])
check.equal("threads", len({e.tid for e in events("relay.wake")}), report["process"]["threads"])
check.equal("failed calls", 0, report["allocators"][0]["failed_calls"])

# Figures.
report, by_name = figures("--allocators", "glibc,jemalloc", "relay.wake")
check.equal("names", ["glibc", "jemalloc"], list(by_name))
for a in by_name.values():
    check.about(a["name"])
    check.holds(a["played"] and a["elapsed_ns"] > 0, f"It was not played: {a}")
    check.holds(a["peak_live_bytes"] >= told["kept"], f"live {a['peak_live_bytes']}")
    # The kernel counts resident pages for each CPU and adds up now and then.
    check.holds(0.8 * told["kept"] <= a["peak_rss_bytes"] < 10 * told["kept"], f"RSS {a['peak_rss_bytes']}")
    check.equal("fragmentation", round(a["peak_rss_bytes"] / a["peak_live_bytes"], 3), round(a["fragmentation"], 3))
check.about("")
check.holds(by_name["jemalloc"]["file"].endswith("libjemalloc.so.2") and by_name["glibc"]["file"] == "", f"{by_name}")
live, level = 0, 0
for e in events("relay.wake"):
    level += e.size if e.event == "alloc" else -e.size if e.event == "free" else 0
    live = max(live, level)
check.equal("peak of live bytes", live, report["process"]["peak_live_bytes"])
_, untouched = figures("--allocators", "glibc", "--touch", "none", "--runs", "2", "relay.wake")
check.holds(untouched["glibc"]["peak_rss_bytes"] < told["kept"], f"Nothing was touched: {untouched}")

# As text; what is not there is said, and the others go on.
done = replay("--allocators", "glibc,/no/such/lib.so,jemalloc", "relay.wake")
lines = done.out.decode().splitlines()
check.equal("text: exit status", 0, done.status)
check.equal("text: the last words of its rows", ["allocator", "glibc", "jemalloc"], [line.split()[-1] for line in lines[1:]])
check.equal("text: errors", b"heapwake: The loader cannot load /no/such/lib.so.\n", done.err)
done = replay("--allocators", "/no/such/lib.so", "relay.wake")
check.equal("nothing at all: exit status, output", (1, b""), (done.status, done.out))
done = replay("--allocators", "glibc", "relay.wake", env={"HEAPWAKE_PLAYER": "/no/such/player"})
check.holds(done.status == 1 and b"HEAPWAKE_PLAYER" in done.err, f"No player: {done}")
for wrong in (["--allocators", "nothing"], ["--touch", "half"], ["--process", "0"], ["--runs", "0"], ["--no-such"], ["relay.wake"]):
    check.equal(f"{wrong}: exit status", 2, replay(*wrong, "relay.wake").status)

# Several processes: that with most events, or the one that is asked for.
record([workload("family"), "fork"], "family.wake")
processes = json.loads(tool("info", "--json", "family.wake").out)["processes_list"]
busiest = max(processes, key=lambda p: p["events"])
check.equal("the busiest", busiest["pid"], figures("--allocators", "glibc", "family.wake")[0]["process"]["pid"])
number = len(processes)
last = figures("--allocators", "glibc", "--process", str(number), "family.wake")[0]["process"]
check.equal("by number", (processes[-1]["pid"], processes[-1]["allocations"]), (last["pid"], last["allocations"]))
check.equal("by pid", last, figures("--allocators", "glibc", "--pid", str(last["pid"]), "family.wake")[0]["process"])
check.equal("one too many", 1, replay("--process", str(number + 1), "family.wake").status)
check.equal("no such pid", 1, replay("--pid", "0", "family.wake").status)
check.done()
