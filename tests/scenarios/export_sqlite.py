#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake export -f sqlite`, read by SQLite itself: every function's bytes and
blocks are those that the program tells of itself; tables are as the document
says; filters; what is refused; a full disk."""
import os
import re
import sqlite3

from support import Check, events, native, record, tool, truth, workload, HEAPWAKE

check = Check()
DOCUMENT = os.path.join(os.environ["ROOT"], "docs/sqlite.md")


def export(output, *options):
    done = tool("export", "-f", "sqlite", "-o", output, *options)
    check.equal(f"exit status of export {options}", 0, done.status)
    return sqlite3.connect(output)


def rows(db, sql, *values):
    return db.execute(sql, values).fetchall()


def check_truth(db, told):
    for function, account in told["functions"].items():
        seen = rows(db, "SELECT sum(allocated_bytes), sum(allocated_blocks), sum(leaked_bytes), sum(leaked_blocks),"
                        " sum(peak_bytes), sum(peak_blocks), sum(temporary_blocks) FROM named_site WHERE function = ?",
                    function)[0]
        check.equal(f"site of {function}", (*account["allocated"], *account["leaks"], *account["peak"],
                                            account["temporary"]), seen)
        seen = rows(db, "SELECT sum(size), count(*), sum(size * leaked), sum(leaked) FROM named_block WHERE function = ?",
                    function)[0]
        check.equal(f"blocks of {function}", (*account["allocated"], *account["leaks"]), seen)
    check.equal("integrity", [("ok",)], rows(db, "PRAGMA integrity_check"))
    peak = rows(db, "SELECT sum(size) FROM block, meta WHERE key = 'peak_ns' AND born_ns <= value AND"
                    " (died_ns IS NULL OR died_ns > value)")[0][0]
    check.holds(peak <= rows(db, "SELECT max(live_bytes) FROM timeline")[0][0], "More is live than ever was.")
    check.equal("peak", rows(db, "SELECT sum(peak_bytes) FROM site"), rows(db, "SELECT max(live_bytes) FROM timeline"))


def check_stacks(db):
    """The document's own question gives the whole stack."""
    sql = re.search(r"```sql\n(WITH RECURSIVE.*?)```", open(DOCUMENT).read(), re.S)[1]
    trace = rows(db, "SELECT trace FROM named_site WHERE function = 'dig'")[0][0]
    stack = [function for _, function, _, _ in rows(db, sql, trace)]
    check.equal("frames of dig", 201, stack.count("dig"))
    check.equal("outermost frame", "_start", stack[-1])


def check_document(db):
    """Every table, view and column is documented, and nothing else is."""
    text = open(DOCUMENT).read()
    for name, kind in rows(db, "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"):
        columns = {c[1] for c in rows(db, f"PRAGMA table_info({name})")}
        part = re.search(rf"^\| `{name}` \|.*?(?=^\n)", text, re.M | re.S)
        if kind == "view":
            check.holds(f"`{name}`" in text, f"docs/sqlite.md does not know {name}.")
            continue
        check.holds(part is not None, f"docs/sqlite.md does not know {name}.")
        told = set()
        for line in part[0].splitlines()[2:] if part else []:
            told |= set(re.findall(r"`(\w+)`", line.split("|")[1]))
        check.equal(f"columns of {name}", columns, told)


def check_events(db):
    """Every block is there with its times, as dump prints them."""
    births = sorted((e.time, e.address, e.size) for e in events("blame.wake") if e.event == "alloc")
    check.equal("births", births, sorted(rows(db, "SELECT born_ns, address, size FROM block")))
    deaths = sorted((e.time, e.address) for e in events("blame.wake") if e.event == "free")
    check.equal("deaths", deaths, sorted(rows(db, "SELECT died_ns, address FROM block WHERE died_ns IS NOT NULL")))
    chain = rows(db, "SELECT count(*) FROM block b JOIN block p ON p.number = b.previous AND p.process = b.process"
                     " WHERE b.kind = 'realloc' AND p.died_ns <= b.born_ns")[0][0]
    check.equal("links of grow", 10, chain)


def check_refusals():
    done = tool("export", "-f", "sqlite", "blame.wake")
    check.equal("to a pipe", (2, 1), (done.status, len(done.err.splitlines())))
    for limit in (1, 40):
        done = native(["sh", "-c", f"ulimit -f {limit}; exec {HEAPWAKE} export -f sqlite -o full.db blame.wake"])
        check.equal(f"a limit of {limit}", (1, 1), (done.status, len(done.err.splitlines())))
        check.equal("files that are left", [], [n for n in os.listdir(".") if "full" in n])


told = truth(record([workload("blame")], "blame.wake"))
db = export("blame.db", "blame.wake")
check_truth(db, told)
check_stacks(db)
check_document(db)
check_events(db)
few = export("few.db", "--where", "size-min=65536", "blame.wake")
check.equal("blocks that match", [(57,)], rows(few, "SELECT count(*) FROM block"))
check_refusals()
check.done()
