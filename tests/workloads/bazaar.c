/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * bazaar MILLISECONDS: four threads take blocks out of slots that they share, grow and shrink them there, mostly
 * in place, release some and put back the others, while recording is switched off and on again every few
 * milliseconds.  In the end all are released, and recording is on.
 * build: -I{root}/include
 */
#include <heapwake.h>

#include "truth.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 4096, THREADS = 4 };

static void *slots[SLOTS];
static int is_over;

static void *trade(void *seed)
{
    uint32_t state = (uint32_t)(uintptr_t)seed * 7919 + 1;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        state = state * 1103515245 + 12345;
        void **slot = &slots[(state >> 8) % SLOTS];
        unsigned what = (state >> 20) % 4;
        void *block = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL);
        if (block == NULL) {
            block = truth_keep(malloc(7023));
        } else if (what < 2) {
            block = realloc(block, what == 0 ? 7025 : 7023);
        } else if (what == 2) {
            free(block);
            continue;
        }
        free(__atomic_exchange_n(slot, block, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    struct timespec begin, now;
    long length_ms = argc > 1 ? atol(argv[1]) : 1000;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, trade, (void *)(i + 1));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        usleep(5000 + (unsigned)rand() % 10000);
        heapwake_disable();
        usleep(5000 + (unsigned)rand() % 10000);
        heapwake_enable();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < length_ms);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SLOTS; i++)
        free(slots[i]);
    return 0;
}
