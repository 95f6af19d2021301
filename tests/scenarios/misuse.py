#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake report --misuse` and `heapwake history` against a program that releases
what it should not, and says what."""
import glob
import json
import re

from support import Check, events, info, record, tool, truths, workload

check = Check()


def run(mode, *options):
    check.about(" ".join((mode,) + options))
    name = mode + "".join(options) + ".wake"
    done = record([workload("misuse"), mode], name, list(options))
    told = truths(done)
    report = tool("report", "--misuse", "--json", name)
    check.equal("exit status", 0, report.status)
    check.equal("exit status of verify", 0, tool("verify", name).status)
    text = tool("report", "--misuse", name).out.decode()
    check.holds(all(len(line) <= 80 for line in text.splitlines()), "A line has more than 80 columns.")
    count = info(name)["unknown_frees"]
    screen = re.findall(r"^  misuse +(\d+)  releases? of what was not live: see --misuse$", tool("report", name).out.decode(), re.M)
    check.equal("misuse on the first screen", [str(count)] if count != 0 else [], screen)
    check.equal("and in its JSON", count, json.loads(report.out)["summary"]["unknown_frees"])
    check.equal("misuse that the screen knows of", mode in ("double", "inside", "never", "stale", "again"), count != 0)
    return (told[0]["address"] if told else 0), json.loads(report.out)["misuse"], text


def names(frames):
    return [frame["function"].split("(")[0] for frame in frames]


def functions(one):
    return names(one["block"]["frames"])


ASK = "heapwake record --free-stacks "


def check_releases():
    """With --free-stacks each release has its stack, also that before a double free; a realloc always."""
    for mode in ("mismatch", "double", "inside", "never", "fork"):
        _, found, text = run(mode, "--free-stacks")
        check.holds(found and ASK not in text, f"The page says {text}")
        for one in found:
            check.holds(set(names(one["frames"])) & set(DOES[mode]), f"A release has the stack {names(one['frames'])}.")
            before = one.get("block", {}).get("freed_frames")
            check.equal("the release before has a stack", mode == "double", before is not None)
            check.holds(before is None or before != one["frames"], "Both releases have the same stack.")
    check.equal("where the pairs are", {(f, f) for f in DOES["mismatch"]},
                {(next(f for f in functions(one) if f in DOES["mismatch"]),
                  next(f for f in names(one["frames"]) if f in DOES["mismatch"]))
                 for one in json.loads(tool("report", "--misuse", "--json", "mismatch--free-stacks.wake").out)["misuse"]})
    lines = tool("report", "--misuse", "double--free-stacks.wake").out.decode().split("Misuse: 1", 1)[1].splitlines()
    heads = [n for n, line in enumerate(lines) if line.startswith("    ") and line[4] != " "]
    check.equal("what the page tells in order", ["released by free", "freed before", "777 bytes allocated"],
                [words for words in ("released by free", "freed before", "777 bytes allocated")
                 for n in heads if words in lines[n]])
    check.holds([lines[n + 1].split()[0].split("(")[0] for n in heads] == ["twice", "twice", "make"], f"The page says {lines}")
    address = json.loads(tool("report", "--misuse", "--json", "double--free-stacks.wake").out)["misuse"][0]["address"]
    history = json.loads(tool("history", "--json", "double--free-stacks.wake", address).out)["events"]
    check.holds(history and all("frames" in h for h in history), f"The history is {history}")


def check_moved(mode, how):
    """Releases by realloc have a stack in any recording."""
    address, found, text = run(mode)
    check.equal("misuses", [("double-free", "realloc", how)],
                [(one["kind"], one["block"]["freed_by"], one["released_by"]) for one in found])
    check.holds("move" in names(found[0]["block"]["freed_frames"])[:2], f"It was moved in {found[0]['block']}.")
    check.equal("the release has a stack", how == "realloc", "frames" in found[0])
    check.equal("the page asks for stacks", how != "realloc", ASK in text)
    history = json.loads(tool("history", "--json", f"{mode}.wake", hex(address)).out)["events"]
    own = [h for h in history if h["address"] == hex(address)][-4 if how == "realloc" else -3:]
    check.equal("stacks in the history", [("malloc", True), ("realloc", True), (how, how == "realloc")],
                [(h["by"], "frames" in h) for h in own[:3]])


def check_mismatches():
    _, found, text = run("mismatch")
    expected = {"new_then_free": ("new", "free", 3), "malloc_then_delete": ("malloc", "delete", 2),
                "array_then_delete": ("new[]", "delete", 1), "new_then_array_delete": ("new", "delete[]", 1),
                "new_then_realloc": ("new", "realloc", 1)}
    seen = {}
    for one in found:
        check.equal("kind", "mismatch", one["kind"])
        name = next(f for f in functions(one) if f in expected)
        count = seen[name][2] if name in seen else 0  # a loop that was unrolled has several stacks
        seen[name] = (one["block"]["allocated_by"], one["released_by"], count + one["count"])
    check.equal("mismatches", expected, seen)
    check.equal("releases with a stack", {"realloc"}, {one["released_by"] for one in found if "frames" in one})
    check.holds(ASK in text, f"The page says {text}")
    check.equal("strip", 0, tool("strip", "--threshold", "1h", "mismatch.wake", "-o", "stripped.wake").status)
    gaps = "Not all blocks are among the events"
    check.holds(gaps not in text and gaps in tool("report", "--misuse", "stripped.wake").out.decode(),
                "Gaps are told where there are none, or not where there are.")
    check.holds("Misuse: 8 releases" in text and "new_then_free  misuse.cc" in text, f"The page says {text}")


def check_one(mode, kind, size, function):
    address, found, text = run(mode)
    wrong = [one for one in found if one["kind"] != "inherited"]
    check.equal("misuses", [kind], [one["kind"] for one in wrong])
    one = wrong[0]
    check.equal("address", hex(address), one["address"])
    check.equal("released by", "free", one["released_by"])
    if size is None:
        check.holds("block" not in one, "A block is named that never was.")
        return address
    check.equal("size of the block", size, one["block"]["bytes"])
    check.holds("make" in functions(one)[:2] and function in functions(one)[:4], f"Its stack is {functions(one)[:4]}.")
    check.equal("it was freed before", mode == "double", "freed_ns" in one["block"])
    check.holds("make  misuse.cc" in text, f"The page says {text}")
    return address


def check_family():
    address, found, text = run("fork")
    check.equal("kinds", ["inherited"], [one["kind"] for one in found])
    check.equal("address", hex(address), found[0]["address"])
    check.equal("size", 999, found[0]["block"]["bytes"])
    check.holds(found[0]["pid"] != found[0]["block"]["allocated_pid"], "Child and parent are one.")
    check.holds("Misuse: none seen" in text and "forked child" in text, f"The page says {text}")
    history = json.loads(tool("history", "--json", "fork.wake", hex(address)).out)["events"]
    parent, child = found[0]["block"]["allocated_pid"], found[0]["pid"]
    check.equal("history of parent and child", {parent: ["alloc", "free"], child: ["free"]},
                {pid: [e["event"] for e in history if e["pid"] == pid] for pid in (parent, child)})
    check.equal("what the child frees is known", [False], [e["known"] for e in history if e["pid"] == child])
    alone = json.loads(tool("history", "--json", "--pid", str(child), "fork.wake", hex(address)).out)["events"]
    check.equal("history of the child alone", 1, len(alone))


def check_apart():
    """A child whose parent is in another file is not blamed for what it may have got from there."""
    record([workload("misuse"), "fork"], "apart.%p.wake")
    kinds = []
    for path in sorted(glob.glob("apart.*.wake")):
        kinds += [one["kind"] for one in json.loads(tool("report", "--misuse", "--json", path).out)["misuse"]]
        check.holds("Misuse: none seen" in tool("report", "--misuse", path).out.decode(), f"{path} is blamed.")
    check.equal("kinds in two files", ["inherited"], kinds)
    check.equal("merge", 0, tool("merge", *glob.glob("apart.*.wake"), "-o", "together.wake").status)
    check.holds("Misuse: none seen" in tool("report", "--misuse", "together.wake").out.decode(), "Together they are blamed.")


def check_history():
    """The history of every address against the stream of events."""
    check.about("history")
    stream = [e for e in events("double.wake") if e.event in ("alloc", "free")]
    for address in sorted({e.address for e in stream})[:12]:
        history = json.loads(tool("history", "--json", "double.wake", f"{address:x}").out)["events"]
        check.equal(f"history of {address:#x}", [(e.time, e.event, e.kind) for e in stream if e.address == address],
                    [(h["time_ns"], h["event"], h["by"]) for h in history if h["address"] == hex(address)])
        for h in history:
            check.equal("allocations have stacks", h["event"] == "alloc" or h["by"] == "realloc", "frames" in h)
    text = tool("history", "double.wake", hex(double)).out.decode()
    check.holds(all(words in text for words in ("nothing known is there", "777 bytes", "make  misuse.cc", "twice")),
                f"The page says {text}")
    middle = json.loads(tool("history", "--json", "double.wake", hex(double + 100)).out)["events"]
    check.equal("history inside of the block", ["alloc", "free"], [e["event"] for e in middle][:2])
    for argv, status in ((["double.wake"], 2), (["double.wake", "xyz"], 2), (["none.wake", "1"], 1),
                         (["--pid", "1", "double.wake", "1"], 1), (["--colour", "double.wake", "1"], 2)):
        check.equal(f"exit status of history {argv}", status, tool("history", *argv).status)


DOES = {"mismatch": ("new_then_free", "malloc_then_delete", "array_then_delete", "new_then_array_delete", "new_then_realloc"),
        "double": ("twice",), "inside": ("inside",), "never": ("never",), "fork": ("with_child",)}
check_mismatches()
double = check_one("double", "double-free", 777, "twice")
check_one("inside", "inside-block", 888, "inside")
check_one("never", "never-allocated", None, None)
check_family()
check_apart()
_, fine, page = run("good")
check.equal("misuse of a proper program", [], fine)
check.holds("Misuse: none seen" in page, f"The page says {page}")
check_history()
check_releases()
check_moved("stale", "free")
check_moved("again", "realloc")
check.done()
