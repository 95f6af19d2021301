/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * check_run: see check_run.h.
 *
 * The recorder ends as the program does, by its signal if need be, so it runs in
 * a process of its own.  Meanwhile interrupts are for that one.
 */
#include "cmd/check_run.h"

#include "tool/vec.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int check_run_start(char *const *arguments, pid_t *pid, struct err *err)
{
    static const int ours[] = {SIGINT, SIGQUIT};
    posix_spawnattr_t how;
    sigset_t usual;
    posix_spawnattr_init(&how);
    sigemptyset(&usual);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        sigaddset(&usual, ours[i]);
    posix_spawnattr_setsigdefault(&how, &usual);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(pid, "/proc/self/exe", NULL, &how, arguments, environ);
    posix_spawnattr_destroy(&how);
    return error == 0 ? 0 : err_set(err, ERR_SYSTEM, "The recorder cannot be started: %s.", strerror(error));
}

int check_run(char *const *program, const char *output, int *status, struct err *err)
{
    VEC(char *) arguments = {0};
    const char *const first[] = {"heapwake", "record", "-q", "-o", output, "--"};
    bool fine = true;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        fine = fine && vec_push(&arguments, (char *)first[i]);
    for (char *const *word = program; fine && *word != NULL; word++)
        fine = vec_push(&arguments, *word);
    fine = fine && vec_push(&arguments, NULL);
    int code = fine ? 0 : err_no_memory(err);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before[2];
    pid_t pid = 0;
    sigaction(SIGINT, &ignore, &before[0]);
    sigaction(SIGQUIT, &ignore, &before[1]);
    if (code == 0)
        code = check_run_start(arguments.data, &pid, err);
    while (code == 0 && waitpid(pid, status, 0) < 0) {
        if (errno != EINTR)
            code = err_set(err, ERR_SYSTEM, "The recorder cannot be waited for: %s.", strerror(errno));
    }
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGQUIT, &before[1], NULL);
    vec_release(&arguments);
    return code;
}

const char *check_run_describe(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        snprintf(text, size, "killed by SIG%s", name != NULL ? name : "nal");
    } else {
        snprintf(text, size, "exit code %d", WEXITSTATUS(status));
    }
    return text;
}
