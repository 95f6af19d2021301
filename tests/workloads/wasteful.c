/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * wasteful: wastes memory and time in the six ways that advice is given about,
 * and tells how much.  Blocks of each function have sizes of their own.
 */
#include "truth.h"

#include <pthread.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { TEMPORARIES = 4000, TINY = 20000, LARGE = 40, CROSSED = 600, ALIGNED = 300, STEPS = 50, HELD = 40 };

static unsigned long copied, moved;
static void *tiny_blocks[TINY], *crossed_blocks[CROSSED], *aligned_blocks[ALIGNED], *held_blocks[HELD];

NOINLINE static void grow_by_steps(void)
{
    size_t size = 1000;
    char *block = truth_keep(malloc(size));
    void *between[STEPS]; /* so that blocks have to move */
    for (int i = 0; i < STEPS; i++) {
        between[i] = truth_keep(malloc(3001));
        unsigned long before = (unsigned long)block;
        block = truth_keep(realloc(block, size + 1000));
        if ((unsigned long)block != before) {
            copied += size;
            moved++;
        }
        size += 1000;
    }
    free(block);
    for (int i = 0; i < STEPS; i++)
        free(between[i]);
}

NOINLINE static void make_temporaries(void)
{
    for (int i = 0; i < TEMPORARIES; i++)
        free(truth_keep(malloc(501)));
}

NOINLINE static void make_tiny(void)
{
    for (int i = 0; i < TINY; i++)
        tiny_blocks[i] = truth_keep(malloc(9));
    for (int i = 0; i < TINY; i++)
        free(tiny_blocks[i]);
}

NOINLINE static void make_large(void)
{
    for (int i = 0; i < LARGE; i++) {
        void *block = truth_keep(malloc(400000));
        void *other = truth_keep(malloc(77)); /* it is no temporary */
        free(block);
        free(other);
    }
}

static void *free_crossed(void *unused)
{
    (void)unused;
    for (int i = 0; i < CROSSED; i++)
        free(crossed_blocks[i]);
    return NULL;
}

NOINLINE static void make_crossed(void)
{
    pthread_t thread;
    for (int i = 0; i < CROSSED; i++)
        crossed_blocks[i] = truth_keep(malloc(602));
    pthread_create(&thread, NULL, free_crossed, NULL);
    pthread_join(thread, NULL);
}

NOINLINE static void make_aligned(void)
{
    for (int i = 0; i < ALIGNED; i++)
        aligned_blocks[i] = truth_keep(aligned_alloc(4096, 128));
    for (int i = 0; i < ALIGNED; i++)
        free(aligned_blocks[i]);
}

/* The peak; each block lives about as long as the others. */
NOINLINE static void hold(void)
{
    for (int i = 0; i < HELD; i++) {
        held_blocks[i] = truth_keep(malloc(70000));
        usleep(1000);
    }
    for (int i = 0; i < HELD; i++) {
        free(held_blocks[i]);
        usleep(1000);
    }
}

int main(void)
{
    grow_by_steps();
    make_temporaries();
    make_tiny();
    make_large();
    make_crossed();
    make_aligned();
    hold();
    truth_add("{\"steps\": %d, \"copied\": %lu, \"moved\": %lu, \"final\": %d, ", STEPS, copied, moved,
              1000 + 1000 * STEPS);
    truth_add("\"temporaries\": %d, \"tiny\": %d, \"large\": %d, \"crossed\": %d, \"aligned\": %d}\n",
              TEMPORARIES, TINY, LARGE, CROSSED, ALIGNED);
    truth_tell(1);
    return 0;
}
