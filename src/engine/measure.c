/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * measure: see measure.h.
 */
#include "engine/measure.h"

#include <stddef.h>

static const struct {
    const char *name, *title;
    size_t bytes, blocks;
    bool by_blocks;
} measures[MEASURE_COUNT] = {
#define FIELDS(name) offsetof(struct metrics, name##_bytes), offsetof(struct metrics, name##_blocks)
    [MEASURE_PEAK] = {"peak", "Held at the peak", FIELDS(peak), false},
    [MEASURE_LEAKED] = {"leaks", "Leaked", FIELDS(leaked), false},
    [MEASURE_LIVE] = {"live", "Live", FIELDS(live), false},
    [MEASURE_ALLOCATED] = {"allocated", "Allocated", FIELDS(allocated), false},
    [MEASURE_CALLS] = {"calls", "Most calls", FIELDS(allocated), true},
    [MEASURE_TEMPORARY] = {"temporary", "Temporary", FIELDS(temporary), true},
#undef FIELDS
};

static uint64_t measure_field(const struct metrics *m, size_t offset)
{
    return *(const uint64_t *)((const char *)m + offset);
}

const char *measure_name(enum measure measure)
{
    return measures[measure].name;
}

const char *measure_title(enum measure measure)
{
    return measures[measure].title;
}

uint64_t measure_bytes(const struct metrics *m, enum measure measure)
{
    return measure_field(m, measures[measure].bytes);
}

uint64_t measure_blocks(const struct metrics *m, enum measure measure)
{
    return measure_field(m, measures[measure].blocks);
}

bool measure_is_by_blocks(enum measure measure)
{
    return measures[measure].by_blocks;
}

uint64_t measure_weight(const struct metrics *m, enum measure measure)
{
    return measures[measure].by_blocks ? measure_blocks(m, measure) : measure_bytes(m, measure);
}

static uint64_t least_known(uint64_t a, uint64_t b, bool has_a, bool has_b)
{
    if (!has_a || !has_b)
        return has_a ? a : b;
    return a < b ? a : b;
}

void measure_add(struct metrics *to, const struct metrics *from)
{
    bool had_freed = to->freed_blocks != 0, has_freed = from->freed_blocks != 0;
    bool had_any = to->allocated_blocks != 0, has_any = from->allocated_blocks != 0;
    to->lifetime_min_ns = least_known(to->lifetime_min_ns, from->lifetime_min_ns, had_freed, has_freed);
    if (from->lifetime_max_ns > to->lifetime_max_ns)
        to->lifetime_max_ns = from->lifetime_max_ns;
    if (has_freed)
        to->lifetime_median_ns = had_freed ? METRICS_NO_MEDIAN : from->lifetime_median_ns;
    to->first_ns = least_known(to->first_ns, from->first_ns, had_any, has_any);
    if (from->last_ns > to->last_ns)
        to->last_ns = from->last_ns;
    to->allocated_blocks += from->allocated_blocks;
    to->allocated_bytes += from->allocated_bytes;
    to->freed_blocks += from->freed_blocks;
    to->freed_bytes += from->freed_bytes;
    to->peak_blocks += from->peak_blocks;
    to->peak_bytes += from->peak_bytes;
    to->live_blocks += from->live_blocks;
    to->live_bytes += from->live_bytes;
    to->leaked_blocks += from->leaked_blocks;
    to->leaked_bytes += from->leaked_bytes;
    to->temporary_blocks += from->temporary_blocks;
    to->temporary_bytes += from->temporary_bytes;
    to->slack_bytes += from->slack_bytes;
}
