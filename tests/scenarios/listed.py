#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`--where blocks=FILE`: blocks that SQL has chosen, by conditions that no other word of --where can say, against a
program that knows its blocks; of several processes, of a series, from a pipe; and lists that are none."""
import glob
import json
import sqlite3
import subprocess

from support import HEAPWAKE, Check, put, record, tool, truth, workload

check = Check()
OWN = ["--where", "function=^make_"]  # the program's blocks, without those of the C library


def choose(path, condition, columns="process, number"):
    done = tool("export", "-f", "sqlite", "-o", "chosen.db", path)
    check.equal(f"export of {path}", 0, done.status)
    db = sqlite3.connect("chosen.db")
    found = list(db.execute(f"SELECT {columns} FROM block WHERE {condition}"))
    db.close()
    return found


def write(name, rows, between="|"):
    put(name, "".join(between.join(map(str, row)) + "\n" for row in rows).encode())
    return f"blocks={name}"


def report(path, *options):
    done = tool("report", "--json", "--allocated", "-n", "0", *options, path)
    if done.status != 0:
        raise SystemExit(f"{options}: exit {done.status}, {done.err.decode()}")
    found = json.loads(done.out)["allocated"]
    return found["total_blocks"], found["total_bytes"]


def check_conditions():
    check.about("conditions")
    run = record([workload("filters")], "one.wake", ["--precise-timestamps"])
    blocks = truth(run)
    odd = [b["size"] for b in blocks if b["size"] % 3 == 0 or b["dropper"] == ""]
    check.holds(0 < len(odd) < len(blocks), "The list is that of no block, or of all.")
    rows = choose("one.wake", "size % 3 = 0 OR leaked")
    for between in ("|", " ", "\t", ", "):
        where = write("list", rows, between)
        check.equal(f"third sizes or leaked, {between!r}", (len(odd), sum(odd)), report("one.wake", *OWN, "--where", where))
    both = [b["size"] for b in blocks if (b["size"] % 3 == 0 or b["dropper"] == "") and b["maker"] == "make_plain"]
    check.equal("and another condition", (len(both), sum(both)),
                report("one.wake", "--where", "function=^make_plain$", "--where", "blocks=list"))
    late = [b["size"] for b in blocks if b["size"] % 3 == 0 and b["dropper"] != "" and b["died_by"] == "helper"]
    check.equal("and one that is decided late", (len(late), sum(late)),
                report("one.wake", *OWN, "--where", "freed-by=helper", "--where", "blocks=list"))
    put("numbers", b"number\n" + "".join(f"{number}\n" for _, number in reversed(rows)).encode())
    check.equal("numbers alone", (len(odd), sum(odd)), report("one.wake", *OWN, "--where", "blocks=numbers"))
    put("empty", b"")
    check.equal("an empty list", (0, 0), report("one.wake", "--where", "blocks=empty"))
    script = f"{HEAPWAKE} report --json --allocated -n 0 --where function=^make_ --where blocks=- one.wake < list"
    piped = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    check.equal("from the standard input", sum(odd), json.loads(piped.stdout)["allocated"]["total_bytes"])
    script = f"{HEAPWAKE} report --json --allocated -n 0 --where function=^make_ --where blocks=<(cat list) one.wake"
    piped = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    check.equal("from a pipe", sum(odd), json.loads(piped.stdout)["allocated"]["total_bytes"])
    tool("export", "-f", "sqlite", "-o", "again.db", "--where", "blocks=list", "one.wake")
    again = sqlite3.connect("again.db").execute("SELECT process, number FROM block").fetchall()
    check.equal("exported again", sorted(rows), sorted(again))


def check_processes():
    check.about("processes")
    record(["sh", "-c", f"{workload('filters')}; {workload('filters')}; true"], "two.wake")
    rows = choose("two.wake", "size % 2 = 0", "process, number, size")
    check.holds(len({row[0] for row in rows}) >= 2, "There is only one process.")
    check.equal("of all", (len(rows), sum(row[2] for row in rows)),
                report("two.wake", "--where", write("all", [row[:2] for row in rows])))
    last = [row for row in rows if row[0] == max(row[0] for row in rows)]
    check.equal("of the last", (len(last), sum(row[2] for row in last)),
                report("two.wake", "--where", write("last", [row[:2] for row in last])))


def check_series():
    check.about("series")
    record([workload("scattered")], "s.wake", ["--rotate", "256K"])
    files = sorted(glob.glob("s.wake.*"))
    check.holds(len(files) > 1, f"There are only the files {files}.")
    for path in ("s.wake.*", files[-1]):
        rows = choose(path, "size % 7 = 0 OR number % 5 = 0", "process, number, size")
        check.equal(path, (len(rows), sum(row[2] for row in rows)),
                    report(path, "--where", write("seventh", [row[:2] for row in rows])))


def check_refusals():
    check.about("refusals")
    put("bad", b"0|1\n0|one\n")
    put("far", b"7|1\n")
    put("lone", b"0|1\n5\n")
    put("twice", b"0|1\n")
    for options, status, words in (
            (["--where", "blocks=bad", "one.wake"], 1, "Line 2 of 'bad' is not a block"),
            (["--where", "blocks=there-is-none", "one.wake"], 1, "'there-is-none' cannot be read: No such file"),
            (["--where", "blocks=.", "one.wake"], 1, "'.' cannot be read: Is a directory"),
            (["--where", "blocks=", "one.wake"], 1, "cannot be read"),
            (["--where", "blocks=far", "one.wake"], 1, "process number 7"),
            (["--where", "blocks=lone", "two.wake"], 1, "Line 2 of 'lone' names a block, but not its process"),
            (["--where", "blocks=twice", "--where", "blocks=twice", "one.wake"], 2, "given twice"),
            (["--where", "blocks=twice", "one.wake", "two.wake"], 2, "one recording"),
            (["--maps", "--where", "blocks=twice", "one.wake"], 2, "blocks")):
        done = tool("report", *options)
        check.equal(f"exit status of {options}", status, done.status)
        check.holds(words in done.err.decode(), f"{options}: {done.err.decode()}")
        check.equal(f"lines about {options}", 1, done.err.count(b"\n"))
    done = tool("diff", "--where", "blocks=twice", "one.wake", "two.wake")
    check.equal("exit status of diff", 2, done.status)
    check.holds("diff compares two" in done.err.decode(), done.err.decode())


check_conditions()
check_processes()
check_series()
check_refusals()
check.done()
