/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * daily SECONDS: a server on an ordinary day, cut short: a thousand allocations a second,
 * in ten bursts, made by sixteen callers. Of a hundred blocks one lives for half a second, one in
 * ten thousand for ever; all others are freed in the burst that made them. Prints how many it made.
 */
#include "truth.h"

#include <time.h>

enum { BURSTS = 10, BURST = 100, KEPT = 5, CALLERS = 16 };

__attribute__((noinline)) static void *serve(int caller, size_t size)
{
    if (caller == 0)
        return truth_keep(malloc(size));
    void *block = serve(caller - 1, size);
    __asm__ volatile(""); /* no sibling call: every caller has a stack of its own */
    return block;
}

int main(int argc, char **argv)
{
    const struct timespec pause = {0, 1000000000 / BURSTS};
    int bursts = (argc > 1 ? atoi(argv[1]) : 10) * BURSTS;
    void *kept[KEPT] = {NULL};
    long made = 0;
    for (int i = 0; i < bursts; i++) {
        free(kept[i % KEPT]);
        kept[i % KEPT] = serve(i % CALLERS, 100 + (size_t)i % 900);
        made++;
        for (int k = 1; k < BURST; k++, made++) {
            void *block = serve((i + k) % CALLERS, 16 + (size_t)(made * 37 % 2000));
            if (made % 10000 != 5)
                free(block);
        }
        nanosleep(&pause, NULL);
    }
    truth_add("{\"made\": %ld, \"seconds\": %d}\n", made, bursts / BURSTS);
    truth_tell(1);
    return 0;
}
