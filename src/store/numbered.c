/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * numbered: see numbered.h.  Here is what happens once a page, and to blocks
 * that live long.
 *
 * A free in an old page that has come down to its last sixteenth moves what is
 * left to the map.  When there is no memory for that the page stays, which
 * costs memory and nothing else.
 */
#include "store/numbered.h"

#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    NUMBERED_GAP = 1 << 16,  /* pages that may be left out between two numbers */
    NUMBERED_SLAB_SHARE = 4, /* pages that are made at once: a quarter of those there are */
    NUMBERED_SLAB_MIN = 4,
    NUMBERED_SLAB_MAX = 256,
};

#define NUMBERED_NEVER UINT32_MAX

const struct numbered_page numbered_left = {.left = 0};
const struct numbered_page numbered_none = {.left = 1};

void numbered_init(struct numbered *n)
{
    *n = (struct numbered){.current_page = NUMBERED_NO_PAGE, .beyond = NUMBERED_NONE};
    map_init(&n->old);
}

/* The page that is in memory, or NULL. */
static struct numbered_page *numbered_get_page(const struct numbered *n, uint64_t page)
{
    uint64_t at = page - n->first_page;
    struct numbered_page *p = at < n->directory.count ? n->directory.data[at] : NULL;
    return p == NUMBERED_LEFT || p == NUMBERED_NONE ? NULL : p;
}

void numbered_release(struct numbered *n)
{
    for (size_t i = 0; i < n->slabs.count; i++)
        free(n->slabs.data[i]);
    vec_release(&n->slabs);
    vec_release(&n->directory);
    vec_release(&n->spare);
    vec_release(&n->unused);
    map_release(&n->old);
    free(n->rest);
    numbered_init(n);
}

/* One entry to the map.  False: no memory. */
static bool numbered_keep(struct numbered *n, uint64_t number, const void *entry, size_t size)
{
    size_t at = n->rest_count;
    if (n->unused.count > 0) {
        at = n->unused.data[n->unused.count - 1];
    } else if (at == UINT32_MAX || !vec_grow_bytes(&n->rest, &n->rest_capacity, size, at + 1) ||
               !vec_reserve(&n->unused, at + 1)) {
        /* Room for every index that can become unused, so that taking cannot fail. */
        return false;
    }
    if (!map_set(&n->old, number, at))
        return false;
    if (n->unused.count > 0)
        n->unused.count--;
    else
        n->rest_count++;
    memcpy((unsigned char *)n->rest + at * size, entry, size);
    return true;
}

/* Takes an entry out of the map; it may be read until the next one is kept. */
static const void *numbered_drop(struct numbered *n, uint64_t number, size_t size)
{
    uint64_t at;
    if (!map_remove(&n->old, number, &at))
        return NULL;
    n->unused.data[n->unused.count++] = (uint32_t)at;
    return (const unsigned char *)n->rest + at * size;
}

/* Eight entries at a time: a byte is 1 where there is one. */
static uint64_t numbered_eight(const struct numbered_page *p, unsigned at)
{
    uint64_t eight;
    memcpy(&eight, p->used + at, sizeof eight);
    return eight;
}

