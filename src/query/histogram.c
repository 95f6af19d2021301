/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram: see histogram.h.
 */
#include "query/histogram.h"

#include <stdlib.h>

#include "tool/vec.h"

enum {
    MEDIAN_EXACT = 128, /* values below have their own bucket */
    MEDIAN_PART_BITS = 6,
    MEDIAN_PARTS = 1 << MEDIAN_PART_BITS,
};

static unsigned median_bucket(uint64_t value)
{
    if (value < MEDIAN_EXACT)
        return (unsigned)value;
    unsigned top = 63 - (unsigned)__builtin_clzll(value);
    return MEDIAN_EXACT + (top - 7) * MEDIAN_PARTS +
           (unsigned)(value >> (top - MEDIAN_PART_BITS) & (MEDIAN_PARTS - 1));
}

/* The middle of a bucket. */
static uint64_t median_value(unsigned bucket)
{
    if (bucket < MEDIAN_EXACT)
        return bucket;
    unsigned top = (bucket - MEDIAN_EXACT) / MEDIAN_PARTS + 7;
    uint64_t part = MEDIAN_PARTS + (bucket - MEDIAN_EXACT) % MEDIAN_PARTS;
    uint64_t width = UINT64_C(1) << (top - MEDIAN_PART_BITS);
    return part * width + width / 2;
}

void medians_init(struct medians *m)
{
    map_init(&m->counts);
}

void medians_release(struct medians *m)
{
    map_release(&m->counts);
}

bool medians_add(struct medians *m, uint32_t row, uint64_t value)
{
    uint64_t key = (uint64_t)row << MEDIAN_BITS | median_bucket(value);
    uint64_t *count = map_find(&m->counts, key);
    if (count == NULL)
        return map_set(&m->counts, key, 1);
    ++*count;
    return true;
}

struct median_count {
    uint64_t key, count;
};

static int median_compare(const void *a, const void *b)
{
    const struct median_count *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Of the sorted counts of one row: the value in the middle. */
static uint64_t median_pick(const struct median_count *counts, size_t count)
{
    uint64_t sum = 0, seen = 0;
    for (size_t i = 0; i < count; i++)
        sum += counts[i].count;
    for (size_t i = 0; i < count; i++) {
        seen += counts[i].count;
        if (seen > (sum - 1) / 2)
            return median_value((unsigned)(counts[i].key % MEDIAN_BUCKETS));
    }
    return 0;
}

bool medians_settle(const struct medians *m, uint64_t *medians, size_t rows, uint64_t *all)
{
    VEC(struct median_count) counts = {0};
    uint64_t key, value;
    if (!vec_reserve(&counts, map_count(&m->counts)))
        return false;
    for (size_t at = 0; map_next(&m->counts, &at, &key, &value);) {
        counts.data[counts.count++] = (struct median_count){key, value};
        all[key % MEDIAN_BUCKETS] += value;
    }
    if (counts.count > 0)
        qsort(counts.data, counts.count, sizeof *counts.data, median_compare);
    for (size_t first = 0, end; first < counts.count; first = end) {
        uint64_t row = counts.data[first].key >> MEDIAN_BITS;
        for (end = first; end < counts.count && counts.data[end].key >> MEDIAN_BITS == row;)
            end++;
        if (row < rows)
            medians[row] = median_pick(counts.data + first, end - first);
    }
    vec_release(&counts);
    return true;
}

uint64_t medians_of(const uint64_t *counts)
{
    uint64_t sum = 0, seen = 0;
    for (unsigned i = 0; i < MEDIAN_BUCKETS; i++)
        sum += counts[i];
    for (unsigned i = 0; i < MEDIAN_BUCKETS && sum > 0; i++) {
        seen += counts[i];
        if (seen > (sum - 1) / 2)
            return median_value(i);
    }
    return 0;
}
