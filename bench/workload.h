/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Shared helpers of the workloads: a clock, a PRNG, a report line and a call
 * tree whose depth and path can be chosen, so that stacks are real frames. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define BARRIER() __asm__ volatile("" ::: "memory")

static inline double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* xorshift64* */
static inline uint64_t rng(uint64_t *s)
{
    uint64_t x = *s;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *s = x;
    return x * 0x2545F4914F6CDD1DULL;
}

/* splitmix64: from the number of a path to its bits. */
static inline uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

static inline void report(const char *name, uint64_t allocs, uint64_t frees, double secs)
{
    struct rusage ru;
    getrusage(RUSAGE_SELF, &ru);
    printf("%s: allocs=%llu frees=%llu secs=%.6f maxrss_kib=%ld\n", name, (unsigned long long)allocs,
           (unsigned long long)frees, secs, ru.ru_maxrss);
    fflush(stdout);
}

/* Descend `depth` frames, the function of each frame chosen by 3 bits of
 * `path`, then call leaf(arg).  The addition after the call keeps it from
 * being a tail call. */
typedef void (*leaf_fn)(void *);
typedef unsigned (*node_fn)(unsigned depth, uint64_t path, leaf_fn leaf, void *arg);
extern const node_fn node_table[8];

#define NODE(k)                                                                              \
    static NOINLINE unsigned node##k(unsigned depth, uint64_t path, leaf_fn leaf, void *arg) \
    {                                                                                        \
        unsigned r = k;                                                                      \
        if (depth == 0) {                                                                    \
            leaf(arg);                                                                       \
            BARRIER();                                                                       \
        } else {                                                                             \
            r += node_table[path & 7](depth - 1, path >> 3 | path << 61, leaf, arg);         \
            BARRIER();                                                                       \
        }                                                                                    \
        return r;                                                                            \
    }
/* clang-format off */
#define DEFINE_NODES()                                              \
    NODE(0) NODE(1) NODE(2) NODE(3) NODE(4) NODE(5) NODE(6) NODE(7) \
    const node_fn node_table[8] = {node0, node1, node2, node3, node4, node5, node6, node7};
/* clang-format on */
#define DESCEND(depth, path, leaf, arg) \
    node_table[7 & (path)]((depth), (path) >> 3 | (path) << 61, (leaf), (arg))
#endif
