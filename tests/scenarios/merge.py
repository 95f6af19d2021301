#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake merge`: the new recording holds all processes of the others with their events, names and binaries, its report is that of the
others together, and its times count from the earliest."""
import json
import os
import shutil
import struct
import subprocess
import sys

from format.wake_reader import Names, Recording, checksum
from support import Check, events, info, record, tool, workload

check = Check()
reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
SUMS = ("allocations", "frees", "allocated_bytes", "leaked_blocks", "leaked_bytes", "events", "lost_events", "unknown_frees")


def wall(path):
    return struct.unpack("<Q", open(path, "rb").read()[32:40])[0]


def set_wall(path, value):
    data = bytearray(open(path, "rb").read())
    data[32:40] = struct.pack("<Q", value)
    data[56:64] = struct.pack("<Q", checksum(bytes(data[:56])))
    open(path, "wb").write(data)


def sums(path):
    done = tool("report", "--json", "-n", "0", *([path] if isinstance(path, str) else path))
    check.equal(f"report {path}", 0, done.status)
    report = json.loads(done.out)
    return {m: {k: v for k, v in report[m].items() if isinstance(v, int)} for m in ("peak", "leaks", "calls", "temporary")
            if m in report}


record([workload("family"), "fork"], "family.wake")
record([workload("blame"), "a"], "blame.wake", ["--embed-binaries"])
record([workload("blame"), "b"], "again.wake", ["--embed-binaries"])
parts = ["family.wake", "blame.wake", "again.wake"]
done = tool("merge", *parts, "-o", "all.wake")
check.equal("exit status and errors", (0, b""), (done.status, done.err))
check.sound("all.wake")
check.equal("the other reader", 0, subprocess.run([sys.executable, reader, "--check", "all.wake"]).returncode)
facts, new = [info(p) for p in parts], info("all.wake")
for key in SUMS:
    check.equal(key, sum(f[key] for f in facts), new[key])
check.equal("the highest peak", max(f["peak_bytes"] for f in facts), new["peak_bytes"])
check.equal("processes", sum(f["processes"] for f in facts), new["processes"])
check.equal("report", sums(parts), sums("all.wake"))

# Every event, moved by the difference of the clocks, and nothing else.
expected = [e._replace(time=e.time + wall(p) - wall(parts[0])) for p in parts for e in events(p)]
seen = list(events("all.wake"))
check.equal("number of events", len(expected), len(seen))
check.equal("events", sorted(expected), sorted(seen))
check.equal("clock", wall(parts[0]), wall("all.wake"))

# What was embedded twice is there once; names are those of all.
names, old = Names(Recording("all.wake").chunks), [Names(Recording(p).chunks) for p in parts]
check.equal("binaries", old[1].binaries, names.binaries)
for n in old:
    check.holds(all(names.places.get(k) == v for k, v in n.places.items()), "A name is missing or another.")
check.holds(b"leak_small" in tool("report", "all.wake").out, "The report has no names.")

# The order of arguments is that of the processes; the earliest recording begins the clock wherever it stands.
tool("merge", *reversed(parts), "-o", "reversed.wake")
check.equal("reversed: clock", wall(parts[0]), wall("reversed.wake"))
check.equal("reversed: events", sorted(expected), sorted(events("reversed.wake")))
check.equal("reversed: processes", [p["pid"] for f in reversed(facts) for p in f["processes_list"]],
            [p["pid"] for p in info("reversed.wake")["processes_list"]])

# One that does not tell when it began, begins with the new one.
set_wall("again.wake", 0)
tool("merge", "blame.wake", "again.wake", "-o", "untold.wake")
check.equal("no clock", sorted([*events("blame.wake"), *events("again.wake")]), sorted(events("untold.wake")))
shutil.copy("blame.wake", "first.wake")
set_wall("first.wake", 1)
set_wall("again.wake", (1 << 64) - 1)
check.equal("a clock at the end of time", 1, tool("merge", "first.wake", "again.wake", "-o", "never.wake").status)
check.holds(not os.path.exists("never.wake"), "A merge that failed has left a file.")

# A process that has allocated nothing has no peak, in whichever file.
subprocess.run(["gcc", "-x", "c", "-o", "idle", "-"], input=b"int main(void) { return 0; }", check=True)
record(["./idle"], "idle.wake")
check.equal("allocations of one that does nothing", 0, info("idle.wake")["allocations"])
tool("merge", "first.wake", "idle.wake", "-o", "later.wake")
check.sound("later.wake")

# Onto one of themselves.
before = open("blame.wake", "rb").read()
os.link("blame.wake", "other-name.wake")
refused = tool("merge", "first.wake", "blame.wake", "-o", "other-name.wake")
check.holds(refused.status == 2 and b"is the file that is read" in refused.err, f"Onto itself: {refused}")
check.equal("onto itself", before, open("blame.wake", "rb").read())
twice = tool("merge", "blame.wake", "./blame.wake", "-o", "once.wake")
check.equal("one file twice", (0, b"heapwake: ./blame.wake is the same file as blame.wake; it counts once.\n"), (twice.status, twice.err))
check.equal("one file twice: sums", sums(["blame.wake"]), sums("once.wake"))
check.equal("nothing to merge", 2, tool("merge", "-o", "x.wake").status)
check.equal("no output", 2, tool("merge", "blame.wake").status)
check.equal("one is absent", 1, tool("merge", "blame.wake", "absent.wake", "-o", "x.wake").status)
check.holds(not os.path.exists("x.wake"), "A merge that failed has left a file.")
check.done()
