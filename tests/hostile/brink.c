/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * brink CASE: programs at the brink of what is there: addresses that nobody can read, stacks without room, memory that
 * goes beside the stack; and those that ask about sandboxes, or close one for a child alone.
 * build: -I{root}/include -O2 -fomit-frame-pointer
 */
#include <heapwake.h>

#include "hostile.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static void await(pid_t pid, int status)
{
    int seen;
    expect(waitpid(pid, &seen, 0) == pid && WIFEXITED(seen) && WEXITSTATUS(seen) == status, "a child failed");
}

/* Children that make blocks of their own. */
static void children(size_t size)
{
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            become_child();
            work(size, 6);
            tell();
            _exit(7);
        }
        await(pid, 7);
    }
    work(size, 6);
}

/* ---------------------------------------------------------------- addresses */

/* The kernel says EFAULT. */
static void bad_environment(void)
{
    char *argv[] = {(char *)"true", NULL}, *strings[] = {(char *)8, NULL};
    char **unreadable = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(edge + 4096, 4096, PROT_NONE);
    memset(edge, 'x', 4096); /* no end in sight */
    char *endless[] = {edge + 4000, NULL};
    char ***lists[] = {(char ***)(uintptr_t)1, (char ***)(void *)strings, (char ***)(void *)unreadable,
                       (char ***)(void *)endless};
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        pid_t pid;
        errno = 0;
        expect(execve("/bin/true", argv, (char **)lists[i]) == -1 && errno == EFAULT, "exec is not refused");
        expect(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, (char **)lists[i]) == EFAULT,
               "spawn is not refused");
    }
    errno = 0;
    expect(execve((const char *)(uintptr_t)8, argv, environ) == -1 && errno == EFAULT, "a bad path");
    work(9701, 10);
}

/* ------------------------------------------------------------------- stacks */

enum { VARIABLES = 4000 };

static char *many[VARIABLES + 1];

static void *with_little_room(void *unused)
{
    char *argv[] = {(char *)"true", NULL};
    pid_t pid;
    expect(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, many) == 0, "no spawn");
    await(pid, 0);
    expect(posix_spawnp(&pid, "true", NULL, NULL, argv, many) == 0, "no spawnp");
    await(pid, 0);
    for (int i = 0; i < 3; i++) {
        if ((pid = vfork()) == 0) {
            execve("/bin/true", argv, many);
            _exit(1);
        }
        await(pid, 0);
    }
    return unused;
}

/* A large environment, without what the recorder needs, on a stack of 16 KiB. */
static void little_room(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    for (int i = 0; i < VARIABLES; i++) {
        many[i] = malloc(32);
        snprintf(many[i], 32, "VARIABLE_%d=%d", i, i);
    }
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    expect(pthread_create(&thread, &attributes, with_little_room, NULL) == 0, "no thread");
    pthread_join(thread, NULL);
    for (int i = 0; i < VARIABLES; i++)
        free(many[i]);
    work(9703, 10);
}

enum { STACK = 65536 };

static char *neighbour;

static NOINLINE void body(void)
{
    work(9705, 10);
    munmap(neighbour, STACK);
    work(9705, 10);
    mmap(neighbour, STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    work(9705, 10);
}

/* Runs on a stack that no unwind data knows of: the walk goes on into what lies above it. */
static NOINLINE void on_stack(void *top, void (*function)(void))
{
    __asm__ volatile("movq %%rsp, %%rbx\n\tmovq %0, %%rsp\n\tcall *%1\n\tmovq %%rbx, %%rsp"
                     :
                     : "r"(top), "r"(function)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void gone_above(void)
{
    for (int i = 0; i < 5; i++) {
        char *stack = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        neighbour = stack + STACK;
        on_stack(neighbour, body);
        work(9705, 4);
    }
}

/* ------------------------------------------------------------------ threads */

enum { CROWD = 400 };

static pthread_barrier_t all_here;

static void *stand(void *unused)
{
    void *block = make(9707);
    pthread_barrier_wait(&all_here);
    drop(block, 9707);
    return unused;
}

/* More threads than a small pool has chunks, all there at once. */
static void crowd(void)
{
    static pthread_t threads[CROWD];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 32768);
    pthread_barrier_init(&all_here, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        expect(pthread_create(&threads[i], &attributes, stand, NULL) == 0, "no thread");
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
}

/* ---------------------------------------------------------------- sandboxes */

/* What libraries do to find out what the kernel can: nothing is installed. */
static void asks_about_filters(void)
{
    uint32_t action = SECCOMP_RET_LOG;
    expect(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1, "a filter that is none");
    expect(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 8, 0, 0) == -1, "a filter that cannot be read");
    expect(prctl(PR_SET_SECCOMP, 77, NULL, 0, 0) == -1, "a mode that is none");
    expect(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1, "strict with flags");
    expect(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0, "no actions");
    expect(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) == -1, "no filter");
    expect(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0, "a filter is there");
    children(9709);
}

/* Forbids what only a recorder would ask for on the way to another program, and in it. */
static int close_sandbox(void)
{
    struct sock_filter all[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 3, 0),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 2, 0),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 1, 0),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog program = {sizeof all / sizeof *all, all};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

/* Deeper than the program has been: what is not known of the stack has to do. */
static __attribute__((noinline)) void dig(int levels)
{
    volatile char room[4096];
    room[0] = (char)levels;
    if (levels > 0)
        dig(levels - 1);
    else
        drop(make(9715), 9715);
    room[1] = room[0];
}

/* A child that borrows our memory shuts itself in, allocates, and goes. */
static void borrowed_cage(void)
{
    char *argv[] = {(char *)"true", NULL};
    for (int i = 0; i < 3; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            if (close_sandbox() == 0)
                dig(40);
            if (i < 2)
                execve("/bin/true", argv, environ);
            _exit(0);
        }
        await(pid, 0);
    }
    expect(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0, "the parent is shut in");
    children(9711);
}

/* Children of all kinds switch recording off, for themselves. */
static void silent_children(void)
{
    work(9713, 6);
    for (int i = 0; i < 3; i++) {
        pid_t pid = i == 0   ? fork()
                    : i == 1 ? (pid_t)syscall(SYS_fork)
                             : (pid_t)syscall(SYS_clone, 17, 0, 0, 0, 0);
        if (pid == 0) {
            if (heapwake_disable != NULL)
                heapwake_disable();
            _exit(7);
        }
        await(pid, 7);
    }
    work(9713, 6);
}

HOSTILE_CASES({"bad_environment", bad_environment}, {"little_room", little_room}, {"gone_above", gone_above},
              {"crowd", crowd}, {"asks_about_filters", asks_about_filters}, {"borrowed_cage", borrowed_cage},
              {"silent_children", silent_children})
