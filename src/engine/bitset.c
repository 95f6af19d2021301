/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * bitset: see bitset.h.
 */
#include "engine/bitset.h"

#include "tool/memory.h"

void bitset_init(struct bitset *b)
{
    *b = (struct bitset){.latest = UINT64_MAX};
    map_init(&b->index);
}

void bitset_release(struct bitset *b)
{
    for (size_t i = 0; i < b->pages.count; i++)
        free(b->pages.data[i]);
    vec_release(&b->pages);
    map_release(&b->index);
    bitset_init(b);
}

void bitset_turn(struct bitset *b, uint64_t page)
{
    const uint64_t *at = map_find(&b->index, page);
    b->latest = page;
    b->page = at == NULL ? NULL : b->pages.data[*at];
}

static bool bitset_add_page(struct bitset *b, uint64_t page)
{
    struct bitset_page *fresh = memory_new_zeroed(1, sizeof *fresh);
    if (fresh == NULL || !vec_push(&b->pages, fresh)) {
        free(fresh);
        return false;
    }
    if (!map_set(&b->index, page, b->pages.count - 1)) {
        free(b->pages.data[--b->pages.count]);
        return false;
    }
    b->latest = page;
    b->page = fresh;
    return true;
}

bool bitset_make(struct bitset *b, uint64_t page)
{
    bitset_turn(b, page);
    return b->page != NULL || bitset_add_page(b, page);
}
