#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake anonymize` and `heapwake merge` keep what a recording says beside its blocks: pools, what was left
out on purpose, samples; notes go with merge, and with anonymize only how many they were; strip keeps them. Files of a series are refused."""
import json
import os
import subprocess
import sys

from support import Check, record, tool, workload

check = Check()
READER = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
SAME = ("allocations", "frees", "allocated_bytes", "peak_bytes", "leaked_bytes", "sample_rate", "samples",
        "cull_threshold_ns", "culled_blocks", "culled_bytes", "limited_events", "omitted_blocks", "made_up")


def summary(path):
    told = json.loads(tool("report", "--json", path).out)["summary"]
    return {key: told.get(key) for key in SAME}


def kinds(path):
    """What types of chunks there are, and how many sentences."""
    done = subprocess.run([sys.executable, READER, "--chunks", path], capture_output=True, text=True, check=True)
    return {line.split("\t")[1] for line in done.stdout.splitlines()}


def check_both(path, has):
    """has: a type of chunk that is what this is about."""
    check.about(path)
    check.holds(has in kinds(path), f"There is no {has} in it: this tests nothing.")
    for command in ("merge", "anonymize"):
        done = tool(command, path, "-o", f"{command}.wake")
        if not check.equal(f"{command}: exit status and errors", (0, b""), (done.status, done.err)):
            continue
        check.equal(f"{command}: verify", tool("verify", path).status, tool("verify", f"{command}.wake").status)
        check.equal(f"{command}: the other reader", 0,
                    subprocess.run([sys.executable, READER, "--check", f"{command}.wake"], check=False).returncode)
        check.equal(f"{command}: figures", summary(path), summary(f"{command}.wake"))
        check.holds(has in kinds(f"{command}.wake"), f"{command}: There is no {has} in it.")


record([workload("told"), "pools"], "pools.wake")
check_both("pools.wake", "pools")
pools = [json.loads(tool("report", "--pools", "--json", path).out) for path in ("pools.wake", "merge.wake")]
check.equal("pools in the merged one", pools[0]["pools"], pools[1]["pools"])
shown = tool("report", "--pools", "--json", "anonymize.wake").out.decode()
check.holds("doors" not in shown and "pool_" in shown, f"Pools of the anonymous one: {shown[-600:]}")

record([workload("order"), "2", "20000"], "culled.wake", ["--cull"])
check_both("culled.wake", "omissions")
record([workload("order"), "2", "20000"], "sampled.wake", ["--sample", "4K"])
check_both("sampled.wake", "omissions")

record([workload("blame")], "blame.wake")
tool("export", "-f", "pprof", "-o", "blame.pb.gz", "blame.wake")
check.equal("import", 0, tool("import", "-q", "-o", "imported.wake", "blame.pb.gz").status)
check_both("imported.wake", "notes")
before, after = (json.loads(tool("info", "--json", path).out)["notes"] for path in ("imported.wake", "anonymize.wake"))
check.equal("notes of the anonymous one", 1, len(after))
check.holds(after[0].startswith(f"{len(before)} notes on what"), f"{after} stands for {before}.")
tool("anonymize", "anonymize.wake", "-o", "again.wake")
check.equal("notes of one that was anonymous", after, json.loads(tool("info", "--json", "again.wake").out)["notes"])

check.equal("strip: exit status", 0, tool("strip", "--threshold", "1ns", "imported.wake", "-o", "strip.wake").status)
check.equal("notes of the stripped one", before, json.loads(tool("info", "--json", "strip.wake").out)["notes"])

check.about("series")
record([workload("order"), "2", "1000000"], "series.wake", ["--rotate", "64K"])
parts = sorted(name for name in os.listdir() if name.startswith("series.wake"))
check.holds(len(parts) > 1, f"It is no series: {parts}.")
for command in ("merge", "anonymize"):
    done = tool(command, parts[-1], "-o", "part.wake")
    check.equal(f"{command}: exit status", 1, done.status)
    check.holds(b"one of a series" in done.err, f"{command} says {done.err!r}.")
    check.holds(not os.path.exists("part.wake"), f"{command} left a file behind.")
check.done()
