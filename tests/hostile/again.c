/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * again COUNT PROGRAM [ARGUMENT...]: runs a program COUNT times, one after the
 * other, and says how each ended: {"child": pid, "status": as of waitpid}.  One that
 * has not ended after 30 seconds is killed with its group, and its status is "hangs".
 */
#include "../workloads/truth.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { PATIENCE_MS = 30000 };

int main(int argc, char **argv)
{
    for (int i = 0; argc > 2 && i < atoi(argv[1]); i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            setpgid(0, 0);
            execvp(argv[2], argv + 2);
            _exit(127);
        }
        struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
        int ended = poll(&end, 1, PATIENCE_MS);
        close(end.fd);
        if (ended == 0)
            kill(-pid, SIGKILL);
        if (waitpid(pid, &status, 0) != pid)
            return 1;
        truth_add("{\"child\": %d, \"status\": ", (int)pid);
        if (ended == 1)
            truth_add("%d}\n", status);
        else
            truth_add("\"hangs\"}\n");
        truth_tell(1);
    }
    return 0;
}
