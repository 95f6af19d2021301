/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * old_kernel NUMBER[,NUMBER...] PROGRAM [ARGUMENT...]: runs a program as on a kernel that does not have the
 * system calls of these numbers, nor pages that a fork wipes (MADV_WIPEONFORK).
 */
#include "../workloads/truth.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { CALLS_MAX = 60 };

static struct sock_filter code[2 * CALLS_MAX + 8];
static unsigned short length;

static void add(struct sock_filter instruction)
{
    code[length++] = instruction;
}

/* What is equal to the value just loaded fails with this error. */
static void refuse(unsigned value, unsigned error)
{
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 95;
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (char *number = strtok(argv[1], ","); number != NULL && length < 2 * CALLS_MAX;
         number = strtok(NULL, ","))
        refuse((unsigned)atoi(number), ENOSYS);
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 1, 0));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])));
    refuse(MADV_WIPEONFORK, EINVAL);
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    struct sock_fprog program = {length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 96;
    execvp(argv[2], argv + 2);
    return 94;
}
