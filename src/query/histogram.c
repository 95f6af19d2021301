/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram: see histogram.h.
 */
#include "query/histogram.h"

#include <assert.h>
#include <stdlib.h>

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
    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i];
        unsigned bucket = value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
        sums[i % HISTOGRAM_WAYS][bucket] += one + sizes[i];
    }
    for (unsigned way = 0; way < HISTOGRAM_WAYS; way++)
        for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
            h->blocks[i] += sums[way][i] / one;
            h->bytes[i] += sums[way][i] % one;
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

static __attribute__((noinline)) void medians_carry(struct medians *m, uint32_t at)
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
    uint32_t places[MEDIAN_WAITING];
    for (size_t i = 0, end; i < count; i = end) {
        end = count - i > MEDIAN_WAITING ? i + MEDIAN_WAITING : count;
        for (size_t k = i; k < end; k++)
            places[k - i] = medians_place(m, rows[k], medians_bucket(values[k]));
        medians_raise(m, places, end - i);
    }
}

/* The counts of a page. */
static void medians_read(const struct medians *m, uint32_t page, uint64_t *counts)
{
    for (unsigned i = 0; i < MEDIAN_PAGE; i++)
        counts[i] = m->pages.data[page].counts[i];
    if (map_find(&m->full, MEDIAN_FULL + page) == NULL)
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

void medians_join(struct medians *m, uint32_t row, struct medians *from, uint32_t from_row)
{
    medians_flush(m);
    medians_flush(from);
    m->failed = m->failed || from->failed;
    for (unsigned p = 0; p < MEDIAN_PAGES && from->pages.count != 0; p++) {
        uint32_t page = medians_find(from, from_row, p);
        if (page == 0)
            continue;
        if (medians_find(m, row, p) == 0 && !medians_make(m, row, p)) {
            m->failed = true;
            return;
        }
        medians_join_page(m, medians_find(m, row, p) - 1, from, page - 1);
    }
}

/* The value in the middle of a row; its counts are added to `all`. */
static uint64_t medians_settle_row(const struct medians *m, const struct median_set *set, uint64_t *all)
{
    uint64_t sum = 0, seen = 0, counts[MEDIAN_PAGE];
    for (unsigned p = 0; p < MEDIAN_PAGES; p++) {
        if (set->pages[p] == 0)
            continue;
        medians_read(m, set->pages[p] - 1, counts);
        for (unsigned i = 0; i < MEDIAN_PAGE; i++) {
            all[p * MEDIAN_PAGE + i] += counts[i];
            sum += counts[i];
        }
    }
    for (unsigned p = 0; p < MEDIAN_PAGES; p++) {
        if (set->pages[p] == 0)
            continue;
        medians_read(m, set->pages[p] - 1, counts);
        for (unsigned i = 0; i < MEDIAN_PAGE; i++) {
            seen += counts[i];
            if (seen > (sum - 1) / 2)
                return median_value(p * MEDIAN_PAGE + i);
        }
    }
    return 0;
}

bool medians_settle(struct medians *m, uint64_t *medians, size_t rows, uint64_t *all)
{
    medians_flush(m);
    for (size_t row = 0; row < m->of_row.count && row < rows; row++)
        if (m->of_row.data[row] != 0)
            medians[row] = medians_settle_row(m, &m->sets.data[m->of_row.data[row] - 1], all);
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
