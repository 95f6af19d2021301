#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every condition that `heapwake report --maps --where` takes, against a program that knows of each of its
mappings by whom, when and how it was made and removed and how many pages were used; every order; what is known
of one mapping; and which blocks lie in which mapping, against one that knows that."""
import collections
import json
import os

from support import Check, allocators, ask, native, record, tool, truth, workload

PAGE = 4096
check = Check()


def plan(path, *options):
    run = record([workload("map_filters")], path, ["--precise-timestamps", *options])
    check.equal("exit status", 0, run.status)
    mappings = truth(run)
    for m in mappings:
        m["bytes"] = m["pages"] * PAGE
        m["leaked"] = m["died"] == 0
        m["made"] = {"make_plain": "rw", "make_readable": "r", "make_code": "rx", "make_closed": "", "make_fixed": "rwx"}[m["maker"]]
        m["seen"] = "r" if m["sealed"] else m["made"]
    return mappings


def maps(path, conditions=(), *more):
    words = [word for condition in conditions for word in ("--where", condition)]
    run = tool("report", "--maps", "--json", "-n", "0", *words, *more, path)
    if run.status != 0:
        raise SystemExit(f"{conditions}: exit {run.status}, {run.err.decode()}")
    return json.loads(run.out)


def own(report):
    """The program's mappings, by their sizes; without those that only prepare, cover or come of a move."""
    return {m["bytes"]: m for m in report["mappings"]
            if m["frames"] and m["frames"][0]["function"].startswith("make_") and m["by"] == "mmap"
            and m["frames"][0]["function"] != "make_cover"
            and not (m["frames"][0]["function"] == "make_fixed" and m["permissions"] == "---p")}


def compare(path, mappings, conditions, holds):
    right = sorted(m["bytes"] for m in mappings if holds(m))
    check.equal(" ".join(conditions), right, sorted(own(maps(path, conditions))))
    return len(right)


