/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * moments: one thread that does little.  Makes and releases blocks a few milliseconds apart, some in small
 * bursts, and prints CLOCK_MONOTONIC right before and after each call: size, before, after.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 40, FIRST_SIZE = 70001 };

struct moment {
    uint64_t before, after;
};

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(void)
{
    static struct moment made[STEPS], freed[STEPS];
    for (unsigned i = 0; i < STEPS; i++) {
        made[i].before = now();
        void *volatile block = malloc(FIRST_SIZE + i);
        made[i].after = now();
        if (i % 4 != 0)
            nanosleep(&(struct timespec){0, 1500000}, NULL);
        freed[i].before = now();
        free(block);
        freed[i].after = now();
        if (i % 3 != 0)
            nanosleep(&(struct timespec){0, 2500000}, NULL);
    }
    for (unsigned i = 0; i < STEPS; i++)
        printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", FIRST_SIZE + i, made[i].before,
               made[i].after, freed[i].before, freed[i].after);
    return 0;
}
