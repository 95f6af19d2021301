/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * last CASE: the last moments of a process.
 */
#include "hostile.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>

static const char *wanted = "";

static void raw_exit_group(void)
{
    work(9343, 50);
    tell();
    syscall(SYS_exit_group, 21);
}

/* Only the calling thread ends; it is the only one. */
static void raw_exit(void)
{
    work(9343, 50);
    tell();
    syscall(SYS_exit, 22);
}

static void at_quick(void)
{
    work(9349, 6);
    tell();
}

static void quick(void)
{
    at_quick_exit(at_quick);
    work(9349, 6);
    quick_exit(23);
}

/* exit handlers that register exit handlers. */
static int handlers_left = 40;

static void chained(void)
{
    drop(make(9371), 9371);
    if (--handlers_left > 0)
        atexit(chained);
    else
        tell();
}

static void atexit_chain(void)
{
    atexit(chained);
    exit(24);
}

/* exit() while threads go on allocating: what is told is a part of what there was. */
static void *run_on(void *argument)
{
    for (;;) {
        drop(make(9377), 9377);
        sched_yield();
    }
    return argument;
}

static void exit_race(void)
{
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run_on, NULL);
    }
    usleep(3000);
    tell();
    exit(25);
}

/* The handler of a crash allocates, then lets the program die of it. */
static void on_crash(int number)
{
    work(9391, 10);
    tell();
    signal(number, SIG_DFL);
}

static void crash_handler(void)
{
    signal(SIGSEGV, on_crash);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    work(9391, 10);
    *(volatile int *)0 = 1;
}

static void no_core(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static void on_illegal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ucontext_t *c = context;
    drop(make(9397), 9397);
    c->uc_mcontext.gregs[REG_RIP] += 2; /* past ud2 */
}

static void illegal_goes_on(void)
{
    sigaction(SIGILL, &(struct sigaction){.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO}, NULL);
    for (int i = 0; i < 20; i++)
        __asm__ volatile("ud2");
}

/* A stack that overflows; the handler runs on a stack of its own. */
static sigjmp_buf back;

static void on_overflow(int number)
{
    (void)number;
    work(9403, 2);
    siglongjmp(back, 1);
}

static NOINLINE int overflow(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    if (depth % 64 == 0)
        drop(make(9403), 9403);
    return overflow(depth + 1) + room[0];
}

static void stack_overflow(void)
{
    static char spare[16384];
    sigaltstack(&(stack_t){.ss_sp = spare, .ss_size = sizeof spare}, NULL);
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_overflow, .sa_flags = SA_ONSTACK}, NULL);
    setrlimit(RLIMIT_STACK, &(struct rlimit){1 << 20, RLIM_INFINITY});
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0)
            overflow(1);
        work(9403, 4);
    }
}

static void double_free(void)
{
    no_core();
    void *block = make(9413);
    drop(block, 9413);
    tell();
    drop(block, 9413);
    free(block);
}

static void foreign_free(void)
{
    static _Alignas(16) char room[64];
    no_core();
    work(9419, 4);
    tell();
    free(truth_keep(room + 16));
}

static void aborts_in_thread(void)
{
    no_core();
    pthread_t thread;
    work(9421, 4);
    tell();
    pthread_create(&thread, NULL, (void *(*)(void *))(void (*)(void))abort, NULL);
    pthread_join(thread, NULL);
}

static void kills_itself(void)
{
    for (int i = 0; i < 500; i++)
        work(9431, 2);
    tell();
    kill(getpid(), SIGKILL);
}

static void returns_late(void)
{
    wanted = "returns_late";
    work(9433, 4);
}

__attribute__((destructor)) static void last_of_all(void)
{
    if (wanted[0] != '\0') {
        memset(hostile_counts, 0, sizeof hostile_counts); /* those before have been told */
        work(9437, 7);
        tell();
    }
}

HOSTILE_CASES({"raw_exit_group", raw_exit_group}, {"raw_exit", raw_exit}, {"quick", quick},
              {"atexit_chain", atexit_chain}, {"exit_race", exit_race}, {"crash_handler", crash_handler},
              {"illegal_goes_on", illegal_goes_on}, {"stack_overflow", stack_overflow},
              {"double_free", double_free}, {"foreign_free", foreign_free},
              {"aborts_in_thread", aborts_in_thread}, {"kills_itself", kills_itself},
              {"returns_late", returns_late})
