#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Blocks that a recording knows by count alone (culled, stripped, behind the end of a full file): a report whose
parts read events says how many are missing, and exports that hold one process have the peak of what is in them
and count what is missing of that process."""
import json
import re
import subprocess

from support import Check, events, info, record, tool

SOURCE = """#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void *keep(size_t n) { void *p = malloc(n); __asm__ volatile("" ::"r"(p) : "memory"); return p; }
__attribute__((noinline)) void *quick(size_t n) { void *p = malloc(n); __asm__ volatile("" ::"r"(p) : "memory"); return p; }
int main(int argc, char **argv)
{
    void *volatile held[256] = {0};
    unsigned random = 1;
    for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) { /* fills a file; what is largest comes behind its end */
        random = random * 1103515245 + 12345;
        free(held[random >> 24]);
        held[random >> 24] = quick(1 + (random >> 8) % 1000);
    }
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
record(["./rounds", "600000"], "limited.wake", ["--max-size", "1M"])
check.holds(info("limited.wake")["limited_events"] > 0, "The file was not full.")
record(["sh", "-c", "./rounds; ./rounds; true"], "several.wake", ["--cull", "--cull-ms", "10"])


def missing(path, pid=None):
    """Blocks of the totals that no event is about."""
    made = sum(e.event == "alloc" and pid in (None, e.pid) for e in events(path))
    return sum(p["allocations"] for p in info(path)["processes_list"] if pid in (None, p["pid"])) - made


def peak_of_events(path, pid):
    live, level, peak = {}, 0, 0
    for e in events(path):
        if e.pid == pid and e.event == "alloc":
            live[e.address] = e.size
            level += e.size
            peak = max(peak, level)
        elif e.pid == pid and e.event == "free":
            level -= live.pop(e.address, 0)
    return peak


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


def check_peak(path):
    """Returns the process that the files are about."""
    check.about(f"exports, {path}")
    data = json.loads(tool("export", "-f", "dhat", path).out)
    peak = peak_of_events(path, data["pid"])
    check.holds(peak > 0, "There are no events.")
    check.equal("dhat's bytes at the peak", peak, sum(p["gb"] for p in data["pps"]))
    check.holds(0 < data["tg"] <= data["te"], f"dhat's peak is at {data['tg']} of {data['te']}.")
    text = tool("export", "-f", "massif", path).out.decode()
    seen = re.findall(r"mem_heap_B=(\d+)\nmem_heap_extra_B=\d+\nmem_stacks_B=0\nheap_tree=peak\nn\d+: (\d+) ", text)
    check.equal("massif's peak", [(str(peak), str(peak))], seen)
    return data["pid"]


def check_remarks(path, pid):
    check.about(f"remarks, {path}")
    one, whole = missing(path, pid), missing(path)
    check.holds(0 < one < whole, f"{one} of {whole} blocks are missing of one process.")
    for form, lacks in (("dhat", one), ("massif", one), ("heaptrack", one), ("csv", whole)):
        told = re.findall(r"made of single events: ([\d,]+) blocks", tool("export", "-f", form, "-o", "out", path).err.decode())
        check.equal(f"what {form} says", [f"{lacks:,}"], told)


for name in ("whole.wake", "culled.wake", "stripped.wake", "limited.wake", "several.wake"):
    check_findings(name)
    subject = check_peak(name)
check.equal("the peak of a whole recording", info("whole.wake")["peak_bytes"],
            peak_of_events("whole.wake", info("whole.wake")["processes_list"][0]["pid"]))
check_remarks("several.wake", subject)
check.about("one process")
check.equal("omitted_blocks", missing("several.wake", subject), summary("several.wake", "--without", "keep", "--pid", str(subject))["omitted_blocks"])
check.done()
