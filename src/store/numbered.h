/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * numbered: entries by the number of an allocation, for whoever follows a
 * stream: numbers are added in rising order and taken out when their FREE
 * comes.  Any plain struct can be the entry.
 *
 *     number ->  page = number / 1024     entry = number % 1024
 *
 *     directory  [ L | L | P | L | - | P | P ]    one pointer a page
 *                  |   |       |   |
 *                  |   |       |   +--> nothing
 *                  +---+-------+--> the few entries left of old pages: a map
 *
 * Most blocks die young, so the latest pages are kept as they are.  A page that has grown
 * old and is less than a sixteenth full is given up: what is left of it moves to a map.  So
 * memory goes by live entries (sixteen times at most, two or three as a rule), and one pointer for every
 * 1024 numbers.
 *
 * Where many are live nothing is in a cache when it is asked for.  So what a page knows of its
 * entries stands apart from them and close to that of other pages, entries come in large
 * pages of memory, and a lookup waits for memory once, for the entry.
 *
 * Invariants
 *  1. A number is in its page or, when the directory has NUMBERED_LEFT for it or does
 *     not reach it, in the map.
 *  2. An old page has more than NUMBERED_SPARSE entries.
 *
 * Numbers that jump or go down (a damaged file) are taken as they come; where they go down,
 * entries with numbers near those that come again may be lost sight of.
 *
 * `size` is sizeof the entry: a constant, the same in every call.  Not for
 * several threads.
 */
#ifndef HW_STORE_NUMBERED_H
#define HW_STORE_NUMBERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/map.h"
#include "tool/vec.h"

enum {
    NUMBERED_BITS = 10,
    NUMBERED_PAGE = 1 << NUMBERED_BITS,
    NUMBERED_YOUNG = 16, /* pages that are kept however empty they are */
    NUMBERED_SPARSE = NUMBERED_PAGE / 16,
};

struct numbered_page {
    unsigned char *entries;
    uint32_t left; /* entries that can be taken until the page is given up; a young page: no end */
    uint8_t used[NUMBERED_PAGE]; /* whether there is such an entry */
};

/* Stand in a directory for pages that are not there, and are never written.  One was given up: nothing can be taken
 * from it, so that whoever asks is sent to the map.  Of the other nothing is left. */
extern const struct numbered_page numbered_left, numbered_none;
#define NUMBERED_LEFT ((struct numbered_page *)&numbered_left)
#define NUMBERED_NONE ((struct numbered_page *)&numbered_none)

struct numbered {
    VEC(struct numbered_page *) directory; /* index: page - first_page */
    uint64_t first_page;
    struct numbered_page *beyond;  /* stands for pages that the directory does not reach */
    struct numbered_page *current; /* where the latest number is */
    uint64_t current_page;         /* NUMBERED_NO_PAGE: none */
    VEC(struct numbered_page *) spare;
    VEC(void *) slabs; /* many pages each */
    size_t pages;      /* in all slabs */
    struct map old;    /* number -> index in rest */
    void *rest;        /* entries that are left of old pages */
    size_t rest_count, rest_capacity;
    VEC(uint32_t) unused; /* indexes in rest */
    size_t count;
};

#define NUMBERED_NO_PAGE UINT64_MAX

void numbered_init(struct numbered *n);
void numbered_release(struct numbered *n);

/* For the inline functions below. */
bool numbered_turn(struct numbered *n, uint64_t page, size_t size);
const void *numbered_take_old(struct numbered *n, uint64_t number, size_t size);
void *numbered_find_old(const struct numbered *n, uint64_t number, size_t size);

/* Entries in all. */
static inline size_t numbered_count(const struct numbered *n)
{
    return n->count;
}

/* An entry of a page that has some, so that callers need not ask whether it is NULL. */
static inline void *numbered_entry(const struct numbered_page *page, size_t at, size_t size)
{
    void *entry = page->entries + at * size;
    if (entry == NULL)
        __builtin_unreachable();
    return entry;
}

/* Room for the entry of number, which is to be filled by the caller; an entry
 * that it has already is overwritten.  NULL: no memory. */
static inline void *numbered_add(struct numbered *n, uint64_t number, size_t size)
{
    uint64_t page = number >> NUMBERED_BITS;
    if (__builtin_expect(page != n->current_page, 0) && !numbered_turn(n, page, size))
        return NULL;
    size_t at = number % NUMBERED_PAGE;
    n->count += n->current->used[at] == 0;
    n->current->used[at] = 1;
    return numbered_entry(n->current, at, size);
}

/* The page of a number, or what stands for it. */
static inline struct numbered_page *numbered_page_of(const struct numbered *n, uint64_t number)
{
    uint64_t index = (number >> NUMBERED_BITS) - n->first_page;
    return index < n->directory.count ? n->directory.data[index] : n->beyond;
}

static inline bool numbered_page_has(const struct numbered_page *page, uint64_t number)
{
    return page->used[number % NUMBERED_PAGE] != 0;
}

/* The entry of number, or NULL. */
static inline void *numbered_find(const struct numbered *n, uint64_t number, size_t size)
{
    struct numbered_page *page = numbered_page_of(n, number);
    if (__builtin_expect(page == NUMBERED_LEFT, 0))
        return numbered_find_old(n, number, size);
    return numbered_page_has(page, number) ? page->entries + number % NUMBERED_PAGE * size : NULL;
}

/* Takes the entry of number out: it may be read until the next call.  NULL:
 * not there. */
static inline const void *numbered_take(struct numbered *n, uint64_t number, size_t size)
{
    struct numbered_page *page = numbered_page_of(n, number);
    if (__builtin_expect(page->left == 0, 0))
        return numbered_take_old(n, number, size);
    if (!numbered_page_has(page, number))
        return NULL;
    page->used[number % NUMBERED_PAGE] = 0;
    page->left--;
    n->count--;
    return numbered_entry(page, number % NUMBERED_PAGE, size);
}

/* Asks the memory for what numbered_take(number) will look at: for those who know a
 * few dozen events ahead what will be taken, and have more entries than caches hold. */
static inline void numbered_fetch(const struct numbered *n, uint64_t number, size_t size)
{
    const struct numbered_page *page = numbered_page_of(n, number);
    if (page == NUMBERED_LEFT)
        map_fetch(&n->old, number);
    else if (page != NUMBERED_NONE) {
        __builtin_prefetch(&page->used[number % NUMBERED_PAGE]);
        __builtin_prefetch(page->entries + number % NUMBERED_PAGE * size);
    }
}

/* The same for an entry in the map, when numbered_fetch has had time. */
static inline void numbered_fetch_old(const struct numbered *n, uint64_t number, size_t size)
{
    if (numbered_page_of(n, number) == NUMBERED_LEFT)
        __builtin_prefetch(numbered_find_old(n, number, size));
}

/* The next entry from *at (start with {0}) on, first those of old pages; *number gets its
 * number.  NULL: no more.  Nothing may change meanwhile. */
struct numbered_walk {
    size_t old, page;
    unsigned entry;
};
const void *numbered_next(const struct numbered *n, struct numbered_walk *at, uint64_t *number, size_t size);

#endif
