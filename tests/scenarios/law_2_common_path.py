#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Law 2: no system call on the common path. A program that allocates a hundred times as often makes no more system calls
than before, with one thread and with four, whatever is recorded of its blocks."""
import glob
import os
import re
import shutil
import subprocess

from support import HEAPWAKE, Check, Ledger, events, skip

SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static long pairs;
static __attribute__((noinline)) void *make(long i) { char *p = malloc(100 + i % 8); p[0] = 1; return p; }
static void *work(void *unused)
{
    void *kept[16] = {0};
    for (long i = 0; i < pairs; i++) {
        free(kept[i % 16]);
        kept[i % 16] = i % 5 == 0 ? realloc(make(i), 120) : make(i);
    }
    for (int i = 0; i < 16; i++)
        free(kept[i]);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t threads[4];
    int count = argc > 2 ? atoi(argv[2]) : 1;
    pairs = atol(argv[1]);
    for (int i = 0; count > 1 && i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; count > 1 && i < count; i++)
        pthread_join(threads[i], NULL);
    if (count == 1)
        work(NULL);
    return 0;
}
"""
FEW, MANY = 300, 30_000  # what is told of them fits into the buffers, so that nobody has to wait for room as a rule
SLACK = 60  # waiting for threads, and rare steps: pages of the stack, of tables
TRIES = 5  # where the recorder, which is traced too, comes late: what the common path did would be in each

check = Check()
if shutil.which("strace") is None:
    skip("strace is not installed")
with open("pairs.c", "w", encoding="ascii") as f:
    f.write(SOURCE)
subprocess.run(["gcc", "-O1", "-pthread", "-o", "pairs", "pairs.c"], check=True)


def calls(pairs, threads, options):
    """How many system calls all threads of the program make."""
    for path in glob.glob("calls.*"):
        os.unlink(path)
    done = subprocess.run(["strace", "-ff", "-qq", "-o", "calls", HEAPWAKE, "record", "-q", "-o", "out.wake", *options, "--",
                           "./pairs", str(pairs), str(threads)], capture_output=True, timeout=120)
    check.equal("exit status", 0, done.returncode)
    count = 0
    for path in glob.glob("calls.*"):
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        _, became, rest = text.rpartition('execve("./pairs"')
        if became or text.startswith("rseq("):  # the program, or a thread of its own
            count += len(re.findall(r"^\w+\(", rest, re.M))
    return count


for threads in (1, 4):
    for options in ((), ("--free-stacks",), ("--precise-timestamps",), ("--sample", "4K"), ("--enabled", "no")):
        check.about(f"{threads} threads {' '.join(options)}")
        few, many = calls(FEW, threads, options), calls(MANY, threads, options)
        for _ in range(TRIES - 1):
            if many > few + SLACK:
                many = calls(MANY, threads, options)
        check.holds(few > 20, f"The program made {few} system calls: they were not seen.")
        check.holds(many <= few + SLACK, f"{few} system calls with {FEW} pairs of malloc and free, {many} with {MANY}.")
        if options in ((), ("--free-stacks",)):
            made = sum(Ledger(events("out.wake")).made.values())
            check.holds(made >= MANY * threads, f"{made} blocks were recorded.")
check.done()
