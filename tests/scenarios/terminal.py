#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ctrl-C, Ctrl-Z and `fg` at a terminal: the program gets what it gets alone, as often, and whoever waits for it
sees the same. A shell of our own with job control sits at the terminal."""
import os
import pty
import signal
import subprocess
import time

from support import HEAPWAKE, Check

JOB = """#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int got;
static void count(int number) { (void)number; got++; }
static void halt(int number) { (void)number; raise(SIGSTOP); }
int main(int argc, char **argv)
{
    free(malloc(7501));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "group") == 0)
            setpgid(0, 0);
        if (strcmp(argv[i], "halts") == 0)
            signal(SIGTSTP, halt);
        if (strncmp(argv[i], "counts=", 7) == 0)
            signal(atoi(argv[i] + 7), count);
    }
    write(1, "ready\\n", 6);
    for (int i = 0; i < 200; i++)
        usleep(10000);
    printf("got %d\\n", got);
    return 5;
}
"""


class Shell:
    """At a terminal of its own; says how its one job has ended or been stopped, and continues it when told to."""

    def __init__(self, argv):
        told, tell = os.pipe()
        heard, hear = os.pipe()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            self.serve(argv, tell, heard)
        os.close(tell)
        os.close(heard)
        self.told, self.hear = os.fdopen(told, "r"), hear
        self.job = int(self.told.readline())
        self.said = b""
        while b"ready" not in self.said:
            self.said += os.read(self.terminal, 1000)
        time.sleep(0.2)

    @staticmethod
    def serve(argv, tell, heard):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(argv[0], argv)
        os.write(tell, f"{job}\n".encode())
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            os.tcsetpgrp(0, os.getpgrp())
            is_stopped = os.WIFSTOPPED(status)
            os.write(tell, b"stopped\n" if is_stopped else f"{os.waitstatus_to_exitcode(status)}\n".encode())
            if not is_stopped:
                os._exit(0)
            os.read(heard, 1)
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)

    def wait(self):
        """What has become of the job; nothing for five seconds is an answer too."""
        done = []
        signal.signal(signal.SIGALRM, lambda *_: done.append(os.killpg(os.getpgid(self.job), signal.SIGKILL)))
        signal.alarm(5)
        word = self.told.readline().strip()
        signal.alarm(0)
        return "nothing" if done else word

    def press(self, key):
        os.write(self.terminal, key)

    def resume(self):
        os.write(self.hear, b"\n")

    def end(self):
        os.close(self.hear)
        try:
            while piece := os.read(self.terminal, 1000):
                self.said += piece
        except OSError:
            pass
        os.close(self.terminal)
        self.told.close()
        os.waitpid(self.pid, 0)
        return [line for line in self.said.split() if line.isdigit()]


def both(check, what, run):
    """The same alone and recorded."""
    check.about(what)
    check.equal("alone and recorded", *(run(before) for before in ([], [HEAPWAKE, "record", "-q", "-o", "job.wake", "--"])))
    check.sound("job.wake")


def interrupt(*words):
    def run(before):
        shell = Shell([*before, *words])
        shell.press(b"\x03")
        return shell.wait(), shell.end()
    return run


def suspend(*words):
    def run(before):
        shell = Shell([*before, *words])
        shell.press(b"\x1a")
        seen = [shell.wait()]
        if seen == ["stopped"]:
            time.sleep(0.3)
            shell.resume()
            seen.append(shell.wait())
        return seen, shell.end()
    return run


def send_to_stop(before):
    """SIGTSTP needs a shell that could continue it."""
    shell = Shell([*before, "./job"])
    os.kill(shell.job, signal.SIGTSTP)
    seen = [shell.wait()]
    if seen == ["stopped"]:
        shell.resume()
        seen.append(shell.wait())
    return seen, shell.end()


if __name__ == "__main__":
    check = Check()
    with open("job.c", "w", encoding="ascii") as f:
        f.write(JOB)
    subprocess.run(["gcc", "-O0", "-w", "-o", "job", "job.c"], check=True)
    for own in ([], ["group"]):
        where = "in a group of its own" if own else "in the group in front"
        both(check, f"Ctrl-C, {where}", interrupt("./job", *own))
        both(check, f"Ctrl-C is counted, {where}", interrupt("./job", f"counts={int(signal.SIGINT)}", *own))
        both(check, f"Ctrl-Z and fg, {where}", suspend("./job", f"counts={int(signal.SIGCONT)}", *own))
        both(check, f"Ctrl-Z stops by SIGSTOP, {where}", suspend("./job", "halts", *own))
    both(check, "SIGTSTP is sent", send_to_stop)
    check.done()
