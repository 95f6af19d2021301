/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram: see histogram.h.
 */
#include "query/histogram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

void histogram_join(struct query_histogram *to, const struct query_histogram *from)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        to->blocks[i] += from->blocks[i];
        to->bytes[i] += from->bytes[i];
    }
}

/* How many and how much in one word: of so few blocks, below 4 GiB each, neither runs into the other. */
enum { HISTOGRAM_BYTES_BITS = 44, HISTOGRAM_WAYS = 4 };
static_assert(HISTOGRAM_MANY <= 1 << (HISTOGRAM_BYTES_BITS - 32), "the bytes of all have room");

/* Values that follow each other are alike, and adding to a sum has to wait for the one before: so there are several. */
void histogram_add_many(struct query_histogram *h, const uint64_t *values, const uint32_t *sizes,
                        size_t count)
{
    const uint64_t one = UINT64_C(1) << HISTOGRAM_BYTES_BITS;
    uint64_t sums[HISTOGRAM_WAYS][HISTOGRAM_BUCKETS] = {{0}};
    size_t i = 0;
    for (; count - i >= HISTOGRAM_WAYS; i += HISTOGRAM_WAYS) {
#pragma GCC unroll 4
        for (size_t way = 0; way < HISTOGRAM_WAYS; way++)
            sums[way][histogram_bucket(values[i + way])] += one + sizes[i + way];
    }
    for (; i < count; i++)
        sums[0][histogram_bucket(values[i])] += one + sizes[i];
    for (unsigned way = 0; way < HISTOGRAM_WAYS; way++)
        for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++) {
            h->blocks[k] += sums[way][k] / one;
            h->bytes[k] += sums[way][k] % one;
        }
}

/* In medians.full: not a place. */
#define MEDIAN_FULL (UINT64_C(1) << 32)

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
    *m = (struct medians){0};
    map_init(&m->full);
}

void medians_release(struct medians *m)
{
    vec_release(&m->of_row);
    vec_release(&m->sets);
    vec_release(&m->pages);
    map_release(&m->full);
}

/* Bytes of pages that may stand there without a value. */
enum { MEDIAN_PREPARED = 8 << 20 };

void medians_prepare(struct medians *m, size_t rows)
{
    size_t most = MEDIAN_PREPARED / sizeof(struct median_page) / MEDIAN_PAGES;
    size_t pages = (rows < most ? rows : most) * MEDIAN_PAGES;
    if (m->pages.count != 0)
        return;
    struct median_page *all = memory_try_large(pages * sizeof *all);
    if (all == NULL)
        return;
    memset(all, 0, pages * sizeof *all);
    vec_release(&m->pages);
    m->pages.data = all;
    m->pages.count = m->pages.capacity = pages;
    m->prepared = (uint32_t)(pages / MEDIAN_PAGES);
}

/* The page of a row for this bucket is made.  False: no memory. */
static bool medians_make(struct medians *m, uint32_t row, unsigned page)
{
    while (m->of_row.count <= row)
        if (!vec_push(&m->of_row, 0))
            return false;
    if (m->of_row.data[row] == 0) {
        if (!vec_push(&m->sets, (struct median_set){0}))
            return false;
        m->of_row.data[row] = (uint32_t)m->sets.count;
    }
    if (m->pages.count >= UINT32_MAX / MEDIAN_PAGE || !vec_push(&m->pages, (struct median_page){0}))
        return false;
    m->sets.data[m->of_row.data[row] - 1].pages[page] = (uint32_t)m->pages.count;
    return true;
}

/* Page + 1, or 0. */
static inline uint32_t medians_find(const struct medians *m, uint32_t row, unsigned page)
{
    if (row < m->prepared)
        return row * MEDIAN_PAGES + page + 1;
    uint32_t set = row < m->of_row.count ? m->of_row.data[row] : 0;
    return set == 0 ? 0 : m->sets.data[set - 1].pages[page];
}

static void medians_carry_by(struct medians *m, uint32_t at, uint64_t times)
{
    const uint64_t *before = map_find(&m->full, at);
    if (!map_set(&m->full, at, times + (before == NULL ? 0 : *before)) ||
        !map_set(&m->full, MEDIAN_FULL + at / MEDIAN_PAGE, 1))
        m->failed = true;
}

void medians_carry(struct medians *m, uint32_t at)
{
    medians_carry_by(m, at, 1);
}

/* Where the count of a bucket is in all pages, behind a page that is none; it is asked for. */
static inline uint32_t medians_place(struct medians *m, uint32_t row, unsigned bucket)
{
    uint32_t page = medians_find(m, row, bucket / MEDIAN_PAGE);
    if (__builtin_expect(page == 0, 0)) {
        m->failed = m->failed || !medians_make(m, row, bucket / MEDIAN_PAGE);
        page = medians_find(m, row, bucket / MEDIAN_PAGE);
        if (page == 0)
            return 0;
    }
    __builtin_prefetch(&m->pages.data[page - 1].counts[bucket % MEDIAN_PAGE], 1);
    return page * MEDIAN_PAGE + bucket % MEDIAN_PAGE;
}

