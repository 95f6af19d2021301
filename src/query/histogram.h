/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram: how often which value, coarsely (powers of two, for people) and
 * finely enough to give a median within 1 %.
 *
 * The fine kind: values below 128 have a bucket each, above every power of two
 * is cut into 64, so that the middle of a bucket is at most 0.8 % from
 * any value in it.  64 buckets are a page:
 *
 *     row -> set of a row: its pages, by bucket / 64 -> page: counts
 *
 * Rows and pages take memory only when they have something in them.  Where there are many a count is in no cache, so values wait
 * until they can be counted together.  Where rows are known to be few (medians_prepare) all their pages stand in order from the
 * beginning, and nothing has to be looked up; what has no values is never touched.
 */
#ifndef HW_QUERY_HISTOGRAM_H
#define HW_QUERY_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/result.h"
#include "tool/map.h"
#include "tool/vec.h"

enum { MEDIAN_BUCKETS = 59 * 64 };

static inline unsigned histogram_bucket(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

static inline void histogram_add(struct query_histogram *h, uint64_t value, uint64_t blocks, uint64_t bytes)
{
    unsigned bucket = histogram_bucket(value);
    h->blocks[bucket] += blocks;
    h->bytes[bucket] += bytes;
}

/* Adds what another has. */
void histogram_join(struct query_histogram *to, const struct query_histogram *from);

enum { HISTOGRAM_MANY = 4096 };
/* Values of single blocks, each with the size of its block; HISTOGRAM_MANY at most. */
void histogram_add_many(struct query_histogram *h, const uint64_t *values, const uint32_t *sizes,
                        size_t count);

enum {
    MEDIAN_EXACT = 128, /* values below have their own bucket */
    MEDIAN_PART_BITS = 6,
    MEDIAN_PARTS = 1 << MEDIAN_PART_BITS,
    MEDIAN_PAGE_BITS = 6,
    MEDIAN_PAGE = 1 << MEDIAN_PAGE_BITS,
    MEDIAN_PAGES = MEDIAN_BUCKETS / MEDIAN_PAGE,
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

struct median_value {
    uint32_t row, bucket;
};

struct medians {
    uint32_t prepared;    /* rows from 0 on whose pages stand in order */
    VEC(uint32_t) of_row; /* others: set + 1, or 0 */
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
