/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * numbered: see numbered.h.  Here is what happens once a page, and to blocks
 * that live long.
 *
 * A free in an old page that has come down to its last eighth moves what is
 * left to the map.  When there is no memory for that the page stays, which
 * costs memory and nothing else.
 */
#include "store/numbered.h"

#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    NUMBERED_GAP = 1 << 16 /* pages that may be left out between two numbers */
};

#define NUMBERED_NEVER UINT32_MAX

const struct numbered_page numbered_left = {.count = 0, .sparse = 0};

void numbered_init(struct numbered *n)
{
    *n = (struct numbered){0};
    map_init(&n->old);
}

/* The page that is in memory, or NULL. */
static struct numbered_page *numbered_get_page(const struct numbered *n, uint64_t page)
{
    uint64_t at = page - n->first_page;
    struct numbered_page *p = at < n->directory.count ? n->directory.data[at] : NULL;
    return p == NUMBERED_LEFT ? NULL : p;
}

void numbered_release(struct numbered *n)
{
    for (size_t i = 0; i < n->directory.count; i++)
        if (n->directory.data[i] != NUMBERED_LEFT)
            free(n->directory.data[i]);
    for (size_t i = 0; i < n->spare.count; i++)
        free(n->spare.data[i]);
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

/* Moves what is left of a page to the map.  False: no memory; the page stays. */
static bool numbered_give_up(struct numbered *n, uint64_t page, size_t size)
{
    struct numbered_page *p = numbered_get_page(n, page);
    uint64_t first = page << NUMBERED_BITS;
    for (unsigned i = 0; i < NUMBERED_PAGE; i++) {
        if ((p->used[i / 64] >> i % 64 & 1) == 0)
            continue;
        if (!numbered_keep(n, first + i, p->entries + i * size, size)) {
            while (i-- > 0)
                if ((p->used[i / 64] >> i % 64 & 1) != 0)
                    (void)numbered_drop(n, first + i, size);
            p->sparse = NUMBERED_NEVER;
            return false;
        }
    }
    n->directory.data[page - n->first_page] = p->count > 0 ? NUMBERED_LEFT : NULL;
    if (!vec_push(&n->spare, p))
        free(p);
    return true;
}

/* The page that has just become old. */
static void numbered_age(struct numbered *n, uint64_t page, size_t size)
{
    struct numbered_page *p = numbered_get_page(n, page);
    if (p == NULL)
        return;
    p->sparse = NUMBERED_SPARSE;
    if (p->count <= NUMBERED_SPARSE)
        (void)numbered_give_up(n, page, size);
}

/* Begins a directory at another page. */
static bool numbered_move(struct numbered *n, uint64_t page, size_t size)
{
    for (uint64_t i = 0; i < n->directory.count; i++)
        if (numbered_get_page(n, n->first_page + i) != NULL && !numbered_give_up(n, n->first_page + i, size))
            return false;
    n->directory.count = 0;
    n->current = NULL;
    n->first_page = n->current_page = page;
    return true;
}

bool numbered_turn(struct numbered *n, uint64_t page, size_t size)
{
    bool follows = n->current != NULL && page > n->current_page && page - n->current_page <= NUMBERED_GAP;
    if (!follows && !numbered_move(n, page, size))
        return false;
    uint64_t at = page - n->first_page;
    if (!vec_reserve(&n->directory, at + 1))
        return false;
    struct numbered_page *p = n->spare.count > 0 ? n->spare.data[--n->spare.count] : NULL;
    if (p == NULL &&
        (p = memory_new_aligned(_Alignof(struct numbered_page), sizeof *p + NUMBERED_PAGE * size)) == NULL)
        return false;
    memset(p->used, 0, sizeof p->used);
    p->count = 0;
    p->sparse = NUMBERED_NEVER;
    while (n->directory.count <= at)
        n->directory.data[n->directory.count++] = NULL;
    n->directory.data[at] = p;
    uint64_t before = n->current_page;
    n->current = p;
    n->current_page = page;
    /* Usually one page has become old. */
    for (uint64_t old = before < NUMBERED_YOUNG ? 0 : before - NUMBERED_YOUNG + 1;
         old <= before && old + NUMBERED_YOUNG <= page; old++)
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
        const struct numbered_page *p = n->directory.data[at->page];
        for (; p != NULL && p != NUMBERED_LEFT && at->entry < NUMBERED_PAGE; at->entry++) {
            if ((p->used[at->entry / 64] >> at->entry % 64 & 1) == 0)
                continue;
            *number = ((n->first_page + at->page) << NUMBERED_BITS) + at->entry;
            return p->entries + at->entry++ * size;
        }
    }
    return NULL;
}
