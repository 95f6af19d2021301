#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program with an allocator inside, under names that pass no hook, is recorded without it: that is said when it ends, in
the report and by check, once, also of a stripped one; and not of one whose malloc is that allocator."""
import contextlib
import gzip
import html
import json
import re
import shutil
import sqlite3

from support import HEAPWAKE, Check, ask, native, record, truth

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char arena[1 << 20];
static size_t used;
static long calls;
__attribute__((noinline)) void *FUNCTION(size_t size)
{
    if (used + size > sizeof arena) {
        static const char said[] = TEXT "no memory\\n";
        (void)!write(2, said, sizeof said - 1);
        _exit(9);
    }
    used += size;
    calls++;
    return arena + used - size;
}
int main(void)
{
    char line[64];
    for (int i = 0; i < 500; i++)
        *(char *)FUNCTION(1000) = 1;
    if (OUTSIDE > 0) {
        void *block = malloc(OUTSIDE);
        __asm__ volatile("" : "+r"(block) : : "memory");
    }
    int length = snprintf(line, sizeof line, "{\\"inner_bytes\\": %zu, \\"inner_calls\\": %ld}\\n", used, calls);
    return write(1, line, (size_t)length) != length;
}
"""
KINDS = [("jemalloc", "_rjem_je_arena_malloc_hard", "<jemalloc>: "), ("mimalloc", "_mi_malloc_generic", "mimalloc: warning: "),
         ("rpmalloc", "_rpmalloc_allocate", ""), ("snmalloc", "_ZN8snmalloc5allocEm", "")]
VEILED = "1 note on what this recording lacks or means was left out, because names may be in it."
check = Check()


def build(name, function, text, options=(), outside=100, source="source.c"):
    built = native(["cc", "-O1", source, "-o", name, f"-DFUNCTION={function}", f'-DTEXT="{text}"', f"-DOUTSIDE={outside}",
                    *options])
    check.holds(built.status == 0, f"{name} was not built: {built.err.decode()}")
    return f"./{name}"


def notes(path):
    said = json.loads(ask("report", "--json", path).stdout)["summary"]["notes"]
    check.equal("notes of info", json.loads(ask("info", "--json", path).stdout)["notes"], said)
    return [note for note in said if "inside, under names of its own" in note]


def squeezed(text):
    """Without what lines are broken by: a path that does not fit goes on in the next."""
    return "".join(text.split())


with open("source.c", "w") as f:
    f.write(SOURCE)

record([build("empty", "hand_out", "")], "empty.wake")

