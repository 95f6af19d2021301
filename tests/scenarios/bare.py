#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""LD_PRELOAD alone makes a recording, through a collector that the program never
sees; where there is no collector, a spool file holds the same, however the
program ends, and all commands read it."""
import glob
import os
import signal
import subprocess
import time

from support import PROBE, Check, Ledger, events, info, lonely, native, tool, truth, truths, workload, writers


# Becomes who is given its orphans, loads the probe, and asks whether it has a child.
REAPER = """#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc > 1) {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        setenv("LD_PRELOAD", argv[1], 1);
        return execl("/proc/self/exe", "reaper", NULL);
    }
    for (int i = 0; i < 1000; i++)
        free(malloc(7077));
    puts(wait(NULL) < 0 ? "no child" : "a child");
    return 3;
}
"""


def wait_for(pattern):
    """The collector is nobody's child: its file takes its name when it is done."""
    for _ in range(300):
        found = glob.glob(pattern)
        if found:
            return found
        time.sleep(0.05)
    return []


def collector_of(output):
    """The pid of the collector that writes `output`: it has that name open, unfinished."""
    for _ in range(100):
        found = writers(output + ".partial")
        if found:
            return found.pop()
        time.sleep(0.05)
    raise SystemExit(f"Nobody writes {output}.")


def compare(check, path, line):
    ledger = Ledger(events(path))
    check.pairs(ledger)
    check.equal("made", line["made"], ledger.made[line["size"]])
    check.equal("released", line["freed"], ledger.freed[line["size"]])
    check.equal("left", line["made"] - line["freed"], ledger.left(line["size"]))


check = Check()
for way in ("return", "_exit", "abort", "kill"):
    program = [workload("ends"), way, 4, 8000]
    alone = native(program)
    for i in range(5):
        check.about(f"with a collector, {way}")
        run = native(program, {"LD_PRELOAD": PROBE})
        check.equal("exit status", alone.status, run.status)
        check.equal("stderr", alone.err, run.err)
        pid = truth(run)["pid"]
        found = wait_for(f"ends.{pid}.wake")
        if check.equal("files", [f"ends.{pid}.wake"], found):
            compare(check, found[0], truth(run))
            check.sound(found[0])
            os.unlink(found[0])

        check.about(f"without a collector, {way}")
        run = native(program, lonely())
        check.equal("exit status", alone.status, run.status)
        check.equal("stderr", alone.err, run.err)
        pid = truth(run)["pid"]
        found = glob.glob("*.spool")
        if check.equal("files", [f"ends.{pid}.wake.spool"], found):
            compare(check, found[0], truth(run))
            facts = info(found[0])
            check.equal("pid", pid, facts["pid"])
            check.equal("lost_events", 0, facts["lost_events"])
            check.equal("verify", 0, tool("verify", found[0]).status)
            os.unlink(found[0])

check.about("a tree without a collector")
run = native([workload("family"), "fork"], lonely())
told = {line["pid"]: line for line in truths(run)}
spools = glob.glob("*.spool")
check.equal("processes in spools", sorted(told), sorted(info(path)["pid"] for path in spools))
for path in spools:
    line, ledger = told[info(path)["pid"]], Ledger(events(path))
    check.equal("made and released", (line["made"], line["freed"]), (ledger.made[7069], ledger.freed[7069]))

check.about("a collector that is asked to end")
alone = native([workload("steady"), 20000, "wait"], stdin=None, input=b"\n")
took = {}
for times in (1, 2):
    begun = time.monotonic()
    env = {**os.environ, "LD_PRELOAD": PROBE, "HEAPWAKE_OUTPUT": f"asked{times}.wake"}
    process = subprocess.Popen([workload("steady"), "20000", "wait"], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    check.equal("first line", b"half\n", process.stdout.readline())
    collector = collector_of(f"asked{times}.wake")
    for _ in range(times):
        os.kill(collector, signal.SIGTERM)
        time.sleep(0.1)
    found = wait_for(f"asked{times}.wake")
    took[times] = time.monotonic() - begun
    check.holds(found, f"SIGTERM {times}: there is no recording after {took[times]:.1f} s.")
    out, _ = process.communicate(b"\n")
    check.equal("exit status and stdout", (alone.status, alone.out), (process.returncode, b"half\n" + out))
    if found:
        facts, ledger = check.honest(found[0]), Ledger(events(found[0]))
        check.equal("complete", False, facts["complete"])
        check.equal("blocks until then", (20000, 20000), (ledger.made[7069], ledger.freed[7069]))
# The first time it waits for the program, which does not end, for some seconds; the second is to end the wait.
check.holds(took[2] < took[1], f"asked twice, it took {took[2]:.1f} s; once, {took[1]:.1f} s.")

check.about("orphans are the program's")
with open("reaper.c", "w", encoding="ascii") as f:
    f.write(REAPER)
subprocess.run(["gcc", "-O0", "-o", "reaper", "reaper.c"], check=True)
alone = native(["./reaper", ""], {"HEAPWAKE_OUTPUT": "reaper.wake"})
check.equal("alone", b"no child\n", alone.out)
run = native(["./reaper", PROBE], {"HEAPWAKE_OUTPUT": "reaper.wake"})
check.equal("exit status and stdout", (alone.status, alone.out), (run.status, run.out))
check.equal("its spool", 1000, Ledger(events("reaper.wake.spool")).made[7077])
if os.geteuid() == 0 and native(["unshare", "-p", "-f", "true"]).status == 0:
    os.unlink("reaper.wake.spool")
    run = native(["unshare", "-p", "-f", "./reaper", PROBE], {"HEAPWAKE_OUTPUT": "reaper.wake"})
    check.equal("as the first process", (alone.status, alone.out), (run.status, run.out))
    check.equal("its spool", 1000, Ledger(events("reaper.wake.spool")).made[7077])

check.about("a spool file that is replaced")
alone = native([workload("steady"), 600000, "wait"], stdin=None, input=b"\n")
program = subprocess.Popen([workload("steady"), "600000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           env={**os.environ, **lonely(), "HEAPWAKE_OUTPUT": "moved.wake"})
check.equal("first line", b"half\n", program.stdout.readline())
os.rename("moved.wake.spool", "kept.spool")
with open("moved.wake.spool", "wb") as f:
    f.write(b"something else")
program.communicate(b"\n")
check.equal("exit status", alone.status, program.returncode)
check.equal("what took its name", b"something else", open("moved.wake.spool", "rb").read())
facts = check.honest("kept.spool")
check.holds(facts["allocations"] >= 600000 and (facts["lost_events"] > 0 or facts["allocations"] >= 1200000), f"Kept is {facts}.")

check.about("HEAPWAKE_COLLECTOR")
run = native([workload("ends"), "exit", 2, 2000],
             {**lonely(), "HEAPWAKE_COLLECTOR": os.environ["HEAPWAKE"], "HEAPWAKE_OUTPUT": "given-%p.wake"})
if check.equal("files", 1, len(wait_for(f"given-{truth(run)['pid']}.wake"))):
    compare(check, f"given-{truth(run)['pid']}.wake", truth(run))
check.done()
