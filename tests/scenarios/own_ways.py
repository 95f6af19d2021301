#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs with ways of their own: they change or drop their environment, run others with none, become daemons by
libc's own function, and fork many children that are sampled. Stacks are whole and everybody is recorded."""
import json
import os
import subprocess

from support import Check, Ledger, events, info, native, record, tool

SOURCE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <heapwake.h>

static void *volatile kept;

__attribute__((noinline)) static void deep(int n, size_t size)
{
    if (n > 0)
        deep(n - 1, size);
    else
        kept = malloc(size);
    __asm__ volatile("");
}

static int ended(pid_t pid)
{
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int unset(const char *how)
{
    if (strcmp(how, "early") != 0)
        deep(3, 1234);
    unsetenv("FIRST");
    unsetenv("LAST");
    unsetenv("HEAPWAKE_CHILDREN");
    deep(3, 4321);
    pid_t pid = fork();
    if (pid == 0) {
        deep(4, 4321);
        _exit(0);
    }
    return ended(pid);
}

/* Parent and children come by the same stacks, before and behind each fork. */
static int again(int forks)
{
    for (int i = 0; i <= forks; i++) {
        deep(5, 6661);
        if (i < forks)
            (void)!fork();
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* As programs do that write a title over their first strings. */
static int title(char **list)
{
    char *first = list[0], *last = list[0];
    deep(9, 1234);
    for (; *list != NULL; list++)
        last = *list + strlen(*list);
    environ = NULL;
    memset(first, 'x', (size_t)(last - first));
    pid_t pid = fork();
    if (pid == 0) {
        deep(9, 4321);
        _exit(0);
    }
    return ended(pid);
}

/* Runs "leaf" in one way or another. */
static int run(const char *self, const char *how)
{
    char *const argv[] = {(char *)self, "leaf", NULL}, *const none[] = {NULL};
    pid_t pid = 0;
    if (strcmp(how, "spawn") == 0)
        return posix_spawn(&pid, self, NULL, NULL, argv, NULL) == 0 ? ended(pid) : -1;
    pid = strcmp(how, "vfork") == 0 ? vfork() : fork();
    if (pid != 0)
        return ended(pid);
    if (strcmp(how, "clearenv") == 0) {
        clearenv();
        execl(self, self, "leaf", NULL);
    } else if (strcmp(how, "at") == 0) {
        execveat(AT_FDCWD, self, argv, none, 0);
    } else if (strcmp(how, "at-descriptor") == 0) {
        execveat(open(self, O_PATH), "", argv, none, AT_EMPTY_PATH);
    } else if (strcmp(how, "at-nothing") == 0) {
        _exit(execveat(-1, NULL, argv, none, 0) == -1 ? errno : 0);
    } else {
        execve(self, argv, NULL);
    }
    _exit(99);
}

static int become(const char *file, int stay, int keep)
{
    if (daemon(stay, keep) != 0)
        return 9;
    usleep(50000);
    for (int i = 0; i < 1000; i++)
        free(malloc(567));
    FILE *f = fopen(file, "w");
    char where[256] = "";
    struct stat about[3];
    for (int i = 0; i < 3; i++)
        about[i] = fstat(i, &about[i]) == 0 ? about[i] : (struct stat){0};
    fprintf(f, "%d %d %s %lx %lx %lx\n", getsid(0) == getpid(), getppid() == 1, getcwd(where, sizeof where), (long)about[0].st_rdev,
            (long)about[1].st_rdev, (long)about[2].st_rdev);
    for (int i = 0; i < 20; i++)
        fprintf(f, "%d", fcntl(i, F_GETFD));
    return fclose(f);
}

static int scope(void)
{
    HEAPWAKE_SUPPRESS_BEGIN();
    HEAPWAKE_SUPPRESS_BEGIN();
    kept = malloc(3331);
    pid_t pid = fork();
    if (pid == 0) {
        kept = malloc(3332);
        HEAPWAKE_SUPPRESS_END();
        kept = malloc(3333);
        HEAPWAKE_SUPPRESS_END();
        kept = malloc(3334);
        _exit(0);
    }
    return ended(pid);
}

static int breed(int children)
{
    for (int i = 0; i < 600; i++)
        free(malloc(1000));
    for (int i = 0; i < children; i++) {
        if (fork() == 0) {
            static void *blocks[4096];
            for (int k = 0; k < 4096; k++)
                blocks[k] = malloc(1000);
            for (int k = 0; k < 4096; k++)
                free(blocks[k]);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (strcmp(argv[1], "unset") == 0)
        return unset(argv[2]);
    if (strcmp(argv[1], "run") == 0)
        return run(argv[0], argv[2]);
    if (strcmp(argv[1], "daemon") == 0)
        return become(argv[2], atoi(argv[3]), atoi(argv[4]));
    if (strcmp(argv[1], "again") == 0)
        return again(atoi(argv[2]));
    if (strcmp(argv[1], "title") == 0)
        return title(environ);
    if (strcmp(argv[1], "scope") == 0)
        return scope();
    if (strcmp(argv[1], "breed") == 0)
        return breed(atoi(argv[2]));
    for (int i = 0; i < 100; i++)
        free(malloc(8881));
    return 42;
}
"""


def functions(path, size):
    """Those of the stacks that lost a block of this size, innermost first."""
    sites = json.loads(tool("report", "--json", "--leaks", "-n", "100", path).out)["leaks"]["sites"]
    return [[f["function"] for f in s["frames"]] for s in sites if s["bytes"] == size]


def check_unset(check, program):
    env = {"FIRST": "1", "LAST": "2"}
    for how in ("early", "late"):
        check.about(f"variables that are taken out, {how}")
        run = record([program, "unset", how], env=env)
        check.equal("exit status", 0, run.status)
        facts = check.sound("out.wake")
        check.equal("cut stacks", 0, facts["cut_stacks"])
        check.equal("processes", 2, facts["processes"])
        stacks = functions("out.wake", 4321)
        check.equal("stacks", 2, len(stacks))
        for stack in stacks:
            check.holds(stack.count("deep") in (4, 5) and "main" in stack and "unset" in stack, f"A stack is {stack}.")
    check.about("children that were not wanted")
    record([program, "unset", "late"], options=["--children", "no"], env=env)
    check.equal("processes", 1, check.sound("out.wake")["processes"])


def check_title(check, program):
    check.about("a title over the environment")
    record([program, "title"], options=["--children", "no"])
    check.equal("processes", 1, check.sound("out.wake")["processes"])
    record([program, "title"], options=["--depth", "4"])
    check.equal("processes", 2, check.sound("out.wake")["processes"])
    stacks = functions("out.wake", 1234 + 4321)  # what is left of both is the same
    check.equal("frames, and one for those left out", [5], [len(s) for s in stacks])
    check.holds(all(s[:2] == ["deep", "deep"] for s in stacks), f"The stacks are {stacks}.")


def check_again(check, program):
    for options in ([], ["--depth", "4"], ["--free-stacks"]):
        check.about(f"the same stacks in parent and children {options}")
        record([program, "again", 4], options=options)
        check.equal("processes", 16, check.sound("out.wake")["processes"])
        stacks = {e.stack for e in events("out.wake") if e.event == "alloc" and e.size == 6661}
        check.equal("blocks", 31, Ledger(events("out.wake")).made[6661])
        check.equal("stacks", {"1"}, stacks)
        sites = json.loads(tool("report", "--json", "--leaks", "out.wake").out)["leaks"]["sites"]
        check.equal("sites", [31], [s["blocks"] for s in sites if s["frames"] and s["frames"][0]["function"] == "deep"])


def check_run(check, program):
    for how, status in (("exec", 42), ("vfork", 42), ("spawn", 42), ("clearenv", 42), ("at", 42), ("at-descriptor", 42), ("at-nothing", None)):
        check.about(f"run without an environment, {how}")
        alone = native([program, "run", how])
        run = record([program, "run", how])
        check.equal("exit status", alone.status, run.status)
        check.holds(status in (None, alone.status), f"Alone it ends with {alone.status}.")
        if status is not None:
            check.equal("blocks of the other program", 100, Ledger(events("out.wake")).made[8881])
        check.sound("out.wake")


def check_daemon(check, program):
    for stay, keep in ((1, 1), (0, 1), (1, 0), (0, 0)):
        check.about(f"daemon({stay}, {keep})")
        seen = []
        for start in (native, record):
            path = os.path.abspath("daemon.txt")
            if os.path.exists(path):
                os.remove(path)
            run = start([program, "daemon", path, stay, keep], **({} if start is native else {"output": os.path.abspath("out.wake")}))
            for _ in range(200):
                if os.path.exists(path) and os.path.getsize(path) > 20:
                    break
                subprocess.run(["sleep", "0.05"], check=True)
            with open(path, encoding="utf-8") as f:
                seen.append((run.status, f.read()))
        check.equal("what it says", *seen)
        check.equal("blocks", 1000, Ledger(events("out.wake")).made[567])
        check.equal("processes", 2, check.sound("out.wake")["processes"])


def check_scope(check, program):
    check.about("a scope that does not count, and a fork in it")
    check.equal("exit status", 0, record([program, "scope"]).status)
    made = Ledger(events("out.wake")).made
    check.equal("blocks", [0, 0, 0, 1], [made[size] for size in range(3331, 3335)])
    check.sound("out.wake")


def check_breed(check, program):
    check.about("samples of forked children")
    children, runs, inside = 64, 6, 0
    true = children * 4096 * 1000
    for _ in range(runs):
        record([program, "breed", children], options=["--sample", "512K", "--symbols", "no"])
        check.sound("out.wake")
        counts = [p["allocations"] for p in info("out.wake")["processes_list"]][1:]
        check.holds(len(set(counts)) > 3, f"All children have the same samples: {counts[:3]}.")
        inside += abs(info("out.wake")["allocated_bytes"] - true) < 4 * (512 * 1024 * true) ** 0.5
    check.equal("estimates within four deviations", runs, inside)


def main():
    check = Check()
    with open("ways.c", "w", encoding="ascii") as f:
        f.write(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "-fno-optimize-sibling-calls", "-I", os.path.join(os.environ["ROOT"], "include"), "-o", "ways",
                    "ways.c"], check=True)
    program = os.path.abspath("ways")
    check_unset(check, program)
    check_title(check, program)
    check_again(check, program)
    check_run(check, program)
    check_daemon(check, program)
    check_scope(check, program)
    check_breed(check, program)
    check.done()


main()
