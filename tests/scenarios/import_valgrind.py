#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake import` of files of Valgrind's massif and DHAT, made by the real tools
and by our own exports: massif's level at every snapshot, DHAT's sums to the byte."""
import json
import re
import shutil

from imports import by_function, refuse, take, works_everywhere
from support import Check, events, info, native, record, skip, tool, truth, workload

if not shutil.which("valgrind"):
    skip("valgrind is not installed.")
check = Check()


def valgrind(kind, output, *options):
    done = native(["valgrind", f"--tool={kind}", f"--{kind}-out-file={output}", *options, workload("blame")])
    check.equal(f"exit status under {kind}", 0, done.status)
    return truth(done)


# --------------------------------------------------------------------- massif


def snapshots(path):
    with open(path, encoding="utf-8") as f:
        found = re.findall(r"^time=([\d.]+)\nmem_heap_B=(\d+)", f.read(), re.M)
    return [(int(float(time)), int(size)) for time, size in found]


def check_levels(name, path, output, unit):
    """At the time of each snapshot the recording holds what the snapshot says."""
    check.about(f"massif, {name}")
    facts = take(check, path, output, notes=["single blocks", "mem_heap_extra_B"])
    told = snapshots(path)
    check.equal("peak", max(size for _, size in told), facts["peak_bytes"])
    check.equal("end", told[-1][1], facts["leaked_bytes"])
    level, levels, live = 0, {}, {}
    for e in events(output):
        if e.event == "alloc":
            live[e.address] = e.size
            level += e.size
        else:
            level -= live.pop(e.address)
        levels[e.time] = level
    wrong, at, now = [], iter(sorted(levels)), 0
    upcoming = next(at, None)
    last = dict(told)  # several at one time: the last counts
    for time in sorted(last):
        while upcoming is not None and upcoming <= time * unit:
            now, upcoming = levels[upcoming], next(at, None)
        if now != last[time]:
            wrong.append((time, last[time], now))
    check.equal("snapshots with another level", [], wrong[:3])
    works_everywhere(check, output)
    check.about("")
    return facts


def check_massif():
    told = valgrind("massif", "real.massif", "--threshold=0", "--detailed-freq=1", "--peak-inaccuracy=0")
    check_levels("real", "real.massif", "massif.wake", 1)
    for measure in ("peak", "leaks"):
        seen = {name: row[0] for name, row in by_function("massif.wake", measure).items()}
        for function, account in told["functions"].items():
            if account[measure][0] > 0:
                check.equal(f"massif: {measure} of {function}", account[measure][0], seen.get(function))
    valgrind("massif", "coarse.massif")
    check_levels("coarse", "coarse.massif", "coarse.wake", 1)
    check.equal("export", 0, tool("export", "-f", "massif", "-o", "own.massif", "own.wake").status)
    facts = check_levels("our own", "own.massif", "back.wake", 1000000)
    for key in ("peak_bytes", "leaked_bytes"):
        check.equal(f"massif and back: {key}", info("own.wake")[key], facts[key])


# ----------------------------------------------------------------------- DHAT


def check_sums(name, path, output):
    check.about(f"dhat, {name}")
    facts = take(check, path, output, notes=["DHAT", "made up"])
    with open(path, encoding="utf-8") as f:
        points = json.load(f)["pps"]
    sums = {key: sum(point[key] for point in points) for key in ("tb", "tbk", "gb", "gbk", "eb", "ebk")}
    for key, fact in (("tb", "allocated_bytes"), ("tbk", "allocations"), ("gb", "peak_bytes"), ("gbk", "peak_blocks"),
                      ("eb", "leaked_bytes"), ("ebk", "leaked_blocks")):
        check.equal(fact, sums[key], facts[fact])
    works_everywhere(check, output)
    check.about("")


def check_dhat():
    told = valgrind("dhat", "real.dhat")
    check_sums("real", "real.dhat", "dhat.wake")
    for function, measure in (("leak_small", "leaks"), ("leak_large", "leaks"), ("hold", "peak"), ("churn", "allocated")):
        seen = by_function("dhat.wake", measure).get(function)
        check.equal(f"dhat: {measure} of {function}", list(told["functions"][function][measure][:2]), seen)
    check.equal("export", 0, tool("export", "-f", "dhat", "-o", "own.dhat", "own.wake").status)
    check_sums("our own", "own.dhat", "back.wake")
    for measure in ("leaks", "peak", "allocated"):
        check.equal(f"dhat and back: {measure}", by_function("own.wake", measure), by_function("back.wake", measure))


CONTAINERS = """#include <map>
#include <memory>
#include <string>
#include <vector>
struct order { std::string name; std::vector<int> lines; };
static std::vector<std::unique_ptr<order>> *orders;
static std::map<int, std::string> *names;
__attribute__((noinline)) static void add_order(int i)
{
    auto o = std::make_unique<order>();
    o->name = std::string(60 + i % 7, 'x');
    for (int k = 0; k < 20; k++)
        o->lines.push_back(k);
    orders->push_back(std::move(o));
}
__attribute__((noinline)) static void add_name(int i) { (*names)[i] = std::string(40, 'y'); }
int main()
{
    orders = new std::vector<std::unique_ptr<order>>;
    names = new std::map<int, std::string>;
    for (int i = 0; i < 300; i++) { add_order(i); add_name(i); }
    return 0;
}
"""


def check_whose_code():
    """Rows begin with the program's own functions, whatever was inlined from the C++ library's headers."""
    check.about("whose code")
    with open("containers.cc", "w", encoding="utf-8") as f:
        f.write(CONTAINERS)
    for level in ("-O0", "-O2"):
        check.equal("build", 0, native(["g++", "-g", level, "-o", "containers", "containers.cc"]).status)
        for kind in ("dhat", "massif"):
            check.equal(f"exit status under {kind}", 0,
                        native(["valgrind", f"--tool={kind}", f"--{kind}-out-file=containers.{kind}", "./containers"]).status)
            check.equal("import", 0, tool("import", "-o", "containers.wake", f"containers.{kind}").status)
            for measure in ("--leaks", "--peak"):
                text = tool("report", measure, "-n", "0", "containers.wake").out.decode()
                rows = re.findall(r"^ +[\d.]+ [KM]iB +[\d.]+ %.*x  (.*)", text, re.M)
                check.holds(len([row for row in rows if re.match(r"add_(order|name)  containers\.cc", row)]) >= 4,
                            f"{kind}, {level}, {measure}: {rows}")
                check.holds(not re.search(r"x  .*\.(h|tcc):\d+$", text, re.M), f"{kind}, {level}, {measure}: a library leads in\n{text}")
    check.about("")


def check_refusals():
    head = "desc: a\ncmd: ./a\ntime_unit: i\n#---\nsnapshot=0\n#---\n"
    body = "time=0\nmem_heap_B=10\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
    for text, words in (
            (head + "time=x\n", "line 7: time= and a number"), (head + body + "heap_tree=bush\n", "line 11: heap_tree="),
            (head + body + "heap_tree=peak\nn1: 11 (heap)\n", "line 12: the tree has more"),
            (head + body + "heap_tree=peak\nn1: 10 (heap)\n", "line 12: the file ends inside a tree"),
            (head + body + "heap_tree=peak\nn1: 10 (heap)\n n0: 11 0x1: f (a.c:1)\n", "line 13: the callers have more"),
            ("desc: a\nsnapshot=0\n", "line 2: there is no time_unit"), ("desc: a\ntime_unit: weeks\n", "line 2: this unit"),
            ('{"dhatFileVersion":2,"bklt":true,"pps":[{"tb":-1}]}', "byte 46: this is not what DHAT"),
            ('{"dhatFileVersion":3,"bklt":true,"pps":[],"ftbl":[]}', "version 3"),
            ('{"dhatFileVersion":2,"mode":"copy","bklt":false,"pps":[],"ftbl":[]}', "mode copy"),
            ('{"dhatFileVersion":2,"bklt":true,"pps":[{"tb":1,"tbk":1,"fs":[4]}],"ftbl":["[root]"]}', "frame 4"),
            ('{"dhatFileVersion":2,"bklt":true,"pps":[]}', "no ftbl")):
        refuse(check, text, words)


record([workload("blame")], "own.wake")
check_massif()
check_dhat()
check_whose_code()
check_refusals()
check.done()