for kind, function, text in KINDS:
    check.about(kind)
    program = build(kind, function, text)
    alone = native([program])
    run = record([program], f"{kind}.wake")
    check.equal("what it printed", alone.out, run.out)
    check.equal("bytes inside", 500000, truth(run)["inner_bytes"])
    said = notes(f"{kind}.wake")
    check.equal("notes", 1, len(said))
    check.holds(f"/{kind} has {kind} inside" in said[0] and "is not recorded" in said[0], f"It says {said}")
    check.holds(f"heapwake: {said[0]}\n".encode() in native([HEAPWAKE, "record", "-o", "again.wake", program]).err,
                "Nothing is said when it ends.")
    check.holds(squeezed(said[0]) in squeezed(ask("report", f"{kind}.wake").stdout), "The report does not say it.")
    checked = ask("check", "--max-peak", "1M", f"{kind}.wake")
    check.equal("exit status of check", 0, checked.returncode)
    check.equal("notes of check", 1, checked.stderr.count(said[0]))
    check.equal("bytes recorded", 100, json.loads(ask("report", "--json", f"{kind}.wake").stdout)
                ["summary"]["allocated_bytes"])
    checked = ask("check", "--max-peak", "1M", "--", program)
    check.equal("notes of check of the program", 1, checked.stderr.count(f"/{kind} has {kind} inside"))
    for _ in range(2):
        check.equal("exit status of symbolize", 0, ask("symbolize", f"{kind}.wake").returncode)
    check.equal("notes after symbolize", said, notes(f"{kind}.wake"))
    check.equal("exit status of verify", 0, ask("verify", f"{kind}.wake").returncode)
    check.equal("exit status of merge", 0, ask("merge", "-o", "merged.wake", f"{kind}.wake", "again.wake").returncode)
    check.equal("notes of both", said, notes("merged.wake"))
    for more, has in (([], said[0]), (["--anonymize", "full"], VEILED)):
        for face in ("html", "json", "sqlite"):
            done = ask("export", "-f", face, *more, "-o", f"out.{face}", f"{kind}.wake")
            check.equal(f"exit status of export -f {face}", 0, done.returncode)
        with open("out.html") as f:
            check.equal("notes of the page", [has], [html.unescape(n) for n in re.findall('<p class="note">(.*)</p>', f.read())])
        with open("out.json") as f:
            check.equal("notes of the export", [has], json.load(f)["notes"])
        done = ask("export", "-f", "pprof", *more, "-o", "out.pb.gz", f"{kind}.wake")
        check.equal("exit status of export -f pprof", 0, done.returncode)
        with gzip.open("out.pb.gz") as f:
            check.equal("notes of the profile", 1, f.read().count(has.encode()))
        with contextlib.closing(sqlite3.connect("out.sqlite")) as base:
            check.equal("notes of the tables", [(1, has)], base.execute("SELECT * FROM note").fetchall())
    compared = ask("diff", "empty.wake", f"{kind}.wake").stdout
    check.holds(squeezed(f"after: {said[0]}") in squeezed(compared), f"The comparison does not say it: {compared}")
    compared = ask("diff", "again.wake", f"{kind}.wake").stdout
    check.equal("notes of a comparison", 1, squeezed(compared).count(squeezed(said[0])))
    sides = json.loads(ask("diff", "--json", "empty.wake", f"{kind}.wake").stdout)
    check.equal("notes of its sides", [[], said], [sides[side]["notes"] for side in ("before", "after")])
    check.equal("exit status of anonymize", 0, ask("anonymize", "-o", "shared.wake", f"{kind}.wake").returncode)
    check.equal("notes without names", [VEILED],
                json.loads(ask("info", "--json", "shared.wake").stdout)["notes"])

    check.about(f"{kind}, stripped")
    shutil.copy(kind, "bare")
    native(["strip", "bare"])
    record(["./bare"], "bare.wake")
    check.equal("notes", 1 if text else 0, len(notes("bare.wake")))

check.about("its malloc is that allocator")
program = build("open", "_mi_malloc_generic", "", ["-rdynamic", "-Wl,--defsym=malloc=_mi_malloc_generic"])
record([program], "open.wake")
check.equal("notes", [], notes("open.wake"))

check.about("Python's, which is idle unless threads run freely")
for more, count in (("", 0), ("-D_Py_MergeZeroLocalRefcount=_Py_MergeZeroLocalRefcount", 1)):
    with open("snake.c", "w") as f:
        f.write('#include "source.c"\nvoid *PyObject_Malloc(size_t n) { return malloc(n); }\n'
                "#ifdef _Py_MergeZeroLocalRefcount\nvoid _Py_MergeZeroLocalRefcount(void *o) { free(o); }\n#endif\n")
    build("snake", "_mi_malloc_generic", "mimalloc: warning: ", ["-rdynamic", *more.split()], source="snake.c")
    record(["./snake"], "snake.wake")
    check.equal("notes", count, len(notes("snake.wake")))

check.about("nothing from malloc")
record([build("only", "_mi_malloc_generic", "", outside=0)], "only.wake")
check.equal("notes", 1, len(notes("only.wake")))

check.about("none inside")
record([build("plain", "hand_out", "")], "plain.wake")
check.equal("notes", [], notes("plain.wake"))

check.about("without names, then with names")
record(["./mimalloc"], "late.wake", env={"HEAPWAKE_SYMBOLS": "0"})
check.equal("notes", [], notes("late.wake"))
told = ask("symbolize", "late.wake")
check.equal("exit status", 0, told.returncode)
check.equal("notes", 1, len(notes("late.wake")))
check.holds(notes("late.wake")[0] in told.stderr, "symbolize does not say it.")
check.done()
