/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * relaunch COUNT: forks COUNT children, 16 at a time. Each makes 10 blocks of 7069 bytes and runs this program anew, by
 * execl, which makes 20 of 7070 bytes and ends. The last line tells the children's numbers.
 */
#include "truth.h"

#include <sys/wait.h>

enum { RELAUNCH_AT_ONCE = 16 };

static void make(int count, size_t size)
{
    for (int i = 0; i < count; i++)
        truth_keep(malloc(size));
}

static void be_child(const char *self)
{
    make(10, 7069);
    execl(self, self, (char *)NULL);
    _exit(97);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        make(20, 7070);
        return 0;
    }
    int count = atoi(argv[1]), bad = 0;
    truth_add("{\"pids\": [");
    for (int i = 0; i < count + RELAUNCH_AT_ONCE; i++) {
        int status = 0;
        if (i >= RELAUNCH_AT_ONCE)
            bad += wait(&status) < 0 || status != 0;
        if (i >= count)
            continue;
        pid_t pid = fork();
        if (pid == 0)
            be_child(argv[0]);
        truth_add("%s%d", i == 0 ? "" : ", ", (int)pid);
    }
    truth_add("]}\n");
    truth_tell(1);
    return bad != 0;
}
