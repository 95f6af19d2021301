#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 600
"""Samples that are culled: a block that is left counts as many blocks as it did before, and as many as the totals have
of it, to the block; stripped once or again, copied, cut, or recorded so, in one file or several."""
import glob
import json
import os
import struct
import sys

from scenarios.support import Check, info, native, record, tool, workload

check = Check()
READER = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
sys.path.insert(0, os.path.dirname(READER))
from wake_bytes import checksum  # noqa: E402


def report(path, *options):
    done = tool("report", "--json", "-n", "0", "--no-built-in-suppressions", *options, path)
    check.equal(f"report {' '.join(options)} {path}", 0, done.status)
    return json.loads(done.out)


def listed(path):
    """The blocks of a recording, from its events."""
    for process in json.loads(tool("export", "-f", "json", path).out)["processes"]:
        for row in process["blocks"]:
            yield dict(zip(process["block_columns"], row, strict=True))


def blocks(path):
    """When and where each was made -> (blocks and bytes that it stands for, whether it leaked)."""
    return {(b["allocated_ns"], b["address"]): (b["blocks"], b["bytes"], b["leaked"]) for b in listed(path)}


def other_reader(path):
    check.equal(f"{path}: the other reader", (0, b""), native([READER, "--check", path])[0::2])
    check.holds(native([READER, path]).out == tool("dump", "--tsv", path).out, f"{path}: the two readers differ.")


def leaks_agree(path):
    """Nothing that leaks is culled: totals, events and the list of live blocks tell of the same blocks."""
    whole = report(path, "--leaks")
    told = whole["leaks"]["total_blocks"], whole["leaks"]["total_bytes"]
    check.equal(f"{path}: the end", (whole["summary"]["leaked_blocks"], whole["summary"]["leaked_bytes"]), told)
    for options in (["--by", "thread"], ["--where", "size-min=1"], ["--where", "chain-position-min=1"], ["--where", "state=leaked"]):
        seen = report(path, "--leaks", *options)["leaks"]
        check.equal(f"{path}: leaks {options}", told, (seen["total_blocks"], seen["total_bytes"]))
    left = [(count, size) for count, size, leaked in blocks(path).values() if leaked]
    check.equal(f"{path}: blocks that are left", told, (sum(b[0] for b in left), sum(b[1] for b in left)))
    return told


def same_blocks(before, path):
    seen = blocks(path)
    wrong = {key: (before.get(key), it) for key, it in seen.items() if before.get(key) != it}
    check.equal(f"{path}: blocks that count otherwise than before", [], list(wrong.items())[:3] + ([len(wrong)] if wrong else []))
    return seen


def is_whole(path):
    check.sound(path)
    other_reader(path)
    leaks_agree(path)


record([workload("turnover"), "100000"], "whole.wake", ["--sample", "8K"])
before = blocks("whole.wake")
is_whole("whole.wake")
lives = sorted(b["freed_ns"] - b["allocated_ns"] for b in listed("whole.wake") if not b["leaked"])
some, more = (f"{lives[len(lives) * part // 4]}ns" for part in (2, 3))
for source, threshold, to in (("whole.wake", some, "once.wake"), ("once.wake", more, "twice.wake"), ("whole.wake", "1h", "leaks.wake")):
    check.equal(f"strip {source}", 0, tool("strip", "--threshold", threshold, source, "-o", to).status)
    check.holds(info(to)["culled_blocks"] > info(source)["culled_blocks"], f"{to}: nothing was culled.")
    same_blocks(before, to)
    is_whole(to)
check.holds(len(blocks("twice.wake")) > 1000, "Next to nothing is left: this tests nothing.")
for command in ("merge", "anonymize"):
    check.equal(command, 0, tool(command, "twice.wake", "-o", "copy.wake").status)
    if command == "merge":
        same_blocks(before, "copy.wake")
    is_whole("copy.wake")

# A file without its end knows as much of what it has.
chunks = [line.split("\t") for line in native([READER, "--chunks", "once.wake"]).out.decode().splitlines()]
os.truncate("once.wake", max(int(offset) + 40 + int(stored) for offset, kind, _, _, stored in chunks if kind == "events"))
seen = same_blocks(before, "once.wake")
check.equal("allocations of a cut file", sum(it[0] for it in seen.values()), info("once.wake")["allocations"])
for command in ("merge", "anonymize"):
    check.equal(f"{command} of a cut file", 0, tool(command, "once.wake", "-o", "copy.wake").status)
    check.equal(f"{command} of a cut file: allocations", info("once.wake")["allocations"], info("copy.wake")["allocations"])

# Recorded so.
options = ["--sample", "8K", "--cull", "--cull-ms", "20"]
record([workload("turnover"), "100000"], "culled.wake", options)
check.holds(info("culled.wake")["culled_blocks"] > 100, "Nothing was culled.")
is_whole("culled.wake")
# The first of two ends before the last file begins.
record(["sh", "-c", f"{workload('turnover')} 200000; {workload('turnover')} 400000 2"], "part.wake",
       ["--sample", "512", "--cull", "--cull-ms", "1", "--rotate", "64K"])
parts = sorted(glob.glob("part.wake.*"), key=lambda name: int(name.rsplit(".", 1)[1]))
check.holds(len(parts) > 2, f"It is no series: {parts}")
told = leaks_agree("part.wake.*")
for part in parts:
    check.sound(part)
    other_reader(part)
    whole = report(part, "--leaks")
    check.equal(f"{part}: leaks", whole["summary"]["leaked_blocks"], whole["leaks"]["total_blocks"])
check.equal("leaks of the last file", told[0], whole["leaks"]["total_blocks"])
for process in json.loads(tool("export", "-f", "json", parts[-1]).out)["processes"]:
    if process["blocks"]:  # it has gone on in this file, and what was live then is carried
        one = report(parts[-1], "--leaks", "--pid", str(process["pid"]))["leaks"]
        split = report(parts[-1], "--leaks", "--pid", str(process["pid"]), "--by", "thread")["leaks"]
        check.equal("leaks of the last process", one["total_blocks"], split["total_blocks"])
check.equal("strip a series", 0, tool("strip", "--threshold", "20ms", "part.wake.*", "-o", "joined.wake").status)
same_blocks(blocks("part.wake.*"), "joined.wake")
is_whole("joined.wake")

# A file whose gaps are others than they were contradicts itself, and both readers see it.
with open(os.path.join(os.environ["ROOT"], "tests/golden/example-1.6.wake"), "rb") as f:
    data = bytearray(f.read())
at = data.index(struct.pack("<4sHH", b"WKCH", 21, 0))
check.equal("gaps of the golden file", bytes([1, 2, 1, 1, 2, 3]), bytes(data[at + 40:at + 46]))
data[at + 41] = 0  # number 1 was made as such
data[at + 24:at + 32] = struct.pack("<Q", checksum(bytes(data[at + 40:at + 46])))
data[at + 32:at + 40] = struct.pack("<Q", checksum(bytes(data[at:at + 32])))
with open("wrong.wake", "wb") as f:
    f.write(data)
done = tool("verify", "wrong.wake")
check.holds(done.status == 1 and b"the recorder wrote 9 leaked blocks, the events make " in done.out + done.err, f"verify: {done.out + done.err}")
done = native([READER, "--check", "wrong.wake"])
check.holds(done.status == 1 and b"stand for" in done.err, f"The other reader: {done.err}")
check.done()
