/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * map_filters: mappings that differ in everything that a filter can ask for, and for each what is true
 * of it.  No two have the same size.
 * build: -I{root}/include -O1 -pthread
 *
 * Three phases, "one" to "three", begin with a mark.  In each, the main thread and then a thread called
 * "helper" remove what is due, make what is due and use some pages of it; at its end everything is sampled, if that is
 * recorded.  A mapping of which one half is removed in a phase loses the other in the next.
 */
#include <heapwake.h>

#include "phases.h"
#include "truth.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { ITEMS = 120, PHASES = 3, PAGE = 4096 };
enum maker { MAKE_PLAIN, MAKE_READABLE, MAKE_CODE, MAKE_CLOSED, MAKE_FIXED };
enum dropper { DROP_NONE, DROP_WHOLE, DROP_HALVES, DROP_START, DROP_COVERED, DROP_MOVED };

static const char *const makers[] = {"make_plain", "make_readable", "make_code", "make_closed", "make_fixed"};
static const char *const droppers[] = {"", "drop_whole", "drop_halves", "", "make_cover", "make_moved"};

static struct item {
    size_t pages, touched; /* touched: so many of the first */
    enum maker maker;
    enum dropper dropper;
    bool is_sealed; /* its rights to write are taken away */
    int born, died; /* phase; of halves: when the first went */
    bool born_by_helper, died_by_helper;
    char *at;
} items[ITEMS];

static uint32_t noise_state = 1234;

static uint32_t noise(uint32_t below)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (noise_state >> 8) % below;
}

#define MAKER(name, prot)                                                                      \
    static NOINLINE char *name(size_t pages)                                                   \
    {                                                                                          \
        return truth_keep(mmap(NULL, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); \
    }

MAKER(make_plain, PROT_READ | PROT_WRITE)
MAKER(make_readable, PROT_READ)
MAKER(make_code, PROT_READ | PROT_EXEC)
MAKER(make_closed, PROT_NONE)

/* In a place that is free again. */
static NOINLINE char *make_fixed(size_t pages)
{
    char *at = mmap(NULL, pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(at, pages * PAGE);
    return truth_keep(mmap(at, pages * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

static NOINLINE char *make_cover(char *at, size_t pages)
{
    return truth_keep(
        mmap(at, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

static NOINLINE char *make_moved(char *at, size_t pages)
{
    return truth_keep(mremap(at, pages * PAGE, (pages + 1000) * PAGE, MREMAP_MAYMOVE));
}

static volatile int refused; /* so that no call is the last of its function */

static NOINLINE void drop_whole(char *at, size_t pages)
{
    refused += munmap(at, pages * PAGE);
}

static NOINLINE void drop_halves(char *at, size_t pages)
{
    refused += munmap(at, pages * PAGE);
}

static NOINLINE void drop_start(char *at)
{
    refused += munmap(at, PAGE);
}

static void plan(void)
{
    for (int i = 0; i < ITEMS; i++) {
        struct item *it = &items[i];
        it->pages = 4 + 2 * (size_t)i;
        it->maker = (enum maker)noise(5);
        bool can_write = it->maker == MAKE_PLAIN || it->maker == MAKE_FIXED;
        it->touched = can_write ? noise(4) : 0;
        it->is_sealed = it->maker == MAKE_PLAIN && noise(4) == 0;
        it->born = 1 + (int)noise(PHASES);
        it->dropper = (enum dropper)noise(6);
        it->died = it->born + 1 + (int)noise(2);
        it->born_by_helper = noise(2);
        it->died_by_helper = noise(2);
        int gone = it->died + (it->dropper == DROP_HALVES);
        if (gone > PHASES) /* too late: it stays */
            it->dropper = DROP_NONE;
        if (it->dropper == DROP_NONE)
            it->died = 0;
    }
}

static void make(struct item *it)
{
    static char *(*const calls[])(size_t) = {make_plain, make_readable, make_code, make_closed, make_fixed};
    it->at = calls[it->maker](it->pages);
    for (size_t i = 0; i < it->touched; i++)
        ((volatile char *)it->at)[i * PAGE] = 1;
    if (it->is_sealed)
        mprotect(it->at, it->pages * PAGE, PROT_READ);
}

static void drop(struct item *it)
{
    switch (it->dropper) {
    case DROP_WHOLE:
        drop_whole(it->at, it->pages);
        break;
    case DROP_HALVES:
        drop_halves(it->at, it->pages / 2);
        break;
    case DROP_START:
        drop_start(it->at);
        break;
    case DROP_COVERED:
        make_cover(it->at, it->pages);
        break;
    case DROP_MOVED:
        make_moved(it->at, it->pages);
        break;
    case DROP_NONE:
        break;
    }
}

static void act(int phase, bool is_helper)
{
    for (int i = 0; i < ITEMS; i++) {
        struct item *it = &items[i];
        if (it->died == phase && it->died_by_helper == is_helper)
            drop(it);
        if (it->dropper == DROP_HALVES && it->died + 1 == phase && it->died_by_helper == is_helper)
            drop_halves(it->at + it->pages / 2 * PAGE, it->pages / 2);
        if (it->born == phase && it->born_by_helper == is_helper)
            make(it);
    }
}

int main(void)
{
    static const char *const marks[] = {"one", "two", "three"};
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* a touched page is one page */
    plan();
    (void)HEAPWAKE_FLUSH(); /* whatever is sampled at the beginning has been */
    for (int phase = 1; phase <= PHASES; phase++) {
        HEAPWAKE_TAG(marks[phase - 1]);
        phases_run(phase);
        (void)HEAPWAKE_FLUSH();
    }
    truth_add("[");
    for (int i = 0; i < ITEMS; i++) {
        const struct item *it = &items[i];
        bool is_gone = it->dropper != DROP_NONE && it->dropper != DROP_START;
        truth_add("%s{\"pages\": %zu, \"touched\": %zu, \"maker\": \"%s\", \"dropper\": \"%s\", \"cut\": %d, "
                  "\"sealed\": %d, \"born\": %d, \"died\": %d, \"born_by\": \"%s\", \"died_by\": \"%s\", "
                  "\"address\": %lu}",
                  i == 0 ? "" : ", ", it->pages, it->touched, makers[it->maker], droppers[it->dropper],
                  it->dropper == DROP_START || it->dropper == DROP_HALVES, it->is_sealed, it->born,
                  !is_gone ? 0 : it->died + (it->dropper == DROP_HALVES),
                  it->born_by_helper ? "helper" : "main", it->died_by_helper ? "helper" : "main",
                  (unsigned long)(uintptr_t)it->at);
    }
    truth_add("]\n");
    truth_tell(1);
    return refused == 0 ? 0 : 93;
}
