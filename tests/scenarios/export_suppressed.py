#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exports of leaks leave out what reports leave out, and say so; the option that shows
all, and suppressions of the user's own, mean the same to both. Measured against what the program leaked."""
import gzip
import json
import re
import sqlite3

from support import Check, native, record, tool, truth, workload

check = Check()
ONE = ("folded", "gprof2dot", "dot", "flamegraph")
SUMS = ("callgrind", "json", "html", "pprof", "speedscope", "sqlite")


def size(value):
    return f"{value} bytes" if value < 1024 else f"{value / 1024:.1f} KiB"


def export(kind, *options):
    """The file, and what was said of it."""
    done = tool("export", "-f", kind, "-o", "file", *options, "shelves.wake")
    check.equal(f"export -f {kind} {options}", 0, done.status)
    with open("file", "rb") as f:
        return f.read(), done.err.decode()


def leaked(kind, *options):
    """Bytes that a file has as leaked, functions that allocated some of them, the text of the file and what was said."""
    data, said = export(kind, *(("--leaks",) if kind in ONE else ()), *options)
    text = "" if kind in ("sqlite", "pprof") else data.decode()
    total, names = None, set()
    if kind == "folded":
        lines = [line.rsplit(" ", 1) for line in text.splitlines()]
        total, names = sum(int(n) for _, n in lines), {stack.split(";")[-1] for stack, _ in lines}
    elif kind == "gprof2dot":
        profile = json.loads(text)
        total = sum(e["cost"][0] for e in profile["events"])
        names = {profile["functions"][e["callchain"][0]]["name"] for e in profile["events"]}
        text = profile["costs"][0]["description"]
    elif kind == "dot":
        total = re.search(r"\\lLeaked: ([^\\]*)", text)[1]
        names = set(re.findall(r'tooltip="([^"]*)"', text))
    elif kind == "flamegraph":
        total = int(re.search(r'data-total="(\d+)"', text)[1])
        names = set(re.findall(r"<title>([^\n<]*)", text))
        text = re.search(r'id="head"[^>]*>([^<]*)', text)[1]
    elif kind == "callgrind":
        total = int(re.search(r"^(?:totals|summary): (.*)", text, re.M)[1].split()[2])
        names = set(re.findall(r"fn=\(\d+\) (.*)", text))
    elif kind == "json":
        whole = json.loads(text)["total"]
        total = whole["leaked_bytes"]
        check.equal("suppressed in json", REPORT["suppressed"]["total_bytes"] if not options else 0, whole["suppressed_bytes"])
        check.equal("blocks in json", len(TOLD["leaks"]) if not options else len(TOLD["leaks"]) + REPORT["suppressed"]["total_blocks"],
                    whole["leaked_blocks"])
    elif kind == "html":
        page = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
        at = next(i for i, m in enumerate(page["measures"]) if m["key"] == "leaks")
        total = page["measures"][at]["total"][0]
        check.equal("sites of the page", total, sum(s[1][at][0] for s in page["sites"]))
        text = "".join(re.findall(r"leaked in[^<]*", text))
    elif kind == "speedscope":
        leaks = next(p for p in json.loads(text)["profiles"] if p["name"].startswith("Leaked"))
        total, text = leaks["endValue"], leaks["name"]
        check.equal("weights of speedscope", total, sum(leaks["weights"]))
    elif kind == "pprof":
        text = gzip.decompress(data).decode("latin-1")
        seen = native(["go", "version"]).status == 0 and native(["go", "tool", "pprof", "-sample_index=leaked_space", "-raw", "file"])
        total = None
        if seen and seen.status == 0:
            rows = re.findall(r"^\s+([\d ]+): [\d ]*$", seen.out.decode(), re.M)
            total = sum(int(r.split()[5]) for r in rows if len(r.split()) == 6)
    elif kind == "sqlite":
        with sqlite3.connect("file") as db:
            total = db.execute("SELECT sum(leaked_bytes) FROM site").fetchone()[0]
            names = {r[0] for r in db.execute("SELECT function FROM named_site WHERE leaked_bytes > 0")}
            text = str(db.execute("SELECT key, value FROM meta").fetchall())
            check.equal("blocks of sqlite: those never freed, whatever is suppressed", EVERYTHING,
                        db.execute("SELECT sum(size) FROM block WHERE leaked = 1").fetchone()[0])
        db.close()
    return total, names, text, said


run = record([workload("shelves")], "shelves.wake")
TOLD = truth(run)
OWN = sum(b["size"] for b in TOLD["leaks"])
REPORT = json.loads(tool("report", "--json", "--leaks", "shelves.wake").out)["leaks"]
HIDDEN = REPORT["suppressed"]["total_bytes"]
EVERYTHING = OWN + HIDDEN
check.equal("the report", OWN, REPORT["total_bytes"])
check.holds(HIDDEN > OWN, "The library's pool is smaller than the leaks: this tests too little.")
for kind in ONE + SUMS:
    check.about(kind)
    total, names, text, said = leaked(kind)
    if total is not None:
        check.equal("leaked", size(OWN) + f", without {size(HIDDEN)} suppressed" if kind == "dot" else OWN, total)
    check.holds(not any("libstdc++" in name or "0x" in name for name in names if kind in ONE), f"Suppressed functions are in it: {sorted(names)}")
    check.holds(f"{size(HIDDEN)} " in said and "suppressed" in said and "--no-built-in-suppressions" in said, f"It is not said: {said}")
    if kind == "sqlite":
        check.holds(f"('suppressed_bytes', {HIDDEN})" in text, f"meta does not say it: {text}")
    elif kind not in ("folded", "json"):
        check.holds(f"{size(HIDDEN)} suppressed" in text, f"The file does not say it: {text[:300]}")
    total, names, text, said = leaked(kind, "--no-built-in-suppressions")
    if total is not None:
        check.equal("all", size(EVERYTHING) if kind == "dot" else EVERYTHING, total)
    check.holds("suppressed" not in said, f"Nothing is suppressed: {said}")
check.about("")

with open("own.supp", "w", encoding="utf-8") as f:
    f.write("leak:leak_screw\n")
for level in ((), ("--anonymize", "full")):
    done = tool("export", "-f", "folded", "--leaks", "--suppressions", "own.supp", *level, "shelves.wake")
    check.equal(f"a file of suppressions {level}", OWN - 5000, sum(int(line.rsplit(b" ", 1)[1]) for line in done.out.splitlines()))
    check.holds(b"leak_screw" not in done.out + done.err, f"{level}: the name is in it.")
# What the other measures have is nothing to suppressions.
peak = json.loads(tool("report", "--json", "--peak", "shelves.wake").out)["peak"]["total_bytes"]
done = tool("export", "-f", "folded", "shelves.wake")
check.equal("the peak", peak, sum(int(line.rsplit(b" ", 1)[1]) for line in done.out.splitlines()))
check.holds(b"suppressed" not in done.err, f"The peak has nothing suppressed: {done.err}")
for options in (("-f", "folded", "--no-built-in-suppressions"), ("-f", "csv", "--suppressions", "own.supp")):
    done = tool("export", *options, "shelves.wake")
    check.equal(f"{options}", 2, done.status)
    check.holds(options[2].encode() in done.err and b"leaks" in done.err, f"{options}: {done.err}")
check.done()
