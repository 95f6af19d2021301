/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * victim FILE: eight threads make and release blocks, each of a size of its own
 * (11003, 11005, ...), until somebody kills the process.  Each thread counts what it
 * has finished in FILE, which outlives it: word 0 is the pid, words 2i + 1 and 2i + 2
 * are what thread i has made and released.
 */
#include "hostile.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

enum { THREADS = 8, SMALLEST = 11003, KEPT = 16, BREATH = 64 };

static uint64_t *progress;

static void finished(uint64_t *count)
{
    __atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
}

static void *live(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    size_t size = SMALLEST + 2 * me;
    void *kept[KEPT] = {NULL};
    for (unsigned i = 0;; i++) {
        void **slot = &kept[i * 7 % KEPT];
        if (*slot != NULL) {
            free(*slot);
            finished(&progress[2 * me + 2]);
        }
        *slot = truth_keep(malloc(size));
        finished(&progress[2 * me + 1]);
        if (i % BREATH == 0)
            usleep(200);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return 97;
    progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    __atomic_store_n(&progress[0], (uint64_t)getpid(), __ATOMIC_RELEASE);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, live, (void *)i);
    pthread_join(threads[0], NULL);
    return 0;
}
