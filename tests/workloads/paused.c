/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * paused: one thread that allocates in bursts, with pauses between them. Each block is released at once. Says how long
 * each can have lived at most, where that is more than a usual moment.
 *
 *     paused BURSTS BLOCKS PAUSE_US      first waits for a tenth of a second
 */
#include "truth.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { SIZE = 7001, MOMENT_NS = 100000 };

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void pause_for(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

int main(int argc, char **argv)
{
    long bursts = argc > 1 ? atol(argv[1]) : 0, blocks = argc > 2 ? atol(argv[2]) : 0,
         us = argc > 3 ? atol(argv[3]) : 0;
    pause_for(100000);
    truth_add("{\"size\": %d, \"slow\": {", SIZE);
    for (long n = 0, slow = 0; n < bursts * blocks; n++) {
        if (n % blocks == 0)
            pause_for(us);
        uint64_t before = now();
        free(truth_keep(malloc(SIZE)));
        uint64_t lived = now() - before;
        if (lived > MOMENT_NS)
            truth_add("%s\"%ld\": %lu", slow++ == 0 ? "" : ", ", n, (unsigned long)lived);
    }
    truth_add("}}\n");
    truth_tell(1);
    return 0;
}
