#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every text format, read by its real reader, from odd recordings: names that mean
something to somebody, several threads and processes, programs without symbols, a
recording of nothing and one of a single event. No reader complains, and all find
the same sums."""
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import xml.etree.ElementTree as ElementTree

from support import Check, info, native, record, tool, truth, workload

check = Check()


def export(form, path, *argv):
    output = "out." + form
    if form in ("callgrind", "pprof", "json"):  # sums of leaks: all of them
        argv += ("--no-built-in-suppressions",)
    done = tool("export", "-f", form, "-o", output, *argv, path)
    check.equal(f"exit status of export -f {form}", 0, done.status)
    return output


def run(*argv):
    """What a reader prints, when it has nothing to complain of."""
    done = native(argv, env={"PPROF_BINARY_PATH": "/nowhere", "PPROF_TMPDIR": os.getcwd()})
    check.equal(f"exit status of {argv[0]}", 0, done.status)
    said = [line for line in done.err.decode(errors="replace").splitlines() if not line.startswith(("reading file", "File: "))]
    check.equal(f"complaints of {argv[0]}", [], said)
    return done.out.decode()


def number(text):
    return int(text.replace(",", ""))


def heaptrack(path, *argv):
    export("heaptrack", path, *argv)
    page = run("heaptrack_print", "--disable-builtin-suppressions", "-F", "costs", "--flamegraph-cost-type", "leaked",
               "out.heaptrack")
    with open("costs", encoding="utf-8") as f:
        leaked = sum(int(line.rsplit(" ", 1)[1]) for line in f)
    return {"allocations": int(re.search(r"calls to allocation functions: (\d+)", page)[1]), "leaked_bytes": leaked}


def massif(path, *argv):
    page = run("ms_print", export("massif", path, *argv))
    rows = re.findall(r"^ *\d+ +[\d,]+ +[\d,]+ +([\d,]+) +[\d,]+ +[\d,]+$", page, re.M)
    return {"peak_bytes": max(map(number, rows)), "leaked_bytes": number(rows[-1])}


def callgrind(path, *argv):
    page = run("callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", export("callgrind", path, *argv))
    totals = re.search(r"^ *((?:[\d,]+ +){6})[\d,]+ +PROGRAM TOTALS", page, re.M)
    values = [number(word) for word in totals[1].split()] if totals else [0] * 6  # of nothing there is no total
    return {"peak_bytes": values[0], "leaked_bytes": values[2], "allocated_bytes": values[4], "allocations": values[5]}


def pprof(path, *argv):
    export("pprof", path, *argv)
    run("go", "tool", "pprof", "-top", "out.pprof")
    raw = run("go", "tool", "pprof", "-raw", "out.pprof")
    sums = [0] * 6
    for line in re.findall(r"^ +((?:\d+ +){5}\d+):", raw, re.M):
        sums = [a + int(b) for a, b in zip(sums, line.split())]
    return {"allocations": sums[0], "allocated_bytes": sums[1], "peak_bytes": sums[4], "leaked_bytes": sums[5]}


def table(path, *argv):
    with open(export("csv", path, *argv), encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f, strict=True))
    check.equal("columns of every row", [], [r for r in rows if None in r or None in r.values()])
    return {"allocations": len(rows), "allocated_bytes": sum(int(r["size"]) for r in rows),
            "leaked_bytes": sum(int(r["size"]) for r in rows if r["leaked"] == "1")}


def database(path, *argv):
    db = sqlite3.connect(export("sqlite", path, *argv))
    check.equal("integrity of the database", [("ok",)], db.execute("pragma integrity_check").fetchall())
    allocations, size = db.execute("select count(*), coalesce(sum(size), 0) from block").fetchone()
    db.close()
    return {"allocations": allocations, "allocated_bytes": size}


def folded(path, *argv):
    with open(export("folded", path, "--allocated", *argv), encoding="utf-8") as f:
        return {"allocated_bytes": sum(int(line.rsplit(" ", 1)[1]) for line in f)}


def gprof2dot(path, *argv):
    with open(export("gprof2dot", path, "--allocated", *argv), encoding="utf-8") as f:
        return {"allocated_bytes": sum(e["cost"][0] for e in json.load(f)["events"])}


def pictures(path, *argv):
    root = ElementTree.parse(export("flamegraph", path, "--allocated", *argv)).getroot()
    drawn = subprocess.run(["dot", "-Tsvg", export("dot", path, *argv)], capture_output=True)
    check.equal("dot", (0, b""), (drawn.returncode, drawn.stderr))
    ElementTree.fromstring(drawn.stdout)
    return {"allocated_bytes": int(root.get("data-total"))}


def whole(path, *argv):
    with open(export("json", path, *argv), encoding="utf-8") as f:
        total = json.load(f)["total"]
    return {"allocations": total["allocated_blocks"], **{k: total[k] for k in ("allocated_bytes", "leaked_bytes")}}


READERS = [(heaptrack, "heaptrack_print"), (massif, "ms_print"), (callgrind, "callgrind_annotate"), (pprof, "go"),
           (pictures, "dot"), (table, None), (database, None), (folded, None), (gprof2dot, None), (whole, None)]


def check_readers(path, facts, *argv):
    for reader, program in READERS:
        if program is not None and shutil.which(program) is None:
            print(f"There is no {program} here.")
            continue
        check.about(f"{path} {argv}, {reader.__name__}")
        seen = reader(path, *argv)
        check.equal("sums", {key: facts[key] for key in seen}, seen)
    check.about("")


def check_all(path):
    facts = info(path)
    # One process at a time: some formats have no other way.
    for process in facts["processes_list"]:
        check_readers(path, process, "--pid", str(process["pid"]))


def check_names(path):
    """Odd names arrive as they are where the format can carry them."""
    with open(export("json", path), encoding="utf-8") as f:
        data = json.load(f)
    files = {f["file"] for f in data["frames"]}
    check.holds('/odd/a "b"\\c;d,e\té<f>&g\x01.cc' in files, f"The name of the file is not there: {files}")
    names = {f["function"] for f in data["frames"]}
    for name in ("größe()", "comma::operator,(int)"):
        check.holds(name in names, f"{name} is not there: {names}")
    threads = {t["name"] for p in data["processes"] for t in p["threads"]}
    check.holds({'t"\\,;\n\x01é', "\ufffd\ufffd<b>&"} <= threads, f"The threads are called {threads}")


def check_header():
    """Of a recording that was cut nothing may be left but its header: that is said, whatever the format."""
    with open("odd.wake", "rb") as f, open("header.wake", "wb") as g:
        g.write(f.read(96))
    formats = re.findall(r"\w+", re.search(r"--format FORMAT(.*?)\n  -o", tool("help", "export").out.decode(), re.S)[1])
    check.holds(len(formats) > 12, f"There are formats {formats}.")
    for form in formats:
        done = tool("export", "-f", form, "-o", "header.out", "header.wake")
        check.equal(f"export -f {form} of a header", (1, b"heapwake: header.wake holds no process: there is nothing to export.\n"),
                    (done.status, done.err))
        check.holds(not os.path.exists("header.out"), f"export -f {form} leaves a file.")
    done = tool("replay", "header.wake")
    check.equal("replay of a header", (1, b"heapwake: header.wake holds no process: there is nothing to replay.\n"),
                (done.status, done.err))


told = truth(record([workload("odd")], "odd.wake"))
check.equal("processes", 2, info("odd.wake")["processes"])
check_names("odd.wake")
check_header()
check_all("odd.wake")
for option in ("-g", "-s"):
    subprocess.run(["strip", option, "-o", "odd" + option, workload("odd")], check=True)
    record([os.path.abspath("odd" + option)], f"odd{option}.wake")
    check_all(f"odd{option}.wake")
record(["/bin/true"], "nothing.wake")
check.equal("allocations of true", 0, info("nothing.wake")["allocations"])
check_all("nothing.wake")
size = told["sizes"][0]
one = {"allocations": 1, **{key: size for key in ("allocated_bytes", "peak_bytes", "leaked_bytes")}}
check_readers("odd.wake", one, "--where", f"size-min={size}", "--where", f"size-max={size}")
check.done()
