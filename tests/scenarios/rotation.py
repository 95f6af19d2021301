#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 900
"""Rotation: a recording that goes on in numbered files. Together they are what one
file would have been; each alone is a recording; old ones can be deleted."""
import glob
import json
import os
import time

from scenarios.support import HEAPWAKE, PROBE, Check, info, native, record, tool, truth, workload

check = Check()
READER = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")


def report(paths, *options):
    done = tool("report", "--json", "-n", "0", "--no-built-in-suppressions", *options, *paths)
    check.equal(f"report {paths}", (0, b""), (done.status, done.err))
    return json.loads(done.out)


def files(base):
    return sorted(glob.glob(base + ".*[0-9]"), key=lambda name: int(name.rsplit(".", 1)[1]))


def sites(answer, measure):
    return sorted((json.dumps([f["function"] for f in s["frames"]]), s["blocks"], s["bytes"])
                  for s in answer[measure]["sites"])


def alone(paths):
    for path in paths:
        check.about(path)
        check.sound(path)
        check.equal("the other reader", (0, b""), native([READER, "--check", path])[0::2])
        check.holds(native([READER, path]).out == tool("dump", "--tsv", path).out, "The two readers differ.")
        check.equal("report", 0, tool("report", path).status)
        check.about("")


def against_the_truth(base, told, least):
    paths = files(base)
    check.holds(len(paths) >= least, f"{base}: {paths}")
    check.equal("names", [f"{base}.{i + 1}" for i in range(len(paths))], paths)
    whole = report(paths, "--allocated", "--leaks")
    check.equal("files of the summary", 1, whole["summary"]["files"])
    check.equal("complete", True, whole["summary"]["complete"])
    check.equal("nothing is elsewhere", 0, whole["summary"]["omitted_blocks"])
    for measure, blocks, size in (("allocated", "blocks", "bytes"), ("leaks", "left_blocks", "left_bytes")):
        sums = {}
        for site in whole[measure]["sites"]:
            maker = site["frames"][0]["function"] if site["frames"] else ""
            sums[maker] = sums.get(maker, (0, 0))[0] + site["blocks"], sums.get(maker, (0, 0))[1] + site["bytes"]
        for maker, account in told.items():
            check.equal(f"{measure} by {maker}", (account[blocks], account[size]), sums.get(maker))
    # What is made of events agrees with the totals, over all files.
    split = report(paths, "--allocated", "--by", "kind")
    check.equal("by kind", whole["allocated"]["total_bytes"], split["allocated"]["total_bytes"])
    window = report(paths, "--allocated", "--where", "state=leaked")
    check.equal("leaked blocks among the events", whole["summary"]["leaked_blocks"],
                window["allocated"]["total_blocks"])
    alone(paths)
    return paths, whole


told = truth(record([workload("turnover"), "60000"], "size.wake", ["--rotate", "64K"]))
paths, whole = against_the_truth("size.wake", told, 3)
# The same program in one file: the same sites, the same peak.
record([workload("turnover"), "60000"], "one.wake")
one = report(["one.wake"], "--allocated", "--leaks", "--peak")
again = report(paths, "--allocated", "--leaks", "--peak")
for measure in ("allocated", "leaks", "peak"):
    check.equal(f"one file or several: {measure}", sites(one, measure), sites(again, measure))
for key in ("allocations", "frees", "allocated_bytes", "peak_bytes", "peak_blocks", "leaked_bytes", "leaked_blocks"):
    check.equal(f"one file or several: {key}", one["summary"][key], again["summary"][key])
check.equal("in any order", whole["allocated"], report(list(reversed(paths)), "--allocated", "--leaks")["allocated"])
check.holds(report(paths)["timeline"], "The screen of a series has no timeline.")

# The last file alone has the sums of the whole run, and says what it has not.
last = report(paths[-1:], "--allocated", "--leaks")
check.equal("sums of the last", sites(whole, "allocated"), sites(last, "allocated"))
check.equal("leaks of the last", sites(whole, "leaks"), sites(last, "leaks"))
part = report(paths[-1:], "--allocated", "--by", "kind")
check.holds(part["summary"]["omitted_blocks"] > 0, "A file alone does not say that others have the rest.")
os.unlink(paths[0])
rest = report(paths[1:], "--allocated")
check.equal("without the first", sites(whole, "allocated"), sites(rest, "allocated"))

