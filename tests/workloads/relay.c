/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * relay: threads that hand blocks on to each other, and threads that follow each
 * other.  Every block has a size of its own, from 10,000 on, so that it is known
 * wherever it turns up.
 *
 *   1. RUNNERS threads at a time: each makes LAPS blocks by turns with malloc,
 *      calloc and posix_memalign and hands every second one on; the next runner makes
 *      that larger and releases it.
 *   2. SPRINTERS threads, one after the other, each with a block of its own.
 *   3. One block of 8 MiB that stays.
 */
#include "truth.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

enum { RUNNERS = 4, LAPS = 60, SPRINTERS = 30, FIRST = 10000, LARGER = 100000, KEPT = 8 << 20 };

static void *batons[RUNNERS][LAPS];
static sem_t handed[RUNNERS]; /* batons that this runner has been handed */

static void *make(unsigned which, size_t size)
{
    void *block = NULL;
    if (which % 3 == 0)
        block = malloc(size);
    else if (which % 3 == 1)
        block = calloc(1, size);
    else if (posix_memalign(&block, 64, size) != 0)
        abort();
    return truth_keep(block);
}

static void *run(void *of)
{
    unsigned me = (unsigned)(uintptr_t)of, next = (me + 1) % RUNNERS;
    for (unsigned lap = 0; lap < LAPS; lap++) {
        size_t size = FIRST + (size_t)me * LAPS + lap;
        void *block = make(lap, size);
        if (lap % 2 == 1) {
            free(block);
            continue;
        }
        batons[next][lap] = block;
        sem_post(&handed[next]);
        while (sem_wait(&handed[me]) != 0)
            continue;
        size_t was = FIRST + (size_t)((me + RUNNERS - 1) % RUNNERS) * LAPS + lap;
        free(truth_keep(realloc(batons[me][lap], was + LARGER)));
    }
    return NULL;
}

static void *sprint(void *of)
{
    free(make(0, FIRST + RUNNERS * LAPS + (size_t)(uintptr_t)of));
    return NULL;
}

int main(void)
{
    pthread_t runners[RUNNERS], sprinter;
    for (unsigned i = 0; i < RUNNERS; i++)
        sem_init(&handed[i], 0, 0);
    for (uintptr_t i = 0; i < RUNNERS; i++)
        pthread_create(&runners[i], NULL, run, (void *)i);
    for (unsigned i = 0; i < RUNNERS; i++)
        pthread_join(runners[i], NULL);
    for (uintptr_t i = 0; i < SPRINTERS; i++) {
        pthread_create(&sprinter, NULL, sprint, (void *)i);
        pthread_join(sprinter, NULL);
    }
    char *kept = truth_keep(malloc(KEPT));
    kept[0] = 1;
    truth_add("{\"blocks\": %d, \"crossing\": %d, \"larger\": %d, \"sprinters\": %d, \"kept\": %d}\n",
              RUNNERS * LAPS + SPRINTERS, RUNNERS * LAPS / 2, LARGER, SPRINTERS, KEPT);
    truth_tell(STDOUT_FILENO);
    return 0;
}
