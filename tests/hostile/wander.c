/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * wander CASE: blocks and addresses that wander between threads. All threads share one heap and
 * no cache stands before it (blocks are larger than those that are cached), so what one gives up
 * another gets at once.
 */
#include "hostile.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { SLOTS = 128, THREADS = 4 };

static _Atomic(void *) slots[SLOTS];
static atomic_int working;

static void share_one_heap(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 17); /* said, so that it stays */
}

static void run_threads(void *(*const functions[])(void *), unsigned count)
{
    pthread_t threads[THREADS];
    working = 1;
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, functions[i], NULL);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---------------------------------------------------------- realloc that moves */

/* A block that cannot grow where it is: another follows it. */
static void move(size_t from, size_t to)
{
    unsigned char *block = make(from), *behind = truth_keep(malloc(2003));
    block = truth_keep(realloc(block, to));
    count_freed(from);
    count_made(to);
    expect(block[0] == (unsigned char)(from * 7) && block[from - 1] == block[0],
           "content was lost on the way");
    block[0] = block[to - 1] = (unsigned char)(to * 7);
    drop(block, to);
    free(behind);
}

static void *move_small(void *argument)
{
    for (int i = 0; i < 300; i++)
        move(10163, 10169);
    working = 0;
    return argument;
}

/* Whoever asks for that size now gets the address that was just left. */
static void *take_small(void *argument)
{
    for (int i = 0; i < 150 || (working && i < 3000); i++)
        drop(make(10163), 10163);
    return argument;
}

static void moved(void)
{
    share_one_heap();
    run_threads((void *(*const[])(void *)){move_small, take_small, take_small}, 3);
}

/* The one who moves is stopped after every few instructions, and another gets its turn, where the heap's lock allows it:
 * also between the moment when the address is free and the moment when that is told. */
static atomic_uint asked, answered;

static void let_other(int number)
{
    static unsigned steps;
    (void)number;
    if (steps++ % 29 != (unsigned)hostile_pid % 29) /* others in each run */
        return;
    asked++;
    for (int i = 0; i < 3 && answered != asked; i++) /* on a busy machine a turn takes long */
        sched_yield();
}

static void step(int is_on)
{
    if (is_on)
        __asm__ volatile(
            "lea -128(%%rsp), %%rsp\n pushfq\n orl $0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
            :
            :
            : "cc", "memory");
    else
        __asm__ volatile(
            "lea -128(%%rsp), %%rsp\n pushfq\n andl $~0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
            :
            :
            : "cc", "memory");
}

static void *move_in_steps(void *argument)
{
    signal(SIGTRAP, let_other);
    for (int i = 0; i < 10; i++) {
        unsigned char *block = make(1811), *behind = truth_keep(malloc(2003));
        step(i == 9);
        block = truth_keep(realloc(block, 1861));
        step(0);
        count_freed(1811);
        count_made(1861);
        block[0] = block[1860] = (unsigned char)(1861 * 7);
        drop(block, 1861);
        free(behind);
    }
    working = 0;
    return argument;
}

static void *take_in_steps(void *argument)
{
    void *kept = make(1811);
    while (working) {
        if (answered == asked) {
            sched_yield();
            continue;
        }
        void *next = make(1811);
        drop(kept, 1811);
        kept = next;
        answered = asked;
    }
    drop(kept, 1811);
    return argument;
}

static void moved_in_steps(void)
{
    share_one_heap();
    run_threads((void *(*const[])(void *)){move_in_steps, take_in_steps}, 2);
}

/* Blocks that are mappings of their own: the kernel moves them, and gives their place to the next. */
static void *move_large(void *argument)
{
    for (int i = 0; i < 40; i++)
        move(300007, 700001);
    return argument;
}

static void *take_large(void *argument)
{
    for (int i = 0; i < 60; i++)
        drop(make(300007), 300007);
    return argument;
}

static void remapped(void)
{
    share_one_heap();
    run_threads((void *(*const[])(void *)){move_large, take_large, move_large, take_large}, 4);
}

/* --------------------------------------------------------- released by another */

static void *produce(void *argument)
{
    for (int i = 0; i < 500; i++) {
        void *none = NULL, *block = make(10177);
        while (!atomic_compare_exchange_weak(&slots[i % SLOTS], &none, block)) {
            none = NULL;
            sched_yield();
        }
    }
    return argument;
}

static void *consume(void *argument)
{
    for (int i = 0; i < 500; i++) {
        void *block;
        while ((block = atomic_exchange(&slots[i % SLOTS], NULL)) == NULL)
            sched_yield();
        drop(block, 10177);
    }
    return argument;
}

static void handed_over(void)
{
    share_one_heap();
    run_threads((void *(*const[])(void *)){produce, consume, produce, consume}, 4);
}

/* One address goes to and fro: made here, released there, made there, released here. */
static atomic_int turn;

static void *take_turns(void *argument)
{
    static void *block;
    int me = argument != NULL;
    for (int i = 0; i < 60; i++) {
        while (turn % 2 != me)
            sched_yield();
        if (block != NULL)
            drop(block, 10181);
        block = make(10181);
        turn++;
    }
    return NULL;
}

static void handed_back(void)
{
    pthread_t other;
    share_one_heap();
    pthread_create(&other, NULL, take_turns, &turn);
    take_turns(NULL);
    pthread_join(other, NULL);
}

/* Not counted: where another allocator stands before the recorder nothing is seen, and that is right. */
static void uncounted(void)
{
    handed_over();
    handed_back();
    memset(hostile_counts, 0, sizeof hostile_counts);
}

HOSTILE_CASES({"moved", moved}, {"moved_in_steps", moved_in_steps}, {"remapped", remapped},
              {"handed_over", handed_over}, {"handed_back", handed_back}, {"uncounted", uncounted})
