#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""HEAPWAKE_SIGUSR1 and HEAPWAKE_SIGUSR2: a signal toggles, reports or tags, also when
the program is idle. By default the signals are the program's; a handler of its own
always wins, and it never sees ours."""
import glob
import os
import signal
import subprocess
import time

from ctl import Idle
from support import HEAPWAKE, Check, Ledger, events, native, record, truth, workload


def until(condition):
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.05)
    return False


def check_toggle(check):
    check.about("toggle and tag")
    program = Idle([HEAPWAKE, "record", "-q", "--sigusr1", "toggle", "--sigusr2", "tag", "-o", "toggle.wake", "--"])
    program.tell(7401)
    os.kill(program.pid, signal.SIGUSR1)
    time.sleep(0.5)
    program.tell(7402, -7401)
    os.kill(program.pid, signal.SIGUSR2)
    time.sleep(0.5)
    os.kill(program.pid, signal.SIGUSR1)
    time.sleep(0.5)
    program.tell(7403)
    check.equal("exit status", 0, program.end())
    check.sound("toggle.wake")
    ledger = Ledger(events("toggle.wake"))
    check.equal("made", {7401: 1, 7402: 0, 7403: 1}, {size: ledger.made[size] for size in (7401, 7402, 7403)})
    check.equal("freed", 1, ledger.freed[7401])
    check.equal("tags", ["recording off", "signal-1", "recording on"], [e.kind for e in ledger.others if e.event == "tag"])


def check_report(check):
    check.about("report")
    program = Idle([HEAPWAKE, "record", "-q", "-o", "report.wake", "--"], {"HEAPWAKE_SIGUSR1": "report"})
    program.tell(7404)
    os.kill(program.pid, signal.SIGUSR1)
    first = f"told-{program.pid}-1.memlog"
    check.holds(until(lambda: os.path.exists(first)), "No report comes while the program is idle.")
    program.tell(7405, -7404)
    program.end()
    with open(first, encoding="utf-8") as f:
        check.equal("the first", "Outanding bytes: 7404 (+7404)\n", f.readline())
    with open(f"told-{program.pid}-2.memlog", encoding="utf-8") as f:
        check.equal("the last", "Outanding bytes: 7405 (+1)\n", f.readline())
    check.equal("reports", 2, len(glob.glob("told-*.memlog")))


GROUP = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int got;
static void count(int number) { (void)number; got++; }
int main(int argc, char **argv)
{
    int number = atoi(argv[1]), status;
    signal(number, count);
    if (argc > 2) { /* a child, and it is gone at once */
        pid_t pid = fork();
        if (pid == 0) {
            signal(number, SIG_IGN);
            kill(0, number);
            _exit(0);
        }
        while (waitpid(pid, &status, 0) < 0)
            continue;
    } else {
        kill(0, number);
    }
    for (int i = 0; i < 20; i++)
        usleep(10000);
    free(malloc(7406));
    printf("%d\\n", got);
    return 5;
}
"""


def check_group(check):
    """What a program or a child of it sends to its whole group, it gets once, and the recorder lives on."""
    with open("group.c", "w", encoding="ascii") as f:
        f.write(GROUP)
    subprocess.run(["gcc", "-O0", "-o", "group", "group.c"], check=True)
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGIO, signal.SIGXCPU, signal.SIGABRT, signal.SIGRTMIN, signal.SIGHUP):
        for more in ([], ["child"]):
            check.about(f"signal {int(number)} to the group {' '.join(more)}")
            argv = ["./group", str(int(number)), *more]
            alone = subprocess.run(argv, capture_output=True, start_new_session=True)
            run = subprocess.run([HEAPWAKE, "record", "-q", "-o", "group.wake", "--", *argv], capture_output=True, start_new_session=True)
            check.equal("exit status and output", (alone.returncode, alone.stdout), (run.returncode, run.stdout))
            check.equal("recorded", 1, Ledger(events("group.wake")).made[7406])
            check.sound("group.wake")


