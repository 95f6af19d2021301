/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Large live heap (W5).
 * live BLOCKS [DEPTH [STACKS]]: allocate BLOCKS of 16..128 bytes, all live and
 * written to, then free them all in allocation order. */
#include "workload.h"

DEFINE_NODES()

static void **slot;
static uint64_t at, blocks, seed = 42;

static NOINLINE void leaf(void *arg)
{
    (void)arg;
    for (int i = 0; i < 4 && at < blocks; i++) {
        size_t n = 16 + rng(&seed) % 113;
        slot[at] = malloc(n);
        memset(slot[at], 1, n);
        at++;
    }
}

int main(int argc, char **argv)
{
    blocks = argc > 1 ? strtoull(argv[1], NULL, 0) : 5000000;
    unsigned depth = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    unsigned stacks = argc > 3 ? (unsigned)atoi(argv[3]) : 500;
    slot = malloc(blocks * sizeof *slot);
    double t0 = now_s();
    while (at < blocks) {
        uint64_t path = mix(rng(&seed) % stacks);
        DESCEND(depth, path, leaf, NULL);
    }
    for (uint64_t i = 0; i < blocks; i++)
        free(slot[i]);
    double t1 = now_s();
    free(slot);
    report("live", blocks + 1, blocks + 1, t1 - t0);
    return 0;
}
