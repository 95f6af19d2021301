/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * told: calls everything in include/heapwake.h and says what the calls gave. Each
 * step has a size of its own, so that a recording shows what was seen of it.
 * build: -I{root}/include
 *
 *     told calls    every call once
 *     told scopes   two threads reallocate in scopes that do not count, blocks of before and of within
 *     told handed   one thread gets the place of another's block that does not count
 *     told shared   threads that make and use the same pools all at once
 *     told pools    blocks of a pool that are carved from one malloc block
 *     told idle     waits on stdin, with one line for each of: what to do
 *     told handler  installs handlers of its own for SIGUSR1 and SIGUSR2
 */
#include <heapwake.h>

#include "truth.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE void *make(size_t size)
{
    return truth_keep(malloc(size));
}

static NOINLINE void *make_elsewhere(size_t size)
{
    return truth_keep(calloc(1, size));
}

static void *named(void *unused)
{
    HEAPWAKE_THREAD_NAME("told-thread");
    free(make(7150));
    return unused;
}

static void calls(void)
{
    errno = 77;
    HEAPWAKE_TAG("begun");
    void *first = make(7101);
    void *second = make(7102);
    int report = HEAPWAKE_REPORT("one");
    void *third = make_elsewhere(7103);
    HEAPWAKE_DISABLE();
    int off = HEAPWAKE_IS_ENABLED();
    void *unseen = make(7104);
    free(first);
    second = realloc(second, 7105);
    HEAPWAKE_ENABLE();
    int on = HEAPWAKE_IS_ENABLED();
    free(unseen);
    unseen = make(7106);
    HEAPWAKE_IGNORE(unseen);
    void *kept = make(7107);
    HEAPWAKE_IGNORE(kept);
    free(unseen);
    HEAPWAKE_SUPPRESS_BEGIN();
    HEAPWAKE_SUPPRESS_BEGIN();
    void *hidden = make(7108);
    HEAPWAKE_SUPPRESS_END();
    void *hidden_too = make(7109);
    HEAPWAKE_SUPPRESS_END();
    void *seen = make(7110);
    free(hidden);
    int snapshot = HEAPWAKE_SNAPSHOT("snapped");
    int again = HEAPWAKE_REPORT("two");
    int flush = HEAPWAKE_FLUSH();
    int kept_errno = errno;
    pthread_t thread;
    pthread_create(&thread, NULL, named, NULL);
    pthread_join(thread, NULL);
    (void)third, (void)second, (void)hidden_too, (void)seen, (void)kept;
    truth_add("{\"report\": %d, \"again\": %d, \"snapshot\": %d, \"flush\": %d, \"off\": %d, \"on\": %d, "
              "\"errno\": %d}\n",
              report, again, snapshot, flush, off, on, kept_errno);
}

static void pools(void)
{
    enum { COUNT = 100, SIZE = 64 };
    char *slab = make(COUNT * SIZE);
    unsigned pool = HEAPWAKE_POOL("cells", NULL), doors = HEAPWAKE_POOL("doors", "doors");
    unsigned same = HEAPWAKE_POOL("cells", NULL);
    for (int i = 0; i < COUNT; i++)
        HEAPWAKE_REPORT_ALLOC(pool, slab + i * SIZE, SIZE);
    for (int i = 0; i < COUNT; i += 2)
        HEAPWAKE_REPORT_FREE(pool, slab + i * SIZE);
    HEAPWAKE_REPORT_REALLOC(pool, slab + SIZE, slab, 2 * SIZE);
    for (size_t i = 0; i < 5; i++)
        HEAPWAKE_REPORT_ALLOC(doors, (void *)(i + 1), 1);
    HEAPWAKE_REPORT_FREE(doors, (void *)3);
    truth_add("{\"slab\": %d, \"cells\": %d, \"cells_live\": %d, \"doors_live\": 4, \"same\": %d}\n",
              COUNT * SIZE, COUNT + 1, COUNT / 2 * SIZE + SIZE, same == pool);
}

static void *scopes_of_one(void *unused)
{
    for (int i = 0; i < 500; i++) {
        void *before = make(7201);
        HEAPWAKE_SUPPRESS_BEGIN();
        void *within = make(7202);
        within = truth_keep(realloc(within, 7203));
        before = truth_keep(realloc(before, 7204));
        free(make(7205));
        HEAPWAKE_SUPPRESS_END();
        within = truth_keep(realloc(within, 7206));
        free(before);
        free(within);
    }
    return unused;
}

static void scopes(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, scopes_of_one, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    truth_add("{\"times\": 1000}\n");
}

/* One thread gives back a block that was not told of, another gets its place, and keeps every second. */
enum { HANDED_TIMES = 200 };

static pthread_barrier_t handed_turn;

static void *handed_to_other(void *unused)
{
    for (int i = 0; i < HANDED_TIMES; i++) {
        pthread_barrier_wait(&handed_turn);
        usleep(100);
        void *block = make(7301);
        pthread_barrier_wait(&handed_turn);
        if (i % 2 == 0)
            free(block);
    }
    return unused;
}

