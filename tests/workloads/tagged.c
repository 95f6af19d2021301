/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tagged: tags right behind and right before calls of the allocator. Says how
 * large the blocks are that were made before the first, between the two and behind the second. In every other window the
 * first of these is freed.
 * build: -I{root}/include -pthread
 *
 *     tagged alone      one thread
 *     tagged threads    four threads, and one of them sets tags
 *     tagged uncounted  one thread, which forbids itself the counter of the CPU
 */
#include <heapwake.h>

#include "truth.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { WINDOWS = 40, THREADS = 3, BEFORE = 1 << 20, WITHIN = 20001, BEHIND = 50001, FIRST_OTHER = 48 };

static bool is_over;

/* Blocks smaller than those in windows. */
static void *disturb(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        free(truth_keep(malloc(FIRST_OTHER)));
    return unused;
}

static void *before[WINDOWS], *within[WINDOWS], *behind[WINDOWS];

static void one_window(int i)
{
    char start[32], stop[32];
    snprintf(start, sizeof start, "start-%d", i);
    snprintf(stop, sizeof stop, "stop-%d", i);
    before[i] = truth_keep(malloc(BEFORE + (size_t)i));
    HEAPWAKE_TAG(start);
    within[i] = truth_keep(malloc(WITHIN + (size_t)i));
    if (i % 2 == 0)
        free(before[i]);
    HEAPWAKE_TAG(stop);
    behind[i] = truth_keep(malloc(BEHIND + (size_t)i));
    free(within[i]);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int count = argc > 1 && strcmp(argv[1], "threads") == 0 ? THREADS : 0;
    if (argc > 1 && strcmp(argv[1], "uncounted") == 0)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, disturb, NULL);
    for (int i = 0; i < WINDOWS; i++)
        one_window(i);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WINDOWS; i++)
        truth_add("%s[%d, %d, %d]", i == 0 ? "{\"windows\": [" : ", ", BEFORE + i, WITHIN + i, BEHIND + i);
    truth_add("]}\n");
    truth_tell(1);
    return 0;
}
