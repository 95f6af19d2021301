#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sampling: estimates against what the program says about itself, site by site;
all readings of the samples agree; frees of blocks that were not sampled are not
even sent. Bounds are five standard deviations: chance fails one run in a million."""
import contextlib
import csv
import io
import json
import math
import os
import re
import sqlite3

from scenarios.support import Check, Ledger, events, info, native, record, tool, truth, workload

check = Check()
RATE = 64 << 10


def near(what, truth_value, seen, variance):
    distance = abs(truth_value - seen)
    check.holds(distance <= 5 * math.sqrt(variance) + 1,
                f"{what}: the truth is {truth_value}, the estimate {seen}, five deviations are "
                f"{5 * math.sqrt(variance):.0f}.")


def report(path, *options):
    done = tool("report", "--json", "-n", "0", "--no-built-in-suppressions", *options, path)
    check.equal(f"report {path}", 0, done.status)
    return json.loads(done.out)


def by_maker(report_of, measure):
    sums = {}
    for site in report_of[measure]["sites"]:
        maker = site["frames"][0]["function"] if site["frames"] else ""
        blocks, size = sums.get(maker, (0, 0))
        sums[maker] = blocks + site["blocks"], size + site["bytes"]
    return sums


def estimates(path, told):
    check.about(path)
    facts = check.sound(path)
    check.equal("rate", RATE, facts["sample_rate"])
    whole, leaks = report(path, "--allocated"), report(path, "--leaks")
    made, left = by_maker(whole, "allocated"), by_maker(leaks, "leaks")
    for maker, account in told.items():
        mean = account["bytes"] / account["blocks"]
        blocks, size = made.get(maker, (0, 0))
        near(f"bytes of {maker}", account["bytes"], size, RATE * account["bytes"])
        # The variance of a count is the sum of (1-p)/p, at most rate/size each; sizes of small blocks reach down to 8.
        spread = 20 if maker == "make_small" else 3
        near(f"blocks of {maker}", account["blocks"], blocks, spread * account["blocks"] * max(RATE / mean, 1))
        near(f"bytes left by {maker}", account["left_bytes"], left.get(maker, (0, 0))[1], RATE * account["left_bytes"])
    total = sum(account["bytes"] for account in told.values())
    near("allocated bytes", total, facts["allocated_bytes"], RATE * total)
    summary = whole["summary"]
    check.equal("error of the sum", round(2 * math.sqrt(RATE * summary["allocated_bytes"])),
                summary["allocated_error_bytes"])
    check.holds(all("error_bytes" in site for site in whole["allocated"]["sites"]), "A site has no error.")
    # Whoever reads the events counts the same as the totals say.
    split = report(path, "--allocated", "--by", "thread")["allocated"]
    check.equal("sum by thread", whole["allocated"]["total_bytes"], split["total_bytes"])
    check.equal("blocks by thread", whole["allocated"]["total_blocks"], split["total_blocks"])
    text = tool("report", path).out.decode()
    check.holds(" sampled " in text and "all figures are estimates" in text, "The report does not say that it estimates.")
    ledger = Ledger(events(path))
    check.pairs(ledger)
    check.holds(len(ledger.others) < 2000, "Frees of blocks that were not sampled are in the file.")
    samples = sum(ledger.made.values())
    check.equal("samples", facts["samples"], samples)
    everything = sum(account["blocks"] for account in told.values())
    check.holds(samples < everything / 10, f"{samples} of {everything} blocks are in the file.")
    reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
    check.equal("the other reader", (0, b""), native([reader, "--check", path])[0::2])
    check.about("")


run = record([workload("turnover"), "200000", "3"], "option.wake", ["--sample", "64K"])
estimates("option.wake", truth(run))
run = record([workload("turnover"), "400000"], "variable.wake", env={"HEAPWAKE_SAMPLE": "64K"})
estimates("variable.wake", truth(run))
run = record([workload("turnover"), "200000"], "cut.wake", ["--sample", "64K"])
reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
chunks = [line.split("\t") for line in native([reader, "--chunks", "cut.wake"]).out.decode().splitlines()]
os.truncate("cut.wake", max(int(offset) + 40 + int(stored) for offset, kind, _, _, stored in chunks if kind == "events"))
facts = info("cut.wake")
check.equal("a cut file knows its rate", RATE, facts["sample_rate"])
check.holds(facts["allocated_bytes"] > 50e6, f"A cut file has no estimates: {facts['allocated_bytes']}")
for command in ("merge", "anonymize"):
    check.equal(f"{command} of a cut file", 0, tool(command, "cut.wake", "-o", "copy.wake").status)
    copy = info("copy.wake")
    for key in ("sample_rate", "allocations", "allocated_bytes", "leaked_blocks"):
        check.equal(f"{command} of a cut file: {key}", facts[key], copy[key])

# The largest rate, by option and by variable.
record([workload("turnover"), "1000"], "rare.wake", ["--sample", "1T"])
check.equal("rate of --sample 1T", 1 << 40, info("rare.wake")["sample_rate"])
record([workload("turnover"), "1000"], "rare.wake", env={"HEAPWAKE_SAMPLE": "1024g"})
record([workload("turnover"), "1000"], "plain.wake", ["--sample", "2000000"])
check.equal("rate in plain bytes", 2000000, info("plain.wake")["sample_rate"])
check.equal("rate of HEAPWAKE_SAMPLE=1024g", 1 << 40, info("rare.wake")["sample_rate"])

# Of everything else only what was sampled is there: realloc, threads, children, another allocator's names.
for program in (["hooks"], ["hooks_cxx"], ["exceptions"], ["spans"], ["threads"]):
    if not os.path.exists(workload(program[0])):
        continue
    alone = native([workload(program[0])])
    sampled = record([workload(program[0])], "other.wake", ["--sample", "1K"])
    check.equal(f"{program[0]}: status", alone.status, sampled.status)
    check.sound("other.wake")
    ledger = Ledger(events("other.wake"))
    check.pairs(ledger)

# Threads that realloc: what was told in vain, of blocks that are no samples, must not keep others alive.
with open("grow.c", "w", encoding="ascii") as f:
    f.write("""#include <pthread.h>
