#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What bytehound's own tests expect, expected of heapwake.

    test_basic                            here
    test_mmap_with_, _without_set_vma_anon_name   maps.py
    test_jemalloc_*                       allocators.py (preloaded), here (linked, and a constructor that walks the
                                          auxiliary vector); a jemalloc under names of its own is an allocator
                                          inside the program, which is not seen: docs/coming-from.md
    test_start_stop_sigusr1, _api         here; signals.py, toggle.py and api.py have more
    test_fork                             here: the child is recorded too; counts of many: processes.py
    test_normal_exit, test_immediate_*    here: _Exit; all other ways to end, with threads: ends.py
    test_gather_*                         nothing is gathered; what is made before a SIGKILL is kept: ends.py
    test_cull, test_cross_thread_alloc_*  here; totals and readers of culled files: culling.py
    test_track_spawned_children           here; every other way to make a process: processes.py

All others are about stacks, and about what programs do with theirs (exceptions, jumps, plugins, code made at run
time): stacks.py, handlers.py, reload.py.
"""
import glob
import json
import os
import subprocess

from support import Check, Ledger, events, native, record, tool, truth, truths, workload

A_DAY = 24 * 3600 * 1000  # in ms: whatever is freed meanwhile is short-lived
check = Check()


def blocks(path):
    """Every block of a recording, as a dict, with its frames, its process and the length of its realloc chain."""
    done = tool("export", "-f", "json", path)
    check.equal(f"export {path}", 0, done.status)
    whole = json.loads(done.out)
    found = []
    for process in whole["processes"]:
        mine = [dict(zip(process["block_columns"], row)) for row in process["blocks"]]
        tids = {thread["thread"]: thread["tid"] for thread in process["threads"]}
        following = {b["previous"]: b["number"] for b in mine if b["previous"] is not None}
        by_number = {b["number"]: b for b in mine}
        for b in mine:
            first = last = b["number"]
            length = 1
            while by_number[first]["previous"] in by_number:
                first, length = by_number[first]["previous"], length + 1
            while last in following:
                last, length = following[last], length + 1
            frames, trace = [], process["stacks"][b["stack"]]
            while trace:
                trace, frame = whole["traces"][trace]
                frames.append(whole["frames"][frame])
            b.update(chain=length, frames=frames, pid=process["pid"], tid=tids.get(b["thread"]),
                     freeing_tid=tids.get(b["freeing_thread"]))
        found += mine
    return found


def sized(path, low, high):
    return sorted((b for b in blocks(path) if low <= b["size"] <= high), key=lambda b: (b["size"], b["number"]))


def see_basic(path, pid=None):
    """Six blocks of one function, by their sizes."""
    mine = [b for b in blocks(path) if b["frames"] and b["frames"][0]["function"] == "basic" and pid in (None, b["pid"])]
    mine.sort(key=lambda b: b["size"])
    check.equal("sizes", [10, 100, 1000, 10000, 100000, 1000000], [b["size"] for b in mine])
    check.equal("leaked", [True, False, False, True, True, True], [b["leaked"] for b in mine])
    check.equal("how", [None, "free", "realloc", None, None, None], [b["how"] for b in mine])
    check.equal("kinds", ["malloc", "malloc", "malloc", "realloc", "calloc", "posix_memalign"], [b["kind"] for b in mine])
    check.equal("chains", [1, 1, 2, 2, 1, 1], [b["chain"] for b in mine])
    check.equal("threads", 1, len({(b["pid"], b["tid"]) for b in mine}))
    check.equal("files", {"suite.c"}, {os.path.basename(b["frames"][0]["file"]) for b in mine})
    check.equal("callers", {"main"}, {b["frames"][1]["function"] for b in mine})
    if len(mine) == 6:
        check.equal("alignment", 0, int(mine[5]["address"], 16) % 65536)
        lines = [b["frames"][0]["line"] for b in mine]
        check.equal("line of the second", lines[0] + 1, lines[1])
        check.equal("lines rise", sorted(lines), lines)
    maps = json.loads(tool("report", "--maps", "--json", path).out)["mappings"]
    page = [m for m in maps if m["frames"] and m["frames"][0]["function"] == "basic" and pid in (None, m["pid"])]
    check.equal("the mapping", [(4096, False, [("munmap", "whole")])],
                [(m["bytes"], m["leaked"], [(r["by"], r["cut"]) for r in m["removals"]]) for m in page])


def basic():
    check.about("basic")
    check.equal("exit status", 0, record([workload("suite"), "basic"], "basic.wake").status)
    see_basic("basic.wake")
    check.sound("basic.wake")


def spawned():
    check.about("spawn")
    told = truth(record([workload("suite"), "spawn"], "spawn.wake"))
    see_basic("spawn.wake", told["child"])
    check.equal("the parent's", [(told["parent"], 7771), (told["parent"], 7772)],
                [(b["pid"], b["size"]) for b in sized("spawn.wake", 7771, 7772)])
    record([workload("suite"), "spawn"], "spawn.wake", ["--children", "no"])
    check.equal("the parent alone", [7771, 7772], [b["size"] for b in sized("spawn.wake", 1, 9999) if b["size"] > 7000])


def switched():
    for how, options in (("signal", ["--sigusr1", "toggle"]), ("api", [])):
        check.about(f"switch by {how}")
        run = record([workload("suite"), "switch", how], "switch.wake", ["--enabled", "no", *options])
        check.equal("exit status", 0, run.status)
        mine = sized("switch.wake", 7600, 7699)
        check.equal("made while it was on", [(7611, False), (7612, False), (7613, True), (7614, True), (7615, True)],
                    [(b["size"], b["leaked"]) for b in mine])
        check.equal("threads", 3, len({b["thread"] for b in mine}))
        # That it began switched off is marked unless the program was on again before its collector came.
        check.equal("switches", ["recording on", "recording off", "recording on"],
                    [e.kind for e in events("switch.wake") if e.event == "tag"][-3:])
        check.sound("switch.wake")


def forked():
    for name in ("fork.wake", "fork-%p.wake"):
        check.about(f"fork into {name}")
        told = sorted((line["pid"], line["tid"], line["size"]) for line in truths(record([workload("suite"), "fork"], name)))
        check.equal("blocks told", 7, len(told))
        paths = sorted(glob.glob(name.replace("%p", "*")))
        check.equal("files", 1 if "%" not in name else 2, len(paths))
        seen = [(e.pid, e.tid, e.size) for path in paths for e in events(path) if e.event == "alloc" and 7700 < e.size < 7720]
        check.equal("blocks", told, sorted(seen))
        for path in paths:
            check.sound(path)


def ended():
    for how in ("exit", "_exit", "_Exit"):
        check.about(how)
        check.equal("exit status", 0, record([workload("suite"), "end", how], "end.wake").status)
        check.equal("blocks", 1, Ledger(events("end.wake")).made[7721])
        check.sound("end.wake")


def count(path, measure, function):
    """Blocks of the sites of a function."""
    report = json.loads(tool("report", "--json", f"--{measure}", "-n", "0", path).out)
    return sum(site["blocks"] for site in report[measure]["sites"] if site["frames"] and site["frames"][0]["function"] == function)


def culled():
    """A threshold that nothing that is freed can reach, and one that all long lives have passed."""
    for path, ms in (("day.wake", A_DAY), ("ms.wake", 1)):
        check.about(f"cull below {ms} ms")
        check.equal("exit status", 0, record([workload("suite"), "cull"], path, ["--cull", "--cull-ms", ms]).status)
        mine = [(b["size"], b["leaked"], b["chain"]) for b in sized(path, 7802, 7805)]
        kept = [(7802, True, 1), (7805, True, 1)]
        check.equal("blocks", kept if ms == A_DAY else sorted([*kept, (7802, False, 1), (7803, False, 2), (7804, False, 2)]),
                    sorted(mine))
        check.equal("of one site", (2, 1), (count(path, "calls", "twice"), count(path, "leaks", "twice")))
        check.equal("short lives", 1, count(path, "calls", "brief"))
        check.sound(path)
    check.equal("what was culled", [], sized("day.wake", 7801, 7801))
    for path, ms in (("cross-day.wake", A_DAY), ("cross-ms.wake", 1)):
        check.about(f"cull below {ms} ms, across threads")
        check.equal("exit status", 0, record([workload("suite"), "cross"], path, ["--cull", "--cull-ms", ms]).status)
        mine = sized(path, 7811, 7813)
        check.equal("blocks", [] if ms == A_DAY else [(7811, "free"), (7812, "free"), (7813, "free")],
                    [(b["size"], b["how"]) for b in mine])
        check.holds(all(b["tid"] != b["freeing_tid"] for b in mine), f"Who made them freed them: {mine}")
        check.sound(path)


def see_heap(path, told):
    mine = sized(path, 7900, 17905)
    mine = [b for b in mine if b["size"] in (7901, 7902, 7903, 7904, 17905)]
    check.equal("blocks", [("malloc", 7901, True, 1), ("malloc", 7902, False, 1), ("calloc", 7903, True, 1),
                           ("malloc", 7904, False, 2), ("realloc", 17905, True, 2)],
                [(b["kind"], b["size"], b["leaked"], b["chain"]) for b in mine])
    check.equal("usable sizes", told["usable"], [b["usable"] for b in mine])
    check.holds(mine and any(f["function"] == "walk" for f in mine[0]["frames"]), "The constructor's block has another stack.")
    check.sound(path)


def heaps():
    """As it is; with jemalloc linked; with jemalloc preloaded."""
    library = sorted(glob.glob("/usr/lib/*/libjemalloc.so.2") + glob.glob("/usr/lib*/libjemalloc.so.2"))
    programs = [("glibc", workload("suite"), {})]
    if library:
        root = os.environ["ROOT"]
        subprocess.run(["gcc", "-g", "-O2", "-D_GNU_SOURCE", "-fno-builtin-malloc", "-I", f"{root}/include", "-I",
                        f"{root}/tests/workloads", f"{root}/tests/workloads/suite.c", library[0], "-pthread", "-o", "linked"],
                       check=True)
        programs += [("jemalloc, linked", "./linked", {}), ("jemalloc, preloaded", workload("suite"), {"LD_PRELOAD": library[0]})]
    usable = {}
    for name, program, env in programs:
        check.about(name)
        alone = truth(native([program, "heap"], env))
        told = truth(record([program, "heap"], "heap.wake", env=env))
        check.equal("what the kernel has told", (alone["page_size"], alone["entries"]), (told["page_size"], told["entries"]))
        check.holds(told["page_size"] == os.sysconf("SC_PAGESIZE") and told["entries"] > 10, f"The walk went astray: {told}")
        check.equal("usable sizes, alone and recorded", alone["usable"], told["usable"])
        see_heap("heap.wake", told)
        usable[name] = told["usable"]
    if library:
        check.about("jemalloc")
        check.equal("linked and preloaded", usable["jemalloc, preloaded"], usable["jemalloc, linked"])
        check.holds(usable["glibc"] != usable["jemalloc, linked"], "These are not jemalloc's blocks.")


if __name__ == "__main__":
    basic()
    spawned()
    switched()
    forked()
    ended()
    culled()
    heaps()
    check.done()