PATIENT = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int got;
static void count(int number) { (void)number; got++; }
int main(int argc, char **argv)
{
    signal(atoi(argv[1]), count);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 100; i++)
        usleep(10000);
    free(malloc(7407));
    printf("%d\\n", got);
    return argc + 3;
}
"""


def check_often(check):
    """What is sent to the recorder is the program's, however often: as `timeout` does, which tells its child and the whole group."""
    with open("patient.c", "w", encoding="ascii") as f:
        f.write(PATIENT)
    subprocess.run(["gcc", "-O0", "-o", "patient", "patient.c"], check=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        check.about(f"signal {int(number)} three times")
        process = subprocess.Popen([HEAPWAKE, "record", "-q", "-o", "often.wake", "--", "./patient", str(int(number))],
                                   stdout=subprocess.PIPE, start_new_session=True)
        check.equal("first line", b"ready\n", process.stdout.readline())
        for _ in range(3):
            process.send_signal(number)
            time.sleep(0.1)
        check.equal("exit status and output", (5, b"3\n"), (process.wait(), process.stdout.read()))
        check.equal("recorded", 1, Ledger(events("often.wake")).made[7407])
        check.sound("often.wake")


HASTY = """#include <signal.h>
#include <stdlib.h>
int main(void)
{
    free(malloc(10));
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    return 5;
}
"""


def check_last_moments(check):
    check.about("just before the end")
    with open("hasty.c", "w", encoding="ascii") as f:
        f.write(HASTY)
    subprocess.run(["gcc", "-O0", "-o", "hasty", "hasty.c"], check=True)
    for what, expected in (("tag", ["signal-1", "signal-2", "signal-3"]), ("toggle", ["recording off"])):
        check.equal(f"exit status, {what}", 5, record(["./hasty"], options=["--sigusr1", what]).status)
        check.equal(f"marks, {what}", expected, [e.kind for e in events("out.wake") if e.event == "tag"])
        check.sound("out.wake")
    record(["./hasty"], options=["--sigusr1", "report"])
    check.equal("reports", 2, len(glob.glob("hasty-*.memlog")))  # one of that moment, one of the end


BUSY = """#include <signal.h>
#include <stdlib.h>
int main(void)
{
    for (int i = 1; i <= 200; i++) {
        void *volatile before = malloc(100000 + i);
        for (int k = 0; k < 20000; k++) {
            void *volatile other = malloc(10);
            free(other);
        }
        raise(SIGUSR1);
        free(before);
    }
    return 0;
}
"""


def check_busy(check):
    """The collector is behind then: what was allocated before the signal is before its mark all the same."""
    check.about("while the program allocates")
    with open("busy.c", "w", encoding="ascii") as f:
        f.write(BUSY)
    subprocess.run(["gcc", "-O1", "-o", "busy", "busy.c"], check=True)
    record(["./busy"], options=["--sigusr1", "tag"])
    check.sound("out.wake")
    seen, marks, early = 0, 0, []
    for e in events("out.wake"):
        if e.event == "alloc" and e.size > 100000:
            seen = max(seen, e.size - 100000)
        elif e.event == "tag":
            marks += 1
            early += [e.kind] if int(e.kind.rpartition("-")[2]) > seen else []
    check.holds(marks > 10, f"Only {marks} signals have a mark.")
    check.equal("marks before what the signal came after", [], early)


def check_own(check):
    check.about("handlers of the program")
    expected = {"default": 1, "own": 1, "first": 1, "second": 1}
    check.equal("alone", expected, truth(native([workload("told"), "handler"])))
    for what in ("toggle", "report", "tag"):
        run = record([workload("told"), "handler"], env={"HEAPWAKE_SIGUSR1": what, "HEAPWAKE_SIGUSR2": what})
        check.equal(what, expected, truth(run))
        check.equal(f"{what}: marks", 0, sum(e.event == "tag" for e in events("out.wake")))
    check.about("by default")
    check.equal("the signal kills, as it does alone", -signal.SIGUSR1,
                native([HEAPWAKE, "record", "-q", "-o", "d.wake", "--", "sh", "-c", "kill -USR1 $$"]).status)


def check_daemons(check):
    """Who has ended the program by the recorder is not kept waiting for daemons that the program leaves behind."""
    script = "setsid sleep 30 >/dev/null 2>&1 & echo $!; "
    for what, rest, status in (("while the program runs", "exec sleep 40", -signal.SIGTERM), ("when the program is over", "exit 3", 3)):
        check.about(f"SIGTERM {what}, with a daemon")
        recorder = subprocess.Popen([HEAPWAKE, "record", "-q", "--symbols", "no", "-o", "daemon.wake", "--", "sh", "-c", script + rest],
                                    stdout=subprocess.PIPE, start_new_session=True)
        daemon = int(recorder.stdout.readline())
        time.sleep(1)  # until all are what they become
        recorder.terminate()
        began = time.monotonic()
        check.equal("exit status", status, recorder.wait(60))
        check.holds(time.monotonic() - began < 15, f"It took {time.monotonic() - began:.1f} s.")
        os.kill(daemon, signal.SIGKILL)  # it ran on
        check.holds(any(e.pid == daemon for e in events("daemon.wake")), "Nothing of the daemon is recorded.")
        os.unlink("daemon.wake")


if __name__ == "__main__":
    check = Check()
    check_toggle(check)
    check_report(check)
    check_group(check)
    check_often(check)
    check_last_moments(check)
    check_busy(check)
    check_own(check)
    check_daemons(check)
    check.done()
