#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`report --leaks --blocks`: each leaked block with its address, time, thread and whole stack, as text and
as JSON, against what the program leaked."""
import json
import re

from support import Check, events, record, tool, truth, workload

check = Check()
TOLD = truth(record([workload("shelves")], "shelves.wake"))["leaks"]
record([workload("blame")], "blame.wake")
BORN = {(e.address, e.size): e for e in events("shelves.wake") if e.event == "alloc"}
EPOCH = json.loads(tool("export", "-f", "json", "shelves.wake").out)["wall_ns"]


def blocks(*options):
    """The blocks of a page."""
    done = tool("report", "--leaks", "--blocks", *options, "shelves.wake")
    check.equal(f"exit status of {options}", 0, done.status)
    text, found = done.out.decode(), []
    for part in re.split(r"^(?=\d+: block of )", text, flags=re.M)[1:]:
        head, address, time, thread, word, *rest = part.splitlines()
        stack = [line.strip() for line in rest if line.startswith("                ")]
        found.append({"number": int(head.split(":")[0]), "size": int(re.match(r"\d+: block of (\d+) bytes not freed$", head)[1]),
                      "address": int(re.match(r" {8}address  : (0x[0-9a-f]+)$", address)[1], 16),
                      "us": int(re.match(r" {8}timestamp: (\d+) \(.* after the start\)$", time)[1]),
                      "thread": re.match(r" {8}thread   : (.*) \((\d+)\)$", thread).groups(), "stack": stack})
        check.equal("the word before a stack", "        callstack:", word)
    return found, text, done.err.decode()


found, text, _ = blocks()
check.equal("blocks", sorted((b["address"], b["size"], b["tid"]) for b in TOLD), sorted((b["address"], b["size"], int(b["thread"][1])) for b in found))
check.equal("numbers", list(range(1, len(TOLD) + 1)), [b["number"] for b in found])
check.equal("largest first", sorted((b["size"] for b in TOLD), reverse=True), [b["size"] for b in found])
check.holds("Leaked: 7.9 KiB in 6 blocks, without " in text, f"There is no title: {text[:900]}")
by_address = {b["address"]: b for b in TOLD}
whole = {s["frames"][0]["function"].split("(")[0]: s for s in json.loads(tool("report", "--json", "--leaks", "shelves.wake").out)["leaks"]["sites"]}
for b in found:
    told = by_address[b["address"]]
    time_ns = BORN[b["address"], b["size"]].time
    check.equal("time", (EPOCH + time_ns) // 1000, b["us"])
    check.equal("name of the thread", "stocker" if told["function"] == "leak_screw" else "shelves", b["thread"][0])
    frames = whole[told["function"]]["frames"]
    check.equal("the whole stack", len(frames), len(b["stack"]))
    for line, frame in zip(b["stack"], frames):
        place = f"{frame['file'].split('/')[-1]}:{frame['line']}" if frame["line"] else frame["module"].split("/")[-1]
        check.holds(line.startswith(frame["address"] + ": ") and (frame["function"].split("(")[0] in line) and line.endswith(place), f"{line} is not {frame}")

section = json.loads(tool("report", "--json", "--leaks", "--blocks", "shelves.wake").out)["leaks"]
check.equal("JSON", sorted((b["address"], b["size"], b["tid"]) for b in TOLD),
            sorted((int(b["address"], 16), b["size"], b["tid"]) for b in section["blocks"]))
check.equal("JSON: totals", (sum(b["size"] for b in TOLD), len(TOLD), len(TOLD)), (section["total_bytes"], section["total_blocks"], section["block_count"]))
check.equal("JSON: times", {BORN[b["address"], b["size"]].time for b in TOLD}, {b["time_ns"] for b in section["blocks"]})
check.holds(all(b["frames"] == whole[by_address[int(b["address"], 16)]["function"]]["frames"] for b in section["blocks"]), "JSON: a stack is another.")
check.holds(section["suppressed"]["total_bytes"] > 0, "JSON: nothing is suppressed.")

check.about("conditions")
found, text, _ = blocks("-n", "2")
check.equal("the two largest", ([5000, 1000], True), ([b["size"] for b in found], "and 3.0" not in text and "4 more blocks" in text))
found, _, _ = blocks("--where", "size-max=100")
check.equal("small ones", [70, 70], [b["size"] for b in found])
found, _, _ = blocks("--include", "fill_shelf")
check.equal("--include", [1000] * 3, [b["size"] for b in found])
found, _, _ = blocks("--no-built-in-suppressions")
check.holds(len(found) > len(TOLD) and found[0]["size"] > 5000, "Suppressed blocks cannot be shown.")
with open("own.supp", "w", encoding="utf-8") as f:
    f.write("leak:leak_bolt\n")
found, _, _ = blocks("--suppressions", "own.supp")
check.equal("--suppressions", [5000, 70, 70], [b["size"] for b in found])
found, _, _ = blocks("--from", "100%")
check.equal("--from the end: leaks are counted where they were made", [], found)
for window in (("--from", "50%"), ("--to", "50%")):
    sums = json.loads(tool("report", "--json", "--leaks", *window, "blame.wake").out)["leaks"]
    listed = json.loads(tool("report", "--json", "--blocks", "-n", "0", *window, "blame.wake").out)["leaks"]
    check.equal(f"{window}: as many as the sites have", (sums["total_bytes"], sums["total_blocks"]), (sum(b["size"] for b in listed["blocks"]), len(listed["blocks"])))
for argv in (["--blocks", "--peak"], ["--blocks", "--leaks", "--tree"], ["--blocks", "--leaks", "--by", "line"], ["--blocks", "--since", "5%"],
             ["--blocks", "--leaks", "--threshold", "5"]):
    done = tool("report", *argv, "shelves.wake")
    check.holds(done.status == 2 and (b"--blocks" in done.err or b"--threshold" in done.err), f"{argv}: {done.status} {done.err}")
check.equal("--blocks alone", tool("report", "--leaks", "--blocks", "shelves.wake").out, tool("report", "--blocks", "shelves.wake").out)

check.about("samples")
record([workload("blame")], "sampled.wake", ["--sample", "1K"])
sums = json.loads(tool("report", "--json", "--leaks", "sampled.wake").out)["leaks"]
section = json.loads(tool("report", "--json", "--blocks", "-n", "0", "sampled.wake").out)["leaks"]
check.equal("what samples stand for adds up", sums["total_blocks"], sum(b["blocks"] for b in section["blocks"]))
check.equal("their bytes too", sums["total_bytes"], sum(b["bytes"] for b in section["blocks"]))
check.done()