static void handed(void)
{
    int reused = 0;
    pthread_t other;
    mallopt(M_ARENA_MAX, 1);
    pthread_barrier_init(&handed_turn, NULL, 2);
    pthread_create(&other, NULL, handed_to_other, NULL);
    for (int i = 0; i < HANDED_TIMES; i++) {
        HEAPWAKE_SUPPRESS_BEGIN();
        void *block = make(7302);
        HEAPWAKE_SUPPRESS_END();
        free(block);
        pthread_barrier_wait(&handed_turn);
        pthread_barrier_wait(&handed_turn);
        reused++;
    }
    pthread_join(other, NULL);
    truth_add("{\"times\": %d}\n", reused);
}

enum { SHARED_THREADS = 4, SHARED_POOLS = 16, SHARED_BLOCKS = 25 };

static pthread_barrier_t shared_start;

/* Each thread has blocks of its own in every pool; every second is left. */
static void *shared_by_one(void *number)
{
    size_t base = ((size_t)number + 1) << 20;
    pthread_barrier_wait(&shared_start);
    for (size_t k = 0; k < SHARED_POOLS; k++) {
        char name[32];
        snprintf(name, sizeof name, "shared-%zu", k);
        unsigned pool = HEAPWAKE_POOL(name, "lots");
        for (size_t i = 0; i < SHARED_BLOCKS; i++) {
            HEAPWAKE_REPORT_ALLOC(pool, (void *)(base + i), 2);
            HEAPWAKE_REPORT_ALLOC(pool, (void *)(base + i), 3);
            if (i % 2 != 0)
                HEAPWAKE_REPORT_FREE(pool, (void *)(base + i));
        }
    }
    return NULL;
}

static void shared(void)
{
    pthread_t threads[SHARED_THREADS];
    pthread_barrier_init(&shared_start, NULL, SHARED_THREADS);
    for (size_t i = 0; i < SHARED_THREADS; i++)
        pthread_create(&threads[i], NULL, shared_by_one, (void *)i);
    for (size_t i = 0; i < SHARED_THREADS; i++)
        pthread_join(threads[i], NULL);
    truth_add("{\"pools\": %d, \"made\": %d, \"live\": %d}\n", SHARED_POOLS,
              SHARED_THREADS * SHARED_BLOCKS * 2, SHARED_THREADS * (SHARED_BLOCKS + 1) / 2 * 3);
}

/* One word a line: a number makes a block of that size, -number releases the oldest of it. */
static void idle(void)
{
    static struct {
        long size;
        void *block;
    } made[64];
    char line[64];
    int count = 0;
    setvbuf(stdin, NULL, _IONBF, 0);
    (void)!write(1, "ready\n", 6);
    while (fgets(line, sizeof line, stdin) != NULL) {
        long size = strtol(line, NULL, 10);
        if (size > 0 && count < 64) {
            made[count].size = size;
            made[count++].block = make((size_t)size);
        }
        for (int i = 0; size < 0 && i < count; i++) {
            if (made[i].size != -size)
                continue;
            free(made[i].block);
            made[i].size = 0;
            break;
        }
        (void)!write(1, "done\n", 5);
    }
}

static volatile sig_atomic_t first_count, second_count;

static void first_handler(int signal_number)
{
    (void)signal_number;
    first_count++;
}

static void second_handler(int signal_number)
{
    (void)signal_number;
    second_count++;
}

/* What stands where the program has put nothing yet, and whether its own handlers are called. */
static void handler(void)
{
    struct sigaction was, own = {.sa_handler = first_handler};
    sigaction(SIGUSR1, NULL, &was);
    int is_default = was.sa_handler == SIG_DFL;
    sigaction(SIGUSR1, &own, &was);
    is_default &= was.sa_handler == SIG_DFL;
    sigaction(SIGUSR1, NULL, &was);
    int is_own = was.sa_handler == first_handler;
    is_default &= signal(SIGUSR2, SIG_DFL) == SIG_DFL;
    is_default &= signal(SIGUSR2, second_handler) == SIG_DFL;
    is_own &= signal(SIGUSR2, second_handler) == second_handler;
    raise(SIGUSR1);
    raise(SIGUSR2);
    truth_add("{\"default\": %d, \"own\": %d, \"first\": %d, \"second\": %d}\n", is_default, is_own,
              (int)first_count, (int)second_count);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "calls";
    if (strcmp(mode, "idle") == 0) {
        idle();
        return 0;
    }
    if (strcmp(mode, "pools") == 0)
        pools();
    else if (strcmp(mode, "scopes") == 0)
        scopes();
    else if (strcmp(mode, "handed") == 0)
        handed();
    else if (strcmp(mode, "shared") == 0)
        shared();
    else if (strcmp(mode, "handler") == 0)
        handler();
    else
        calls();
    truth_tell(1);
    return 0;
}