static inline void medians_raise(struct medians *m, const uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t at = places[i] - MEDIAN_PAGE;
        if (__builtin_expect(places[i] < MEDIAN_PAGE, 0))
            continue;
        if (__builtin_expect(++m->pages.data[at / MEDIAN_PAGE].counts[at % MEDIAN_PAGE] == 0, 0))
            medians_carry(m, at);
    }
}

void medians_flush(struct medians *m)
{
    uint32_t places[MEDIAN_WAITING];
    for (size_t i = 0; i < m->count; i++)
        places[i] = medians_place(m, m->waiting[i].row, m->waiting[i].bucket);
    medians_raise(m, places, m->count);
    m->count = 0;
}

void medians_add_many(struct medians *m, const uint32_t *rows, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        medians_add(m, rows[i], values[i]);
}

/* The counts of a page. */
static void medians_read(const struct medians *m, uint32_t page, uint64_t *counts)
{
    for (unsigned i = 0; i < MEDIAN_PAGE; i++)
        counts[i] = m->pages.data[page].counts[i];
    if (map_count(&m->full) == 0 || map_find(&m->full, MEDIAN_FULL + page) == NULL)
        return;
    for (unsigned i = 0; i < MEDIAN_PAGE; i++) {
        const uint64_t *times = map_find(&m->full, (uint64_t)page * MEDIAN_PAGE + i);
        counts[i] += times == NULL ? 0 : *times << 16;
    }
}

/* Adds the counts of another's page. */
static void medians_join_page(struct medians *m, uint32_t page, const struct medians *from,
                              uint32_t from_page)
{
    uint64_t counts[MEDIAN_PAGE];
    uint16_t *to = m->pages.data[page].counts;
    medians_read(from, from_page, counts);
    for (unsigned i = 0; i < MEDIAN_PAGE; i++) {
        uint64_t sum = to[i] + counts[i];
        to[i] = (uint16_t)sum;
        if (sum >> 16 != 0)
            medians_carry_by(m, page * MEDIAN_PAGE + i, sum >> 16);
    }
}

/* Nothing was ever counted in it. */
static bool medians_is_empty(const struct medians *m, uint32_t page)
{
    unsigned any = 0;
    for (unsigned i = 0; i < MEDIAN_PAGE; i++)
        any |= m->pages.data[page].counts[i];
    return any == 0 && (map_count(&m->full) == 0 || map_find(&m->full, MEDIAN_FULL + page) == NULL);
}

void medians_join(struct medians *m, uint32_t row, struct medians *from, uint32_t from_row)
{
    medians_flush(m);
    medians_flush(from);
    m->failed = m->failed || from->failed;
    for (unsigned p = 0; p < MEDIAN_PAGES && from->pages.count != 0; p++) {
        uint32_t page = medians_find(from, from_row, p);
        if (page == 0 || medians_is_empty(from, page - 1))
            continue;
        if (medians_find(m, row, p) == 0 && !medians_make(m, row, p)) {
            m->failed = true;
            return;
        }
        medians_join_page(m, medians_find(m, row, p) - 1, from, page - 1);
    }
}

/* The value in the middle of a row; its counts are added to `all`. */
static uint64_t medians_settle_row(const struct medians *m, uint32_t row, uint64_t *all)
{
    uint64_t sum = 0, seen = 0, counts[MEDIAN_BUCKETS] = {0};
    for (unsigned p = 0; p < MEDIAN_PAGES; p++) {
        uint32_t page = medians_find(m, row, p);
        if (page == 0 || medians_is_empty(m, page - 1))
            continue;
        medians_read(m, page - 1, &counts[p * MEDIAN_PAGE]);
        for (unsigned i = p * MEDIAN_PAGE; i < (p + 1) * MEDIAN_PAGE; i++) {
            all[i] += counts[i];
            sum += counts[i];
        }
    }
    for (unsigned i = 0; i < MEDIAN_BUCKETS && sum > 0; i++) {
        seen += counts[i];
        if (seen > (sum - 1) / 2)
            return median_value(i);
    }
    return 0;
}

bool medians_settle(struct medians *m, uint64_t *medians, size_t rows, uint64_t *all)
{
    medians_flush(m);
    size_t known = m->of_row.count > m->prepared ? m->of_row.count : m->prepared;
    for (uint32_t row = 0; row < known && row < rows; row++)
        medians[row] = medians_settle_row(m, row, all);
    return !m->failed;
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
