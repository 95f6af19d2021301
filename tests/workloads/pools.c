/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pools: blocks in mappings: in one that is cut and covered by another, in one that mremap moves, in the break, and in
 * none.  Says which lie where; no two have the same size.
 * build: {build}/tests/workloads/libpools.so -Wl,-rpath,$ORIGIN
 */
#include "truth.h"

#include <stdbool.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { PAGE = 4096, PAGES = 16, LENGTH = PAGE * PAGES };

extern char *pools_at, *pools_end; /* libpools */

static size_t blocks_made;

static NOINLINE void *make_block(size_t size)
{
    void *block = malloc(size);
    blocks_made++;
    return truth_keep(block);
}

/* Some blocks here; every third is released. */
static void fill(const char *where, char *at, size_t length, unsigned count)
{
    pools_at = at;
    pools_end = at + length;
    truth_add("%s{\"where\": \"%s\", \"sizes\": [", blocks_made == 0 ? "" : ", ", where);
    for (unsigned i = 0; i < count; i++) {
        size_t size = 100 + 3 * blocks_made;
        void *block = make_block(size);
        if (block == NULL)
            _exit(95);
        if (i % 3 == 0)
            free(block);
        truth_add("%s%zu", i == 0 ? "" : ", ", size);
    }
    truth_add("]}");
    pools_at = NULL;
}

static NOINLINE char *map_first(void)
{
    return truth_keep(mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static NOINLINE char *map_second(void)
{
    return truth_keep(
        mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

static NOINLINE char *map_over(char *at)
{
    return truth_keep(
        mmap(at, LENGTH / 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

static NOINLINE char *map_moved(char *at)
{
    return truth_keep(mremap(at, LENGTH, (size_t)4 * LENGTH, MREMAP_MAYMOVE));
}

static NOINLINE char *map_break(void)
{
    return truth_keep(sbrk(LENGTH));
}

int main(void)
{
    truth_add("[");
    fill("none", NULL, 0, 5);
    char *first = map_first(), *second = map_second();
    fill("map_first", first, LENGTH / 4, 11);
    fill("map_second", second, LENGTH, 7);
    fill("map_first", first + LENGTH / 2, LENGTH / 2, 6);
    char *over = map_over(first + LENGTH / 4);
    fill("map_over", over, LENGTH / 4, 9);
    if (munmap(first, LENGTH / 4) != 0)
        return 94;
    fill("map_first", first + LENGTH / 2, LENGTH / 2, 4);
    char *moved = map_moved(second);
    fill("map_moved", moved, (size_t)4 * LENGTH, 13);
    char *end = map_break();
    fill("map_break", end + 1024, LENGTH - 4096, 8);
    fill("none", NULL, 0, 3);
    truth_add("]\n");
    truth_tell(1);
    return 0;
}
