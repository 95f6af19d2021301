#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every condition of `heapwake report --where` against a program that knows of each of its blocks by
whom, when and how it was made and released."""
import collections
import json

from support import Check, events, record, tool, truth, workload

OWN = ["--where", "function=^make_"]  # the program's blocks, without those of the C library
check = Check()


def plan(path, *options):
    run = record([workload("filters")], path, ["--precise-timestamps", *options])
    check.equal("exit status", 0, run.status)
    blocks = truth(run)
    chain = []
    for block in blocks:
        if block["maker"] != "make_again":
            chain = []
        chain.append(block)
        block["chain"], block["position"] = chain, len(chain)
        block["leaked"] = block["dropper"] == ""
        # Each phase is called from a place of its own; threads have no callers.
        block["group"] = (block["maker"], block["born_by"], block["born"] if block["born_by"] != "helper" else 0)
    return blocks


def ask(path, conditions, *more):
    words = [word for condition in conditions for word in ("--where", condition)]
    run = tool("report", "--json", "--allocated", "-n", "0", *OWN, *words, *more, path)
    if run.status != 0:
        raise SystemExit(f"{conditions}: exit {run.status}, {run.err.decode()}")
    return json.loads(run.out)


def compare(path, blocks, conditions, holds):
    """The sum of bytes tells blocks apart: no two have the same size."""
    right = [block["size"] for block in blocks if holds(block)]
    found = ask(path, conditions)["allocated"]
    check.equal(" ".join(conditions), (len(right), sum(right)), (found["total_blocks"], found["total_bytes"]))
    return len(right)


def apart(values):
    """What lies in the middle between those neighbours that are farthest apart, in ns, far from both."""
    values = sorted(values)
    width, below = max((b - a, a) for a, b in zip(values, values[1:]))
    check.holds(width > 20_000_000, f"Times are {width} ns apart at most.")
    return below + width // 2


def peak_phase(group):
    """In which phase a group has most bytes live, for the first time."""
    live = best = phase = 0
    for _, born, block in sorted([(b["born_ns"], True, b) for b in group] +
                                 [(b["died_ns"], False, b) for b in group if not b["leaked"]], key=lambda e: e[:2]):
        live += block["size"] if born else -block["size"]
        if live > best:
            best, phase = live, block["born"]
    return phase


def times_of(blocks, groups):
    """Conditions about how long something lasts."""
    def lifetime(b):
        return b["died_ns"] - b["born_ns"]

    def chain_lifetime(b):
        return b["chain"][-1]["died_ns"] - b["chain"][0]["born_ns"]

    def interval(b):
        born = [o["born_ns"] for o in groups[b["group"]]]
        return max(born) - min(born)

    def is_of_one_thread(b):  # a helper of a later phase is another thread
        return not b["leaked"] and (b["born_by"], b["died_by"]) == ("filters", "filters")

    life = apart([lifetime(b) for b in blocks if not b["leaked"]])
    chain, group = apart([chain_lifetime(b) for b in blocks]), apart([interval(b) for b in blocks])
    return [
        ([f"lifetime-min={life}ns"], lambda b: lifetime(b) >= life),
        ([f"lifetime-max={life}ns"], lambda b: lifetime(b) <= life),
        ([f"chain-lifetime-min={chain}ns"], lambda b: chain_lifetime(b) >= chain),
        ([f"chain-lifetime-max={chain}ns"], lambda b: chain_lifetime(b) <= chain),
        ([f"group-interval-min={group}ns"], lambda b: interval(b) >= group),
        ([f"group-interval-max={group}ns"], lambda b: interval(b) <= group),
        (["state=temporary", f"temporary={life}ns"], lambda b: is_of_one_thread(b) and lifetime(b) <= life),
        (["state=temporary", "temporary=100000"], is_of_one_thread),
        (["group-peak-from=two"], lambda b: peak_phase(groups[b["group"]]) >= 2),
        (["group-peak-to=three"], lambda b: peak_phase(groups[b["group"]]) < 3),
        (["from=two", "to=three", "allocated=inside"], lambda b: b["born"] == 2),
        (["from=one", "to=three", "freed=inside"], lambda b: b["born"] < 3 and b["died"] == 2),
        (["from=one", "to=three", "freed=outside"], lambda b: b["born"] < 3 and b["died"] != 2),
    ]


def conditions_of(blocks):
    """Conditions, and what they mean."""
    groups = collections.defaultdict(list)
    for block in blocks:
        groups[block["group"]].append(block)

    def group(block):
        return groups[block["group"]]

    def dropped_by(*names):
        return lambda b: b["dropper"] in names

    middle, place, usable = (sorted(b[what] for b in blocks)[len(blocks) // 2] for what in ("size", "address", "usable"))
    slack = sorted(b["usable"] - b["size"] for b in blocks)[len(blocks) // 2]
    return times_of(blocks, groups) + [
        ([], lambda b: True),
        ([f"usable-min={usable}"], lambda b: b["usable"] >= usable),
        ([f"usable-max={usable}"], lambda b: b["usable"] <= usable),
        ([f"slack-min={slack}"], lambda b: b["usable"] - b["size"] >= slack),
        ([f"slack-max={slack}"], lambda b: b["usable"] - b["size"] <= slack),
        ([f"address-min={place:#x}"], lambda b: b["address"] >= place),
        ([f"address-max={place:#x}"], lambda b: b["address"] <= place),
        ([f"size-min={middle}"], lambda b: b["size"] >= middle),
        ([f"size-max={middle}", "size-min=1200"], lambda b: 1200 <= b["size"] <= middle),
        ([f"size>{middle}"], lambda b: b["size"] > middle),
        ([f"size<={middle}", "size>1200"], lambda b: 1200 < b["size"] <= middle),
        ([f"size={middle}"], lambda b: b["size"] == middle),
        ([f"address<{place:#x}"], lambda b: b["address"] < place),
        (["kind!=calloc"], lambda b: b["maker"] != "make_zeroed"),
        (["function~^make_(plain|again)$", "module!~none"], lambda b: b["maker"] in ("make_plain", "make_again")),
        (["function!~^make_plain$"], lambda b: b["maker"] != "make_plain"),
        (["state!=leaked"], lambda b: not b["leaked"]),
        (["kind=calloc"], lambda b: b["maker"] == "make_zeroed"),
        (["kind=posix_memalign,realloc"], lambda b: b["maker"] in ("make_aligned", "make_again")),
        (["thread=helper"], lambda b: b["born_by"] == "helper"),
        (["freed-by=helper"], lambda b: not b["leaked"] and b["died_by"] == "helper"),
        (["function=^make_(plain|again)$"], lambda b: b["maker"] in ("make_plain", "make_again")),
        (["not-function=^make_plain$"], lambda b: b["maker"] != "make_plain"),
        (["source=filters\\.c$"], lambda b: True),
        (["not-source=filters\\.c$"], lambda b: False),
        (["module=/filters$"], lambda b: True),
        (["not-module=/libc\\."], lambda b: False),
        (["mark=two"], lambda b: b["born"] == 2),
        (["allocated-from=two"], lambda b: b["born"] >= 2),
        (["allocated-to=two"], lambda b: b["born"] < 2),
        (["freed-from=mark:three"], lambda b: b["died"] == 3),
        (["freed-to=three"], lambda b: b["died"] == 2),
        (["kept-until=three"], lambda b: b["leaked"] or b["died"] == 3),
        (["alive-at=two"], lambda b: b["born"] == 1),
        (["alive-at=two", "alive-at-2=three"], lambda b: b["born"] == 1 and b["died"] in (0, 3)),
        (["state=leaked"], lambda b: b["leaked"]),
        (["state=freed"], lambda b: not b["leaked"]),
        (["state=chain-leaked"], lambda b: b["chain"][-1]["leaked"]),
        (["state=group-leaked"], lambda b: all(o["leaked"] for o in group(b))),
        (["chain-length-min=2"], lambda b: len(b["chain"]) >= 2),
        (["chain-length-max=2"], lambda b: len(b["chain"]) <= 2),
        (["chain-position-min=2", "chain-position-max=2"], lambda b: b["position"] == 2),
        ([f"chain-first-size-min={middle}"], lambda b: b["chain"][0]["size"] >= middle),
        ([f"chain-first-size-max={middle}"], lambda b: b["chain"][0]["size"] <= middle),
        ([f"chain-last-size-min={middle}"], lambda b: b["chain"][-1]["size"] >= middle),
        ([f"chain-last-size-max={middle}"], lambda b: b["chain"][-1]["size"] <= middle),
        (["group-allocations-min=12"], lambda b: len(group(b)) >= 12),
        (["group-allocations-max=11"], lambda b: len(group(b)) <= 11),
        (["group-leaked-max=4"], lambda b: sum(o["leaked"] for o in group(b)) <= 4),
        (["group-leaked-min=60%"], lambda b: 5 * sum(o["leaked"] for o in group(b)) >= 3 * len(group(b))),
        (["mapped=yes"], lambda b: b["mapped"]),
        (["mapped=no"], lambda b: not b["mapped"]),
        (["freed-function=^drop_plain$"], dropped_by("drop_plain")),
        (["freed-function=^drop_"], dropped_by("drop_plain", "drop_kindly")),
        (["freed-function=^make_again$"], dropped_by("make_again")),
        (["not-freed-function=^drop_plain$"], dropped_by("drop_kindly", "make_again")),
        (["freed-source=filters\\.c$"], lambda b: not b["leaked"]),
        (["not-freed-source=filters\\.c$"], lambda b: False),
        (["freed-module=/filters$"], lambda b: not b["leaked"]),
        (["not-freed-module=/filters$"], lambda b: False),
        (["freed-function=^drop_kindly$", "freed-by=helper", "kind=malloc"],
         lambda b: b["dropper"] == "drop_kindly" and b["died_by"] == "helper" and b["maker"] == "make_plain"),
        (["freed-function=^drop_plain$", "chain-length-min=2"],
         lambda b: b["dropper"] == "drop_plain" and len(b["chain"]) >= 2),
    ]


def check_all():
    check.about("with stacks of releases")
    blocks = plan("with.wake", "--free-stacks")
    for conditions, holds in conditions_of(blocks):
        count = compare("with.wake", blocks, conditions, holds)
        check.holds(count > 0 or conditions[0].startswith("not-"), f"No block is like {conditions}.")
    check.holds(any(b["mapped"] for b in blocks) and len({b["mapped"] for b in blocks if b["size"] > 400000}) == 2,
                "Blocks of one size are all mapped, or none is.")
    check_freed_stack("with.wake", blocks)
    check_stack("with.wake", blocks)
    check_moments("with.wake", blocks)


def check_stack(path, blocks):
    """The stacks that events name; how deep they are is told by what report shows of them."""
    sizes, made = {b["size"] for b in blocks}, collections.defaultdict(list)
    for e in events(path):
        if e.event == "alloc" and e.size in sizes:
            made[e.stack].append(e.size)
    check.holds(len(made) > 4, f"Blocks were made from {len(made)} stacks.")
    depths = collections.Counter()
    for stack, here in made.items():
        found = ask(path, [f"stack={stack}"])["allocated"]
        check.equal(f"stack={stack}", (len(here), sum(here)), (found["total_blocks"], found["total_bytes"]))
        depths[sum(not f["inlined"] for f in found["sites"][0]["frames"])] += len(here)
        found = ask(path, [f"not-stack={stack}"])["allocated"]
        check.equal(f"not-stack={stack}", len(blocks) - len(here), found["total_blocks"])
    check.holds(len(depths) > 1, f"All stacks are equally deep: {depths}.")
    for key, holds in (("depth-min", lambda d, limit: d >= limit), ("depth-max", lambda d, limit: d <= limit)):
        for limit in depths:
            right = sum(count for depth, count in depths.items() if holds(depth, limit))
            check.equal(f"{key}={limit}", right, ask(path, [f"{key}={limit}"])["allocated"]["total_blocks"])


def check_moments(path, blocks):
    """What is live at the end of a window, by where it was allocated; what was never freed, of that made in it."""
    window = ["--from", "two", "--to", "three"]
    for section, words, holds in (
            ("live", ["--at", "three"], lambda b: b["born"] < 3 and b["died"] != 2),
            ("live", ["--at", "three", *window, "--where", "allocated=inside"], lambda b: b["born"] == 2),
            ("live", ["--at", "three", *window, "--where", "allocated=outside"], lambda b: b["born"] == 1 and b["died"] != 2),
            ("leaks", ["--leaks", *window], lambda b: b["born"] == 2 and b["leaked"])):
        right = [b["size"] for b in blocks if holds(b)]
        found = json.loads(tool("report", "--json", "-n", "0", *words, *OWN, path).out)[section]
        check.equal(" ".join(words), (len(right), sum(right)), (found["total_blocks"], found["total_bytes"]))
        check.holds(right, f"No block is like {words}.")


def check_freed_stack(path, blocks):
    sizes, live, freed = {b["size"] for b in blocks}, {}, collections.defaultdict(list)
    for e in events(path):
        if e.event == "alloc":
            live[e.address] = e.size
        elif e.event == "free" and live.get(e.address) in sizes and e.stack not in ("", "0"):
            freed[e.stack].append(live[e.address])
    check.holds(len(freed) > 2, f"Blocks were released from {len(freed)} stacks.")
    for stack, released in freed.items():
        found = ask(path, [f"freed-stack={stack}"])["allocated"]
        check.equal(f"freed-stack={stack}", (len(released), sum(released)), (found["total_blocks"], found["total_bytes"]))
        others = sum(not b["leaked"] for b in blocks) - len(released)
        check.equal(f"not-freed-stack={stack}", others, ask(path, [f"not-freed-stack={stack}"])["allocated"]["total_blocks"])


def check_sieve():
    """--include and --exclude: all sections are about the same blocks, histograms too."""
    check.about("include and exclude")
    blocks = plan("sieve.wake")
    for options, holds in (
            (["--include", "^make_plain$"], lambda b: b["maker"] == "make_plain"),
            (["--include", "filters\\.c", "--exclude", "^make_(plain|again)$"],
             lambda b: b["maker"] in ("make_zeroed", "make_aligned"))):
        right = [b["size"] for b in blocks if holds(b)]
        freed = [b["size"] for b in blocks if holds(b) and not b["leaked"]]
        for files in (["sieve.wake"], ["sieve.wake", "with.wake"]):  # the same blocks once more
            run = tool("report", "--json", "--allocated", "--leaks", "--histogram", *OWN, *options, *files)
            found = json.loads(run.out)
            times = len(files)
            for what, sizes, seen in (
                    ("allocated", right, (found["allocated"]["total_blocks"], found["allocated"]["total_bytes"])),
                    ("sizes", right, sums(found["sizes"])), ("lifetimes", freed, sums(found["lifetimes"]))):
                check.equal(f"{options}, {times} recordings: {what}", (times * len(sizes), times * sum(sizes)), seen)


def sums(histogram):
    return sum(h["blocks"] for h in histogram), sum(h["bytes"] for h in histogram)


def check_without():
    """What was not recorded is said, and is no match."""
    check.about("without stacks of releases")
    blocks = plan("without.wake")
    for pattern, right in (("^drop_plain$", 0), ("^make_again$", sum(b["dropper"] == "make_again" for b in blocks))):
        found = ask("without.wake", [f"freed-function={pattern}"])
        check.equal(f"released by {pattern}", right, found["allocated"]["total_blocks"])
        dropped = sum(b["dropper"].startswith("drop_") for b in blocks)
        check.holds(found["summary"]["releases_without_stack"] >= dropped, f"The summary is {found['summary']}.")
    check.equal("where it is not asked for", 0, ask("without.wake", [])["summary"]["releases_without_stack"])
    text = tool("report", "--where", "freed-function=x", "without.wake").out.decode()
    check.holds("heapwake record --free-stacks" in text, f"The page does not say how to record them:\n{text}")
    check.holds(all(len(line) <= 80 for line in text.splitlines()), "A line has more than 80 columns.")


def check_nothing():
    """A condition that nothing meets is told from good news."""
    check.about("conditions that nothing meets")
    sentence = "allocations meets the conditions that were given."
    for options, is_said in ((["--where", "function=nobody"], True), (["--where", "stack=999999"], True),
                             (["--exclude", "."], True), (["--json", "--where", "mapping=999999"], True),
                             (["--where", "function=make_"], False), ([], False)):
        done = tool("report", "--leaks", *options, "without.wake")
        check.equal(f"{options}: exit", 0, done.status)
        check.equal(f"{options}: said", is_said, sentence in done.err.decode())
    for options in ([], ["--from", "9h"], ["--where", "function=nobody"]):
        done = tool("report", *options, "without.wake")
        check.equal(f"{options}: exit", 0, done.status)
        check.holds(b"\n\n\n" not in done.out, f"{options}: there is a gap in {done.out.decode()}")


check_all()
check_without()
check_nothing()
check_sieve()
check.done()
