/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram: how often which value, coarsely (powers of two, for people) and
 * finely enough to give a median within 1 %.
 *
 * The fine kind: values below 128 have a bucket each, above every power of two
 * is cut into 64, so that the middle of a bucket is at most 0.8 % from
 * any value in it.  One table serves all rows of a process; only buckets that
 * have something in them take memory.
 */
#ifndef HW_QUERY_HISTOGRAM_H
#define HW_QUERY_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/result.h"
#include "tool/map.h"

enum {
    MEDIAN_BITS = 12,
    MEDIAN_BUCKETS = 1 << MEDIAN_BITS, /* 3776 are used */
};

static inline void histogram_add(struct query_histogram *h, uint64_t value, uint64_t blocks, uint64_t bytes)
{
    unsigned bucket = value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
    h->blocks[bucket] += blocks;
    h->bytes[bucket] += bytes;
}

struct medians {
    struct map counts; /* row << MEDIAN_BITS | bucket -> count */
};

void medians_init(struct medians *m);
void medians_release(struct medians *m);
/* False: no memory. */
bool medians_add(struct medians *m, uint32_t row, uint64_t value);
/* Sets medians[0..rows-1] where a row has values, and adds all counts to
 * all[MEDIAN_BUCKETS].  False: no memory. */
bool medians_settle(const struct medians *m, uint64_t *medians, size_t rows, uint64_t *all);
/* The median of counts[MEDIAN_BUCKETS]; 0 = none. */
uint64_t medians_of(const uint64_t *counts);

#endif
