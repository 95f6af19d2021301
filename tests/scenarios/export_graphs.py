#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Call graphs: `heapwake export -f dot` read by graphviz, against what the program
tells of itself; svg, pdf and ps drawn by it; what is said where it is missing."""
import json
import os
import re
import subprocess
import xml.dom.minidom

from support import HEAPWAKE, Check, native, record, skip, tool, truth, workload

if native(["dot", "-V"]).status != 0:
    skip("There is no graphviz here.")

check = Check()
SECRETS = ("hold", "churn", "leak_large", "blame")


def graph(*options):
    """The graph as dot itself reads it: nodes by name, edges."""
    done = tool("export", "-f", "dot", *options, "blame.wake")
    check.equal(f"exit status of {options}", 0, done.status)
    read = subprocess.run(["dot", "-Tdot_json"], input=done.out, capture_output=True)
    check.equal(f"dot reads {options}", (0, b""), (read.returncode, read.stderr))
    return json.loads(read.stdout)


def named(g):
    return {o["label"].split("\\n")[0]: o for o in g["objects"] if o["name"] != "legend"}


def check_peak(told):
    g = graph()
    nodes = named(g)
    peak = told["functions"]["hold"]["peak"][0]
    check.holds("hold" in nodes and "main" in nodes, f"There are only {sorted(nodes)}.")
    check.holds(f"{peak / 2**20:.1f} MiB" in nodes["hold"]["label"], f"hold is {nodes['hold']['label']}.")
    check.holds("churn" not in nodes, "A function without a block at the peak is drawn.")
    by_number = {o["_gvid"]: o["name"] for o in g["objects"]}
    edges = {(by_number[e["tail"]], by_number[e["head"]]) for e in g["edges"]}
    check.holds((nodes["main"]["name"], nodes["hold"]["name"]) in edges, "main does not call hold.")
    legend = next(o for o in g["objects"] if o["name"] == "legend")["label"]
    for word in ("blame", "Held at the peak: ", " after ", "resident at most: ", "ran: "):
        check.holds(word in legend, f"The legend does not say '{word}': {legend}")
    check.holds(float(nodes["hold"]["fontsize"]) > 20, "The largest function is not written large.")


def check_measures():
    leaks = named(graph("--leaks"))
    check.holds("leak_large" in leaks and "hold" not in leaks, f"leaks: {sorted(leaks)}")
    calls = named(graph("--calls"))
    check.holds("5,000" in calls["churn"]["label"], f"calls of churn: {calls['churn']['label']}")
    deep = graph("--leaks", "--where", "size-max=11", "--where", "size-min=11")
    dig = named(deep)["dig"]
    loops = [e for e in deep["edges"] if e["tail"] == e["head"] == dig["_gvid"]]
    check.equal("arrows from dig to itself", 1, len(loops))
    check.holds("33 bytes (100.0 %)" in dig["label"], f"dig counts once: {dig['label']}")
    check.equal("a measure where none is shown", 2, tool("export", "-f", "perfetto", "--leaks", "blame.wake").status)


def check_pictures():
    for kind, head in (("svg", b"<?xml"), ("pdf", b"%PDF-"), ("ps", b"%!PS-Adobe")):
        done = tool("export", "-f", kind, "-o", f"graph.{kind}", "blame.wake")
        check.equal(f"{kind}: exit status", 0, done.status)
        check.holds(open(f"graph.{kind}", "rb").read().startswith(head), f"{kind} does not begin as it should.")
        said = tool("export", "-f", kind, "-o", "long.out", "long.wake").err
        check.equal(f"{kind}: what is said, and nothing of dot's of a name beyond Latin-1",
                    b"heapwake: A call graph shows one measure, and of it the functions that have 1 % or more.\n", said)
    texts = "".join(t.firstChild.data for t in xml.dom.minidom.parse("graph.svg").getElementsByTagName("text"))
    check.holds("hold" in texts and "resident at most" in texts, "The picture has no names.")
    piped = native([HEAPWAKE, "export", "-f", "svg", "blame.wake"])
    check.equal("the same to a pipe", open("graph.svg", "rb").read(), piped.out)


def check_missing():
    os.makedirs("empty", exist_ok=True)
    done = native([HEAPWAKE, "export", "-f", "svg", "-o", "none.svg", "blame.wake"], env={"PATH": os.path.abspath("empty")})
    check.equal("without dot: exit status", 1, done.status)
    check.holds(b"graphviz" in done.err and len(done.err.splitlines()) == 1, f"without dot: {done.err}")
    check.equal("without dot: files", [], [n for n in os.listdir(".") if n.startswith(("none", ".none"))])
    with open("empty/dot", "w") as f:
        f.write("#!/bin/sh\nexit 3\n")
    os.chmod("empty/dot", 0o755)
    done = native([HEAPWAKE, "export", "-f", "svg", "-o", "none.svg", "blame.wake"],
                  env={"PATH": os.path.abspath("empty") + ":/bin:/usr/bin"})
    check.equal("a dot that fails", (1, True), (done.status, b"status 3" in done.err))
    check.equal("a dot that fails: files", [], [n for n in os.listdir(".") if n.startswith(("none", ".none"))])
    for name in ("svg", "dot", "html", "pprof"):
        reading, writing = os.pipe()
        os.close(reading)
        gone = subprocess.run([HEAPWAKE, "export", "-f", name, "blame.wake"], stdout=writing, stderr=subprocess.PIPE, timeout=60)
        os.close(writing)
        check.equal(f"{name}: a reader that has gone", (0, b""), (gone.returncode, gone.stderr))
        full = subprocess.run(f"{HEAPWAKE} export -f {name} blame.wake >/dev/full", shell=True, capture_output=True, timeout=60)
        check.equal(f"{name}: no room", 1, full.returncode)


def check_veil():
    for level in ("partial", "full"):
        text = tool("export", "-f", "dot", "--anonymize", level, "--leaks", "blame.wake").out.decode()
        left = [s for s in SECRETS if re.search(rf"\b{s}\b", text)]
        check.equal(f"{level}: names that are left", ["blame"] if level == "partial" else [], left)
        check.equal(f"{level}: libc's", level == "partial", "libc_start" in text)


told = truth(record([workload("blame")], "blame.wake"))
record([workload("blame"), "日本" * 60], "long.wake")
check_peak(told)
check_measures()
check_pictures()
check_missing()
check_veil()
check.done()
