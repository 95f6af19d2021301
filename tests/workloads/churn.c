/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * churn MILLISECONDS THREADS: makes, grows and releases blocks of 7071 and 7072 bytes in
 * several threads, hands some from one thread to another, and in the end has
 * released all of them.
 */
#include "truth.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

enum { RING = 64 };

static void *exchange[RING]; /* anybody puts in, anybody takes out */
static long end_ms;

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *work(void *seed)
{
    uint64_t state = (uint64_t)(uintptr_t)seed * 0x9e3779b97f4a7c15u + 1;
    void *ring[RING] = {NULL};
    while (now_ms() < end_ms) {
        for (int i = 0; i < 20; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            unsigned slot = (unsigned)(state >> 40) % RING;
            void *block = truth_keep(malloc(7071));
            if (state >> 62 == 0)
                block = realloc(block, 7072);
            if (state >> 61 == 7) {
                block = __atomic_exchange_n(&exchange[slot], block, __ATOMIC_ACQ_REL);
                free(block);
            } else {
                free(ring[slot]);
                ring[slot] = block;
            }
        }
        struct timespec nap = {0, 300000};
        nanosleep(&nap, NULL);
    }
    for (int i = 0; i < RING; i++)
        free(ring[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[16];
    long count = argc > 2 ? atol(argv[2]) : 2;
    end_ms = now_ms() + (argc > 1 ? atol(argv[1]) : 1000);
    truth_add("ready\n");
    truth_tell(1);
    for (long i = 0; i < count && i < 16; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (long i = 0; i < count && i < 16; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < RING; i++)
        free(exchange[i]);
    truth_add("{\"left\": 0}\n");
    truth_tell(1);
    return 0;
}
