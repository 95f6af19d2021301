#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whatever way a process is made or an image replaced, it is in the recording with
exact counts: one file for the tree, or one file each with %p, or only the first
with --children no."""
# timeout: 600
import collections
import glob
import os
import subprocess

from support import Check, Ledger, events, info, native, record, truths, workload

MODES = (("fork", 0), ("raw", 0), ("vfork", 0), ("spawn", 0), ("shell", 0), ("chain", 6), ("bareenv", 0), ("daemon", 0),
         ("forkthreads", 200))
check = Check()


def told_by_pid(lines):
    sums = collections.defaultdict(lambda: [0, 0])
    for line in lines:
        sums[line["pid"]][0] += line["made"]
        sums[line["pid"]][1] += line["freed"]
    return {pid: tuple(counts) for pid, counts in sums.items()}


def seen_by_pid(path, size=7069):
    ledger = Ledger(events(path))
    return {pid: (made[size], freed[size]) for pid, (made, freed) in ledger.by_pid.items() if made[size]}


for mode, count in MODES:
    program = [workload("family"), mode, count]
    check.about(mode)
    alone = native(program)
    run = record(program)
    check.equal("exit status", alone.status, run.status)
    check.equal("lines told", len(truths(alone)), len(truths(run)))
    check.equal("stderr", b"", run.err)
    check.equal("blocks of each process", told_by_pid(truths(run)), seen_by_pid("out.wake"))
    facts = check.sound("out.wake")
    if mode in ("fork", "raw", "spawn", "chain"):  # one image for each line
        check.equal("processes", len(truths(run)), facts["processes"])

check.about("a shell loop")
loop = f"for i in $(seq 300); do '{workload('ends')}' return 1 20; done"
run = record(["sh", "-c", loop])
check.equal("lines told", 300, len(truths(run)))
check.equal("blocks of each process", told_by_pid(truths(run)), seen_by_pid("out.wake"))
check.sound("out.wake")

SLOW = """#include <unistd.h>
__attribute__((constructor)) static void slow(void) { usleep(300000); }
"""
HASTY = """#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
    char *child[] = {"./late", "child", NULL};
    pid_t pid;
    for (int i = 0; i < 100; i++)
        free(malloc(7415));
    if (argc > 1 && strcmp(argv[1], "spawn") == 0)
        posix_spawn(NULL, child[0], NULL, NULL, child, environ);
    else if (argc > 1 && strcmp(argv[1], "spawnp") == 0)
        posix_spawnp(&pid, child[0], NULL, NULL, child, environ);
    else if (argc > 1 && strcmp(argv[1], "vfork") == 0 && vfork() == 0) {
        execv(child[0], child);
        _exit(9);
    }
    _exit(3);
}
"""
for name, source in (("slow", SLOW), ("hasty", HASTY)):
    with open(f"{name}.c", "w", encoding="ascii") as f:
        f.write(source)
subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-z,initfirst", "-o", "libslow.so", "slow.c"], check=True)
subprocess.run(["gcc", "-O0", "-o", "hasty", "hasty.c"], check=True)
subprocess.run(["gcc", "-O0", "-o", "late", "hasty.c", "-Wl,--no-as-needed", "-L.", "-lslow", "-Wl,-rpath,$ORIGIN"], check=True)
for way in ("spawn", "spawnp", "vfork"):
    check.about(f"a parent that ends before its child begins, {way}")
    run = record(["./hasty", way])
    check.equal("exit status", 3, run.status)
    check.equal("blocks of both", 200, Ledger(events("out.wake")).made[7415])
    check.equal("processes", 2, check.sound("out.wake")["processes"])
    check.equal("files", ["out.wake"], glob.glob("*.wake*"))

check.about("%p")
run = record([workload("family"), "fork"], "one-%p.wake")
told = told_by_pid(truths(run))
check.equal("files", sorted(f"one-{pid}.wake" for pid in told), sorted(glob.glob("one-*")))
for pid, counts in told.items():
    if os.path.exists(f"one-{pid}.wake"):
        check.equal(f"blocks in the file of {pid}", {pid: counts}, seen_by_pid(f"one-{pid}.wake"))
        check.sound(f"one-{pid}.wake")
        check.equal(f"processes in the file of {pid}", 1, info(f"one-{pid}.wake")["processes"])

for mode in ("fork", "spawn", "shell", "bareenv"):
    check.about(f"--children no, {mode}")
    run = record([workload("family"), mode], options=["--children", "no"])
    check.equal("exit status", 0, run.status)
    first = truths(run)[-1]
    check.equal("blocks", {first["pid"]: (first["made"], first["freed"])}, seen_by_pid("out.wake"))
    check.equal("processes", 1, check.sound("out.wake")["processes"])
check.done()
