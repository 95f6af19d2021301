/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * confined WAY...: installs a seccomp filter that allows everything, and goes on in these ways, one after the other:
 *
 *   fork     a child that makes blocks
 *   spawn    posix_spawn of this program
 *   vfork    a child of vfork, which becomes this program by exec
 *   refused  a try to become what is not there
 *   exec     becomes this program
 *   kill     ends by SIGKILL
 *
 * Without a WAY it makes 10 blocks of 7013 bytes and ends.
 */
#include "truth.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

extern char **environ;

static void make(size_t size)
{
    for (int i = 0; i < 10; i++)
        truth_keep(malloc(size));
}

static void confine(void)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(96);
}

static void go(const char *way, char *self)
{
    char *const words[] = {self, NULL};
    pid_t pid = 0;
    if (strcmp(way, "fork") == 0 && (pid = fork()) == 0) {
        make(7013);
        _exit(0);
    }
    if (strcmp(way, "spawn") == 0 && posix_spawn(&pid, self, NULL, NULL, words, environ) != 0)
        _exit(95);
    if (strcmp(way, "vfork") == 0 && (pid = vfork()) == 0) {
        execv(self, words);
        _exit(94);
    }
    if (strcmp(way, "refused") == 0)
        execv("/nowhere/at/all", words);
    if (strcmp(way, "exec") == 0)
        execv(self, words);
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        make(7013);
        return 3;
    }
    confine();
    make(7019);
    for (int i = 1; i < argc; i++)
        go(argv[i], argv[0]);
    return 4;
}
