#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake import` of heaptrack's files: what we export comes back with the same
figures, site by site; files of Debian's heaptrack, raw and interpreted, give
what heaptrack_print and the program itself say; plain, gzip and zstd alike."""
import glob
import gzip
import re
import shutil
import subprocess

from imports import by_function, judged, refuse, same_figures, take, works_everywhere
from support import Check, info, native, record, skip, tool, truth, workload

if not shutil.which("heaptrack") or not shutil.which("heaptrack_print"):
    skip("heaptrack is not installed.")
check = Check()
MEASURES = ("leaks", "peak", "allocated", "temporary")


def check_round_trip(name, *argv):
    """Recorded, exported, imported: the same."""
    check.about(f"{name} and back")
    record([workload(name), *argv], "own.wake")
    check.equal("export", 0, tool("export", "-f", "heaptrack", "-o", "own.ht", "own.wake").status)
    same_figures(check, info("own.wake"), take(check, "own.ht", "back.wake", notes=["lifetimes"]))
    # Which releases are temporary goes by the very block; heaptrack knows its class only.
    for measure in MEASURES if name == "blame" else MEASURES[:3]:
        check.equal(measure, by_function("own.wake", measure), by_function("back.wake", measure))
    check.equal("export of the import", 0, tool("export", "-f", "heaptrack", "-o", "again.ht", "back.wake").status)
    same_figures(check, info("own.wake"), take(check, "again.ht", "again.wake"))
    check.about("")


def heaptrack(output, *options):
    """Runs the workload under heaptrack: what it tells of itself, and the file."""
    done = native(["heaptrack", *options, "-o", output, workload("blame")])
    lines = [line for line in done.out.decode().splitlines() if line.startswith("{")]
    check.equal("lines of truth", 1, len(lines))
    return truth(done._replace(out=lines[0].encode())), glob.glob(output + "*")[0]


def costs(path, kind):
    """Exactly what heaptrack_print sums up."""
    subprocess.run(["heaptrack_print", "--disable-builtin-suppressions", "-F", "costs.txt", "--flamegraph-cost-type", kind,
                    path], capture_output=True, check=True)
    with open("costs.txt", encoding="utf-8") as f:
        return sum(int(line.rsplit(" ", 1)[1]) for line in f)


def check_truth(path, told):
    """What the program says of its own functions."""
    for measure in ("leaks", "peak", "allocated"):
        seen = by_function(path, measure)
        for function, account in told["functions"].items():
            if account[measure][0] > 0:
                check.equal(f"{measure} of {function}", list(account[measure][:2]), seen.get(function))


def check_interpreted():
    check.about("interpreted")
    told, path = heaptrack("real")
    facts = take(check, path, "real.wake", notes=["by class only"])
    check.equal("calls", costs(path, "allocations"), facts["allocations"])
    check.equal("peak", costs(path, "peak"), facts["peak_bytes"])
    check.equal("leaked", costs(path, "leaked"), facts["leaked_bytes"])
    check_truth("real.wake", told)
    page = subprocess.run(["heaptrack_print", path], capture_output=True, text=True, check=True).stdout
    temporary = int(re.search(r"temporary memory allocations: (\d+)", page).group(1))
    check.equal("temporary", temporary, sum(row[1] for row in by_function("real.wake", "temporary").values()))
    works_everywhere(check, "real.wake")
    check.equal("made up, judged", (False, True), judged("real.wake"))
    check_packings(path, facts)
    check.about("")


def check_packings(path, facts):
    tool_of = {"zst": ["zstd", "-dc"], "gz": ["gzip", "-dc"]}[path.rsplit(".", 1)[1]]
    text = subprocess.run([*tool_of, path], capture_output=True, check=True).stdout
    with open("plain.ht", "wb") as f:
        f.write(text)
    with open("packed.gz", "wb") as f:
        f.write(gzip.compress(text[:len(text) // 2]) + gzip.compress(text[len(text) // 2:]))
    subprocess.run(["zstd", "-q", "-f", "plain.ht", "-o", "packed.zst"], check=True)
    for name in ("plain.ht", "packed.gz", "packed.zst"):
        same_figures(check, facts, take(check, name, "packed.wake"))
    with open("packed.gz", "rb") as f:
        refuse(check, f.read()[:-40], "ends in the middle", name="cut.gz")


def check_raw():
    check.about("raw")
    told, path = heaptrack("raw", "-r")
    facts = take(check, path, "raw.wake", notes=["64 frames"])
    check_truth("raw.wake", told)
    works_everywhere(check, "raw.wake")
    nameless = take(check, path, "nameless.wake", "--symbols", "no")
    same_figures(check, facts, nameless)
    check.holds(facts["symbols"]["places"] > 0 and nameless["symbols"]["places"] == 0, "--symbols no looks up names.")
    check.about("")


def check_names_of_output():
    """Without -o the recording is called like the file, in the current folder."""
    check.equal("import without -o", 0, tool("import", "packed.gz").status)
    check.holds(info("packed.wake")["allocations"] > 0, "There is no packed.wake.")
    check.equal("a format that is not there", 2, tool("import", "-f", "abacus", "packed.gz").status)


def check_refusals():
    head = "v 10400 3\nX ./a\n"
    for text, words in (
            ("", "is empty"), ("hello\n", "no format that can be imported"), (head + "q 1\n", "line 3: heaptrack has no such line"),
            ("v 10400 4\n", "format 4"), (head + "+ 0\n", "line 3: this '+' line"), (head + "a 10 1\n", "line 3: this 'a' line"),
            (head + "t 1 0\n", "line 3: this 't' line"), (head + "s ff ab\n", "line 3: this 's' line"),
            (head + "i 10 7\n", "line 3: this 'i' line"), (head + "m 1 a 0 0 1\n", "line 3: there is no program"),
            ("v 10400 3\nx 4 /bin\na 1 0\n", "line 3: a raw file has no"), (head + "c zz\n", "line 3: this 'c' line"),
            (head + "t 0 0\na ffffffffffffffff 1\n+ 0\n", "2^60")):
        refuse(check, text, words)


for workload_name, arguments in (("blame", ()), ("threads", ("live", "50")), ("lives", ())):
    check_round_trip(workload_name, *arguments)
check_interpreted()
check_raw()
check_names_of_output()
check_refusals()
check.done()
