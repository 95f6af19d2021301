/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * told: calls everything in include/heapwake.h and says what the calls gave. Each
 * step has a size of its own, so that a recording shows what was seen of it.
 * build: -I{root}/include
 *
 *     told calls    every call once
 *     told pools    blocks of a pool that are carved from one malloc block
 *     told idle     waits on stdin, with one line for each of: what to do
 *     told handler  installs handlers of its own for SIGUSR1 and SIGUSR2
 */
#include <heapwake.h>

#include "truth.h"

#include <errno.h>
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
    else if (strcmp(mode, "handler") == 0)
        handler();
    else
        calls();
    truth_tell(1);
    return 0;
}
