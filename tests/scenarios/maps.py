#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Mappings as things that live: `report --maps` knows who made each, how it was cut and by
what, what is left of it, and with --map-usage how many of its pages were in memory, exactly,
although the kernel joins mappings that are neighbours; with names and without, sampled at a
command of `heapwake ctl` and at a call of the program's own. Samples stay, or go with their
names, in copies."""
import json
import os
import subprocess

from support import HEAPWAKE, PROBE, Check, ask, native, put, record, tool, truth, truths, workload

PAGE = 4096
check = Check()

# name: site, pages, pages in memory at most, and whenever that changed; pieces left (first page, pages); removals (how,
# first page, pages, where it was cut, by whom)
EXPECTED = {
    "untouched": (5, 0, [0], [(0, 5)], []),
    "touched": (5, 2, [2, 0], [(0, 5)], []),
    "unmapped": (5, 1, [1], [], [("munmap", 0, 5, "whole", "unmap_all")]),
    "start": (5, 5, [5, 4], [(1, 4)], [("munmap", 0, 1, "start", "cut_start")]),
    "end": (5, 5, [5, 4], [(0, 4)], [("munmap", 4, 1, "end", "cut_end")]),
    "middle": (5, 5, [5, 4], [(0, 2), (3, 2)], [("munmap", 2, 1, "middle", "cut_middle")]),
    "under": (5, 5, [5, 4], [(0, 2), (3, 2)], [("mmap", 2, 1, "middle", "make_over")]),
    "over": (1, 1, [1], [(0, 1)], []),
}


def maps(path, *options):
    done = tool("report", "--maps", "--json", *options, path)
    check.equal(f"report --maps {path}", 0, done.status)
    return json.loads(done.out)


def site(frames):
    return frames[0]["function"] if frames else ""


def see_mapping(name, m, by_id, has_usage, kernel_names):
    pages, peak, history, pieces, removals = EXPECTED[name]
    start = int(m["address"], 16)
    check.equal("pages", pages, m["bytes"] / PAGE)
    check.equal("permissions", "rw-p", m["permissions"])
    check.equal("made by", ("mmap", "make_" + name), (m["by"], site(m["frames"])))
    check.equal("pieces left", pieces, [((int(p["address"], 16) - start) / PAGE, p["bytes"] / PAGE) for p in m["pieces"]])
    check.equal("left", sum(count for _, count in pieces) * PAGE, m["left_bytes"])
    check.equal("leaked", bool(pieces), m["leaked"])
    check.equal("gone", not pieces, m["gone_ns"] is not None)
    check.equal("removals", removals, [(r["by"], (int(r["address"], 16) - start) / PAGE, r["bytes"] / PAGE, r["cut"],
                                        site(r["frames"])) for r in m["removals"]])
    for r in m["removals"]:
        check.equal("what is there instead", "make_over" if r["by"] == "mmap" else None,
                    site(by_id[r["mapping"]]["frames"]) if r["mapping"] is not None else None)
    if not has_usage:
        check.equal("use that nobody asked for", (None, None, []), (m["peak_rss_bytes"], m["permissions_seen"], m["usage"]))
        return
    check.equal("permissions seen", "rw-p", m["permissions_seen"])
    check.equal("most pages in memory", peak, m["peak_rss_bytes"] / PAGE)
    check.equal("pages in memory", history, [u["rss_bytes"] / PAGE for u in m["usage"]])
    check.equal("anonymous", history, [(u["anonymous_bytes"] + u["swap_bytes"]) / PAGE for u in m["usage"]])
    times = [u["time_ns"] for u in m["usage"]]
    check.equal("order of samples", sorted(times), times)
    check.equal("name", f"[anon:{name}]" if kernel_names else "", m["name"])


def see(path, told, has_usage, named):
    """The eight mappings, as the program has told of them."""
    addresses = {line["name"]: line["address"] for line in told if "name" in line}
    taken = [line["names_taken"] for line in told if "names_taken" in line][-1]
    check.equal("mappings told", 8, len(addresses))
    check.holds(taken in (0, 8) and (named or taken == 0), f"The kernel took {taken} names.")
    report = maps(path)
    by_id = {m["id"]: m for m in report["mappings"]}
    ours = {site(m["frames"])[5:]: m for m in report["mappings"] if site(m["frames"]).startswith("make_")}
    check.equal("mappings", sorted(EXPECTED), sorted(ours))
    for name in sorted(set(EXPECTED) & set(ours)):
        check.about(f"{path}: {name}")
        check.equal("address", addresses[name], ours[name]["address"])
        see_mapping(name, ours[name], by_id, has_usage, taken == 8)
    check.about(path)
    check.equal("samples", has_usage, report["maps"]["samples"] > 0)
    check.equal("other memory", has_usage, any(o["name"].endswith("/libc.so.6") for o in report["other_memory"]))
    ranks = [(-(m["peak_rss_bytes"] or 0), -m["bytes"]) for m in report["mappings"]]
    check.equal("largest first", sorted(ranks), ranks)
    text = ask("report", "--maps", path).stdout
    check.holds(all(len(line) <= 80 for line in text.splitlines()), "A line is longer than 80 columns.")
    for words in ("make_middle", "split", "cut_middle", "munmap, 4.0 KiB", "mmap over it", "in 2 pieces", "start cut", "gone"):
        check.holds(words in text, f"The report does not say '{words}':\n{text}")
    check.sound(path)
    reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
    check.equal("the other reader", (0, b"", b""), native([reader, "--check", path]))
    check.about("")


def by_ctl(named):
    """Each step waits until a command has been obeyed, and every command takes a sample."""
    path = "named.wake" if named else "ctl.wake"
    recorder = subprocess.Popen([HEAPWAKE, "record", "-q", "--map-usage=3600000", "-o", path, "--", workload("maps"), "ctl",
                                 *(["named"] if named else [])], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    told = []
    for command in (["tag", "made"], ["report", "cut.memlog"]):
        while not told or "names_taken" not in told[-1]:
            told.append(json.loads(recorder.stdout.readline()))
        with open(f"/proc/{recorder.pid}/task/{recorder.pid}/children", encoding="ascii") as f:
            pid = f.read().split()[0]
        check.equal(f"ctl {command[0]}", 0, tool("ctl", pid, *command).status)
        told.append({})
        recorder.stdin.write(b"\n")
        recorder.stdin.flush()
    out, _ = recorder.communicate(timeout=60)
    told += [json.loads(line) for line in out.splitlines()]
    check.equal("exit status", 0, recorder.returncode)
    see(path, told, True, named)


def by_call():
    """The program asks for it itself, recorded or preloaded alone."""
    run = record([workload("maps"), "flush", "named"], "flush.wake", env={"HEAPWAKE_MAP_USAGE": "3600000"})
    see("flush.wake", truths(run), True, True)
    run = native([workload("maps"), "flush"], {"LD_PRELOAD": PROBE, "HEAPWAKE_MAP_USAGE": "3600000",
                                               "HEAPWAKE_OUTPUT": "bare.wake"})
    for _ in range(600):  # its collector is nobody's child
        if os.path.exists("bare.wake"):
            break
        subprocess.run(["sleep", "0.1"], check=True)
    check.holds(os.path.exists("bare.wake"), "There is no bare.wake.")
    see("bare.wake", truths(run), True, False)


def unasked():
    """Without the option nothing is sampled, and everything else is known."""
    run = record([workload("maps"), "flush"], "unasked.wake")
    see("unasked.wake", truths(run), False, False)
    for value in ("", "soon", "9", "-1", "3600001"):
        done = native([HEAPWAKE, "record", f"--map-usage={value}", "--", "true"])
        check.equal(f"--map-usage={value}", (2, 1), (done.status, done.err.count(b"\n")))
    done = native([HEAPWAKE, "record", "--map-usage", "-q", "-o", "alone.wake", "true"])
    check.equal("--map-usage without a value", 0, done.status)


def moved():
    """What mremap moves goes on as another mapping, a munmap that the kernel refused was none, a break that
    moves back removes."""
    told = truth(record([workload("maps"), "moved"], "moved.wake"))
    check.equal("the program", (1, 1, told["target"]), (told["failed"], told["grown"], told["second"]))
    report = maps("moved.wake")
    by_site = {site(m["frames"]): m for m in report["mappings"]}
    check.about("moved")
    first, target, second = by_site["make_first"], by_site["make_target"], by_site["move_it"]
    check.equal("removal of the first", [("mremap", "whole", second["id"], "move_it")],
                [(r["by"], r["cut"], r["mapping"], site(r["frames"])) for r in first["removals"]])
    check.equal("removal of what was in the way", [("mremap", "whole", second["id"])],
                [(r["by"], r["cut"], r["mapping"]) for r in target["removals"]])
    check.equal("the second", ("mremap", first["id"], "rw-p", told["target"], 10 * PAGE, True),
                tuple(second[key] for key in ("by", "previous", "permissions", "address", "bytes", "leaked")))
    grown = [m for m in report["mappings"] if m["by"] == "brk"]
    moves = [row[4] for row in json.loads(tool("export", "-f", "json", "moved.wake").out)["processes"][0]["mappings"] if row[2] == "brk"]
    check.equal("moves of the break, as json has them", [5 * PAGE, -3 * PAGE], moves)
    check.equal("the break", [(5 * PAGE, 2 * PAGE, [("brk", "end", 3 * PAGE)])],
                [(m["bytes"], m["left_bytes"], [(r["by"], r["cut"], r["bytes"]) for r in m["removals"]]) for m in grown])
    check.about("")


def taken():
    """A place that mremap has left is another thread's before the call returns: each has its own."""
    told = truth(record([workload("maps"), "taken"], "taken.wake"))
    by_site = {site(m["frames"]): m for m in maps("taken.wake")["mappings"]}
    check.about("taken")
    check.equal("the program", 1, told["failed"])
    first, second, other = by_site["make_first"], by_site["move_it"], by_site["make_taken"]
    check.equal("removal of the first", [("mremap", "whole", second["id"])],
                [(r["by"], r["cut"], r["mapping"]) for r in first["removals"]])
    check.equal("the second", (told["second"], first["id"], True), tuple(second[key] for key in ("address", "previous", "leaked")))
    check.equal("what is in its place", (told["first"], [], 5 * PAGE), tuple(other[key] for key in ("address", "removals", "left_bytes")))
    check.holds(first["tid"] == second["tid"] != other["tid"], "The threads are mixed up.")
    check.about("")


