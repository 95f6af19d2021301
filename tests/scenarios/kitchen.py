#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The bundled example says what it leaks, peaks and churns; the recording agrees. What other programs rely on is
there: the keys of `info --json` and the columns of `dump --tsv`."""
import json
import os
import re
import subprocess
import sys

COLUMNS = ["time_ns", "pid", "tid", "event", "address", "size", "stack", "kind"]
NUMBERS = ["pid", "processes", "threads", "runtime_ns", "allocations", "frees", "allocated_bytes", "peak_bytes", "peak_time_ns",
           "leaked_blocks", "leaked_bytes", "stacks", "cut_stacks", "lost_events"]

heapwake = os.environ["HEAPWAKE"]
kitchen = os.path.join(os.environ["BUILD"], "examples/kitchen")

said = subprocess.run([heapwake, "record", "-q", "-o", "kitchen.wake", "--", kitchen], capture_output=True, text=True,
                      check=True).stdout
leaked_blocks, leaked_bytes = map(int, re.search(r"leaked (\d+) blocks, (\d+) bytes", said).groups())
feast_bytes = int(re.search(r"held (\d+) bytes at the peak", said).group(1))
slices, slice_bytes = map(int, re.search(r"made (\d+) blocks of (\d+) bytes", said).groups())
receipt_bytes = leaked_bytes // leaked_blocks

live, made = {}, {}
dump = subprocess.run([heapwake, "dump", "--tsv", "kitchen.wake"], capture_output=True, text=True, check=True).stdout
header, *lines = dump.splitlines()
columns = {name: i for i, name in enumerate(header.split("\t"))}
for line in lines:
    words = line.split("\t")
    event, address = words[columns["event"]], words[columns["address"]]
    if event == "alloc":
        key = (words[columns["kind"]], int(words[columns["size"]]))
        live[address] = key
        made[key] = made.get(key, 0) + 1
    elif event == "free":
        live.pop(address, None)

info = json.loads(subprocess.run([heapwake, "info", "--json", "kitchen.wake"], capture_output=True, text=True,
                                 check=True).stdout)
wrong = []


def expect(what, truth, seen):
    if truth != seen:
        wrong.append(f"{what}: the program says {truth}, the recording says {seen}.")


expect("first columns of dump --tsv", COLUMNS, header.split("\t")[:len(COLUMNS)])
expect("addresses that are not hexadecimal", [], [line for line in lines if not re.fullmatch(r"0x[0-9a-f]+", line.split("\t")[4])])
expect("events", {"alloc", "free"}, {line.split("\t")[3] for line in lines} & {"alloc", "free"})
expect("keys of info --json that are no numbers", [], [key for key in NUMBERS if type(info.get(key)) is not int])
expect("command, processes, threads, cut stacks", [kitchen, 1, 1, 0],
       [info["command"], info["processes"], info["threads"], info["cut_stacks"]])
expect("pids", {str(info["pid"])}, {line.split("\t")[columns["pid"]] for line in lines})
if not 0 < info["peak_time_ns"] < info["runtime_ns"] or not 0 < info["stacks"] < 100:
    wrong.append(f"The peak is at {info['peak_time_ns']} of {info['runtime_ns']} ns, and there are {info['stacks']} stacks.")
expect("receipts leaked", leaked_blocks, list(live.values()).count(("new", receipt_bytes)))
expect("slices made", slices, made.get(("new[]", slice_bytes)))
expect("slices leaked", 0, list(live.values()).count(("new[]", slice_bytes)))
expect("blocks live at the end", info["leaked_blocks"], len(live))
expect("bytes live at the end", info["leaked_bytes"], sum(size for _, size in live.values()))
expect("allocations", info["allocations"], sum(made.values()))
expect("lost events", 0, info["lost_events"])
expect("complete", True, info["complete"])
if not feast_bytes <= info["peak_bytes"] <= feast_bytes + (1 << 20):
    wrong.append(f"peak: the feast alone is {feast_bytes} bytes, the recording says {info['peak_bytes']}.")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
