/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * blocks: see blocks.h.  Memory comes straight from the system, on huge pages
 * where there are any: with millions of blocks every access is a TLB miss
 * otherwise.
 *
 * The home of an entry is its hash as a fraction of the table, so that order by
 * home is order by hash in a table of any size.  A table therefore grows in
 * place, from its end downwards: an entry never moves below a run that is still
 * to be read.  Fresh pages are the dearest thing about a large table, and this
 * way each is asked for once.
 */
#include "collect/blocks.h"

#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    BLOCKS_FIRST = 1 << 10,
    BLOCKS_TAIL = 1 << 8,
    BLOCKS_HUGE = 2 << 20,
    BLOCKS_LARGE = 4 << 20, /* from here on huge pages pay */
};

/* While the table fits a CPU's cache, room is cheap and a probe that hits at
 * once saves a mispredicted branch; later memory counts. */
static size_t blocks_fill(size_t homes)
{
    return homes <= 1 << 13 ? homes / 8 : homes <= 1 << 16 ? homes / 4 : homes / 3 * 2;
}

static size_t blocks_next_size(size_t homes)
{
    return homes < 1 << 20 ? homes * 2 : homes / 2 * 3;
}

/* Where a large table goes: a place on the border of a huge page, so that
 * moving the table there moves its huge pages whole.  NULL: none. */
static void *blocks_reserve(size_t size)
{
    size_t whole = size + BLOCKS_HUGE;
    char *memory = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)memory % BLOCKS_HUGE;
    if (before != 0)
        munmap(memory, before);
    munmap(memory + before + size, whole - before - size);
    return memory + before;
}

static void *blocks_move(struct blocks *t, size_t size)
{
    void *place = size < BLOCKS_LARGE ? NULL : blocks_reserve(size);
    if (place == NULL)
        return mremap(t->slots, t->room * sizeof *t->slots, size, MREMAP_MAYMOVE);
    void *memory = mremap(t->slots, t->room * sizeof *t->slots, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    if (memory == MAP_FAILED)
        munmap(place, size);
    else
        (void)madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

static bool blocks_resize(struct blocks *t, size_t homes, size_t room)
{
    size_t size = room * sizeof *t->slots;
    if (size >= BLOCKS_LARGE)
        size = (size + BLOCKS_HUGE - 1) / BLOCKS_HUGE * BLOCKS_HUGE;
    void *memory = t->slots == NULL
                       ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : blocks_move(t, size);
    if (memory == MAP_FAILED)
        return false;
    t->slots = memory;
    t->homes = homes;
    t->room = size / sizeof *t->slots;
    t->last = &t->slots[t->room - 1];
    t->grow_at = blocks_fill(homes);
    return true;
}

bool blocks_init(struct blocks *t)
{
    memset(t, 0, sizeof *t);
    return blocks_resize(t, BLOCKS_FIRST, BLOCKS_FIRST + BLOCKS_TAIL);
}

void blocks_release(struct blocks *t)
{
    if (t->slots != NULL)
        munmap(t->slots, t->room * sizeof *t->slots);
    memset(t, 0, sizeof *t);
}

bool blocks_stretch(struct blocks *t)
{
    return blocks_resize(t, t->homes, t->room + t->room / 4);
}

static size_t blocks_longest_run(const struct blocks *t)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < t->room; i++) {
        run = t->slots[i].address == 0 ? 0 : run + 1;
        if (run > longest)
            longest = run;
    }
    return longest;
}

/* Puts entries back at their homes in the table's new size. */
static bool blocks_settle(struct blocks *t, const struct block *entries, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        size_t i = (size_t)(blocks_home(t, blocks_hash(entries[n].address)) - t->slots);
        while (t->slots[i].address != 0)
            i++;
        t->slots[i] = entries[n];
        if (i == t->room - 1 && !blocks_stretch(t))
            return false;
    }
    return true;
}

bool blocks_grow(struct blocks *t)
{
    size_t end = t->room, homes = blocks_next_size(t->homes);
    struct block *run = memory_new((blocks_longest_run(t) + 1) * sizeof *run);
    bool done = run != NULL && blocks_resize(t, homes, homes + BLOCKS_TAIL);
    while (done) {
        while (end > 0 && t->slots[end - 1].address == 0)
            end--;
        size_t begin = end;
        while (begin > 0 && t->slots[begin - 1].address != 0)
            begin--;
        if (begin == end)
            break;
        memcpy(run, t->slots + begin, (end - begin) * sizeof *run);
        memset(t->slots + begin, 0, (end - begin) * sizeof *run);
        done = blocks_settle(t, run, end - begin);
        end = begin;
    }
    free(run);
    return done;
}

void blocks_close_gap(struct blocks *t, struct block *b)
{
    struct block *hole = b;
    for (struct block *i = b + 1; i->address != 0; i++) {
        /* May it move back to the hole without passing its home? */
        if (blocks_home(t, blocks_hash(i->address)) <= hole) {
            *hole = *i;
            hole = i;
        }
    }
    memset(hole, 0, sizeof *hole);
}
