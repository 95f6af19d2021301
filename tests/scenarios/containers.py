#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""PID namespaces: a program that has one of its own, a recorder that is the first process
of one and is given all orphans, and one beside a first process that reaps nobody. Each
process is in the recording, with its parent, and the recorder ends with the last of them."""
# timeout: 600
import os
import subprocess
import time

from support import HEAPWAKE, Check, Ledger, events, info, native, record, skip, truths, workload

ORPHANS = 20
PROMPT_S = 8  # the recorder gives up waiting for children that do not come after ten

SOURCE = """#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* Children that nobody waits for, and those of a child that has gone. */
static int orphans(int count)
{
    for (int i = 0; i < count; i++) {
        if (fork() == 0) {
            free(malloc(7411));
            _exit(0);
        }
    }
    free(malloc(7411));
    return 3;
}
/* Is a child of a child seen to end? */
static int see_end(void)
{
    int tube[2];
    pid_t pid = 0;
    if (pipe(tube) != 0)
        return 92;
    if (fork() == 0) {
        pid = fork();
        if (pid == 0)
            _exit(0);
        _exit(write(tube[1], &pid, sizeof pid) != sizeof pid);
    }
    if (read(tube[0], &pid, sizeof pid) != sizeof pid)
        return 92;
    for (int i = 0; i < 500 && kill(pid, 0) == 0; i++)
        usleep(10000);
    return kill(pid, 0) == 0 ? 4 : 3;
}
int main(int argc, char **argv)
{
    int status;
    if (strcmp(argv[1], "orphans") == 0)
        return orphans(atoi(argv[2]));
    if (strcmp(argv[1], "see_end") == 0)
        return see_end();
    pid_t pid = fork(); /* a first process that waits for its child alone */
    if (pid == 0) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    return argc > 1 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 93;
}
"""

check = Check()
APART = ["unshare", "-p", "-f"]
if os.geteuid() != 0 or native([*APART, "true"]).status != 0:
    skip("only root may make a PID namespace.")
with open("kin.c", "w", encoding="ascii") as f:
    f.write(SOURCE)
subprocess.run(["gcc", "-O0", "-o", "kin", "kin.c"], check=True)


def promptly(run, *argv):
    start = time.monotonic()
    done = run(*argv)
    check.holds(time.monotonic() - start < PROMPT_S, "The recorder waits for who comes no more.")
    return done


def parents(path):
    return sorted(-1 if p["parent"] is None else p["parent"] for p in info(path)["processes_list"])


check.about("a program in its own namespace")
record([workload("family"), "fork"], "usual.wake")
run = promptly(record, [*APART, workload("family"), "fork"])
told = sorted((line["made"], line["freed"]) for line in truths(run))
check.equal("exit status", 0, run.status)
check.equal("blocks", sum(made for made, _ in told), Ledger(events("out.wake")).made[7069])
check.sound("out.wake")
usual = parents("usual.wake")  # before it came unshare, and what unshare has forked
check.equal("parents", sorted([-1, 0, *(1 if p < 0 else p + 2 for p in usual)]), parents("out.wake"))

check.about("children that have ended before the recorder looks")
run = record(["sh", "-c", f"kill -STOP $PPID; (sleep 1; kill -CONT $PPID) & {' '.join(APART)} {workload('family')} fork; wait"])
check.equal("exit status", 0, run.status)
processes = info("out.wake")["processes_list"]
kin = [i for i, p in enumerate(processes) if p["command"].endswith("family fork") and not p["command"].startswith(("sh", "unshare"))]
check.equal("parents", [kin[0]] * 5, [processes[i]["parent"] for i in kin[1:]])

for name, first in (("the recorder", []), ("somebody who reaps nobody", ["./kin"])):
    check.about(f"the first process is {name}")
    for _ in range(10):
        run = promptly(native, [*APART, "--mount-proc", *first, HEAPWAKE, "record", "-q", "-o", "out.wake", "--", "./kin", "orphans", ORPHANS])
        check.equal("exit status", 3, run.status)
        check.equal("blocks", ORPHANS + 1, Ledger(events("out.wake")).made[7411])
        check.sound("out.wake")

check.about("orphans of a recorder")
run = native([*APART, "--mount-proc", HEAPWAKE, "record", "-q", "-o", "out.wake", "--", "./kin", "see_end"])
check.equal("exit status", 3, run.status)
check.done()