told = truth(record([workload("turnover"), "20000", "3"], "many.wake", ["--rotate", "64K", "--cull", "--cull-ms", "1"]))
paths = files("many.wake")
check.holds(len(paths) >= 1, "Nothing was recorded.")
whole = report(paths, "--leaks")
for maker, account in told.items():
    left = [(s["blocks"], s["bytes"]) for s in whole["leaks"]["sites"] if s["frames"][0]["function"] == maker]
    check.equal(f"culled: left by {maker}", (account["left_blocks"], account["left_bytes"]),
                (sum(b for b, _ in left), sum(s for _, s in left)))
alone(paths)

done = tool("report", "--at", "1ns", paths[-1])
check.holds(b"This file of a series begins at " in done.err, f"A moment before a file: {done.err}")
# What one file alone shows, and what it says is not in it, are all that there was.
for path in paths:
    one = report([path], "--allocated", "--histogram")
    check.equal(f"{path}: shown and not shown", one["summary"]["allocations"] - one["summary"]["omitted_blocks"],
                sum(b["blocks"] for b in one["sizes"]))

# By time, in a tree of processes, some of which have ended before.
tree = f"{workload('turnover')} 1000; {workload('spans')} & {workload('turnover')} 20000; wait"
check.equal("a tree", 0, record(["sh", "-c", tree], "tree.wake", ["--rotate", "200ms"]).status)
paths = files("tree.wake")
check.holds(len(paths) >= 2, f"By time: {paths}")
summary = report(paths, "--leaks")["summary"]
check.equal("complete", True, summary["complete"])
check.equal("processes of the last file alone", summary["processes"], info(paths[-1])["processes"])
check.equal("its allocations", summary["allocations"], info(paths[-1])["allocations"])
alone(paths)

# More has to be repeated than a file is meant to hold: files become larger, not ever more of them.
crowd = ["sh", "-c", "i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i + 1)); done"]
check.equal("a crowd", 0, record(crowd, "crowd.wake", ["--rotate", "64K", "--symbols", "no"]).status)
check.equal("a crowd in one file", 0, record(crowd, "crowd-one.wake", ["--symbols", "no"]).status)
sizes, single = [os.path.getsize(path) for path in files("crowd.wake")], os.path.getsize("crowd-one.wake")
check.holds(2 <= len(sizes) <= 12 and sum(sizes) < 5 * single, f"A crowd: files of {sizes} bytes, {single} in one.")
check.equal("all of it", info("crowd-one.wake")["processes"], report(files("crowd.wake"))["summary"]["processes"])

run = native([workload("turnover"), "60000"], {"LD_PRELOAD": PROBE, "HEAPWAKE_ROTATE": "64K",
                                               "HEAPWAKE_OUTPUT": "bare.wake"})
check.equal("LD_PRELOAD", 0, run.status)
for _ in range(200):
    if files("bare.wake") and not glob.glob("bare.wake.*partial"):
        break
    time.sleep(0.05)
check.holds(files("bare.wake"), "LD_PRELOAD alone makes no files.")
alone(files("bare.wake"))
# A folder that takes no further file, and one on a full disk: what is there is sound, and no empty file is beside it.
if os.geteuid() == 0 and native(["unshare", "-m", "mount", "-t", "tmpfs", "none", "."]).status == 0:
    os.mkdir("tight")
    for limit, is_whole in (("nr_inodes=3", True), ("size=100k", False), ("size=200k", False)):
        check.about(f"a folder with {limit}")
        script = (f"mount -t tmpfs -o {limit} none tight && '{HEAPWAKE}' record --symbols no --rotate 64K -o tight/t.wake -- "
                  f"'{workload('turnover')}' 60000 2>said; status=$?; cp tight/* .; exit $status")
        check.equal("exit status", 0, native(["unshare", "-m", "sh", "-c", script]).status)
        left = sorted(glob.glob("t.wake*"))
        check.holds(left and all(os.path.getsize(path) > 0 for path in left), f"Files: {left}")
        facts = check.honest("t.wake.*")
        check.equal("damages", [], facts["damages"])
        check.equal("complete", is_whole, facts["complete"])
        with open("said", encoding="utf-8") as f:
            check.equal("the loss is counted", not is_whole, " events are not kept" in f.read())
        for path in left:
            os.unlink(path)
    check.about("")

for value in ("", "7", "1K", "soon", "5", "1ms"):
    check.equal(f"--rotate={value}", 2, tool("record", f"--rotate={value}", "true").status)
check.done()
