#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What came before a tag is before it in every question, and what came behind it is behind it, to the byte: however
close they are, whatever clock tells the times, with one thread and with several."""
import csv
import json

from support import Check, events, record, tool, truth, workload

OWN = ["--where", "size-min=10000"]  # of the other threads all blocks are smaller
check = Check()


def total(section, *argv):
    """(blocks, bytes) of a section of the report"""
    told = json.loads(tool("report", "--json", *OWN, *argv, "out.wake").out)[section]
    return told["total_blocks"], told["total_bytes"]


def sizes(*argv):
    """of the blocks that an export has"""
    rows = csv.DictReader(tool("export", "-f", "csv", *OWN, *argv, "out.wake").out.decode().splitlines())
    return sorted(int(row["size"]) for row in rows)


def compare_order():
    """By place and by time: tags have a time of their own."""
    held = tag = None
    for e in events("out.wake"):
        if e.event == "tag":
            check.holds(held is None or held < e.time, f"{e.kind} shares its time with what was before it.")
        elif held is not None and tag is not None and e.tid == tag.tid:
            check.holds(e.time > tag.time, f"{tag.kind} shares its time with what is behind it.")
        held, tag = e.time, e if e.event == "tag" else None


def compare_window(i, before, within, behind, earlier):
    start, stop = f"start-{i}", f"stop-{i}"
    window = ["--from", start, "--to", stop]
    freed = i % 2 == 0
    check.equal(f"calls in window {i}", (1, within), total("calls", *window))
    check.equal(f"{i}: allocated-from, allocated-to", (1, within),
                total("calls", "--where", f"allocated-from={start}", "--where", f"allocated-to={stop}"))
    check.equal(f"{i}: freed in the window", [before] if freed else [],
                sizes("--where", f"freed-from={start}", "--where", f"freed-to={stop}"))
    check.equal(f"{i}: exported", [within], sizes("--where", f"allocated-from={start}", "--where", f"allocated-to={stop}"))
    check.equal(f"{i}: leaks from the tag on", True, before not in sizes("--leaks", "--from", start))
    held = total("live", "--at", start)
    check.equal(f"{i}: live at the first tag", (earlier[0] + 1, earlier[1] + before), held)
    check.equal(f"{i}: live at the second", (held[0] + (not freed), held[1] + within - freed * before),
                total("live", "--at", stop))


CASES = (("alone", {}, ()), ("alone", {}, ("--precise-timestamps",)), ("alone", {"HEAPWAKE_TEST_STAMPS": "sequence"}, ()),
         ("uncounted", {}, ()), ("threads", {}, ()), ("threads", {"HEAPWAKE_TEST_STAMPS": "sequence"}, ()))
for case, env, options in CASES:
    check.about(" ".join([case, *env.values(), *options]))
    windows = truth(record([workload("tagged"), case], env=env, options=options))["windows"]
    check.sound("out.wake")
    compare_order()
    live = 0, 0
    for i, (before, within, behind) in enumerate(windows):
        if i in (0, 1, 2, 17, len(windows) - 1):
            compare_window(i, before, within, behind, live)
        kept = [behind] if i % 2 == 0 else [before, behind]
        live = live[0] + len(kept), live[1] + sum(kept)
check.done()
