/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * spans: blocks of known sizes that live short or long, for culling with a
 * threshold of 200 ms.  Prints how many of each size it made.
 *
 *     1001  freed at once                    2001  made by a thread, freed at once by another
 *     1002  live for half a second           2002  the same, after half a second
 *     1003  never freed
 *     3001 -> 3002 -> 3003   a realloc chain that is over at once
 *     4001 -> 4002 -> 4003   one that lives half a second, in steps that are each short but one
 *     9000000                the peak: freed at once
 */
#include "truth.h"

#include <pthread.h>
#include <time.h>

enum { SHORT = 5000, LONG = 7, LEAKED = 3, CHAINS = 11 };

static void *handed[2][LONG];

static void pass_half_a_second(void)
{
    struct timespec half = {0, 500000000};
    while (nanosleep(&half, &half) != 0) {
    }
}

static void *make(size_t size)
{
    void *block = truth_keep(malloc(size));
    if (block == NULL)
        _exit(97);
    return block;
}

static void *grow(void *block, size_t size)
{
    block = truth_keep(realloc(block, size));
    if (block == NULL)
        _exit(97);
    return block;
}

static void *hand_over(void *unused)
{
    (void)unused;
    for (int i = 0; i < LONG; i++) {
        handed[0][i] = make(2001);
        handed[1][i] = make(2002);
    }
    return NULL;
}

__attribute__((noinline)) static void make_peak(void)
{
    free(make(9000000));
}

__attribute__((noinline)) static void live_short(void)
{
    for (int i = 0; i < SHORT; i++)
        free(make(1001));
    for (int i = 0; i < CHAINS; i++)
        free(grow(grow(make(3001), 3002), 3003));
}

__attribute__((noinline)) static void live_long(void)
{
    static void *blocks[LONG], *chains[CHAINS];
    pthread_t thread;
    if (pthread_create(&thread, NULL, hand_over, NULL) != 0 || pthread_join(thread, NULL) != 0)
        _exit(97);
    for (int i = 0; i < LONG; i++) {
        free(handed[0][i]);
        blocks[i] = make(1002);
    }
    for (int i = 0; i < LEAKED; i++)
        (void)make(1003);
    for (int i = 0; i < CHAINS; i++)
        chains[i] = grow(make(4001), 4002);
    pass_half_a_second();
    for (int i = 0; i < CHAINS; i++)
        free(grow(chains[i], 4003));
    for (int i = 0; i < LONG; i++) {
        free(blocks[i]);
        free(handed[1][i]);
    }
}

int main(void)
{
    live_short();
    make_peak();
    live_long();
    live_short();
    truth_add("{\"short\": {\"1001\": %d, \"2001\": %d, \"3001\": %d, \"3002\": %d, \"3003\": %d, "
              "\"9000000\": 1},\n",
              2 * SHORT, LONG, 2 * CHAINS, 2 * CHAINS, 2 * CHAINS);
    truth_add("\"long\": {\"1002\": %d, \"1003\": %d, \"2002\": %d, \"4001\": %d, \"4002\": %d, "
              "\"4003\": %d}}\n",
              LONG, LEAKED, LONG, CHAINS, CHAINS, CHAINS);
    truth_tell(1);
    return 0;
}
