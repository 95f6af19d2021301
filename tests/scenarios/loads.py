#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""More of everything than a recorder likes: events, threads at once and in turn, processes,
libraries loaded and unloaded, and a recording larger than the memory that its report may
use. Nothing is lost, and the program does not grow.

LOADS=full takes the sizes that docs/reliability.md promises, which need hours and 15 GB of
disk; LOADS_ONLY='threads processes' picks some. The numbers here are for every day.
"""
# timeout: 600
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time

import support
from support import HEAPWAKE, Check, info, native, record, tool, truth, workload

FULL = os.environ.get("LOADS") == "full"
ONLY = os.environ.get("LOADS_ONLY", "").split()
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
COPIES = 10  # of a recording in the large one
support.TIMEOUT_S = 20000 if FULL else 200 * support.PATIENCE
check = Check()


def calls_of_size(path, size):
    """How many blocks of this size the engine counts."""
    run = tool("report", "--json", "--calls", "--where", f"size-min={size}", "--where", f"size-max={size}", path)
    check.equal("report", 0, run.status)
    return json.loads(run.out)["calls"]["total_blocks"] if run.status == 0 else None


def rss_alone(argv):
    """The most memory that the program holds when nobody looks, in bytes."""
    process = subprocess.Popen([str(word) for word in argv], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    check.equal("exit status, alone", 0, status)
    return used.ru_maxrss * KIB


def recorded(argv):
    """Runs it; what it tells, and what the recording says, which must be complete."""
    run = record(argv, "load.wake")
    check.equal("exit status", 0, run.status)
    facts = info("load.wake")
    check.equal("complete, lost events", (True, 0), (facts["complete"], facts["lost_events"]))
    return truth(run), facts


def events(count):
    """L1"""
    told, facts = recorded([workload("flood"), "pairs", count])
    check.equal("blocks made", told["made"], calls_of_size("load.wake", 7073))
    check.equal("blocks left", told["made"] - told["freed"], facts["leaked_blocks"])
    check.holds(told["grown_kib"] <= 64 * KIB, f"the program has grown by {told['grown_kib']} KiB.")
    return f"grown by {told['grown_kib'] // 1024} MiB, longest of 16 calls {told['longest_ns'] / 1e6:.0f} ms"


def threads_at_once(count):
    """L2"""
    argv = [workload("threads"), "live", count]
    alone = rss_alone(argv)
    told, facts = recorded(argv)
    check.equal("threads", told["threads"], facts["threads"])
    check.equal("blocks made", told["made"], calls_of_size("load.wake", 7069))
    more = (facts["peak_rss_bytes"] - alone) / count
    check.holds(more <= 32 * KIB, f"a thread takes {more / KIB:.1f} KiB more than alone.")
    return f"{more / KIB:.1f} KiB a thread"


def threads_in_turn(count):
    """L3"""
    argv = [workload("threads"), "many", count]
    alone = rss_alone(argv)
    told, facts = recorded(argv)
    check.equal("threads", told["threads"], facts["threads"])
    check.equal("blocks made", told["made"], calls_of_size("load.wake", 7069))
    more = facts["peak_rss_bytes"] - alone
    check.holds(more <= 64 * MIB, f"the program has grown by {more / MIB:.1f} MiB.")
    return f"grown by {more / MIB:.1f} MiB"


def processes(count):
    """L4"""
    _, facts = recorded([workload("flood"), "processes", count, min(500, count // 3)])
    check.equal("processes", count + 1, facts["processes"])
    check.equal("blocks made", 2 * count, calls_of_size("load.wake", 7079))
    silent = [p["pid"] for p in facts["processes_list"][1:] if p["allocations"] < 2 or p["frees"] < 1]
    check.equal("children without their blocks", [], silent)
    return ""


def succession(count):
    """Processes one after the other, for as long as a recorder lives: those that have ended take next to no memory."""
    script = "i=0; while [ $i -lt $1 ]; do /bin/true; i=$((i + 1)); done; grep VmHWM /proc/$PPID/status"
    peaks = []
    for processes in (count // 10, count):
        run = record(["sh", "-c", script, "sh", processes], "load.wake", options=("--symbols", "no"))
        check.equal("exit status", 0, run.status)
        check.holds(info("load.wake")["processes"] > processes, "not all of them were recorded.")
        peaks.append(int(run.out.split()[1]))
    each = (peaks[1] - peaks[0]) / (count - count // 10)
    check.holds(each <= 6, f"the recorder has grown by {each:.1f} KiB for each: {peaks} KiB.")
    return f"{each:.1f} KiB of the recorder each"


def libraries(count):
    """L5"""
    os.environ["HEAPWAKE_SYMBOLS"] = "0"  # stacks are read as module+offset
    told, _ = recorded([workload("reload"), workload("libreload.so"), workload("libreload_b.so"), count])
    del os.environ["HEAPWAKE_SYMBOLS"]
    check.equal("loaded", count, told["made"])
    seen, size = {7069: {}, 7070: {}}, 0
    dump = subprocess.Popen([HEAPWAKE, "dump", "--stacks", "load.wake"], stdout=subprocess.PIPE, text=True)
    for line in dump.stdout:
        if " bytes " in line:
            size = int(re.search(r"(\d+) bytes ", line).group(1))
        elif size in seen and "libreload" in line:
            name = re.search(r"libreload\w*\.so", line).group()
            seen[size][name] = seen[size].get(name, 0) + 1
    check.equal("dump", 0, dump.wait())
    check.equal("blocks by plugin", {7069: {"libreload.so": count // 2}, 7070: {"libreload_b.so": count // 2}}, seen)
    return ""


def large_file(count, limit=GIB if FULL else 192 * MIB):
    """L7: one recording, and the file that ten of it make together."""
    told, alone = recorded([workload("flood"), "noise", count // COPIES])
    copies = [shutil.copy("load.wake", f"copy{i}.wake") for i in range(COPIES)]
    run = tool("merge", *copies, "-o", "large.wake")
    check.equal("merge", (0, b""), (run.status, run.err))
    os.replace("large.wake", "load.wake")
    facts = info("load.wake")
    check.equal("processes, complete, lost events", (COPIES, True, 0),
                (facts["processes"], facts["complete"], facts["lost_events"]))
    check.equal("leaked blocks", COPIES * alone["leaked_blocks"], facts["leaked_blocks"])
    check.holds(facts["file_bytes"] >= 10 * GIB or not FULL, f"the file has {facts['file_bytes']:,} bytes.")

    def confine():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    run = subprocess.run([HEAPWAKE, "report", "--json", "--calls", "--where", "size-min=1", "load.wake"], capture_output=True,
                         check=False, preexec_fn=confine)
    check.holds(run.returncode == 0, f"report ends with {run.returncode}: {run.stderr!r}")
    if run.returncode == 0:
        made, least = json.loads(run.stdout)["calls"]["total_blocks"], COPIES * told["made"]
        check.holds(least <= made <= least + 100 * COPIES, f"{least} blocks were made, the report has {made}.")
    return f"{facts['file_bytes'] / MIB:.0f} MiB reported in {limit // MIB} MiB"


# name: what it does, how many every day, how many in full
LOADS = {"events": (events, 2000000, 500000000), "threads": (threads_at_once, 1500, 10000),
         "short_threads": (threads_in_turn, 20000, 1000000), "processes": (processes, 600, 10000),
         "succession": (succession, 1000, 20000),
         "libraries": (libraries, 2000, 100000), "file": (large_file, 2000000, 1400000000)}


def main():
    for name, (load, usual, full) in LOADS.items():
        if ONLY and name not in ONLY:
            continue
        check.about(name)
        count, start = full if FULL else usual, time.monotonic()
        said = load(count)
        print(f"{name}: {count:,} in {time.monotonic() - start:.0f} s{', ' if said else ''}{said}")
        sys.stdout.flush()
        os.unlink("load.wake")
    check.done()


main()