def refused():
    """Where the system lets nobody look, one line says so, and everything else is recorded."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    os.mkdir("open")
    os.chmod("open", 0o777)
    run = native([*nobody, HEAPWAKE, "record", "-q", "--map-usage=3600000", "-o", "open/closed.wake", "--", workload("maps"), "closed"])
    if nobody and run.status in (126, 127):
        return  # nobody may not even come here
    check.about("refused")
    check.equal("the program", {"closed": 1, "flush": 0}, truth(run))
    check.equal("lines said", (1, True), (run.err.count(b"\n"), b"cannot be sampled" in run.err))
    check.sound("open/closed.wake")
    check.about("")


def strip_times(report):
    """What a copy has to say as well."""
    return [(m["address"], m["bytes"], m["peak_rss_bytes"], m["pieces"], [u["rss_bytes"] for u in m["usage"]])
            for m in report["mappings"]]


def copies():
    """strip and merge keep samples; anonymize keeps figures, and no name but those that everybody has."""
    path = os.path.abspath(put("secret-ledger.db", b"x" * 5 * PAGE))
    told = truth(record([workload("maps"), "file", path], "secret.wake", ["--map-usage=3600000"]))
    check.equal("what was read", ord("x"), told["read"])
    mine = [m for m in maps("secret.wake")["mappings"] if site(m["frames"]) == "map_file"]
    check.equal("the file", [("mmap", path, "r--s", "r--s", 5 * PAGE)],
                [tuple(m[key] for key in ("by", "name", "permissions", "permissions_seen", "bytes")) for m in mine])
    check.holds(mine and PAGE <= mine[0]["peak_rss_bytes"] <= 5 * PAGE, f"A file of which a page was read: {mine}")
    right = strip_times(maps("secret.wake"))
    for name, words in (("stripped", ["strip", "--threshold", "1ms", "secret.wake", "-o", "stripped.wake"]),
                        ("merged", ["merge", "secret.wake", "-o", "merged.wake"]),
                        ("partial", ["anonymize", "--level", "partial", "secret.wake", "-o", "partial.wake"]),
                        ("full", ["anonymize", "secret.wake", "-o", "full.wake"])):
        done = tool(*words)
        check.equal(f"{words[0]}: {done.err.decode()}", 0, done.status)
        check.equal(f"mappings in {name}.wake", right, strip_times(maps(name + ".wake")))
        check.sound(name + ".wake")
        text = ask("report", "--maps", "--json", name + ".wake").stdout
        check.equal(f"the file's name in {name}.wake", name in ("stripped", "merged"), "secret-ledger" in text)
    reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
    seen = native([reader, "--usage", "full.wake"]).out.decode()
    names = {line.split("\t")[10] for line in seen.splitlines()}
    check.holds(all(n == "-" or n[0] == "[" or n.startswith(("range_", "module_", "library_", "allocator_")) for n in names),
                f"Names are left: {names}")
    check.holds("[heap]" in names and any(n.startswith("range_") for n in names), f"Names are not as expected: {names}")


if __name__ == "__main__":
    by_ctl(True)
    by_ctl(False)
    by_call()
    unasked()
    moved()
    taken()
    refused()
    copies()
    check.done()
