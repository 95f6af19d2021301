#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exports for the viewers of Valgrind, read by those: massif by ms_print, callgrind
by callgrind_annotate, dhat by the code of dh_view.html itself. Their sums are
those of `heapwake report`."""
import json
import os
import re
import shutil
import subprocess

from support import Check, info, record, skip, tool, truth, workload

DH_VIEW = "/usr/libexec/valgrind/dh_view.js"
if not shutil.which("ms_print") or not shutil.which("callgrind_annotate") or not os.path.exists(DH_VIEW):
    skip("valgrind is not installed.")
if not shutil.which("node"):
    skip("node, which runs the code of dh_view, is not installed.")
check = Check()
told = truth(record([workload("blame")], "blame.wake"))
facts = info("blame.wake")


def export(form, *argv, path="blame.wake"):
    done = tool("export", "-f", form, "-o", "out." + form, *argv, path)
    check.equal(f"exit status of export {form} {argv}", 0, done.status)
    return "out." + form


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True)
    check.equal(f"exit status of {argv[0]}", 0, done.returncode)
    check.equal(f"complaints of {argv[0]}", "", done.stderr)
    return done.stdout


def number(text):
    return int(text.replace(",", ""))


# -------------------------------------------------------------------- massif


def check_massif():
    page = run("ms_print", "--threshold=0", export("massif"))
    rows = re.findall(r"^ *(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)$", page, re.M)
    peak = re.search(r"(\d+) \(peak\)", page)
    check.holds(peak is not None and len(rows) > 100, "ms_print knows no peak, or too few snapshots.")
    useful = {int(row[0]): number(row[3]) for row in rows}
    check.equal("bytes of the peak", facts["peak_bytes"], useful[int(peak.group(1))])
    check.equal("highest snapshot", facts["peak_bytes"], max(useful.values()))
    check.equal("last snapshot", facts["leaked_bytes"], useful[max(useful)])
    times = [number(row[1]) for row in rows]
    check.equal("times rise", sorted(times), times)
    with open("out.massif", encoding="utf-8") as f:
        tree = re.search(r"heap_tree=peak\n(.*?)(?:#|\Z)", f.read(), re.S).group(1)
    nodes = [(len(a), int(b), c) for a, b, c in re.findall(r"^( *)n\d+: (\d+) (.*)$", tree, re.M)]
    check.equal("root of the tree", (0, facts["peak_bytes"]), nodes[0][:2])
    check.equal("first level of the tree", facts["peak_bytes"], sum(size for depth, size, _ in nodes if depth == 1))
    for function, account in told["functions"].items():
        share = account["peak"][0] / facts["peak_bytes"]
        seen = sum(size for depth, size, text in nodes if depth == 1 and f": {function} (" in text)
        if share > 0.01:
            check.equal(f"{function} in the tree", account["peak"][0], seen)
    check.holds("ms_print" in run("ms_print", export("massif", "--where", "size-min=1G")), "An empty heap is refused.")


# ---------------------------------------------------------------------- dhat

# What dh_view checks before it shows anything, and the sums that it shows.
RUN_DH_VIEW = """
const data = require("fs").readFileSync(process.argv[2], "utf8");
const source = require("fs").readFileSync(process.argv[3], "utf8");
const more = `
gData = JSON.parse(data);
gSelect = {childNodes: [{disabled: false}], selectedIndex: 0};
buildTree();
result = [gRoot._totalBytes, gRoot._totalBlocks, gRoot._atTGmaxBytes, gRoot._atTEndBytes, gRoot._totalLifetimes];
`;
console.log(JSON.stringify(new Function("data", "document", "let result;" + source + more + "return result;")(data, {})));
"""


def check_dhat_rules(data):
    """The rules of dh_view.js, in other words."""
    head = ["dhatFileVersion", "mode", "verb", "bklt", "bkacc", "tu", "Mtu", "cmd", "pid", "te", "pps", "ftbl", "tg", "tuth"]
    check.equal("missing fields", [], [key for key in head if key not in data])
    check.equal("version", (2, True, False), (data["dhatFileVersion"], data["bklt"], data["bkacc"]))
    point = {"tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk", "fs"}
    check.equal("points without all fields", [], [p for p in data["pps"] if set(p) != point])
    stacks = [tuple(p["fs"]) for p in data["pps"]]
    check.equal("points with the same frames", len(stacks), len(set(stacks)))
    check.holds(all(fs and all(0 < f < len(data["ftbl"]) for f in fs) for fs in stacks), "A frame is not in the table.")
    check.equal("root", "[root]", data["ftbl"][0])
    frame = re.compile(r"0x[0-9A-F]+: .+|\[no stack\]")
    check.equal("odd frames", [], [f for f in data["ftbl"][1:] if not frame.fullmatch(f)])


def check_dhat(path, facts, *argv):
    with open(export("dhat", *argv, path=path), encoding="utf-8") as f:
        data = json.load(f)
    check_dhat_rules(data)
    pps = data["pps"]
    sums = [sum(p[key] for p in pps) for key in ("tb", "tbk", "gb", "eb", "ebk")]
    check.equal("sums of the points", [facts["allocated_bytes"], facts["allocations"], facts["peak_bytes"],
                                       facts["leaked_bytes"], facts["leaked_blocks"]], sums)
    check.holds(all(p["gb"] <= p["mb"] <= p["tb"] and p["eb"] <= p["mb"] for p in pps), "A point had less than it holds.")
    check.holds(0 <= data["tg"] <= data["te"], "The peak is not in the run.")
    with open("run.js", "w", encoding="utf-8") as f:
        f.write(RUN_DH_VIEW)
    shown = json.loads(run("node", "run.js", "out.dhat", DH_VIEW))
    check.equal("sums of dh_view", [sums[0], sums[1], sums[2], sums[3], sum(p["tl"] for p in pps)], shown)


# ----------------------------------------------------------------- callgrind

EVENTS = ["PeakBytes", "PeakBlocks", "LeakedBytes", "LeakedBlocks", "Bytes", "Blocks", "Temporary"]


def annotate(*options):
    """function -> costs, as callgrind_annotate shows them."""
    page = run("callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", *options, "out.callgrind")
    check.holds("Events recorded:  " + " ".join(EVENTS) in page, "The events are not those expected.")
    found = {}
    for line in page.splitlines():
        match = re.match(r"((?: *(?:[\d,]+|\.) ){7}) *(\S.*)$", line)
        if match:
            costs = [0 if word == "." else number(word) for word in match.group(1).split()]
            name = re.sub(r" \[.*\]$", "", match.group(2))
            found[name.rsplit(":", 1)[-1]] = costs
    return found


def check_callgrind():
    export("callgrind")
    own, inclusive = annotate(), annotate("--inclusive=yes")
    total = [facts["peak_bytes"], facts["peak_blocks"], facts["leaked_bytes"], facts["leaked_blocks"],
             facts["allocated_bytes"], facts["allocations"]]
    check.equal("program totals", total, own["PROGRAM TOTALS"][:6])
    for function, account in told["functions"].items():
        expected = [*account["peak"], *account["leaks"], *account["allocated"], account["temporary"]]
        check.equal(f"own cost of {function}", expected, own.get(function))
        below = inclusive.get(function, [0] * 7)
        check.holds(all(a <= b <= c for a, b, c in zip(expected, below, inclusive["PROGRAM TOTALS"])),
                    f"{function} has {below} with what it calls, and {expected} alone.")
    check.equal("main has all that the program did", [],
                [f for f, a in told["functions"].items() if inclusive["main"][4] < a["allocated"][0]])


check_massif()
check_dhat("blame.wake", facts)
check_callgrind()
record([workload("family"), "fork"], "family.wake")
for process in info("family.wake")["processes_list"]:
    if process["allocations"] > 0:
        check_dhat("family.wake", process, "--pid", str(process["pid"]))
record([workload("odd")], "odd.wake")
for process in info("odd.wake")["processes_list"]:
    check_dhat("odd.wake", process, "--pid", str(process["pid"]))
record(["/bin/true"], "nothing.wake")
check_dhat("nothing.wake", info("nothing.wake"))
check.done()
