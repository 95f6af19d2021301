/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * throng CASE: several threads make the first call of the program in the same moment.
 *
 * The threads are made by hand, in .preinit_array: pthread_create allocates, and would
 * be the first.  libc does not know of them and takes no lock in its own malloc, so the
 * blocks come from libtrickle.
 *
 * build: -L{build}/tests/hostile -ltrickle -Wl,-rpath,{build}/tests/hostile
 */
#include "hostile.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>

enum { THREADS = 6, STACK = 1 << 17, WORDS = 2 * STACK / sizeof(uintptr_t) };

/* glibc's description of a thread, as far as code relies on it, in words. */
enum { SELF = 0, SELF_AGAIN = 2, GUARD = 5, MANGLER = 6, LIST = 88, NUMBER = 90 };

static _Alignas(4096) uintptr_t areas[THREADS][WORDS]; /* to ask for memory might be the first call */
static int alive[THREADS], ready, open_gate;

static void take_part(int who)
{
    while (!__atomic_load_n(&open_gate, __ATOMIC_ACQUIRE))
        __builtin_ia32_pause();
    void *block = make(who % 2 == 0 ? 13063 : 13093);
    for (int i = 0; i < 40; i++) {
        void *next = make(13099);
        if (i % 2 == 0)
            drop(next, 13099);
    }
    drop(block, who % 2 == 0 ? 13063 : 13093);
}

static int thread_run(void *who)
{
    __atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
    take_part((int)(uintptr_t)who);
    return 0;
}

static void start_by_hand(uintptr_t who)
{
    uintptr_t *self = areas[who] + STACK * 3 / 2 / sizeof *self;
    self[SELF] = self[SELF_AGAIN] = (uintptr_t)self;
    self[LIST] = self[LIST + 1] = (uintptr_t)&self[LIST];
    __asm__("movq %%fs:40, %0" : "=r"(self[GUARD]));
    __asm__("movq %%fs:48, %0" : "=r"(self[MANGLER]));
    alive[who] = 1;
    int number = clone(thread_run, (char *)areas[who] + STACK,
                       CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                           CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
                       (void *)who, &self[NUMBER], self, &alive[who]);
    expect(number > 0, "no thread");
}

static void before_all(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
    for (uintptr_t i = 0; i < THREADS; i++)
        start_by_hand(i);
    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < THREADS)
        sched_yield();
    __atomic_store_n(&open_gate, 1, __ATOMIC_RELEASE);
    take_part(THREADS);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = before_all;

static void all_first(void)
{
    for (int i = 0; i < THREADS; i++) {
        while (__atomic_load_n(&alive[i], __ATOMIC_ACQUIRE) != 0)
            syscall(SYS_futex, &alive[i], FUTEX_WAIT, 1, NULL, NULL, 0);
    }
    work(13103, 10);
}

HOSTILE_CASES({"all_first", all_first})
