#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Trees on a page: who stands below whom, also in chains of single callers; roots; exact bytes;
the form of memtrail, letter by letter. Against the calls that the program says it made."""
import json
import re

from support import Check, record, tool, truth, workload

check = Check()
TOLD = truth(record([workload("shelves")], "shelves.wake"))
record([workload("blame")], "blame.wake")
OWN = {}
for block in TOLD["leaks"]:
    OWN.setdefault(block["function"], []).append(block["size"])
CHAINS = {"leak_bolt": ["fill_shelf", "open_shop", "main"], "leak_nut": ["open_shop", "main"], "leak_screw": ["restock"]}
ARROW = re.compile(r"^([ |]*?)(?:(\d+) )?-> +([\d.]+)% \(([^)]*), ([\d,]+)x\)(.*)$")


def text(*options, path="shelves.wake"):
    done = tool("report", *options, path)
    check.equal(f"exit status of {options}", 0, done.status)
    lines = done.out.decode().splitlines()
    check.holds(all(len(line) <= 80 for line in lines) or "--style" in options, f"{options}: a line has more than 80 columns.")
    return lines


def nodes(*options, path="shelves.wake"):
    """The nodes of the tree as JSON has it, each with its depth, in the order of the page."""
    measure, = (section for key, section in json.loads(tool("report", "--json", *options, path).out).items() if key in ("leaks", "peak"))
    for node in measure["nodes"]:
        node["depth"] = 0 if node["parent"] is None else measure["nodes"][node["parent"]]["depth"] + 1
    return measure


def shown(lines):
    return [ARROW.match(line) for line in lines if ARROW.match(line)]


check.about("chains")
for options in (("--leaks", "--tree", "--threshold", "0"), ("--leaks", "--top-down"), ("--leaks", "--callers", "leak_bolt")):
    lines = text(*options)
    found, tree = shown(lines), nodes(*options)["nodes"]
    check.equal(f"{options}: nodes", len(tree), len(found))
    for node, line in zip(tree, found):
        depth = int(line[2]) if line[2] else (len(line[1]) - 2) // 2
        check.equal(f"{options}: depth of {node.get('function')}", node["depth"], depth)
    roots = [line for line in found if line[1] == "  " and not line[2]]
    check.equal(f"{options}: what stands leftmost are the roots", sum(n["parent"] is None for n in tree), len(roots))
names = [(len(m[1]), m[6].split()[1]) for m in shown(text("--leaks", "--tree", "--threshold", "0")) if ":" in m[6]]
for leaf, callers in CHAINS.items():
    at = next(i for i, (_, name) in enumerate(names) if name == leaf)
    check.equal(f"below {leaf}", list(enumerate(callers, 1)), [((indent - 2) // 2, name) for indent, name in names[at + 1:at + 1 + len(callers)]])
blank = [i for i, line in enumerate(text("--leaks", "--tree", "--threshold", "0")) if line == ""]
check.holds(len(blank) >= len(CHAINS), "Between roots there is no blank line.")

check.about("deep")
deep = shown(text("--leaks", "--callers", "dig", "--threshold", "0", path="blame.wake"))
check.holds(any(m[2] for m in shown(text("--leaks", "--top-down", "--threshold", "0", path="blame.wake"))) or
            any("times)" in m[6] for m in deep), "A recursion of 201 calls shows nowhere.")

check.about("--bytes")
lines = text("--leaks", "--tree", "--bytes", "--threshold", "0")
for function, sizes in OWN.items():
    line, = (m for m in shown(lines) if f": {function} " in m[6])
    check.equal(function, (f"{sum(sizes):,} bytes", f"{len(sizes)}"), (line[4], line[5]))
check.holds(any(line.startswith(f"Leaked: {sum(map(sum, OWN.values())):,} bytes in 6 blocks") for line in lines), f"The title has no bytes: {lines[:12]}")
check.holds(not any(re.search(r"\d [KMG]iB", line) for line in lines), "Some size is rounded.")
byte_lines = text("--bytes")
check.holds(not any(re.search(r"\d [KMG]iB", line) for line in byte_lines if "|" not in line and "\u2502" not in line), f"Some size is rounded: {byte_lines}")
check.holds(f"{sum(OWN['leak_bolt']):,} bytes" in "\n".join(text("--leaks", "--bytes")), "A list has no bytes.")
check.equal("JSON has bytes anyhow", tool("report", "--json", "--leaks", "--tree", "shelves.wake").out,
            tool("report", "--json", "--leaks", "--tree", "--bytes", "shelves.wake").out)

check.about("--style memtrail")


def memtrail(label, section, threshold):
    """What memtrail of 2014 prints for such a tree."""
    out = f"----\n\n{label}: {section['total_bytes']} bytes\n\n"

    def below(parent, indent):
        children = [(i, n) for i, n in enumerate(section["nodes"]) if n["parent"] == parent]
        written = ""
        for at, (i, node) in enumerate(children):
            head = f"{indent}->{100 * node['bytes'] / section['total_bytes']:5.2f}% ({node['bytes']}B)"
            if node["places"]:
                return written + f"{head} in {node['places']} places, all below the {threshold:.2f}% threshold\n"
            is_last = at == len(children) - 1
            inner = indent + ("  " if is_last else "| ")
            name = node["function"] or f"{node['module'].split('/')[-1]}+{node['address']}"
            written += f"{head}: {name}\n" + below(i, inner) + ("" if is_last else inner + "\n")
        return written

    return out + below(None, "") + "\n"


for threshold in (1, 30):
    expected = memtrail("leaked", nodes("--leaks", "--tree", "--threshold", str(threshold)), threshold)
    done = tool("report", "--leaks", "--style", "memtrail", "--threshold", str(threshold), "shelves.wake")
    check.equal(f"leaked, {threshold} %", expected.splitlines(), done.out.decode().splitlines())
    check.equal("the last line", True, done.out.endswith(b"\n\n"))
    check.holds(b"suppressed" in done.err, f"What is left out is not said: {done.err}")
done = tool("report", "--style", "memtrail", "shelves.wake").out.decode()
check.equal("maximum and leaked", memtrail("maximum", nodes("--peak", "--tree"), 1) + memtrail("leaked", nodes("--leaks", "--tree"), 1), done)
total = sum(map(sum, OWN.values()))
check.holds(f"->{100 * 5000 / total:5.2f}% (5000B): leak_screw" in done, "leak_screw is not as memtrail has it.")
check.holds(f"->{100 * 140 / total:5.2f}% (140B): leak_nut" in done and "-> 1.72% (140B)" in done, "Small shares are not right-aligned.")
for argv in (["--style", "memtrail", "--json"], ["--style", "memtrail", "--by", "line"], ["--style", "memtrail", "--calls"], ["--style", "other"],
             ["--style", "memtrail", "--advice"]):
    done = tool("report", *argv, "shelves.wake")
    check.holds(done.status == 2 and b"--style" in done.err, f"{argv}: {done.status} {done.err}")
check.done()