def conditions_of(mappings, rights):
    """Conditions, and what they mean.  rights: which of them the report can know."""
    middle = sorted(m["bytes"] for m in mappings)[len(mappings) // 2]
    place = sorted(m["address"] for m in mappings)[len(mappings) // 3]

    def dropped_by(*names):
        return lambda m: m["dropper"] in names

    return [
        ([], lambda m: True),
        ([f"size-min={middle}"], lambda m: m["bytes"] >= middle),
        ([f"size-max={middle}", "size-min=64K"], lambda m: 65536 <= m["bytes"] <= middle),
        ([f"address-min={place:#x}"], lambda m: m["address"] >= place),
        ([f"address-max={place:#x}"], lambda m: m["address"] <= place),
        (["thread=helper"], lambda m: m["born_by"] == "helper"),
        (["freed-by=helper"], lambda m: not m["leaked"] and m["died_by"] == "helper"),
        (["function=^make_(plain|code)$"], lambda m: m["maker"] in ("make_plain", "make_code")),
        (["not-function=^make_plain$"], lambda m: m["maker"] != "make_plain"),
        (["source=map_filters\\.c$"], lambda m: True),
        (["not-source=map_filters\\.c$"], lambda m: False),
        (["module=/map_filters$"], lambda m: True),
        (["not-module=/map_filters$"], lambda m: False),
        (["mark=two"], lambda m: m["born"] == 2),
        (["allocated-from=two"], lambda m: m["born"] >= 2),
        (["allocated-to=two"], lambda m: m["born"] < 2),
        (["allocated-from=two", "allocated-to=three"], lambda m: m["born"] == 2),
        (["freed-from=mark:three"], lambda m: m["died"] == 3),
        (["freed-to=three"], lambda m: m["died"] == 2),
        (["kept-until=three"], lambda m: m["leaked"] or m["died"] == 3),
        (["alive-at=two"], lambda m: m["born"] == 1),
        (["alive-at=three"], lambda m: m["born"] < 3 and m["died"] in (0, 3)),
        (["alive-at=two", "alive-at-2=three"], lambda m: m["born"] == 1 and m["died"] in (0, 3)),
        (["from=two", "to=three", "allocated=inside"], lambda m: m["born"] == 2),
        (["from=two", "to=three", "allocated=outside"], lambda m: m["born"] == 1),
        (["from=two", "to=three", "freed=inside"], lambda m: m["died"] == 2),
        (["from=two", "to=three", "freed=outside"], lambda m: m["born"] < 3 and m["died"] != 2),
        (["to=two"], lambda m: m["born"] == 1),
        (["from=three"], lambda m: m["died"] in (0, 3)),
        (["state=leaked"], lambda m: m["leaked"]),
        (["state=freed"], lambda m: not m["leaked"]),
        (["state=all"], lambda m: True),
        (["freed-function=^drop_whole$"], dropped_by("drop_whole")),
        (["freed-function=^drop_"], dropped_by("drop_whole", "drop_halves")),
        (["freed-function=^make_cover$"], dropped_by("make_cover")),
        (["freed-function=^make_moved$"], dropped_by("make_moved")),
        (["not-freed-function=^drop_whole$"], dropped_by("drop_halves", "make_cover", "make_moved")),
        (["freed-source=map_filters\\.c$"], lambda m: not m["leaked"]),
        (["not-freed-source=map_filters\\.c$"], lambda m: False),
        (["freed-module=/map_filters$"], lambda m: not m["leaked"]),
        (["not-freed-module=/map_filters$"], lambda m: False),
        (["readable=yes"], lambda m: "r" in m[rights]),
        (["readable=no"], lambda m: "r" not in m[rights]),
        (["writable=yes"], lambda m: "w" in m[rights]),
        (["writable=no"], lambda m: "w" not in m[rights]),
        (["executable=yes"], lambda m: "x" in m[rights]),
        (["executable=no", "readable=yes"], lambda m: m[rights] in ("r", "rw")),
        (["freed-by=helper", "thread=helper", "writable=yes"],
         lambda m: m["died_by"] == m["born_by"] == "helper" and not m["leaked"] and "w" in m[rights]),
    ]


def check_conditions(path, mappings, conditions):
    for words, holds in conditions:
        count = compare(path, mappings, words, holds)
        check.holds(count > 0 or words[0].startswith("not-"), f"No mapping is like {words}.")


def check_numbers(path, mappings):
    """Conditions on what only the report has names for: stacks, depths, times."""
    all_of = own(maps(path))
    check.equal("all", sorted(m["bytes"] for m in mappings), sorted(all_of))
    stacks, freed, depths, lives = (collections.defaultdict(list) for _ in range(4))
    end = max(p["end_ns"] for p in json.loads(ask("info", "--json", path).stdout)["processes_list"])
    for size, m in all_of.items():
        stacks[m["stack"]].append(size)
        depths[sum(not f["inlined"] for f in m["frames"])].append(size)
        lives[(end if m["leaked"] else m["gone_ns"]) - m["time_ns"]].append(size)
        if not m["leaked"]:
            freed[m["removals"][-1]["stack"]].append(size)
        check.equal(f"mapping={m['number']}", [size], sorted(own(maps(path, [f"mapping={m['number']}"]))))
    check.holds(len(stacks) > 4 and len(freed) > 4, f"{len(stacks)} stacks made mappings, {len(freed)} removed them.")
    for key, found in (("stack", stacks), ("freed-stack", freed)):
        known = {size for sizes in found.values() for size in sizes}
        for number, sizes in found.items():
            check.equal(f"{key}={number}", sorted(sizes), sorted(own(maps(path, [f"{key}={number}"]))))
            check.equal(f"not-{key}={number}", sorted(known - set(sizes)), sorted(own(maps(path, [f"not-{key}={number}"]))))
    for depth in depths:
        right = sorted(size for d, sizes in depths.items() if d >= depth for size in sizes)
        check.equal(f"depth-min={depth}", right, sorted(own(maps(path, [f"depth-min={depth}"]))))
    middle = sorted(lives)[len(lives) // 2]
    for key, holds in ((f"lifetime-min={middle}ns", lambda t: t >= middle), (f"lifetime-max={middle}ns", lambda t: t <= middle)):
        right = sorted(size for t, sizes in lives.items() if holds(t) for size in sizes)
        check.equal(key, right, sorted(own(maps(path, [key]))))


def check_sums(path, mappings):
    """The head is about those that are listed."""
    for words, holds in ((["function=^make_plain$"], lambda m: m["maker"] == "make_plain"),
                         (["function=^make_code$", "state=leaked"], lambda m: m["maker"] == "make_code" and m["leaked"])):
        chosen = [m for m in mappings if holds(m)]
        head = maps(path, words)["maps"]
        left = sum(m["bytes"] - (PAGE if m["cut"] and m["leaked"] else 0) for m in chosen if m["leaked"])
        check.equal(f"{words}: mappings, left", (len(chosen), sum(m["leaked"] for m in chosen), left),
                    (head["mappings"], head["left"], head["left_bytes"]))
        if "state=leaked" in words:  # each phase adds, and cuts come first: most is at the last birth
            level = {p: sum(m["bytes"] for m in chosen if m["born"] <= p) for p in (1, 2, 3)}
            check.holds(left <= head["peak_bytes"] <= level[3], f"The peak is {head['peak_bytes']}, of {level}.")


def check_orders(path):
    keys = {"time": lambda m: m["time_ns"], "address": lambda m: int(m["address"], 16), "size": lambda m: -m["bytes"],
            "peak-rss": lambda m: -(m["peak_rss_bytes"] or 0)}
    for word, key in keys.items():
        for more in ([], ["--reverse"]):
            seen = [key(m) for m in maps(path, [], "--sort", word, *more)["mappings"]]
            check.equal(f"--sort {word} {more}", sorted(seen, reverse=bool(more)), seen)
    for words in (["--sort", "name", "--maps"], ["--sort", "size"], ["--reverse"], ["--sort=", "--maps"]):
        run = tool("report", *words, path)
        check.equal(f"{words}", (2, 1), (run.status, run.err.count(b"\n")))


def check_sieve(path, mappings):
    for words, holds in ((["--include", "^make_plain$"], lambda m: m["maker"] == "make_plain"),
                         (["--exclude", "^make_(plain|code)$"], lambda m: m["maker"] not in ("make_plain", "make_code"))):
        check.equal(f"{words}", sorted(m["bytes"] for m in mappings if holds(m)), sorted(own(maps(path, [], *words))))


def check_depth(path):
    """All that is known of one: where it was from when to when, what was in memory."""
    found = own(maps(path))
    half = next(m for m in found.values() if len(m["removals"]) == 2)
    start, size = int(half["address"], 16), half["bytes"]
    first, second = half["removals"]
    regions = [(r["address"], r["bytes"], r["from_ns"], r["to_ns"]) for r in half["regions"]]
    check.equal("regions", [(hex(start), size, half["time_ns"], first["time_ns"]),
                            (hex(start + size // 2), size // 2, first["time_ns"], second["time_ns"])], regions)
    cut = next(m for m in found.values() if m["leaked"] and m["removals"])
    check.equal("regions of one that is left", [(cut["bytes"], False), (cut["bytes"] - PAGE, True)],
                [(r["bytes"], r["to_ns"] is None) for r in cut["regions"]])
    text = ask("report", "--maps", "--where", f"mapping={half['number']}", path).stdout
    check.holds(all(len(line) <= 80 for line in text.splitlines()), f"A line is longer than 80 columns:\n{text}")
    for words in ("was  ", "in memory", "start cut", "gone", "< main" if "< main" in text else "< help", f"{start:#x}",
                  f"{start + size // 2:#x}"):
        check.holds(words in text, f"The report does not say '{words}':\n{text}")


def check_refusals(path):
    for words, status in ((["--where", "kind=malloc"], 2), (["--where", "state=chain-leaked"], 2), (["--where", "slack-min=1"], 2),
                          (["--where", "group-leaked-min=1"], 2), (["--where", "mapped=yes"], 2), (["--where", "peak-rss-min=1"], 1),
                          (["--where", "allocated-from=never"], 1), (["--allocated", "--where", "writable=yes"], 2)):
        run = tool("report", "--maps", *words, path)
        check.equal(f"--maps {words}: {run.err.decode()}", (status, b"", 1), (run.status, run.out, run.err.count(b"\n")))
    for words in (["report", "--leaks"], ["report"], ["export", "-f", "folded"]):
        run = tool(*words, "--where", "peak-rss-min=1", path)
        check.equal(f"{words}: {run.err.decode()}", (2, b"", 1), (run.status, run.out, run.err.count(b"\n")))
        check.holds(b"about mappings" in run.err, f"It says {run.err.decode()}")


def check_blocks():
    """Which blocks lie in which mapping, and both in one report."""
    check.about("blocks in mappings")
    run = record([workload("pools")], "pools.wake")
    check.equal("exit status", 0, run.status)
    right = collections.defaultdict(list)
    for part in truth(run):
        right[part["where"]] += part["sizes"]
    report = json.loads(ask("report", "--maps", "--json", "pools.wake").stdout)
    numbers = {m["frames"][0]["function"]: m["number"] for m in report["mappings"] if m["frames"]}
    check.equal("mappings", sorted(set(right) - {"none"}), sorted(name for name in numbers if name.startswith("map_")))
    whole = [size for name, sizes in right.items() for size in sizes]

    def blocks(*conditions):
        words = [word for condition in conditions for word in ("--where", condition)]
        run = ask("report", "--json", "--allocated", "--leaks", "-n", "0", "--where", "function=^make_block$", *words, "pools.wake")
        found = json.loads(run.stdout)["allocated"]
        return found["total_blocks"], found["total_bytes"]

    check.equal("all blocks", (len(whole), sum(whole)), blocks())
    for name in sorted(set(right) - {"none"}):
        sizes = right[name]
        check.equal(name, (len(sizes), sum(sizes)), blocks(f"mapping={numbers[name]}"))
        check.equal(f"{name}, not large", (sum(s <= 200 for s in sizes), sum(s for s in sizes if s <= 200)),
                    blocks(f"mapping={numbers[name]}", "size-max=200"))
    two = right["map_first"] + right["map_moved"]
    check.equal("two of them", (len(two), sum(two)), blocks(f"mapping={numbers['map_first']},{numbers['map_moved']}"))
    check.equal("one that is not", (0, 0), blocks("mapping=999"))
    both = json.loads(ask("report", "--json", "--maps", "--allocated", "--where", f"mapping={numbers['map_over']}", "pools.wake").stdout)
    check.equal("both", (["map_over"], len(right["map_over"])),
                ([m["frames"][0]["function"] for m in both["mappings"]], both["allocated"]["total_blocks"]))
    folded = ask("export", "-f", "folded", "--allocated", "--where", f"mapping={numbers['map_over']}", "pools.wake").stdout
    check.equal("export", sum(right["map_over"]), sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()))


def check_allocators():
    """Other allocators map through the probe: each block lies in just one of their mappings, and the rest can be
    asked for by who made it."""
    for library in allocators():
        name = os.path.basename(library)
        check.about(f"over {name}")
        run = record([workload("turnover"), "3000"], "other.wake", env={"LD_PRELOAD": library})
        check.equal("exit status", 0, run.status)
        of_library = maps("other.wake", [f"module={name.split('.')[0]}"])["mappings"]
        totals = []
        for conditions in [[], *([f"mapping={m['number']}"] for m in of_library)]:
            words = [word for condition in conditions for word in ("--where", condition)]
            found = json.loads(ask("report", "--allocated", "--json", *words, "other.wake").stdout)["allocated"]
            totals.append((found["total_blocks"], found["total_bytes"]))
        check.holds(totals[0][0] > 200, f"There are {totals[0]} blocks.")
        check.equal("blocks and bytes in its mappings", totals[0], tuple(map(sum, zip(*totals[1:]))))


CHILD = """#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    if (fork() == 0)
        _exit(mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    usleep(100000);
    return 0;
}
"""


def check_window():
    """What a process has left is gone when it has ended."""
    check.about("a child that has ended")
    with open("child.c", "w") as f:
        f.write(CHILD)
    native(["cc", "-g", "-O1", "-o", "child", "child.c"])
    record(["./child"], "child.wake")
    for words, count in (([], 1), (["--to", "60%"], 1), (["--from", "50%", "--to", "60%"], 0), (["--where", "alive-at=50%"], 0)):
        found = json.loads(ask("report", "--maps", "--json", *words, "child.wake").stdout)["maps"]
        check.equal(f"{words}: mappings, and bytes at once", (count, count << 20), (found["mappings"], found["peak_bytes"]))


def main():
    check.about("with samples")
    mappings = plan("with.wake", "--map-usage=3600000")
    used = [(["peak-rss-min=8K"], lambda m: m["touched"] >= 2), (["peak-rss-max=4096"], lambda m: m["touched"] <= 1),
            (["peak-rss-min=4K", "peak-rss-max=8191"], lambda m: m["touched"] == 1),
            (["peak-rss-min=1", "state=freed"], lambda m: m["touched"] >= 1 and not m["leaked"])]
    check_conditions("with.wake", mappings, conditions_of(mappings, "seen") + used)
    check_orders("with.wake")
    check_depth("with.wake")
    check.about("without samples")
    mappings = plan("without.wake")
    check_conditions("without.wake", mappings, conditions_of(mappings, "made"))
    check_numbers("without.wake", mappings)
    check_sums("without.wake", mappings)
    check_sieve("without.wake", mappings)
    check_refusals("without.wake")
    check_blocks()
    check_allocators()
    check_window()
    check.done()


main()
