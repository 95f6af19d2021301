#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`--where arena=main|other` against a program whose threads look themselves where each of their blocks lies: however it is
recorded, and in whatever way the recording is written again. Where it is not known, a sentence says so."""
import glob
import json
import os
import shutil

from support import Check, allocators, events, lonely, native, put, record, tool, truth, workload

OWN = ["--where", "function=^make_"]
GOLDEN = os.path.join(os.environ["ROOT"], "tests/golden")
check = Check()


def ask(paths, *conditions, own=True):
    words = [word for condition in conditions for word in ("--where", condition)]
    run = tool("report", "--json", "--allocated", "-n", "0", *(OWN if own else []), *words, *paths)
    if run.status != 0:
        raise SystemExit(f"{conditions} of {paths}: exit {run.status}, {run.err.decode()}")
    found = json.loads(run.out)["allocated"]
    return found["total_blocks"], found["total_bytes"]


def sum_of(told, arena, holds=lambda item: True, many=True):
    sizes = [item["size"] for item in told["items"] if item["other"] == arena and holds(item)]
    blocks, size = told["many"][arena] if many else (0, 0)
    return len(sizes) + blocks, sum(sizes) + size


def compare(told, *paths, times=1):
    for arena, word in enumerate(("main", "other")):
        check.equal(f"arena={word}", tuple(times * n for n in sum_of(told, arena)), ask(paths, f"arena={word}"))
        check.equal(f"arena={word}, left", tuple(times * n for n in sum_of(told, arena, lambda i: i["left"] and i["size"] < 90000, False)),
                    ask(paths, f"arena={word}", "state=leaked", "size-max=89999"))
        check.equal(f"arena={word}, realloc", tuple(times * n for n in sum_of(told, arena, lambda i: i["maker"] == "make_again", False)),
                    ask(paths, f"arena={word}", "kind=realloc"))
        check.equal(f"arena={word}, mapped", tuple(times * n for n in sum_of(told, arena, lambda i: i["mapped"], False)),
                    ask(paths, f"arena={word}", "mapped=yes"))


def refuse(words, *paths, where="arena=other"):
    for command in (["report"], ["export", "-f", "csv", "-o", "never.csv"]):
        run = tool(*command, "--where", where, *paths)
        said = run.err.decode()
        check.holds(run.status == 1 and words in said and said.count("\n") == 1, f"{command} {paths}: exit {run.status}, {said}")


def check_usable(told, path):
    """Usable sizes are what they are, with and without the flag that travels in them."""
    usable = {e.size: e.usable for e in events(path) if e.event == "alloc"}
    for item in told["items"]:
        if usable.get(item["size"]) != item["usable"]:
            check.equal(f"usable size of {item['size']}", item["usable"], usable.get(item["size"]))


check.about("record")
run = record([workload("arenas")], "one.wake", ["--precise-timestamps"])  # no block lives no time at all
one = truth(run)
check.equal("exit status", 0, run.status)
check.sound("one.wake")
compare(one, "one.wake")
check_usable(one, "one.wake")
check.holds(len({(i["other"], i["maker"], i["mapped"]) for i in one["items"]}) >= 10, "Blocks do not differ in all that they could.")
check.holds(min(one["many"][0][0], one["many"][1][0]) > 10000, f"Of many small blocks {one['many']} are in the two kinds of arenas.")
total = ask(["one.wake"], own=False)
both = [ask(["one.wake"], f"arena={word}", own=False) for word in ("main", "other")]
check.equal("both together", total, tuple(map(sum, zip(*both))))
check.equal("arena=any", total, ask(["one.wake"], "arena=any", own=False))

for options in ([], ["--zero-memory"], ["--free-stacks"], ["--sample", "1"]):
    check.about(f"record {' '.join(options)}")
    told = truth(record([workload("arenas")], "other.wake", options))
    compare(told, "other.wake")
    check_usable(told, "other.wake")

check.about("one arena")
told = truth(record([workload("arenas")], "main.wake", env={"MALLOC_ARENA_MAX": "1"}))
check.equal("truth", [0, 0], told["many"][1])
compare(told, "main.wake")

check.about("spool")
told = truth(native([workload("arenas")], lonely()))
compare(told, *glob.glob("*.spool"))
check_usable(told, *glob.glob("*.spool"))

check.about("static")
BUILD = os.environ["BUILD"]
source = os.path.join(os.environ["ROOT"], "tests/workloads/arenas.c")
done = native(["gcc", "-static", "-O1", "-g", "-D_GNU_SOURCE=", "-pthread", source, "-o", "static", "-L" + BUILD, f"@{BUILD}/heapwake.ld"])
if check.equal("gcc", (0, b""), (done.status, done.err)):
    told = truth(record(["./static"], "static.wake"))
    compare(told, "static.wake")
    check_usable(told, "static.wake")

check.about("strip")
check.equal("strip", 0, tool("strip", "-o", "strip.wake", "--threshold", "1ns", "one.wake").status)
compare(one, "strip.wake")
check.equal("strip", 0, tool("strip", "-o", "short.wake", "--threshold", "100s", "one.wake").status)
for arena, word in enumerate(("main", "other")):
    check.equal(f"arena={word}, left", sum_of(one, arena, lambda i: i["left"] and i["size"] < 90000, False),
                ask(["short.wake"], f"arena={word}", "state=leaked", "size-max=89999"))
culled = truth(record([workload("arenas")], "cull.wake", ["--cull", "--cull-ms", "100000"]))
for arena, word in enumerate(("main", "other")):
    check.equal(f"culled, arena={word}, left", sum_of(culled, arena, lambda i: i["left"] and i["size"] < 90000, False),
                ask(["cull.wake"], f"arena={word}", "state=leaked", "size-max=89999"))

check.about("merge")
shutil.copy("one.wake", "two.wake")
check.equal("merge", 0, tool("merge", "-o", "merged.wake", "one.wake", "two.wake").status)
compare(one, "merged.wake", times=2)

check.about("anonymize")
check.equal("anonymize", 0, tool("anonymize", "-o", "nobody.wake", "one.wake").status)
check.equal("both", both, [ask(["nobody.wake"], f"arena={word}", own=False) for word in ("main", "other")])

check.about("rotation")
told = truth(record([workload("arenas"), "pause"], "parts.wake", ["--rotate", "100K"]))
parts = sorted(glob.glob("parts.wake.*"), key=lambda name: int(name.rsplit(".", 1)[1]))
check.holds(len(parts) > 1, f"There are {len(parts)} files.")
compare(told, *parts)
refuse("earlier file of the series", parts[1])
refuse("earlier file of the series", parts[1], where="mapped=yes")
check.equal("strip of a part", 0, tool("strip", "-o", "part.wake", "--threshold", "1ns", parts[1]).status)
refuse("is not known", "part.wake")

check.about("not known")
for name in ("example-1.0.wake", "example-1.4.wake"):
    refuse("Which arena the blocks of process 77 lie in is not known", os.path.join(GOLDEN, name))
for library in allocators():
    run = record([workload("churn")], "strange.wake", env={"LD_PRELOAD": library})
    refuse("is not known", "strange.wake")
put("mtrace.txt", b"= Start\n@ ./a:[0x401136] + 0x4052a0 0x10\n= End\n")
check.equal("import", 0, tool("import", "-o", "mtrace.wake", "mtrace.txt").status)
refuse("is not known", "mtrace.wake")
check.equal("a word that is none", 2, tool("report", "--where", "arena=both", "one.wake").status)
check.done()
