#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Blocks that a recording knows by count alone (culled, stripped, behind the end of a full file): a report whose
parts read events says how many are missing."""
import json
import re
import subprocess

from support import Check, events, info, record, tool, workload

SOURCE = """#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void *keep(size_t n) { void *p = malloc(n); __asm__ volatile("" ::"r"(p) : "memory"); return p; }
__attribute__((noinline)) void *quick(size_t n) { void *p = malloc(n); __asm__ volatile("" ::"r"(p) : "memory"); return p; }
int main(void)
{
    for (int i = 0; i < 5; i++) {
        void *kept = keep(100000), *a = quick(10), *b = quick(20);
        free(a);
        free(b);
        usleep(30000);
        free(kept);
    }
    return 0;
}
"""
check = Check()
with open("rounds.c", "w", encoding="ascii") as f:
    f.write(SOURCE)
subprocess.run(["gcc", "-g", "-O1", "-o", "rounds", "rounds.c"], check=True)
record(["./rounds"], "whole.wake")
record(["./rounds"], "culled.wake", ["--cull", "--cull-ms", "10"])
tool("strip", "--threshold", "10ms", "whole.wake", "-o", "stripped.wake")
record([workload("turnover"), "300000"], "limited.wake", ["--max-size", "1M"])
record(["sh", "-c", "./rounds; ./rounds; true"], "several.wake", ["--cull", "--cull-ms", "10"])


def missing(path, pid=None):
    """Blocks of the totals that no event is about."""
    made = sum(e.event == "alloc" and pid in (None, e.pid) for e in events(path))
    return sum(p["allocations"] for p in info(path)["processes_list"] if pid in (None, p["pid"])) - made


def summary(path, *options):
    done = tool("report", "--json", *options, path)
    check.equal(f"exit status of {options}", 0, done.status)
    return json.loads(done.out)["summary"]


def check_findings(path):
    check.about(f"report, {path}")
    lacks = missing(path)
    text = tool("report", "--without", "keep", path).out.decode()
    told = re.findall(r"^ +not shown +([\d,]+)  calls are not in what follows,$", text, re.M)
    check.equal("what the head says", [f"{lacks:,}"] if lacks else [], told)
    for options in (["--without", "keep"], ["--without", "keep", "--histogram"], ["--without", "keep", "--details"], ["--advice"],
                    ["--advice", "--without", "keep"]):
        check.equal(f"omitted_blocks of {options}", lacks, summary(path, *options)["omitted_blocks"])
    check.equal("omitted_blocks of totals", 0, summary(path, "--leaks")["omitted_blocks"])
    check.holds("not shown" not in tool("report", "--advice", path).out.decode(), "The text of --advice says it twice.")


for name in ("whole.wake", "culled.wake", "stripped.wake", "limited.wake", "several.wake"):
    check_findings(name)
subject = info("several.wake")["processes_list"][-1]["pid"]
check.about("one process")
check.equal("omitted_blocks", missing("several.wake", subject), summary("several.wake", "--without", "keep", "--pid", str(subject))["omitted_blocks"])
check.done()
