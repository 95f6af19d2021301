/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * filters: blocks that differ in everything that a filter can ask for, and for each what is true
 * of it.  No two have the same size, so that a sum of bytes tells which they are.
 * build: -I{root}/include -O1 -pthread
 *
 * Three phases, "one" to "three", begin with a mark.  In each, the main thread and then a
 * thread called "helper" release what is due and make what is due.  A block of which the next is made
 * by realloc is released by that.  Between phases it sleeps, so that lifetimes are easy to tell apart.
 */
#include <heapwake.h>

#include <malloc.h>
#include <time.h>

#include "phases.h"
#include "truth.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { ITEMS = 240, PHASES = 3, LARGE = 400000 /* above what glibc keeps in its heap at first */ };
enum { BETWEEN_US = 60000 };
enum maker { MAKE_PLAIN, MAKE_ZEROED, MAKE_ALIGNED, MAKE_AGAIN };
enum dropper { DROP_NONE, DROP_PLAIN, DROP_KINDLY, DROP_AGAIN };

static struct item {
    size_t size;
    enum maker maker;
    enum dropper dropper;
    int born, died; /* phase */
    bool born_by_helper, died_by_helper;
    bool is_mapped;
    void *block;
    size_t usable;
    uint64_t born_ns, died_ns;
} items[ITEMS];

static uint32_t noise_state = 4711;

static uint32_t noise(uint32_t below)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (noise_state >> 8) % below;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static NOINLINE void *make_plain(size_t size)
{
    return truth_keep(malloc(size));
}

static NOINLINE void *make_zeroed(size_t size)
{
    return truth_keep(calloc(1, size));
}

static NOINLINE void *make_aligned(size_t size)
{
    void *block = NULL;
    if (posix_memalign(&block, 256, size) != 0)
        _exit(97);
    return truth_keep(block);
}

static NOINLINE void *make_again(void *old, size_t size)
{
    return truth_keep(realloc(old, size));
}

static NOINLINE void drop_plain(void *block)
{
    free(block);
    truth_keep(NULL);
}

static NOINLINE void drop_kindly(void *block)
{
    free(block);
    truth_keep(NULL);
}

/* Items that continue each other stand side by side. */
static void plan(void)
{
    for (int i = 0; i < ITEMS; i++) {
        struct item *it = &items[i];
        it->size = (noise(12) == 0 ? LARGE : 1000) + 8 * (size_t)(i * 3 + (int)noise(3));
        it->maker = (enum maker)noise(3);
        it->born = 1 + (int)noise(PHASES);
        it->born_by_helper = noise(2);
        if (i > 0 && items[i - 1].dropper == DROP_AGAIN) {
            it->maker = MAKE_AGAIN;
            it->born = items[i - 1].died;
            it->born_by_helper = items[i - 1].died_by_helper;
        }
        it->dropper = (enum dropper)noise(i + 1 < ITEMS ? 4 : 3);
        it->died = it->dropper == DROP_NONE ? 0 : it->born + 1 + (int)noise(PHASES);
        it->died_by_helper = noise(2);
        if (it->died > PHASES) { /* too late: it stays */
            it->dropper = DROP_NONE;
            it->died = 0;
        }
    }
}

static void make(struct item *it)
{
    switch (it->maker) {
    case MAKE_PLAIN:
        it->block = make_plain(it->size);
        break;
    case MAKE_ZEROED:
        it->block = make_zeroed(it->size);
        break;
    case MAKE_ALIGNED:
        it->block = make_aligned(it->size);
        break;
    case MAKE_AGAIN:
        it[-1].died_ns = now();
        it->block = make_again(it[-1].block, it->size);
        break;
    }
    it->born_ns = now();
    it->usable = malloc_usable_size(it->block);
    it->is_mapped = (((const size_t *)it->block)[-1] & 2) != 0; /* glibc's flag in the word before it */
}

static void act(int phase, bool is_helper)
{
    for (int i = 0; i < ITEMS; i++) {
        struct item *it = &items[i];
        if (it->died == phase && it->died_by_helper == is_helper && it->dropper != DROP_AGAIN)
            it->died_ns = now();
        if (it->died == phase && it->died_by_helper == is_helper && it->dropper == DROP_PLAIN)
            drop_plain(it->block);
        if (it->died == phase && it->died_by_helper == is_helper && it->dropper == DROP_KINDLY)
            drop_kindly(it->block);
        if (it->born == phase && it->born_by_helper == is_helper)
            make(it);
    }
}

int main(void)
{
    static const char *const makers[] = {"make_plain", "make_zeroed", "make_aligned", "make_again"};
    static const char *const droppers[] = {"", "drop_plain", "drop_kindly", "make_again"};
    plan();
    HEAPWAKE_TAG("one");
    phases_run(1);
    usleep(BETWEEN_US);
    HEAPWAKE_TAG("two");
    phases_run(2);
    usleep(BETWEEN_US);
    HEAPWAKE_TAG("three");
    phases_run(3);
    const uint64_t end_ns = now();
    truth_add("[");
    for (int i = 0; i < ITEMS; i++) {
        const struct item *it = &items[i];
        truth_add(
            "%s{\"size\": %zu, \"maker\": \"%s\", \"dropper\": \"%s\", \"born\": %d, \"died\": %d, "
            "\"born_by\": \"%s\", \"died_by\": \"%s\", \"mapped\": %s, \"address\": %lu, \"usable\": %zu, "
            "\"born_ns\": %lu, \"died_ns\": %lu}",
            i == 0 ? "" : ", ", it->size, makers[it->maker], droppers[it->dropper], it->born, it->died,
            it->born_by_helper ? "helper" : "filters", it->died_by_helper ? "helper" : "filters",
            it->is_mapped ? "true" : "false", (unsigned long)(uintptr_t)it->block, it->usable,
            (unsigned long)it->born_ns, (unsigned long)(it->died_ns != 0 ? it->died_ns : end_ns));
    }
    truth_add("]\n");
    truth_tell(1);
    return 0;
}
