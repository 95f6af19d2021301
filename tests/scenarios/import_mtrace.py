#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake import` of logs of glibc's mtrace: the program's own account, function by
function, with lines from its debug information; and of memtraq, text and records, from
logs written by hand as its sources say."""
import glob
import json
import os
import struct
import subprocess

from imports import by_function, judged, refuse, take, works_everywhere
from support import Check, events, info, native, skip, tool, truth, workload

check = Check()
DEBUG = "libc_malloc_debug.so.0"

MEMTRAQ = """timestamp;thread-name;thread-id;event;param1;param2;param3;result;callstack
1000000;app;140001;start;1;1;1
1000010;app;140001;malloc;100;void;0x5000;./app(parse+0x1d) [0x401234];./app(main+0x10) [0x401100]
1000020;worker;140002;malloc;50;void;0x6000;./app(+0x1300) [0x401300];./app(main+0x10) [0x401100]
1000030;app;140001;tag;ready;1;void;./app(main+0x10) [0x401100]
1000040;app;140001;realloc;0x5000;300;0x7000;./app(parse+0x30) [0x401250];./app(main+0x10) [0x401100]
1000050;worker;140002;free;0x6000;void;void;./app(drop+0x8) [0x401400];./app(main+0x10) [0x401100]
1000060;worker;140002;free;0x9999;void;void
1000070;app;140001;realloc;0x7000;900;(nil);./app(parse+0x30) [0x401250]
1000080;app;140001;malloc;8;void;0x5000;0x401111
"""


def trace(program, log):
    told = native([program], env={"MALLOC_TRACE": log, "LD_PRELOAD": f"{DEBUG} {workload('libtraced.so')}"})
    check.equal("exit status under mtrace", 0, told.status)
    return truth(told)


def check_truth(path, told):
    for measure in ("leaks", "peak", "allocated"):
        seen = by_function(path, measure)
        for function, account in told["functions"].items():
            if account[measure][1] > 0:
                check.equal(f"{measure} of {function}", list(account[measure][:2]), seen.get(function))


def check_mtrace():
    check.about("mtrace")
    told = trace(workload("blame"), "blame.mtrace")
    take(check, "blame.mtrace", "mtrace.wake", notes=["one caller", "no times"])
    check_truth("mtrace.wake", told)
    kinds = {e.kind for e in events("mtrace.wake") if e.event == "alloc"}
    check.equal("kinds", {"malloc", "realloc"}, kinds)
    works_everywhere(check, "mtrace.wake")
    check.equal("made up, and judged without a clock", (False, False), judged("mtrace.wake"))
    check.equal("exit status of merge", 0, tool("merge", "-o", "merged.wake", "mtrace.wake").status)
    check.equal("the same of a copy", (False, False), judged("merged.wake"))
    limits = tool("check", "--max-leak-growing", "0", "mtrace.wake")
    check.equal("a limit by verdicts", (2, True), (limits.status, b"without the time of each call" in limits.err))
    # A program that is loaded where it was linked: the log has distances from its beginning.
    built = subprocess.run(["gcc", "-O2", "-g", "-no-pie", "-D_GNU_SOURCE=", "-fno-builtin-malloc", "-o", "fixed",
                            os.path.join(os.environ["ROOT"], "tests/workloads/blame.c")], capture_output=True, check=False)
    check.equal("build of a fixed program", 0, built.returncode)
    told = trace("./fixed", "fixed.mtrace")
    take(check, "fixed.mtrace", "fixed.wake")
    check_truth("fixed.wake", told)
    check.about("")


CLOSE = """timestamp;thread-name;thread-id;event;param1;param2;param3;result;callstack
1000000;app;140001;start;1;1;1
1000010;app;140001;malloc;100;void;0x5000;./app(parse+0x1d) [0x401234]
1000010;app;140001;tag;begun;1;void;./app(main+0x10) [0x401100]
1000010;app;140001;malloc;20;void;0x6000;./app(parse+0x1d) [0x401234]
1000010;app;140001;tag;over;1;void;./app(main+0x10) [0x401100]
1000010;app;140001;malloc;3;void;0x7000;./app(parse+0x1d) [0x401234]
"""


def check_close_tags():
    """Events and tags at the same time of the log's clock stay apart by their place."""
    check.about("memtraq, tags at the same time")
    with open("close.memtraq", "w", encoding="utf-8") as f:
        f.write(CLOSE)
    take(check, "close.memtraq", "close.wake")
    for window, expected in ((["--from", "begun", "--to", "over"], 20), (["--to", "begun"], 100), (["--from", "over"], 3)):
        told = json.loads(tool("report", "--json", *window, "close.wake").out)
        check.equal(f"bytes {' '.join(window)}", expected, told["calls"]["total_bytes"])
    check.about("")


def check_memtraq():
    check.about("memtraq")
    with open("app.memtraq", "w", encoding="utf-8") as f:
        f.write(MEMTRAQ)
    facts = take(check, "app.memtraq", "memtraq.wake", notes=["memtraq"])
    for key, value in (("allocations", 4), ("frees", 2), ("allocated_bytes", 458), ("leaked_bytes", 308), ("threads", 2),
                       ("peak_bytes", 350), ("unknown_frees", 1), ("runtime_ns", 80000)):
        check.equal(key, value, facts[key])
    check.equal("leaks", {"parse": [300, 1]}, {k: v for k, v in by_function("memtraq.wake", "leaks").items() if k})
    tags = [(e.time, e.kind) for e in events("memtraq.wake") if e.event == "tag"]
    check.equal("tags", [(30000, "ready")], tags)
    check.equal("moment of a tag", 0, tool("diff", "memtraq.wake@ready", "memtraq.wake@end").status)
    events_of = json.loads(tool("history", "--json", "memtraq.wake", "0x6000").out)["events"]
    check.equal("where the block was freed", [["", "main"], ["drop", "main"]],
                [[frame["function"] for frame in e["frames"]] for e in events_of])
    works_everywhere(check, "memtraq.wake")
    check.about("")


