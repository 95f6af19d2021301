#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""json, csv and speedscope against the events of `heapwake dump` and the sums of
`heapwake report`: every block with its birth and its death, every stack, every
filter; and names that try to break out."""
import collections
import csv
import json
import os
import shutil

from support import Check, events, info, record, tool, workload

check = Check()


def export(form, path, *argv):
    done = tool("export", "-f", form, *argv, path)
    check.equal(f"exit status of export {form} {argv}", 0, done.status)
    return done.out.decode()


def blocks_of(path):
    """(pid, birth, death or None, size, usable, address, kind, tid, stack), from the events."""
    live, found = {}, []
    for e in events(path):
        if e.event == "alloc":
            live[e.pid, e.address] = e
        elif e.event == "free" and (e.pid, e.address) in live:
            found.append((live.pop((e.pid, e.address)), e))
    found += [(e, None) for e in live.values()]
    return collections.Counter((a.pid, a.time, f and f.time, a.size, a.usable, a.address, a.kind, a.tid, int(a.stack),
                                f and f.kind, f and f.tid) for a, f in found)


def blocks_of_csv(text):
    rows = list(csv.DictReader(text.splitlines()))
    for r in rows:
        check.equal("lifetime", "" if r["freed_ns"] == "" else str(int(r["freed_ns"]) - int(r["allocated_ns"])),
                    r["lifetime_ns"])
    return collections.Counter(
        (int(r["pid"]), int(r["allocated_ns"]), int(r["freed_ns"]) if r["freed_ns"] else None, int(r["size"]),
         int(r["usable"]), int(r["address"], 16), r["kind"], int(r["tid"]), int(r["stack"]), r["freed_how"] or None,
         int(r["freed_tid"]) if r["freed_tid"] else None) for r in rows)


def blocks_of_json(data):
    found = collections.Counter()
    for p in data["processes"]:
        tids = {t["thread"]: t["tid"] for t in p["threads"]}
        for row in p["blocks"]:
            b = dict(zip(p["block_columns"], row, strict=True))
            found[p["pid"], b["allocated_ns"], b["freed_ns"], b["size"], b["usable"], int(b["address"], 16), b["kind"],
                  tids[b["thread"]], b["stack"], b["how"], b["freeing_thread"] and tids[b["freeing_thread"]]] += 1
    return found


def frames_of(data, process, stack):
    """A stack of the JSON, innermost first."""
    frames, trace = [], process["stacks"][stack]
    while trace != 0:
        parent, frame = data["traces"][trace]
        frames.append(data["frames"][frame])
        trace = parent
    return frames


def check_stacks(path, data):
    """The blocks of the JSON, summed by stack, are the sites of the report."""
    seen = collections.Counter()
    for p in data["processes"]:
        for row in p["blocks"]:
            b = dict(zip(p["block_columns"], row))
            frames = tuple((f["function"], f["file"], f["line"]) for f in frames_of(data, p, b["stack"]))
            seen[frames] += b["size"]
    report = json.loads(tool("report", "--json", "--allocated", "-n", "0", path).out)
    sites = collections.Counter()
    for site in report["allocated"]["sites"]:
        sites[tuple((f["function"], f["file"], f["line"]) for f in site["frames"])] += site["bytes"]
    check.equal("bytes by stack", sites, seen)


def check_blocks(path):
    expected = blocks_of(path)
    data = json.loads(export("json", path))
    check.equal(f"{path}: blocks of csv", expected, blocks_of_csv(export("csv", path)))
    check.equal(f"{path}: blocks of json", expected, blocks_of_json(data))
    check.equal(f"{path}: total", sum(expected.values()), data["total"]["allocated_blocks"])
    check_stacks(path, data)
    others = [e for e in events(path) if e.event in ("mmap", "munmap", "brk")]
    mappings = [row for p in data["processes"] for row in p["mappings"]]
    check.equal(f"{path}: mappings", [(e.time, e.event, e.address) for e in others],
                [(row[0], row[2], int(row[3], 16)) for row in mappings])
    return expected


def check_filters(path, all_blocks):
    sized = {b: n for b, n in all_blocks.items() if b[3] >= 1000}
    check.equal("csv, size-min", sized, dict(blocks_of_csv(export("csv", path, "--where", "size-min=1000"))))
    freed = {b: n for b, n in all_blocks.items() if b[2] is not None}
    check.equal("csv, freed", freed, dict(blocks_of_csv(export("csv", path, "--where", "state=freed"))))
    end = sorted(b[1] for b in all_blocks.elements())[len(all_blocks) // 2]
    window = collections.Counter()
    for b, n in all_blocks.items():
        if b[1] <= end:
            over = b[2] is not None and b[2] <= end
            window[b if over else (*b[:2], None, *b[3:9], None, None)] += n
    check.equal("csv, --to", window, blocks_of_csv(export("csv", path, "--to", f"{end}ns")))


def check_speedscope(path):
    data = json.loads(export("speedscope", path))
    report = json.loads(tool("report", "--json", "--no-built-in-suppressions", path).out)
    names = {"Held at the peak": ("peak", "total_bytes"), "Leaked": ("leaks", "total_bytes"),
             "Most calls": ("calls", "total_blocks"), "Temporary": ("temporary", "total_blocks")}
    check.equal("schema", "https://www.speedscope.app/file-format-schema.json", data["$schema"])
    frames = data["shared"]["frames"]
    for p in data["profiles"]:
        check.equal("shape of a profile", ("sampled", True, p["endValue"]),
                    (p["type"], len(p["samples"]) == len(p["weights"]), sum(p["weights"])))
        check.holds(all(s and all(0 <= f < len(frames) for f in s) for s in p["samples"]), "A frame is not there.")
        if p["name"] in names:
            key, total = names.pop(p["name"])
            check.equal(f"weights of {key}", report[key][total], sum(p["weights"]))
            check.equal(f"unit of {key}", "bytes" if total == "total_bytes" else "none", p["unit"])
    check.equal("profiles that are missing", [], [n for n, (key, total) in names.items() if report[key][total] > 0])
    leaked = next(p for p in data["profiles"] if p["name"] == "Leaked")
    dug = [s for s in leaked["samples"] if sum(frames[f]["name"] == "dig" for f in s) == 201]
    check.equal("stacks of dig", 1, len(dug))
    check.equal("outermost frame of dig", "_start", frames[dug[0][0]]["name"])


def check_hostile():
    """A program and an argument whose names hold all that means something somewhere."""
    evil = os.path.abspath('ev"il,\n<b>#;&\x1b[1m$(x)')
    shutil.copy(workload("blame"), evil)
    record([evil, 'a"b\nc,</script>'], "evil.wake")
    rows = list(csv.reader(export("csv", "evil.wake").splitlines()))
    check.equal("columns of every row", {20}, {len(row) for row in rows})
    data = json.loads(export("json", "evil.wake"))
    check.equal("program", evil, data["processes"][0]["exe"])
    check.holds(evil in [m["path"] for m in data["processes"][0]["modules"]], "The module is not there.")
    for form in ("speedscope", "dhat"):
        json.loads(export(form, "evil.wake"))
    for form in ("csv", "folded", "heaptrack", "massif", "callgrind"):
        check.holds("\x1b" not in export(form, "evil.wake"), f"{form} lets an escape through.")
    lines = export("heaptrack", "evil.wake").splitlines()
    check.equal("lines of unknown sort", [], [line for line in lines if line[:2] not in
                                              ("v ", "X ", "I ", "s ", "i ", "t ", "a ", "+ ", "- ", "c ", "R ")])


record([workload("blame")], "blame.wake")
record([workload("threads"), "live", "20"], "threads.wake")
record([workload("family"), "fork"], "family.wake")
check_filters("blame.wake", check_blocks("blame.wake"))
check_blocks("threads.wake")
check_blocks("family.wake")
family = json.loads(export("json", "family.wake"))
check.equal("processes of the family", info("family.wake")["processes"], len(family["processes"]))
# A child has the modules of its parent, and met them before it was born.
check.equal("frames of no module", [], [f for f in family["frames"] if not f["module"]])
check_speedscope("blame.wake")
check_hostile()
check.done()
