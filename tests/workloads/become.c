/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * become [WAY] PROGRAM: makes blocks, keeps some, tells, and becomes PROGRAM.
 *
 *   exec     by execve
 *   path     by execvp
 *   refused  first tries to become what is not there, then returns 5
 *   vfork    a child of vfork becomes PROGRAM; then returns 5
 */
#include "truth.h"

#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    char *const words[] = {argv[2], NULL};
    for (int i = 0; i < 100; i++) {
        void *block = truth_keep(malloc(7069));
        if (i % 4 != 0)
            free(block);
    }
    truth_add("{\"pid\": %d, \"made\": 100, \"left\": 25}\n", (int)getpid());
    truth_tell(1);
    if (strcmp(argv[1], "exec") == 0)
        execve(argv[2], words, environ);
    else if (strcmp(argv[1], "path") == 0)
        execvp(argv[2], words);
    else if (strcmp(argv[1], "refused") == 0)
        execve("/nowhere/at/all", words, environ);
    else {
        pid_t pid = vfork();
        if (pid == 0) {
            execv(argv[2], words);
            _exit(6);
        }
        waitpid(pid, NULL, 0);
    }
    return 5;
}
