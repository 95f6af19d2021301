#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 900
"""What can be asked of a recording works together: switching, ignoring, suppressing,
tags, reports, pools and stacks of releases with sampling, culling, rotation and strip."""
import glob
import json
import os

from scenarios.support import Check, Ledger, events, native, record, tool, truth, workload

check = Check()
READER = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
TAGS = ["begun", "one", "recording off", "recording on", "snapped", "two"]
# size: made, freed; as tests/workloads/told.c does it and api.py explains
TOLD = {7101: (1, 1), 7102: (1, 1), 7103: (1, 0), 7104: (0, 0), 7105: (0, 0), 7106: (1, 1), 7107: (1, 1), 7108: (0, 0),
        7109: (0, 0), 7110: (1, 0), 7150: (1, 1)}


def sound(path):
    check.sound(path)
    check.equal("the other reader", (0, b""), native([READER, "--check", path])[0::2])
    check.holds(native([READER, path]).out == tool("dump", "--tsv", path).out, "The two readers differ.")


def tags(path):
    return [e.kind for e in events(path) if e.event == "tag"]


def released_from(path):
    """Stack of each release, by the size of the block."""
    return {e.size: e.stack for e in events(path) if e.event == "free" and e.size in TOLD}


def calls(options, seen):
    """seen: whether a block that was made and freed at once is among the events."""
    check.about(" ".join(options))
    said = truth(record([workload("told"), "calls"], "calls.wake", options))
    check.equal("answers", (0, 0, 0, 0, 0, 1), tuple(said[k] for k in ("report", "again", "snapshot", "flush", "off", "on")))
    sound("calls.wake")
    ledger = Ledger(events("calls.wake"))
    check.pairs(ledger)
    for size, (made, freed) in TOLD.items():
        wanted = (made, freed) if seen or freed == 0 else (0, 0)
        check.equal(f"blocks of {size}", wanted, (ledger.made[size], ledger.freed[size]))
    check.equal("tags", TAGS, tags("calls.wake"))
    leaked = json.loads(tool("info", "--json", "calls.wake").out)["leaked_bytes"]
    total = 0
    for path in sorted(glob.glob("told-*.memlog")):
        with open(path, encoding="utf-8") as f:
            total += int(f.readline().split("(")[1].rstrip(")\n"))
        os.unlink(path)
    check.equal("the reports sum to what is left", leaked, total)
    check.about("")


calls(["--free-stacks"], True)
check.holds(all(released_from("calls.wake")[size] != "0" for size in (7101, 7150)), "A free has no stack.")
# A sample each byte is every block, by the way of samples; early ones apart.
calls(["--sample", "1"], True)
calls(["--sample", "1", "--free-stacks"], True)
# What lives shorter than a day is left out, and the totals have it.
calls(["--cull", "--cull-ms", "86400000"], False)
calls(["--cull", "--cull-ms", "86400000", "--free-stacks", "--sample", "1"], False)
calls(["--max-size", "1M", "--free-stacks"], True)

# strip keeps tags, pools, and the stacks of the frees that stay.
check.about("strip")
record([workload("told"), "pools"], "pools.wake", ["--free-stacks"])
check.equal("strip", 0, tool("strip", "--threshold", "1ns", "pools.wake", "-o", "thin.wake").status)
sound("thin.wake")
for kind in ("tag", "pool_alloc", "pool_free", "free", "alloc", "mmap"):
    def rows(path):
        return [(e.time, e.address, e.size, e.stack, e.kind) for e in events(path) if e.event == kind]
    check.equal(f"events of {kind}", rows("pools.wake"), rows("thin.wake"))
before, after = (json.loads(tool("report", "--json", "--pools", path).out)["pools"] for path in ("pools.wake", "thin.wake"))
check.equal("report --pools", before, after)
check.about("")

# A series: tags stay known in later files, by each alone and by all together.
check.about("series")
record([workload("turnover"), "40000"], "series.wake", ["--rotate", "64K", "--free-stacks"])
parts = sorted(glob.glob("series.wake.*"), key=lambda name: int(name.rsplit(".", 1)[1]))
check.holds(len(parts) >= 3, f"There are only {parts}.")
for path in parts:
    sound(path)
found = [tag for path in parts for tag in tags(path)]
check.equal("tags", ["half", "done"], found)
for paths in (parts, parts[-1:]):
    done = tool("report", "--json", "--since", "half", "--until", "done", *paths)
    check.equal(f"report --since of {len(paths)} files", (0, b""), (done.status, done.err))
whole = json.loads(tool("report", "--json", "--since", "half", "--until", "done", *parts).out)["change"]["total_bytes"]
at = [json.loads(tool("report", "--json", "--at", tag, *parts).out)["live"]["total_bytes"] for tag in ("half", "done")]
check.equal("change between the tags", at[1] - at[0], whole)
check.done()
