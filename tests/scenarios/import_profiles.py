#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake import` of heap profiles that have addresses only: those of Debian's
jemalloc (every block, and sampled) and gperftools. Sums are those of the file,
functions those of the program."""
import glob
import math
import re

from imports import by_function, judged, refuse, take, works_everywhere
from support import Check, native, skip, tool, truth, workload

check = Check()


def library(name):
    found = [path for pattern in ("/usr/lib/*/", "/usr/lib64/", "/usr/lib/") for path in glob.glob(pattern + name)]
    return found[0] if found else None


def jemalloc(prefix, sample):
    conf = f"prof:true,prof_final:true,prof_accum:true,lg_prof_sample:{sample},prof_prefix:{prefix}"
    told = native([workload("blame")], env={"MALLOC_CONF": conf, "LD_PRELOAD": library("libjemalloc.so.2")})
    check.equal("exit status under jemalloc", 0, told.status)
    found = glob.glob(prefix + ".*.heap")
    return truth(told), found[0] if found else None


def scaled(blocks, size, period):
    if blocks == 0 or period <= 1:
        return [blocks, size]
    factor = 1 / (1 - math.exp(-size / blocks / period))
    return [math.floor(blocks * factor + 0.5), math.floor(size * factor + 0.5)]


def jemalloc_sums(path):
    """What the file says: live blocks and bytes, and those ever allocated, of all stacks."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    period = int(re.match(r"heap_v2/(\d+)", text).group(1))
    sums = [0, 0, 0, 0]
    for row in re.findall(r"^@ .*\n\s+t\*: (\d+): (\d+) \[(\d+): (\d+)\]", text, re.M):
        row = [int(word) for word in row]
        sums = [a + b for a, b in zip(sums, scaled(row[0], row[1], period) + scaled(row[2], row[3], period))]
    return sums


def check_jemalloc():
    check.about("jemalloc")
    told, path = jemalloc("every", 0)
    if path is None:
        print("This jemalloc makes no profiles.")
        return
    facts = take(check, path, "every.wake", notes=["one moment", "size classes", "made up"])
    check.equal("sums", jemalloc_sums(path),
                [facts["leaked_blocks"], facts["leaked_bytes"], facts["allocations"], facts["allocated_bytes"]])
    for measure in ("leaks", "allocated"):
        seen = by_function("every.wake", measure)
        for function, account in told["functions"].items():
            if function != "grow" and account[measure][1] > 0:
                check.equal(f"blocks, {measure} of {function}", account[measure][1], seen.get(function, [0, 0])[1])
    works_everywhere(check, "every.wake")
    _, path = jemalloc("sampled", 12)
    facts = take(check, path, "sampled.wake", notes=["one byte in 4096"])
    expected = jemalloc_sums(path)
    check.equal("estimates of what is live", expected[:2], [facts["leaked_blocks"], facts["leaked_bytes"]])
    check.about("")


def check_gperftools():
    check.about("gperftools")
    told = native([workload("blame")], env={"HEAPPROFILE": "gp", "LD_PRELOAD": library("libtcmalloc.so.4")})
    check.equal("exit status under gperftools", 0, told.status)
    told = truth(told)
    path = sorted(glob.glob("gp.*.heap"))[-1]
    with open(path, encoding="utf-8") as f:
        head = [int(word) for word in re.findall(r"\d+", f.readline())]
    facts = take(check, path, "gp.wake", notes=["one moment", "peak is not known"])
    check.equal("sums", head, [facts["leaked_blocks"], facts["leaked_bytes"], facts["allocations"], facts["allocated_bytes"]])
    for measure in ("leaks", "allocated"):
        seen = by_function("gp.wake", measure)
        for function, account in told["functions"].items():
            if account[measure][1] > 0:
                check.equal(f"{measure} of {function}", list(account[measure]), seen.get(function))
    works_everywhere(check, "gp.wake")
    check.equal("made up, judged", (True, False), judged("gp.wake"))
    page = tool("report", "gp.wake").out.decode()
    check.holds("Imported from a heap profile of gperftools." in page, "The report does not say that it is an import.")
    check.about("")


def check_limit():
    """A source may tell of more blocks than anybody wants to have as events."""
    text = ("heap profile: 2: 3000000 [900000000: 90000000000] @ heapprofile\n"
            "1: 2000000 [500000000: 50000000000] @ 0x10 0x20\n1: 1000000 [400000000: 40000000000] @ 0x30\n\n"
            "MAPPED_LIBRARIES:\n")
    with open("many.heap", "w", encoding="utf-8") as f:
        f.write(text)
    facts = take(check, "many.heap", "many.wake", "--max-blocks", "100000", notes=["tells of 900000000 blocks"])
    check.equal("bytes", 90000000000, facts["allocated_bytes"])
    check.equal("peak", 3000000, facts["peak_bytes"])
    check.equal("leaked", (3000000, 2), (facts["leaked_bytes"], facts["leaked_blocks"]))


def check_refusals():
    for text, words in (("heap_v2/x\n", "line 1"), ("heap_v2/1\n  t*: 1: 2\n", "line 2"), ("heap_v2/1\n@ 0x1 zz\n", "line 2"),
                        ("heap profile: 1: 2 [3: 4] @ growthz\n", "line 1: this is another kind"), ("heap profile: x\n", "line 1"),
                        ("heap profile: 1: 2 [3: 4] @ heapprofile\n1: 2 @ 0x1\n", "line 2"),
                        ("heap_v2/1\n@ 0x1\n  t*: 1: 9999999999999999999 [0: 0]\n\nMAPPED_LIBRARIES:\n", "2^60"),
                        ("heap_v2/1\n\nMAPPED_LIBRARIES:\nrubbish\n", "MAPPED_LIBRARIES")):
        refuse(check, text, words)


check_limit()
check_refusals()
check.equal("--max-blocks 0", 2, tool("import", "--max-blocks", "0", "many.heap").status)
missing = [name for name in ("libjemalloc.so.2", "libtcmalloc.so.4") if library(name) is None]
if "libjemalloc.so.2" not in missing:
    check_jemalloc()
if "libtcmalloc.so.4" not in missing:
    check_gperftools()
if missing and not check.wrong:
    skip(f"Of this machine's allocators, {' and '.join(missing)} could not be tried.")
check.done()
