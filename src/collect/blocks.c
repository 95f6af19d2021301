/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * blocks: see blocks.h.  Memory comes straight from the system, on huge pages
 * where there are any: with millions of blocks every access is a TLB miss
 * otherwise.  The home of an entry is the high bits of its hash, so that
 * doubling keeps the order and reads and writes straight through memory.
 */
#include "collect/blocks.h"

#include <string.h>
#include <sys/mman.h>

enum { BLOCKS_FIRST_BITS = 10 };

/* While the table fits a CPU's cache, room is cheap and a probe that hits at
 * once saves a mispredicted branch; later memory counts: fresh pages cost more
 * than the longer runs of a fuller table. */
static size_t blocks_fill(unsigned bits)
{
    size_t slots = (size_t)1 << bits;
    return bits <= 13 ? slots / 8 : bits <= 16 ? slots / 4 : bits <= 20 ? slots / 2 : slots / 16 * 13;
}

static bool blocks_map(struct blocks *t, unsigned bits)
{
    size_t slots = (size_t)1 << bits;
    void *memory =
        mmap(NULL, slots * sizeof(struct block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    if (slots * sizeof(struct block) >= (size_t)4 << 20)
        (void)madvise(memory, slots * sizeof(struct block), MADV_HUGEPAGE);
    t->slots = memory;
    t->mask = slots - 1;
    t->shift = 64 - bits;
    t->grow_at = blocks_fill(bits);
    return true;
}

bool blocks_init(struct blocks *t)
{
    memset(t, 0, sizeof *t);
    return blocks_map(t, BLOCKS_FIRST_BITS);
}

void blocks_release(struct blocks *t)
{
    if (t->slots != NULL)
        munmap(t->slots, (t->mask + 1) * sizeof *t->slots);
    memset(t, 0, sizeof *t);
}

bool blocks_grow(struct blocks *t)
{
    struct blocks bigger = {0};
    if (!blocks_map(&bigger, 64 - t->shift + 1))
        return false;
    /* Begin after an empty slot, so that runs that wrap around stay in order. */
    size_t start = 0;
    while (t->slots[start].address != 0)
        start++;
    for (size_t n = 0; n <= t->mask; n++) {
        const struct block *b = &t->slots[(start + n) & t->mask];
        if (b->address == 0)
            continue;
        size_t i = blocks_home(&bigger, b->address);
        while (bigger.slots[i].address != 0)
            i = (i + 1) & bigger.mask;
        bigger.slots[i] = *b;
    }
    bigger.count = t->count;
    munmap(t->slots, (t->mask + 1) * sizeof *t->slots);
    *t = bigger;
    return true;
}

void blocks_remove(struct blocks *t, struct block *b)
{
    size_t hole = (size_t)(b - t->slots);
    for (size_t i = (hole + 1) & t->mask; t->slots[i].address != 0; i = (i + 1) & t->mask) {
        size_t home = blocks_home(t, t->slots[i].address);
        /* May it move back to the hole without passing its home? */
        if (((i - home) & t->mask) >= ((i - hole) & t->mask)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    }
    memset(&t->slots[hole], 0, sizeof t->slots[hole]);
    t->count--;
}
