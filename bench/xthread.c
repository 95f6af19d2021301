/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Cross-thread traffic (W6).
 * xthread PAIRS [DEPTH [STACKS]]: one thread allocates, the other frees; they
 * meet in a single-producer single-consumer ring of 4096 pointers.  The threads
 * are pinned to CPU 0 and CPU 1: unpinned, the time is bimodal (both threads on
 * one CPU: 0.3 s for 5M; on two: 1.5..4 s, the arena lock is contended). */
#define _GNU_SOURCE
#include "workload.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

DEFINE_NODES()

#define RING 4096
static void *ring[RING];
static _Alignas(64) _Atomic uint64_t head;
static _Alignas(64) _Atomic uint64_t tail;
static uint64_t pairs, made, seed = 7;
static unsigned depth = 10, stacks = 100;

static NOINLINE void leaf(void *arg)
{
    (void)arg;
    for (int i = 0; i < 4 && made < pairs; i++, made++) {
        while (made - atomic_load_explicit(&tail, memory_order_acquire) >= RING)
            sched_yield();
        char *p = malloc(16 + rng(&seed) % 497);
        p[0] = 1;
        ring[made % RING] = p;
        atomic_store_explicit(&head, made + 1, memory_order_release);
    }
}

static void pin(int cpu)
{
    cpu_set_t s;
    CPU_ZERO(&s);
    CPU_SET(cpu, &s);
    pthread_setaffinity_np(pthread_self(), sizeof s, &s);
}

static void *consume(void *arg)
{
    (void)arg;
    pin(1);
    for (uint64_t i = 0; i < pairs; i++) {
        while (atomic_load_explicit(&head, memory_order_acquire) == i)
            sched_yield();
        free(ring[i % RING]);
        atomic_store_explicit(&tail, i + 1, memory_order_release);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pairs = argc > 1 ? strtoull(argv[1], NULL, 0) : 5000000;
    if (argc > 2)
        depth = (unsigned)atoi(argv[2]);
    if (argc > 3)
        stacks = (unsigned)atoi(argv[3]);
    pthread_t t;
    double t0 = now_s();
    pin(0);
    pthread_create(&t, NULL, consume, NULL);
    while (made < pairs) {
        uint64_t path = mix(rng(&seed) % stacks);
        DESCEND(depth, path, leaf, NULL);
    }
    pthread_join(t, NULL);
    report("xthread", pairs, pairs, now_s() - t0);
    return 0;
}
