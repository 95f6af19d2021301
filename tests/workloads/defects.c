/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * defects WAY: small programs that other profilers are known to get wrong.
 *
 *   rolling    a block is made, then the one before it goes: none is temporary
 *   first      34 blocks go at once; then another, then the very first one
 *   deep       a block at the bottom of 500 calls
 *   realloc    four threads move blocks by realloc, which hand each other addresses
 *   family     a child, and then another program, leak too
 *   noise      so many different events that the file gets large
 */
#include "truth.h"

#include <pthread.h>
#include <sys/wait.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { THREADS = 4, ROUNDS = 20000, KEPT = 8 };

NOINLINE static void rolling(void)
{
    void *before = truth_keep(malloc(64));
    for (int i = 0; i < 100; i++) {
        void *next = truth_keep(malloc(64));
        free(before);
        before = next;
    }
    truth_add("{\"made\": 101, \"temporary\": 0}\n");
}

NOINLINE static void first(void)
{
    void *very_first = truth_keep(malloc(16)), *other = truth_keep(malloc(32));
    for (int i = 0; i < 34; i++)
        free(truth_keep(malloc(48)));
    void *last = truth_keep(malloc(24));
    free(other);
    free(very_first);
    truth_keep(last);
    truth_add("{\"made\": 37, \"temporary\": 34}\n");
}

NOINLINE static void deep(int left)
{
    if (left > 0)
        deep(left - 1);
    else
        truth_keep(malloc(7069));
    truth_keep(&left);
}

static void *mover(void *argument)
{
    void *kept[KEPT] = {0};
    unsigned seed = (unsigned)(size_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245 + 12345;
        kept[i % KEPT] = realloc(kept[i % KEPT], 24 + (seed >> 16) % 2000);
    }
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
    return NULL;
}

static void move(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mover, (void *)(i + 1));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    truth_add("{\"reallocs\": %d}\n", THREADS * ROUNDS);
}

static void family(char *self)
{
    truth_keep(malloc(1009));
    pid_t child = fork();
    if (child == 0) {
        truth_keep(malloc(2003));
        execl(self, self, "leaf", (char *)NULL);
        _exit(97);
    }
    waitpid(child, NULL, 0);
    truth_add("{\"pid\": %d, \"child\": %d}\n", getpid(), child);
}

static void noise(void)
{
    static void *kept[4096];
    unsigned seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned at = seed >> 8 & 4095;
        free(kept[at]);
        kept[at] = malloc(seed >> 20);
    }
    truth_add("{\"made\": 200000}\n");
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "rolling") == 0)
        rolling();
    else if (strcmp(way, "first") == 0)
        first();
    else if (strcmp(way, "deep") == 0)
        deep(500);
    else if (strcmp(way, "realloc") == 0)
        move();
    else if (strcmp(way, "family") == 0)
        family(argv[0]);
    else if (strcmp(way, "leaf") == 0)
        truth_keep(malloc(4001));
    else if (strcmp(way, "noise") == 0)
        noise();
    truth_tell(1);
    return 0;
}