static uint32_t numbered_page_count(const struct numbered_page *p)
{
    uint64_t sums = 0; /* no byte gets above 128 */
    for (unsigned i = 0; i < NUMBERED_PAGE; i += 8)
        sums += numbered_eight(p, i);
    uint64_t pairs = (sums & UINT64_C(0x00ff00ff00ff00ff)) + (sums >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    return (uint32_t)(pairs * UINT64_C(0x0001000100010001) >> 48);
}

/* Moves what is left of a page to the map.  False: no memory; the page stays. */
static bool numbered_give_up(struct numbered *n, uint64_t page, size_t size)
{
    struct numbered_page *p = numbered_get_page(n, page);
    uint64_t first = page << NUMBERED_BITS;
    bool is_empty = true;
    for (unsigned at = 0; at < NUMBERED_PAGE; at += 8) {
        for (uint64_t left = numbered_eight(p, at); left != 0; left &= left - 1) {
            unsigned i = at + (unsigned)__builtin_ctzll(left) / 8;
            is_empty = false;
            if (numbered_keep(n, first + i, p->entries + i * size, size))
                continue;
            while (i-- > 0)
                if (numbered_page_has(p, i))
                    (void)numbered_drop(n, first + i, size);
            p->left = NUMBERED_NEVER;
            return false;
        }
    }
    n->directory.data[page - n->first_page] = is_empty ? NUMBERED_NONE : NUMBERED_LEFT;
    n->spare.data[n->spare.count++] = p;
    return true;
}

/* The page that has just become old. */
static void numbered_age(struct numbered *n, uint64_t page, size_t size)
{
    struct numbered_page *p = numbered_get_page(n, page);
    if (p == NULL)
        return;
    uint32_t count = numbered_page_count(p);
    if (count > NUMBERED_SPARSE)
        p->left = count - NUMBERED_SPARSE;
    else
        (void)numbered_give_up(n, page, size);
}

/* Begins a directory at another page. */
static bool numbered_move(struct numbered *n, uint64_t page, size_t size)
{
    for (uint64_t i = 0; i < n->directory.count; i++)
        if (numbered_get_page(n, n->first_page + i) != NULL && !numbered_give_up(n, n->first_page + i, size))
            return false;
    n->directory.count = 0;
    n->beyond = map_count(&n->old) > 0 ? NUMBERED_LEFT : NUMBERED_NONE;
    n->current_page = NUMBERED_NO_PAGE;
    n->first_page = page;
    return true;
}

/* More spare pages: what they know of their entries, then all their entries. */
static bool numbered_make_slab(struct numbered *n, size_t size)
{
    size_t pages = n->pages / NUMBERED_SLAB_SHARE;
    pages = pages < NUMBERED_SLAB_MIN ? NUMBERED_SLAB_MIN : pages;
    pages = pages > NUMBERED_SLAB_MAX ? NUMBERED_SLAB_MAX : pages;
    size_t heads = (pages * sizeof(struct numbered_page) + 63) / 64 * 64;
    /* Room for every page that can become spare, so that giving up cannot fail. */
    if (!vec_reserve(&n->spare, n->pages + pages) || !vec_reserve(&n->slabs, n->slabs.count + 1))
        return false;
    unsigned char *slab = memory_new_large(heads + pages * NUMBERED_PAGE * size);
    if (slab == NULL)
        return false;
    n->slabs.data[n->slabs.count++] = slab;
    n->pages += pages;
    for (size_t i = pages; i-- > 0;) {
        struct numbered_page *p = (struct numbered_page *)(void *)slab + i;
        p->entries = slab + heads + i * NUMBERED_PAGE * size;
        n->spare.data[n->spare.count++] = p;
    }
    return true;
}

bool numbered_turn(struct numbered *n, uint64_t page, size_t size)
{
    uint64_t before = n->current_page;
    bool follows = before != NUMBERED_NO_PAGE && page > before && page - before <= NUMBERED_GAP;
    if (!follows && !numbered_move(n, page, size))
        return false;
    uint64_t at = page - n->first_page;
    if (!vec_reserve(&n->directory, at + 1) || (n->spare.count == 0 && !numbered_make_slab(n, size)))
        return false;
    struct numbered_page *p = n->spare.data[--n->spare.count];
    memset(p->used, 0, sizeof p->used);
    p->left = NUMBERED_NEVER;
    while (n->directory.count <= at)
        n->directory.data[n->directory.count++] = NUMBERED_NONE;
    n->directory.data[at] = p;
    n->current = p;
    n->current_page = page;
    /* Usually one page has become old. */
    for (uint64_t old = before < NUMBERED_YOUNG ? 0 : before - NUMBERED_YOUNG + 1;
         follows && old <= before && old + NUMBERED_YOUNG <= page; old++)
        numbered_age(n, old, size);
    return true;
}

const void *numbered_take_old(struct numbered *n, uint64_t number, size_t size)
{
    uint64_t page = number >> NUMBERED_BITS;
    struct numbered_page *p = numbered_get_page(n, page);
    const void *entry;
    if (p != NULL && !numbered_give_up(n, page, size))
        return numbered_take(n, number, size);
    entry = numbered_drop(n, number, size);
    n->count -= entry != NULL;
    return entry;
}

void *numbered_find_old(const struct numbered *n, uint64_t number, size_t size)
{
    const uint64_t *at = map_find(&n->old, number);
    return at == NULL ? NULL : (unsigned char *)n->rest + *at * size;
}

const void *numbered_next(const struct numbered *n, struct numbered_walk *at, uint64_t *number, size_t size)
{
    uint64_t index;
    if (map_next(&n->old, &at->old, number, &index))
        return (const unsigned char *)n->rest + index * size;
    for (; at->page < n->directory.count; at->page++, at->entry = 0) {
        const struct numbered_page *p = numbered_get_page(n, n->first_page + at->page);
        for (; p != NULL && at->entry < NUMBERED_PAGE; at->entry++) {
            if (!numbered_page_has(p, at->entry))
                continue;
            *number = ((n->first_page + at->page) << NUMBERED_BITS) + at->entry;
            return p->entries + at->entry++ * size;
        }
    }
    return NULL;
}
