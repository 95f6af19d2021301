/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * malloc/free storm (W1..W4).
 * storm PAIRS [THREADS [DEPTH [STACKS [BATCH [RING]]]]]
 * PAIRS in total over all threads; sizes 16..512; DEPTH frames above the leaf;
 * STACKS distinct call paths; BATCH allocations per descent; each thread keeps
 * RING blocks live and replaces a random one (free, then malloc). */
#include "workload.h"
#include <pthread.h>

DEFINE_NODES()

struct ctx {
    uint64_t pairs, done, seed;
    unsigned depth, stacks, batch, ring;
    void **slot;
};

static NOINLINE void leaf(void *arg)
{
    struct ctx *c = arg;
    for (unsigned i = 0; i < c->batch && c->done < c->pairs; i++, c->done++) {
        uint64_t r = rng(&c->seed);
        unsigned k = (unsigned)(r % c->ring);
        size_t n = 16 + (r >> 32) % 497;
        free(c->slot[k]);
        char *p = malloc(n);
        p[0] = (char)n;
        c->slot[k] = p;
    }
}

static void *worker(void *arg)
{
    struct ctx *c = arg;
    while (c->done < c->pairs) {
        uint64_t path = mix(rng(&c->seed) % c->stacks);
        DESCEND(c->depth, path, leaf, c);
    }
    for (unsigned i = 0; i < c->ring; i++)
        free(c->slot[i]);
    return NULL;
}

static unsigned long arg_or(int argc, char **argv, int i, unsigned long d)
{
    return argc > i ? strtoul(argv[i], NULL, 0) : d;
}

int main(int argc, char **argv)
{
    uint64_t pairs = arg_or(argc, argv, 1, 10000000);
    unsigned threads = (unsigned)arg_or(argc, argv, 2, 1);
    unsigned depth = (unsigned)arg_or(argc, argv, 3, 20);
    unsigned stacks = (unsigned)arg_or(argc, argv, 4, 500);
    unsigned batch = (unsigned)arg_or(argc, argv, 5, 2);
    unsigned ring = (unsigned)arg_or(argc, argv, 6, 1024);
    struct ctx *c = calloc(threads, sizeof *c);
    pthread_t *t = calloc(threads, sizeof *t);
    double t0 = now_s();
    for (unsigned i = 0; i < threads; i++) {
        c[i] = (struct ctx){.pairs = pairs / threads,
                            .seed = 88172645463325252ULL + i,
                            .depth = depth,
                            .stacks = stacks,
                            .batch = batch,
                            .ring = ring,
                            .slot = calloc(ring, sizeof(void *))};
        if (threads == 1)
            worker(&c[0]);
        else
            pthread_create(&t[i], NULL, worker, &c[i]);
    }
    if (threads > 1)
        for (unsigned i = 0; i < threads; i++)
            pthread_join(t[i], NULL);
    double t1 = now_s();
    uint64_t done = 0;
    for (unsigned i = 0; i < threads; i++)
        done += c[i].done;
    report("storm", done, done, t1 - t0);
    return 0;
}
