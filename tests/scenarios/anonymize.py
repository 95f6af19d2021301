#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake anonymize`: in no byte of the new recording, unpacked, is a name of the old one left, every figure is the same, and tokens are
those of the exports."""
import json
import os
import re
import shutil
import subprocess
import sys

from format.wake_reader import Names, Prelude, Recording, columns_of
from support import Check, Ledger, events, info, record, tool, workload

check = Check()
reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
SECRETS = ["secretname", "leak_small", "leak_large", "nothing_at_all", "churn", os.getcwd(), "blame.c"]
SYSTEM = ["privateprogram", "libc.so", "libc_start", "_start", "/lib"]
# What the collector says of itself, and what names the file.
ITS_OWN = ("arguments", "command", "exe", "file_bytes", "bytes_per_event", "collector_cpu_ns", "binaries")


def unpacked(path):
    """Every byte that a recording holds."""
    whole = Recording(path)
    data = whole.data
    for chunk in whole.chunks:
        if chunk.type == 5:
            data += b"".join(bytes(c.data) for c in columns_of(chunk, Prelude(chunk.data)).values())
        elif chunk.type != 14:
            data += bytes(chunk.payload().data)
    return data, whole


def figures(path, *options):
    """A report without names: numbers in their order."""
    done = tool("report", "--json", "-n", "0", *options, path)
    check.equal(f"report {path}", 0, done.status)
    return json.loads(done.out)


def without(value, keys):
    if isinstance(value, dict):
        return {k: without(v, keys) for k, v in value.items() if k not in keys}
    return [without(v, keys) for v in value] if isinstance(value, list) else value


shutil.copy(workload("blame"), "privateprogram")
record([os.path.abspath("privateprogram"), "secretname"], "app.wake", ["--embed-binaries"])
plain, before = unpacked("app.wake")
check.equal("names that are looked for and were not there", [], [word for word in SECRETS + SYSTEM if word.encode() not in plain])
for level in ("partial", "full"):
    check.about(level)
    new = f"{level}.wake"
    done = tool("anonymize", "--level", level, "app.wake", "-o", new)
    check.equal("exit status and errors", (0, b""), (done.status, done.err))
    check.sound(new)
    check.equal("the other reader", 0, subprocess.run([sys.executable, reader, "--check", new]).returncode)
    data, whole = unpacked(new)
    left = [word for word in SECRETS + (SYSTEM if level == "full" else []) if word.encode() in data]
    check.equal("names left", [], left)
    check.equal("binaries", {}, Names(whole.chunks).binaries)
    if level == "full":
        ids = [m for c in before.chunks if c.type == 3 for m in re.findall(rb"\x14(.{20})", bytes(c.payload().data), re.S)]
        check.holds(ids and not any(i in data for i in ids), "A build id is left.")
    check.equal("info", without(info("app.wake"), ITS_OWN), without(info(new), ITS_OWN))
    check.equal("events", list(events("app.wake")), list(events(new)))
    options = ["--no-built-in-suppressions"] if level == "full" else []
    old, now = figures("app.wake", *options), figures(new, *options)
    for measure in ("peak", "leaks", "allocated", "calls", "temporary"):
        if measure in old:
            check.equal(f"{measure}: sums", {k: v for k, v in old[measure].items() if isinstance(v, int)},
                        {k: v for k, v in now[measure].items() if isinstance(v, int)})
            check.equal(f"{measure}: sites", [[v for v in s.values() if isinstance(v, int)] for s in old[measure]["sites"]],
                        [[v for v in s.values() if isinstance(v, int)] for s in now[measure]["sites"]])
    tokens = set(re.findall(rb"function_[0-9a-f]{12}", tool("export", "-f", "folded", "--anonymize", level, "app.wake").out))
    check.holds(tokens and tokens <= set(re.findall(rb"function_[0-9a-f]{12}", data)), "An export of the old has other tokens.")

check.about("")
ledger = Ledger(events("full.wake"))
check.pairs(ledger)
check.holds(b"libc" in unpacked("partial.wake")[0], "Partial has taken away what everybody has.")
default = tool("anonymize", "app.wake", "-o", "default.wake")
check.equal("full is the default", open("full.wake", "rb").read(), open("default.wake", "rb").read())
shutil.copy("app.wake", "same.wake")
refused = tool("anonymize", "same.wake", "-o", "./same.wake")
check.holds(refused.status == 2 and b"is the file that is read" in refused.err, f"Onto itself: {refused}")
check.equal("onto itself", open("app.wake", "rb").read(), open("same.wake", "rb").read())
check.equal("another word", 2, tool("anonymize", "--level", "half", "app.wake", "-o", "x.wake").status)
check.equal("no output", 2, tool("anonymize", "app.wake").status)
check.equal("two recordings", 2, tool("anonymize", "app.wake", "app.wake", "-o", "x.wake").status)
refused = tool("anonymize", "app.wake", "-o", "no/such/folder.wake")
check.holds(refused.status == 1 and refused.err.endswith(b".\n"), f"No folder: {refused}")
check.holds(not os.path.exists("x.wake"), "A file was made of a command that was used wrongly.")
check.done()
