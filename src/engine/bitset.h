/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * bitset: a bit for every number, kept in pages that exist only where a bit
 * was set.  Numbers near the latest one cost a load.
 */
#ifndef HW_ENGINE_BITSET_H
#define HW_ENGINE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/map.h"
#include "tool/vec.h"

enum { BITSET_PAGE_BITS = 18 };

struct bitset_page {
    uint64_t words[(1 << BITSET_PAGE_BITS) / 64];
};

struct bitset {
    struct map index; /* page number -> index in pages */
    VEC(struct bitset_page *) pages;
    uint64_t latest;          /* page number */
    struct bitset_page *page; /* of latest; NULL = not there */
};

void bitset_init(struct bitset *b);
void bitset_release(struct bitset *b);
/* For the inline functions below. */
void bitset_turn(struct bitset *b, uint64_t page);
bool bitset_make(struct bitset *b, uint64_t page);

static inline bool bitset_has(struct bitset *b, uint64_t number)
{
    if (__builtin_expect(number >> BITSET_PAGE_BITS != b->latest, 0))
        bitset_turn(b, number >> BITSET_PAGE_BITS);
    uint64_t at = number & ((UINT64_C(1) << BITSET_PAGE_BITS) - 1);
    return b->page != NULL && (b->page->words[at / 64] >> at % 64 & 1) != 0;
}

/* As bitset_has, for several threads at once. */
static inline bool bitset_find(const struct bitset *b, uint64_t number)
{
    const uint64_t *page = map_find(&b->index, number >> BITSET_PAGE_BITS);
    uint64_t at = number & ((UINT64_C(1) << BITSET_PAGE_BITS) - 1);
    return page != NULL && (b->pages.data[*page]->words[at / 64] >> at % 64 & 1) != 0;
}

/* The bits of 64 numbers, of which this is one. */
static inline uint64_t bitset_word(struct bitset *b, uint64_t number)
{
    if (__builtin_expect(number >> BITSET_PAGE_BITS != b->latest, 0))
        bitset_turn(b, number >> BITSET_PAGE_BITS);
    uint64_t at = number & ((UINT64_C(1) << BITSET_PAGE_BITS) - 1);
    return b->page != NULL ? b->page->words[at / 64] : 0;
}

/* False: no memory. */
static inline bool bitset_set(struct bitset *b, uint64_t number)
{
    uint64_t page = number >> BITSET_PAGE_BITS, at = number & ((UINT64_C(1) << BITSET_PAGE_BITS) - 1);
    if (__builtin_expect(page != b->latest || b->page == NULL, 0) && !bitset_make(b, page))
        return false;
    b->page->words[at / 64] |= UINT64_C(1) << at % 64;
    return true;
}

/* Whether it was there. */
static inline bool bitset_take(struct bitset *b, uint64_t number)
{
    if (!bitset_has(b, number))
        return false;
    uint64_t at = number & ((UINT64_C(1) << BITSET_PAGE_BITS) - 1);
    b->page->words[at / 64] &= ~(UINT64_C(1) << at % 64);
    return true;
}

#endif
