/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * medians: see medians.h.
 */
#include "engine/medians.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

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
    vec_release(&m->few);
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

/* Its set, where it has one. */
static inline struct median_set *medians_set(const struct medians *m, uint32_t row)
{
    uint32_t at = row < m->of_row.count ? m->of_row.data[row] : 0;
    return at < MEDIAN_HAS_SET ? NULL : &m->sets.data[at - MEDIAN_HAS_SET];
}

static inline struct median_few *medians_few(const struct medians *m, uint32_t row)
{
    uint32_t at = row < m->of_row.count ? m->of_row.data[row] : 0;
    return at == 0 || at >= MEDIAN_HAS_SET ? NULL : &m->few.data[at - 1];
}

/* Page + 1, or 0: it has few values, or none there. */
static inline uint32_t medians_find(const struct medians *m, uint32_t row, unsigned page)
{
    if (row < m->prepared)
        return row * MEDIAN_PAGES + page + 1;
    const struct median_set *set = medians_set(m, row);
    return set == NULL ? 0 : set->pages[page];
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

/* Place of the count of a bucket in all pages. */
static inline uint32_t medians_place(uint32_t page, unsigned bucket)
{
    return page * MEDIAN_PAGE + bucket % MEDIAN_PAGE;
}

static inline void medians_raise(struct medians *m, uint32_t at)
{
    if (__builtin_expect(++m->pages.data[at / MEDIAN_PAGE].counts[at % MEDIAN_PAGE] == 0, 0))
        medians_carry(m, at);
}

/* The page for this bucket of a row that has a set, made if need be; UINT32_MAX: no memory. */
static uint32_t medians_make(struct medians *m, struct median_set *set, unsigned page)
{
    if (set->pages[page] == 0) {
        if (m->pages.count >= UINT32_MAX / MEDIAN_PAGE || !vec_push(&m->pages, (struct median_page){0})) {
            m->failed = true;
            return UINT32_MAX;
        }
        set->pages[page] = (uint32_t)m->pages.count;
    }
    return set->pages[page] - 1;
}

/* The few values of a row, if it has any, become a set. False: no memory. */
static bool medians_spread(struct medians *m, uint32_t row)
{
    struct median_few *few = medians_few(m, row);
    while (m->of_row.count <= row && !m->failed)
        m->failed = !vec_push(&m->of_row, 0);
    m->failed = m->failed || !vec_push(&m->sets, (struct median_set){0});
    if (m->failed)
        return false;
    uint32_t set = (uint32_t)m->sets.count - 1;
    m->of_row.data[row] = MEDIAN_HAS_SET + set;
    for (unsigned i = 0; few != NULL && i < few->count; i++) {
        uint32_t page = medians_make(m, &m->sets.data[set], few->buckets[i] / MEDIAN_PAGE);
        if (page != UINT32_MAX)
            medians_raise(m, medians_place(page, few->buckets[i]));
    }
    return !m->failed;
}

/* Of a row that has no set. False: it has no room for another, or there is no memory. */
static inline bool medians_add_few(struct medians *m, uint32_t row, unsigned bucket)
{
    while (m->of_row.count <= row && !m->failed)
        m->failed = !vec_push(&m->of_row, 0);
    if (!m->failed && m->of_row.data[row] == 0) {
        m->failed = !vec_push(&m->few, (struct median_few){0});
        m->of_row.data[row] = (uint32_t)m->few.count;
    }
    struct median_few *few = m->failed ? NULL : medians_few(m, row);
    if (few == NULL || few->count == MEDIAN_FEW)
        return false;
    few->buckets[few->count++] = (uint16_t)bucket;
    return true;
}

/* Looks for where a value belongs. NULL: it was added to few. */
static inline struct median_set *medians_begin(struct medians *m, struct median_value v)
{
    struct median_set *set = medians_set(m, v.row);
    if (set == NULL && (medians_add_few(m, v.row, v.bucket) || !medians_spread(m, v.row)))
        return NULL;
    return set != NULL ? set : medians_set(m, v.row);
}

/* Each step asks for the memory of the next. */
void medians_flush(struct medians *m)
{
    uint32_t places[MEDIAN_WAITING];
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct median_value v = m->waiting[i];
        uint32_t at = v.row < m->of_row.count ? m->of_row.data[v.row] : 0;
        if (at >= MEDIAN_HAS_SET)
            __builtin_prefetch(&m->sets.data[at - MEDIAN_HAS_SET].pages[v.bucket / MEDIAN_PAGE]);
        else if (at != 0)
            __builtin_prefetch(&m->few.data[at - 1], 1);
    }
    for (size_t i = 0; i < m->count; i++) {
        const struct median_value v = m->waiting[i];
        struct median_set *set = medians_begin(m, v);
        uint32_t page = set == NULL ? UINT32_MAX : medians_make(m, set, v.bucket / MEDIAN_PAGE);
        if (page == UINT32_MAX)
            continue;
        __builtin_prefetch(&m->pages.data[page].counts[v.bucket % MEDIAN_PAGE], 1);
        places[count++] = medians_place(page, v.bucket);
    }
    for (size_t i = 0; i < count; i++)
        medians_raise(m, places[i]);
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

/* The page of any row, prepared or not, made if need be; UINT32_MAX: no memory. */
static uint32_t medians_demand(struct medians *m, uint32_t row, unsigned page)
{
    if (row < m->prepared)
        return row * MEDIAN_PAGES + page;
    if (medians_set(m, row) == NULL && !medians_spread(m, row))
        return UINT32_MAX;
    return medians_make(m, medians_set(m, row), page);
}

static void medians_join_few(struct medians *m, uint32_t row, const struct median_few *few)
{
    for (unsigned i = 0; i < few->count; i++) {
        unsigned bucket = few->buckets[i];
        if (row >= m->prepared && medians_set(m, row) == NULL && medians_add_few(m, row, bucket))
            continue;
        uint32_t page = medians_demand(m, row, bucket / MEDIAN_PAGE);
        if (page != UINT32_MAX)
            medians_raise(m, medians_place(page, bucket));
    }
}

void medians_join(struct medians *m, uint32_t row, struct medians *from, uint32_t from_row)
{
    medians_flush(m);
    medians_flush(from);
    m->failed = m->failed || from->failed;
    const struct median_few *few = from_row < from->prepared ? NULL : medians_few(from, from_row);
    if (few != NULL)
        medians_join_few(m, row, few);
    bool has_pages = from_row < from->prepared || medians_set(from, from_row) != NULL;
    for (unsigned p = 0; p < MEDIAN_PAGES && has_pages; p++) {
        uint32_t of_other = medians_find(from, from_row, p);
        if (of_other == 0 || medians_is_empty(from, of_other - 1))
            continue;
        uint32_t page = medians_demand(m, row, p);
        if (page != UINT32_MAX)
            medians_join_page(m, page, from, of_other - 1);
    }
}

static uint64_t medians_settle_few(const struct median_few *few, uint64_t *all)
{
    uint16_t sorted[MEDIAN_FEW];
    for (unsigned i = 0; i < few->count; i++) {
        unsigned at = i;
        for (; at > 0 && sorted[at - 1] > few->buckets[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = few->buckets[i];
        all[few->buckets[i]]++;
    }
    return median_value(sorted[(few->count - 1u) / 2]);
}

/* The bucket of a page in which `before` of its values come before the wanted one. */
static unsigned medians_pick(const struct medians *m, uint32_t page, uint64_t before)
{
    uint64_t counts[MEDIAN_PAGE], seen = 0;
    unsigned i = 0;
    medians_read(m, page, counts);
    for (; i < MEDIAN_PAGE - 1; i++) {
        seen += counts[i];
        if (seen > before)
            break;
    }
    return i;
}

/* The value in the middle of a row that has pages; its counts are added to `all`. */
static uint64_t medians_settle_pages(const struct medians *m, uint32_t row, uint64_t *all)
{
    uint64_t sum = 0, sums[MEDIAN_PAGES], counts[MEDIAN_PAGE];
    uint32_t pages[MEDIAN_PAGES];
    unsigned parts[MEDIAN_PAGES], count = 0, k = 0;
    for (unsigned p = 0; p < MEDIAN_PAGES; p++) {
        uint32_t page = medians_find(m, row, p);
        if (page == 0 || medians_is_empty(m, page - 1))
            continue;
        pages[count] = page - 1;
        parts[count] = p;
        sums[count] = 0;
        medians_read(m, page - 1, counts);
        for (unsigned i = 0; i < MEDIAN_PAGE; i++) {
            all[p * MEDIAN_PAGE + i] += counts[i];
            sums[count] += counts[i];
        }
        sum += sums[count++];
    }
    if (sum == 0)
        return 0;
    uint64_t before = (sum - 1) / 2;
    for (; before >= sums[k]; k++)
        before -= sums[k];
    return median_value(parts[k] * MEDIAN_PAGE + medians_pick(m, pages[k], before));
}

bool medians_settle(struct medians *m, uint64_t *medians, size_t rows, uint64_t *all)
{
    medians_flush(m);
    size_t known = m->of_row.count > m->prepared ? m->of_row.count : m->prepared;
    for (uint32_t row = 0; row < known && row < rows; row++) {
        const struct median_few *few = row < m->prepared ? NULL : medians_few(m, row);
        if (few != NULL)
            medians[row] = medians_settle_few(few, all);
        else if (row < m->prepared || medians_set(m, row) != NULL)
            medians[row] = medians_settle_pages(m, row, all);
    }
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
