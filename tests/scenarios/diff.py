#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake diff` against programs that know what they leaked: the same program
twice, one whose lines have moved, two moments of one run; what it prints, the
picture, and what it says when it is used wrongly."""
import collections
import json
import os
import subprocess
import xml.dom.minidom

from support import Check, events, record, tool, truth, workload

check = Check()
SITES = {64: "steady", 1000: "growing", 200: "first", 300: "second", 50: "once_more"}


def diff(*argv):
    done = tool("diff", "--json", *argv)
    check.equal(f"exit status of diff {argv}", 0, done.status)
    return json.loads(done.out)


def changes(section):
    """Changes by the function that the program names, told apart by the size of its blocks."""
    found = collections.defaultdict(lambda: [0, 0])
    for site in section["sites"]:
        size = next(abs(site[k + "_bytes"]) // site[k + "_blocks"] for k in ("after", "before") if site[k + "_blocks"])
        if size in SITES:
            found[SITES[size]][0] += site["change_bytes"]
            found[SITES[size]][1] += site["change_blocks"]
    return dict(found)


def expected(before, after):
    both = {name: [after[name][0] - before[name][0], after[name][1] - before[name][1]] for name in before}
    return {name: change for name, change in both.items() if change != [0, 0]}


def check_sums(name, section):
    for unit in ("bytes", "blocks"):
        check.equal(f"{name}: changes in {unit} add up", section[f"after_{unit}"] - section[f"before_{unit}"],
                    sum(site[f"change_{unit}"] for site in section["sites"]))
    sizes = [abs(site["change_bytes"]) for site in section["sites"]]
    check.equal(f"{name}: the largest change comes first", sorted(sizes, reverse=True), sizes)
    check.holds(all(s["change_bytes"] or s["change_blocks"] for s in section["sites"]), f"{name}: an empty row.")
    check.equal(f"{name}: site_count", len(section["sites"]), section["site_count"])


def check_pair(name, first, second, one, other):
    check.about(name)
    before, after = truth(record(first, one)), truth(record(second, other))
    both = diff(one, other)
    check.equal("leaks", expected(before, after), changes(both["leaks"]))
    back = diff(other, one)
    check.equal("leaks the other way round", expected(after, before), changes(back["leaks"]))
    for section in ("leaks", "peak"):
        check_sums(section, both[section])
    more = diff("--calls", "--allocated", one, other)
    check.equal("measures", ["allocated", "calls"], [k for k in more if k in ("peak", "leaks", "allocated", "calls")])
    check_sums("allocated", more["allocated"])
    check.about("")


def live_bytes(stream, until):
    """Bytes live behind all events up to a moment."""
    at = {}
    for e in stream:
        if e.time <= until and e.event == "alloc":
            at[e.address] = e.size
        elif e.time <= until and e.event == "free":
            at.pop(e.address)
    return sum(at.values())


def check_moments():
    stream = list(events("one.wake"))
    moment = stream[len(stream) // 2].time
    section = diff(f"one.wake@{moment}ns", "one.wake@end")["live"]
    check.equal("live at the moment", live_bytes(stream, moment), section["before_bytes"])
    check.equal("live at the end", live_bytes(stream, stream[-1].time), section["after_bytes"])
    check_sums("live", section)
    check.equal("nothing changes between a moment and itself", [],
                diff(f"one.wake@{moment}ns", f"one.wake@{moment}ns")["live"]["sites"])


def check_page():
    done = tool("diff", "one.wake", "grown.wake")
    text = done.out.decode()
    check.holds(all(len(line) <= 80 for line in text.splitlines()), "A line has more than 80 columns.")
    for words in ("before  one.wake", "after   grown.wake", "Leaked: +", "growing  drift.c", "+100x", "< main"):
        check.holds(words in text, f"The page does not say {words!r}:\n{text}")
    check.equal("nothing differs from itself", 2, tool("diff", "one.wake", "one.wake").out.count(b"no site differs"))
    check.equal("one site", 1, len(diff("-n", "1", "one.wake", "grown.wake")["leaks"]["sites"]))


VISITOR = """#include <dlfcn.h>
#include <stdlib.h>
static void *keep[3];
__attribute__((noinline)) static void *make(size_t n) { return keep[0] = malloc(n); }
int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1)
        keep[1] = make(100000);
    else
        keep[2] = make(100000);
    return argc == 3 && dlopen("libm.so.6", RTLD_NOW) == 0;
}
"""


def check_visitor():
    """Lines are told apart also where one of the recordings has a library in its stacks that the other has not."""
    with open("visitor.c", "w") as f:
        f.write(VISITOR)
    subprocess.run(["gcc", "-O0", "-g", "-Wl,--build-id", "-o", "visitor", "visitor.c"], check=True)
    for count, path in enumerate(("none.wake", "one_more.wake", "loads.wake")):
        record(["./visitor", *["x"] * count], path)
    for before, after in (("none.wake", "one_more.wake"), ("none.wake", "loads.wake"), ("loads.wake", "none.wake")):
        sites = [s for s in diff("--leaks", before, after)["leaks"]["sites"] if abs(s["change_bytes"]) == 100000]
        check.equal(f"{before} and {after}", [-100000, 100000], sorted(s["change_bytes"] for s in sites))


def check_parts():
    """A recording that lacks its end, beside a whole one."""
    with open("one.wake", "rb") as f:
        whole = f.read()
    with open("part.wake", "wb") as f:
        f.write(whole[:len(whole) * 2 // 3])
    text = tool("diff", "one.wake", "part.wake").out.decode()
    check.equal("lines on what is not whole", ["after is not whole: what is missing is not known"],
                [line for line in text.splitlines() if "not whole" in line])
    both = diff("part.wake", "one.wake")
    check.equal("complete", [False, True], [both[side]["complete"] for side in ("before", "after")])
    check.equal("lost and unrecorded", [0] * 4, [both[side][key] for side in ("before", "after")
                                                 for key in ("lost_events", "unrecorded_processes")])


def check_picture():
    done = tool("diff", "--svg", "flame.svg", "--leaks", "one.wake", "grown.wake")
    check.equal("exit status with a picture", 0, done.status)
    picture = xml.dom.minidom.parse("flame.svg").documentElement
    boxes = {}
    for box in picture.getElementsByTagName("g"):
        title = box.getElementsByTagName("title")[0].firstChild.data
        boxes[title.split(":")[0]] = (title, box.getElementsByTagName("rect")[0])
    check.holds("+97.7 KiB" in boxes["growing"][0], f"growing is shown as {boxes['growing'][0]}")
    check.holds(boxes["growing"][1].getAttribute("fill").startswith("#eb"), "What grows is not red.")
    widths = {name: float(rect.getAttribute("width")) for name, (_, rect) in boxes.items()}
    check.holds(widths["main"] >= widths["growing"] + widths["twice"], "main is narrower than what stands on it.")
    tool("diff", "--svg", "flame.svg", "--leaks", "grown.wake", "one.wake")
    green = [box for box in xml.dom.minidom.parse("flame.svg").getElementsByTagName("g")
             if box.getElementsByTagName("title")[0].firstChild.data.startswith("growing:")]
    check.equal("the green of what shrinks", "c8", green[0].getElementsByTagName("rect")[0].getAttribute("fill")[3:5])


def check_misuse():
    for argv, sentence in [
            (["one.wake"], "Two recordings are compared"),
            (["one.wake", "one.wake", "one.wake"], "not more"),
            (["--colour", "one.wake", "one.wake"], "has no option '--colour'"),
            (["--leaks", "one.wake@1s", "one.wake"], "only live blocks"),
            (["-n", "x", "one.wake", "one.wake"], "-n takes a number"),
            (["one.wake@-3", "one.wake"], "at")]:
        done = tool("diff", *argv)
        check.equal(f"exit status of diff {argv}", 2, done.status)
        check.holds(sentence in done.err.decode(), f"diff {argv} says {done.err.decode()!r}")
    for argv in (["one.wake", "not_there.wake"], ["one.wake@no-such-mark", "one.wake"]):
        done = tool("diff", *argv)
        check.equal(f"exit status of diff {argv}", 1, done.status)
        check.equal(f"lines about diff {argv}", 1, len(done.err.splitlines()))


def check_places():
    """The same file in two folders, without any name for its functions, started by its full name and from its folder. And
    what is whole beside what is a moment or a part."""
    for folder in ("here", "there"):
        os.mkdir(folder)
        subprocess.run(["strip", "-s", "-o", f"{folder}/app", DRIFT], check=True)
    arguments = [10, 20, 5, 7]
    record([os.path.abspath("here/app"), *arguments], "here.wake")
    record(["./app", *arguments], os.path.abspath("there.wake"), cwd="there")
    for measure in ("--calls", "--leaks", "--allocated"):
        found = json.loads(tool("diff", "--json", measure, "here.wake", "there.wake").out)
        check.equal(f"{measure} of the same file elsewhere", [], next(found[k] for k in ("calls", "leaks", "allocated") if k in found)["sites"])
    rows = json.loads(tool("report", "--json", "--by", "module", "--calls", "here.wake", "there.wake").out)["calls"]["groups"]
    check.equal("modules that are called app", 1, sum(row["name"].endswith("/app") for row in rows))
    exe = json.loads(tool("info", "--json", "there.wake").out)["processes_list"][0]["exe"]
    check.equal("what ./app is", os.path.realpath("there/app"), exe)
    end = json.loads(tool("info", "--json", "there.wake").out)["processes_list"][0]["end_ns"]
    found = json.loads(tool("diff", "--json", "here.wake@50%", "there.wake").out)
    check.equal("the moment of a whole recording", end, found["after"]["moment_ns"])
    with open("part.wake", "wb") as f:
        f.write(open("here.wake", "rb").read()[:-200])
    done = tool("diff", "here.wake", "part.wake")
    check.holds(done.status == 0 and b"part.wake" in done.err, f"A part is compared: {done}")


DRIFT, MOVED = workload("drift"), workload("drift_moved")
check_pair("the same program", [DRIFT, 10, 20, 5, 7], [DRIFT, 10, 120, 9, 2], "one.wake", "grown.wake")
check_pair("one of two sites alone", [DRIFT, 10, 20, 5], [DRIFT, 10, 20, 0, 4], "a.wake", "b.wake")
check_pair("moved lines", [DRIFT, 10, 20, 5, 7], [MOVED, 10, 120, 9, 2], "a.wake", "moved.wake")
check_pair("moved lines and a new function", [DRIFT, 10, 20, 5, 7], [MOVED, 10, 3, 5, 8, 6], "a.wake", "b.wake")
check.holds(all(f["line"] >= 500 or f["function"] not in ("growing", "twice")
                for s in diff("one.wake", "moved.wake")["leaks"]["sites"] for f in s["frames"]),
            "A site is shown with the lines of the older program.")
check_moments()
check_places()
check_visitor()
check_page()
check_parts()
check_picture()
check_misuse()
check.done()
