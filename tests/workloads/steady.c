/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * steady BLOCKS [WAY]: makes and releases BLOCKS blocks and prints a digest of
 * their contents, whatever happens around it.
 *
 *   seccomp   from the middle on, a filter kills on all but the calls that
 *             glibc's malloc, write and exit need
 *   become    in the middle a filter is installed that kills on what nobody needs who
 *             does not record (memfd_create and sockets), and it begins anew, without WAY
 *   alone     the same with an empty environment
 *   wait      in the middle says "half" and waits for a line on its input
 */
#include "truth.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static uint64_t digest = 14695981039346656037u;
static long made, freed;

static void churn(long blocks)
{
    unsigned char *kept[64] = {NULL};
    for (long i = 0; i < blocks; i++) {
        unsigned char **slot = &kept[i % 64];
        if (*slot != NULL) {
            digest = (digest ^ (*slot)[7068]) * 1099511628211u;
            free(*slot);
            freed++;
        }
        *slot = malloc(7069);
        made++;
        if (*slot == NULL)
            _exit(97);
        memset(*slot, (int)(i * 31), 7069);
    }
    for (int i = 0; i < 64; i++) {
        freed += kept[i] != NULL;
        free(kept[i]);
    }
}

static void lock_down(void)
{
    static const int allowed[] = {SYS_write, SYS_exit_group, SYS_rt_sigreturn, SYS_brk,
                                  SYS_mmap,  SYS_munmap,     SYS_read};
    enum { N = sizeof allowed / sizeof *allowed };
    struct sock_filter code[N + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (int i = 0; i < N; i++)
        code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
                                                   (unsigned char)(N - i), 0);
    code[N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[N + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {N + 3, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(96);
}

static void become(const char *program, const char *blocks, int keep)
{
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 2, 0),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    char *const nothing[] = {NULL};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(96);
    if (keep)
        execl(program, program, blocks, (char *)NULL);
    else
        execle(program, program, blocks, (char *)NULL, nothing);
    _exit(94);
}

int main(int argc, char **argv)
{
    long blocks = argc > 1 ? atol(argv[1]) : 1000;
    const char *way = argc > 2 ? argv[2] : "";
    char byte;
    churn(blocks);
    if (strcmp(way, "seccomp") == 0)
        lock_down();
    if (strcmp(way, "become") == 0 || strcmp(way, "alone") == 0)
        become(argv[0], argv[1], way[0] == 'b');
    if (strcmp(way, "wait") == 0 && (write(1, "half\n", 5) != 5 || read(0, &byte, 1) != 1))
        _exit(95);
    churn(blocks);
    truth_add("{\"size\": 7069, \"made\": %ld, \"freed\": %ld, \"digest\": \"%016lx\"}\n", made, freed,
              (unsigned long)digest);
    if (write(1, truth_text, truth_length) < 0)
        _exit(7);
    _exit(8);
}