def record(serial, event, us, thread, payload):
    return struct.pack("<IQIQI", 28 + len(payload), serial, event, us, thread) + payload


def check_records(width):
    """The log of memtraq 0.6, from a machine whose pointers have so many bytes; two records are missing."""
    check.about(f"memtraq 0.6, {width * 8} bits")
    pointer = {4: "<I", 8: "<Q"}[width]

    def pack(*addresses):
        return b"".join(struct.pack(pointer, address) for address in addresses)

    with open("app.records", "wb") as f:
        f.write(record(1, 0, 1000, 7, struct.pack("<I", 1)) +
                record(2, 1, 1010, 7, struct.pack("<I", 100) + pack(0x5000, 0x401234, 0x401100)) +
                record(3, 1, 1020, 8, struct.pack("<I", 50) + pack(0x6000, 0x401300)) +
                record(4, 4, 1030, 7, b"ready" + struct.pack("<I", 1)) +
                record(7, 3, 1040, 7, pack(0x5000) + struct.pack("<I", 300) + pack(0x7000, 0x401250)) +
                record(8, 2, 1050, 8, pack(0x6000)) + record(9, 2, 1060, 8, pack(0x9999, 0x401111)))
    facts = take(check, "app.records", "records.wake", notes=["2 records were lost", "--maps"])
    for key, value in (("allocations", 3), ("frees", 2), ("allocated_bytes", 450), ("leaked_bytes", 300), ("threads", 2),
                       ("peak_bytes", 350), ("unknown_frees", 1), ("runtime_ns", 50000)):
        check.equal(key, value, facts[key])
    check.equal("frees with a stack", [False, True],
                [e.stack != "0" for e in events("records.wake") if e.event == "free" and e.kind == "free"])
    with open("app.records", "rb") as f:
        refuse(check, f.read()[:-3], "byte ", name="cut.records")
    check.about("")


def check_maps():
    """Records have addresses alone: what was loaded where is in a copy of /proc/PID/maps from the target, and its files are below a sysroot."""
    check.about("symbolize --maps")
    os.makedirs("target/opt/bin")
    subprocess.run(["gcc", "-O2", "-g", "-pie", "-D_GNU_SOURCE=", "-fno-builtin-malloc", "-o", "target/opt/bin/app",
                    os.path.join(os.environ["ROOT"], "tests/workloads/blame.c")], check=True)
    symbols = subprocess.run(["nm", "target/opt/bin/app"], capture_output=True, text=True, check=True).stdout
    main = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T main"))
    segments = subprocess.run(["readelf", "-lW", "target/opt/bin/app"], capture_output=True, text=True, check=True).stdout
    base = 0x555500000000
    with open("target.maps", "w", encoding="ascii") as f:
        for words in (line.split() for line in segments.splitlines() if line.split()[:1] == ["LOAD"]):
            offset, place, size = int(words[1], 16) & ~4095, int(words[2], 16), int(words[5], 16)
            first, last = base + (place & ~4095), base + ((place + size + 4095) & ~4095)
            f.write(f"{first:x}-{last:x} {'r-xp' if 'E' in words else 'r--p'} {offset:08x} 08:01 77 /opt/bin/app\n")
    with open("target.records", "wb") as f:
        f.write(record(1, 0, 1000, 7, struct.pack("<I", 1)) +
                record(2, 1, 1010, 7, struct.pack("<IQQ", 100, 0x5000, base + main + 5)))
    take(check, "target.records", "target.wake", notes=["--maps"])
    check.equal("before", [], [name for name in by_function("target.wake", "leaks") if name])
    done = tool("symbolize", "--maps", "target.maps", "--sysroot", "target", "target.wake")
    check.equal("exit status", 0, done.status)
    check.equal("after", {"main": [100, 1]}, by_function("target.wake", "leaks"))
    site = json.loads(tool("report", "--json", "--leaks", "target.wake").out)["leaks"]["sites"][0]["frames"][0]
    check.equal("file", "blame.c", os.path.basename(site["file"]))
    check.about("")


def check_refusals():
    for text, words in (("= Start\n@ ./a:[0x10] ? 0x1\n", "line 2: this is no line of mtrace"),
                        ("= Start\n@ ./a + 0x1 0x2\n", "line 2: it does not say where"), ("= Start\n@ ./a:[0x1] + zz 0x2\n", "line 2"),
                        ("1;a;2;malloc;x;void;0x1\n", "line 1: the event makes no sense"),
                        ("1;a;2;malloc;1;void;0x1\n1;a;2;melloc;1\n", "line 2: memtraq has no event 'melloc'"),
                        ("timestamp;thread-name\nrubbish\n", "line 2: this is no line of memtraq")):
        refuse(check, text, words)


if glob.glob("/lib*/*/" + DEBUG) or glob.glob("/usr/lib/*/" + DEBUG) or glob.glob("/usr/lib64/" + DEBUG):
    check_mtrace()
else:
    skip(f"glibc's {DEBUG} is not there.")
check_memtraq()
check_close_tags()
check_records(8)
check_records(4)
check_maps()
check_refusals()
check.holds(info("memtraq.wake")["notes"], "memtraq.wake has lost its notes.")
check.done()
