/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * order THREADS ROUNDS: threads take blocks from shared slots, release what
 * another thread made, pass reallocated blocks on, so that addresses wander
 * between threads as fast as they can.  Tells what was made and released of
 * each size, and which block is left at which address.
 */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SLOTS = 512, SIZES = 509, SMALLEST = 2003, THREADS_MAX = 16 };

static _Atomic(uint32_t *) slots[SLOTS];
static int rounds;
static struct {
    long made[SIZES], freed[SIZES];
} counts[THREADS_MAX];

/* A block carries its size, so that whoever ends it knows what it was. */
static uint32_t *fill(uint32_t *block, uint32_t which)
{
    block[0] = block[which / 4 + SMALLEST / 4 - 1] = which;
    return block;
}

static void *worker(void *argument)
{
    int me = (int)(intptr_t)argument;
    uint64_t random = 88172645463325252u + (uint64_t)me * 7919;
    for (int i = 0; i < rounds; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint32_t which = (uint32_t)(random >> 16) % SIZES;
        _Atomic(uint32_t *) *slot = &slots[(random >> 40) % SLOTS];
        uint32_t *mine = NULL;
        if (random % 8 < 3) {
            uint32_t *taken = atomic_exchange(slot, NULL);
            if (taken == NULL)
                continue;
            counts[me].freed[taken[0]]++;
            counts[me].made[which]++;
            mine = fill(realloc(taken, SMALLEST + which), which);
        } else if (random % 8 < 7) {
            counts[me].made[which]++;
            mine = fill(malloc(SMALLEST + which), which);
        }
        uint32_t *old = atomic_exchange(slot, mine);
        if (old != NULL) {
            counts[me].freed[old[0]]++;
            free(old);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t thread[THREADS_MAX];
    rounds = argc > 2 ? atoi(argv[2]) : 100000;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)i) != 0)
            return 97;
    }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    truth_add("{\"made\": {");
    for (int k = 0; k < SIZES; k++) {
        long made = 0;
        for (int i = 0; i < threads; i++)
            made += counts[i].made[k];
        truth_add("%s\"%d\": %ld", k == 0 ? "" : ", ", SMALLEST + k, made);
    }
    truth_add("}, \"freed\": {");
    for (int k = 0; k < SIZES; k++) {
        long freed = 0;
        for (int i = 0; i < threads; i++)
            freed += counts[i].freed[k];
        truth_add("%s\"%d\": %ld", k == 0 ? "" : ", ", SMALLEST + k, freed);
    }
    truth_add("}, \"left\": [");
    const char *comma = "";
    for (int i = 0; i < SLOTS; i++) {
        uint32_t *block = slots[i];
        if (block != NULL) {
            truth_add("%s[%lu, %u]", comma, (unsigned long)(uintptr_t)block, SMALLEST + block[0]);
            comma = ", ";
        }
    }
    truth_add("]}\n");
    truth_tell(1);
    return 0;
}