#include <stdlib.h>
static void *work(void *seed)
{
    unsigned s = (unsigned)(long)seed * 77 + 1;
    void *block[300] = {0};
    for (int i = 0; i < 100000; i++) {
        s = s * 1103515245 + 12345;
        unsigned k = (s >> 8) % 300, size = s >> 20 & 1023;
        if ((s >> 17) % 3 == 0) {
            free(block[k]);
            block[k] = malloc(size);
        } else {
            block[k] = realloc(block[k], size + 1);
        }
    }
    for (int i = 0; i < 300; i++)
        free(block[i]);
    return NULL;
}
int main(void)
{
    pthread_t thread[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
""")
native(["gcc", "-g", "-O1", "-pthread", "-o", "grow", "grow.c"])
for rate in ("512", "2K", "16K"):
    record(["./grow"], "grow.wake", ["--sample", rate])
    facts = check.sound("grow.wake")
    # What libc keeps for four threads is about a thousand bytes, and a sample of it may count for 16 KiB.
    check.holds(facts["leaked_bytes"] < 40000, f"sampled at {rate}: {facts['leaked_bytes']} bytes leak of a program that frees all.")
    check.holds(facts["peak_bytes"] < 2 << 20, f"sampled at {rate}: the peak is {facts['peak_bytes']} bytes; it is about 600,000.")

# What the C++ library keeps is known by its size, and a sample of it counts for more than that.
record([workload("exceptions")], "cxx.wake", ["--sample", "16K"])
pools = {rule["pattern"]: rule["bytes"] for rule in json.loads(
    tool("report", "--json", "--leaks", "cxx.wake").out)["leaks"]["suppressed"]["rules"]}
samples = [e for e in events("cxx.wake") if e.event == "alloc" and int(e.size) in (72704, 73728)]
check.equal("the pool is known", bool(samples), "emergency pool of libstdc++" in pools)
text = tool("report", "cxx.wake").out.decode()
check.holds("Temporary: not known in a sampled recording" in text, "Temporary blocks are said to be known.")

# Blocks made before the probe was relocated are its own, and never reach the real free.
dawn = [os.path.join(os.environ["BUILD"], "tests/hostile/dawn"), "relocation"]
sampled = record(dawn, "dawn.wake", ["--sample", "512K"])
check.equal("before relocation", (0, []), (sampled.status, sampled.status == 0 and truth(sampled)["complaints"]))
check.sound("dawn.wake")

# The first sample may come when the program has shut itself in, and nothing may be asked of the kernel.
for case in ("strict", "strict_by_syscall", "strict_deep", "late_threads"):
    cage = [os.path.join(os.environ["BUILD"], "tests/hostile/cage"), case]
    for rate in ("64K", "1M", "16M"):
        check.equal(f"{case}, sampled at {rate}", 0, record(cage, "cage.wake", ["--sample", rate]).status)
        check.sound("cage.wake")

# A rate of one byte samples everything: then the estimate is the truth.
told = truth(record([workload("spans")], "all.wake", ["--sample", "1"]))
ledger = Ledger(events("all.wake"))
for size, count in {**told["short"], **told["long"]}.items():
    check.equal(f"blocks of {size}", count, ledger.made[int(size)])
check.equal("leaked", 3, ledger.left(1003))
# Samples can be culled too.
told = truth(record([workload("spans")], "culled.wake", ["--sample", "1", "--cull", "--cull-ms", "200"]))
check.sound("culled.wake")
for size, count in told["long"].items():
    check.equal(f"kept blocks of {size}", count, Ledger(events("culled.wake")).made[int(size)])

# What is allocated while recording is off goes by: it neither is sampled nor makes what comes after more likely to be.
rounds = truth(record([workload("switched"), "20000"], "switched.wake", ["--sample", str(RATE)]))["recorded"]
check.sound("switched.wake")
ledger = Ledger(events("switched.wake"))
check.pairs(ledger)
check.equal("samples of what was not recorded", 0, ledger.made[1001])
chance = 1 - math.exp(-1000 / RATE)
near("samples of what was recorded", rounds * chance, ledger.made[1000], rounds * chance * (1 - chance))
told = truth(record([workload("switched"), "500"], "switched.wake", ["--sample", "1"]))
ledger = Ledger(events("switched.wake"))
check.pairs(ledger)
check.equal("everything that was recorded", (told["recorded"], 1, 0), (ledger.made[1000], ledger.left(1000), ledger.made[1001]))

# Faces that read events weigh them as the totals do; those that list blocks say that these are samples.
told = truth(record([workload("turnover"), "100000"], "faces.wake", ["--sample", str(RATE)]))
summary = report("faces.wake", "--peak")["summary"]
done = tool("export", "-f", "massif", "faces.wake")
highest = max(int(line.split(b"=")[1]) for line in done.out.splitlines() if line.startswith(b"mem_heap_B="))
check.equal("peak of massif", summary["peak_bytes"], highest)
check.holds(b"\nheap_tree=peak\n" in done.out, "massif has no peak.")
dhat = json.loads(tool("export", "-f", "dhat", "faces.wake").out)
check.equal("bytes of dhat", summary["allocated_bytes"], sum(point["tb"] for point in dhat["pps"]))
what_if = json.loads(tool("report", "--json", "--without", "function~make_large", "faces.wake").out)["what_if"]
check.equal("peak of what if", summary["peak_bytes"], what_if["was"]["peak_bytes"])
for format in ("csv", "json", "heaptrack"):
    done = tool("export", "-f", format, "faces.wake")
    check.holds(done.status == 0 and b"lists the samples" in done.err, f"export -f {format}: {done.err.decode()}")
estimate = summary["allocations"], summary["allocated_bytes"]
rows = list(csv.DictReader(io.StringIO(tool("export", "-f", "csv", "faces.wake").out.decode())))
check.equal("what rows of csv stand for", estimate, (sum(int(r["blocks"]) for r in rows), sum(int(r["bytes"]) for r in rows)))
check.holds(sum(int(r["size"]) for r in rows) < estimate[1], "Sizes of csv are not those of the samples.")
process = json.loads(tool("export", "-f", "json", "faces.wake").out)["processes"][0]
blocks = [dict(zip(process["block_columns"], row, strict=True)) for row in process["blocks"]]
check.equal("what blocks of json stand for", estimate, (sum(b["blocks"] for b in blocks), sum(b["bytes"] for b in blocks)))
check.equal("export -f sqlite", 0, tool("export", "-f", "sqlite", "-o", "faces.db", "faces.wake").status)
with contextlib.closing(sqlite3.connect("faces.db")) as db:
    check.equal("what blocks of sqlite stand for", estimate, db.execute("SELECT sum(blocks), sum(bytes) FROM block").fetchone())
kinds = check.caveats(json.loads(tool("report", "--json", "--temporary", "faces.wake").out))
check.equal("why it is not known which blocks are temporary", "sampled", kinds.get("temporary-unknown", {}).get("because"))
# That figures are estimates is said wherever they stand, and that some are not known.
for argv, words in [
        (["record", "-o", "again.wake", "--sample", "64K", workload("turnover"), "2000"], "(estimates, one block in 64.0 KiB)"),
        (["diff", "faces.wake", "again.wake"], "figures are estimates"),
        (["export", "-f", "html", "faces.wake"], "all figures are estimates"),
        (["export", "-f", "html", "--where", "size-min=10", "faces.wake"], "only what meets --where size-min=10"),
        (["report", "--temporary", "--tree", "faces.wake"], "Temporary: not known in a sampled recording"),
        (["report", "--temporary", "--by", "module", "faces.wake"], "Temporary: not known in a sampled recording"),
        (["report", "--where", "state=temporary", "faces.wake"], "were temporary is not known, as it was sampled")]:
    done = tool(*argv)
    check.holds(words in done.out.decode() + done.err.decode(), f"{argv} does not say {words!r}: {done.err.decode()}")
check.holds(re.search(r"allocated within [0-9.]+ %, peak [0-9.]+ %, leaked [0-9.]+ %,", tool("report", "faces.wake").out.decode()),
            "The report does not say how far off it may be.")
for shape in (["--by", "function"], ["--tree"]):
    page = tool("report", "--temporary", "--where", "temporary=1h", *shape, "faces.wake").out.decode()
    check.holds("Temporary: not known" not in page and "Temporary" in page, f"Temporary by time, {shape}: {page[-300:]}")
check.holds(b"calls are temporary" not in tool("export", "-f", "html", "faces.wake").out, "The page knows of temporary blocks.")
secret = tool("export", "-f", "html", "--anonymize", "full", "--where", "function=make_large", "faces.wake").out
check.holds(b"make_large" not in secret and b"only what meets some conditions" in secret, "The page has names that it shall not have.")
check.equal("temporary by time", 0, tool("report", "--where", "state=temporary", "--where", "temporary=1h", "faces.wake").status)
check.equal("rate in diff", RATE, json.loads(tool("diff", "--json", "faces.wake", "again.wake").out)["before"]["sample_rate"])
# Conditions on groups are about what their samples stand for, whichever way they are looked at.
with open("heap.c", "w", encoding="ascii") as f:
    f.write("""#include "heapwake.h"
#include <stdlib.h>
enum { SMALL = 64, MANY = 65536, LARGE = 1 << 20 };
static void *block[MANY], *kept[40];
__attribute__((noinline)) static void *take(size_t size) { return malloc(size); }
__attribute__((noinline)) static void *keep(size_t size) { return malloc(size); }
int main(void)
{
    for (int i = 0; i < 40; i++)
        kept[i] = keep(i * 4000);
    for (int i = 0; i < MANY; i++)
        block[i] = take(SMALL);
    for (int i = 0; i < MANY; i++)
        free(block[i]);
    HEAPWAKE_TAG("small ones gone");
    free(take(LARGE));
    return 0;
}
""")
native(["gcc", "-g", "-O1", "-I", os.path.join(os.environ["ROOT"], "include"), "-o", "heap", "heap.c"])
record(["./heap"], "heap.wake", ["--sample", "16K"])
for path in ("heap.wake", "faces.wake"):
    process = json.loads(tool("export", "-f", "json", path).out)["processes"][0]
    groups = {}
    for row in process["blocks"]:
        block = dict(zip(process["block_columns"], row, strict=True))
        made, left = groups.get(block["stack"], (0, 0))
        groups[block["stack"]] = made + block["blocks"], left + block["blocks"] * block["leaked"]
    some = sorted(made for made, _ in groups.values())[len(groups) // 2]
    for condition, holds in {
            f"group-allocations-max={some}": lambda made, left: made <= some,
            f"group-allocations-min={some + 1}": lambda made, left: made > some,
            "group-leaked-min=20": lambda made, left: left >= 20,
            "group-leaked-min=100%": lambda made, left: left == made,
            "state=group-leaked": lambda made, left: left == made}.items():
        expected = sum(made for made, left in groups.values() if holds(made, left))
        for also in ("size-min=0", "chain-position-min=1", "group-interval-max=9h", "group-peak-to=end"):
            seen = report(path, "--allocated", "--where", condition, "--where", also)["allocated"]["total_blocks"]
            check.equal(f"{path}: {condition} and {also}", expected, seen)
check.holds(report("heap.wake", "--leaks", "--where", "state=group-leaked")["leaks"]["total_blocks"] >= 20, "No group leaks.")
for also in ("size-min=0", "chain-position-min=1"):
    sites = by_maker(report("heap.wake", "--allocated", "--where", "group-peak-to=small ones gone", "--where", also), "allocated")
    check.holds("take" in sites, f"The small blocks are not the peak of their group: {sites}")
# What is culled of samples are samples.
check.equal("strip", 0, tool("strip", "--threshold", "1h", "faces.wake", "-o", "stripped.wake").status)
culled, kept = info("stripped.wake"), len(list(events("stripped.wake")))
check.equal("samples culled", (len(list(events("faces.wake"))) - kept) // 2, culled["culled_blocks"])
page = " ".join(tool("report", "--calls", "--where", "size-min=1", "stripped.wake").out.decode().split())
for words in (f"{culled['culled_blocks']:,} samples lived less than", f"{culled['culled_blocks']:,} samples are not in what follows"):
    check.holds(words in page, f"The page does not say {words!r}: {page[:900]}")
tool("export", "-f", "heaptrack", "-o", "faces.heaptrack", "faces.wake")
check.equal("import", 0, tool("import", "-o", "back.wake", "faces.heaptrack").status)
back = info("back.wake")
for key in ("allocated_bytes", "peak_bytes", "leaked_bytes"):
    check.equal(f"{key} of heaptrack", summary[key], back[key])
check.done()
