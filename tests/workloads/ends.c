/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ends WAY THREADS BLOCKS [SIZE]: THREADS threads allocate BLOCKS blocks of SIZE
 * bytes in all and release some; when all have done so, and while they still
 * live, the program ends in the given way.
 */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static pthread_barrier_t ready;
static size_t size = 7069;
static int share;
static atomic_int made, freed;

static void *worker(void *argument)
{
    void *kept = NULL;
    for (int i = 0; i < share; i++) {
        void *block = truth_keep(malloc(size));
        made++;
        if (i % 3 == 1) {
            free(kept);
            freed += kept != NULL;
            kept = block;
        } else if (i % 3 == 2) {
            free(block);
            freed++;
        }
    }
    pthread_barrier_wait(&ready);
    if (argument != NULL)
        return NULL;
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    const char *way = argv[1];
    int threads = atoi(argv[2]);
    share = atoi(argv[3]) / threads;
    if (argc > 4)
        size = (size_t)atoi(argv[4]);
    pthread_barrier_init(&ready, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, NULL) != 0)
            return 97;
    }
    worker(&ready);
    truth_add("{\"pid\": %d, \"size\": %zu, \"made\": %d, \"freed\": %d}\n", getpid(), size, made, freed);
    truth_tell(1);
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "_exit") == 0)
        _exit(4);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(5);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "segv") == 0)
        *(volatile int *)truth_keep(NULL) = 1;
    if (strcmp(way, "term") == 0)
        raise(SIGTERM);
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(way, "exec") == 0)
        execl(argv[0], argv[0], "return", argv[2], argv[3], "10007", (char *)NULL);
    return strcmp(way, "return") == 0 ? 6 : 96;
}
