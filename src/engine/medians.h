/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * medians: how often each row has which value, finely enough to give a median within 1 %.
 *
 * Values below 128 have a bucket each, above every power of two
 * is cut into 64, so that the middle of a bucket is at most 0.8 % from
 * any value in it.  64 buckets are a page:
 *
 *     row -> set of a row: its pages, by bucket / 64 -> page: counts
 *
 * Most rows of a program with many stacks have few values: these stand as they are, in one line of the cache (struct median_few), until a
 * row has more. Where there are many rows a count is in no cache, so values wait until they can be counted together. Where rows
 * are known to be few (medians_prepare) all their pages stand in order from the beginning, and nothing has to be looked
 * up; what has no values is never touched.
 */
#ifndef HW_ENGINE_MEDIANS_H
#define HW_ENGINE_MEDIANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/map.h"
#include "tool/vec.h"

enum { MEDIAN_BUCKETS = 59 * 64 };

enum {
    MEDIAN_EXACT = 128, /* values below have their own bucket */
    MEDIAN_PART_BITS = 6,
    MEDIAN_PARTS = 1 << MEDIAN_PART_BITS,
    MEDIAN_PAGE_BITS = 6,
    MEDIAN_PAGE = 1 << MEDIAN_PAGE_BITS,
    MEDIAN_PAGES = MEDIAN_BUCKETS / MEDIAN_PAGE,
    MEDIAN_FEW = 31,
    MEDIAN_WAITING = 64,
};

/* Short, so that caches hold more of them; few go beyond 16 bits. */
struct median_page {
    uint16_t counts[MEDIAN_PAGE];
};

/* Page + 1, or 0. */
struct median_set {
    uint32_t pages[MEDIAN_PAGES];
};

/* The buckets of a row's first values. */
struct median_few {
    uint16_t count, buckets[MEDIAN_FEW];
};

#define MEDIAN_HAS_SET (UINT32_C(1) << 31)

struct median_value {
    uint32_t row, bucket;
};

struct medians {
    uint32_t prepared;    /* rows from 0 on whose pages stand in order */
    VEC(uint32_t) of_row; /* others: few + 1, MEDIAN_HAS_SET + set, or 0 */
    VEC(struct median_few) few;
    VEC(struct median_set) sets;
    VEC(struct median_page) pages;
    struct map
        full; /* place of a count in all pages -> how often it went beyond 16 bits; MEDIAN_FULL + page: it has such */
    struct median_value waiting[MEDIAN_WAITING];
    size_t count; /* waiting */
    bool failed;  /* no memory */
};

void medians_init(struct medians *m);
void medians_release(struct medians *m);
/* There will be so many rows, or more: makes what follows quicker, where it can. */
void medians_prepare(struct medians *m, size_t rows);
/* For the inline function below. */
void medians_flush(struct medians *m);
void medians_carry(struct medians *m, uint32_t at);

static inline unsigned medians_bucket(uint64_t value)
{
    unsigned top = 63 - (unsigned)__builtin_clzll(value | 1);
    unsigned part = (unsigned)(value >> (top - MEDIAN_PART_BITS) % 64 & (MEDIAN_PARTS - 1));
    return value < MEDIAN_EXACT ? (unsigned)value : MEDIAN_EXACT + (top - 7) * MEDIAN_PARTS + part;
}

/* Where there is no memory medians_settle says so. */
static inline void medians_add(struct medians *m, uint32_t row, uint64_t value)
{
    unsigned bucket = medians_bucket(value);
    if (__builtin_expect(row < m->prepared, 1)) {
        uint16_t *counts =
            m->pages.data[row * MEDIAN_PAGES].counts; /* of all its pages, one behind the other */
        if (__builtin_expect(++counts[bucket] == 0, 0))
            medians_carry(m, row * MEDIAN_BUCKETS + bucket);
        return;
    }
    if (__builtin_expect(m->count == MEDIAN_WAITING, 0))
        medians_flush(m);
    m->waiting[m->count++] = (struct median_value){row, bucket};
}

/* Many at once. */
void medians_add_many(struct medians *m, const uint32_t *rows, const uint64_t *values, size_t count);

/* Adds the values that another's row has.  Where there is no memory medians_settle says so. */
void medians_join(struct medians *m, uint32_t row, struct medians *from, uint32_t from_row);

/* Sets medians[0..rows-1] where a row has values, and adds all counts to
 * all[MEDIAN_BUCKETS].  False: there was no memory. */
bool medians_settle(struct medians *m, uint64_t *medians, size_t rows, uint64_t *all);
/* The median of counts[MEDIAN_BUCKETS]; 0 = none. */
uint64_t medians_of(const uint64_t *counts);

#endif
