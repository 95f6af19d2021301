/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * combine: see combine.h.
 */
#include "engine/combine.h"

#include "engine/histogram.h"
#include "engine/measure.h"

/* Leaves the peak to the one that has the higher. */
static void combine_peak(struct query_result *to, struct metrics *total, size_t first, uint32_t base,
                         const struct query_result *from)
{
    bool wins = first == 0 || from->total.peak_bytes > to->total.peak_bytes;
    size_t begin = wins ? 0 : first, end = wins ? first : to->rows.count;
    for (size_t i = begin; i < end && !from->each_peak; i++)
        to->rows.data[i].m.peak_blocks = to->rows.data[i].m.peak_bytes = 0;
    if (!wins) {
        total->peak_blocks = total->peak_bytes = 0;
        return;
    }
    to->total.peak_blocks = to->total.peak_bytes = 0;
    to->peak_process = base + from->peak_process;
    to->peak_time_ns = from->peak_time_ns;
}

int combine_add(struct query_result *to, const struct query_result *from, uint32_t base, struct err *err)
{
    size_t first = to->rows.count;
    struct metrics total = from->total;
    if (!vec_reserve(&to->rows, first + from->rows.count) ||
        !vec_reserve(&to->peaks, to->peaks.count + from->peaks.count) ||
        (to->timeline.count == 0 && !vec_reserve(&to->timeline, from->timeline.count)))
        return err_no_memory(err);
    for (size_t i = 0; i < from->rows.count; i++) {
        struct query_row row = from->rows.data[i];
        row.process += base;
        (void)vec_push(&to->rows, row);
    }
    for (size_t i = 0; i < from->peaks.count; i++) {
        struct query_peak peak = from->peaks.data[i];
        peak.process += base;
        (void)vec_push(&to->peaks, peak);
    }
    to->processes += from->processes;
    to->each_peak = from->each_peak;
    combine_peak(to, &total, first, base, from);
    measure_add(&to->total, &total);
    if (from->peak_rss_bytes > to->peak_rss_bytes) {
        to->peak_rss_bytes = from->peak_rss_bytes;
        to->peak_rss_time_ns = from->peak_rss_time_ns;
    }
    if (to->timeline.count == 0) {
        to->timeline_omitted_blocks = from->timeline_omitted_blocks;
        to->timeline_limit_ns = from->timeline_limit_ns;
        to->timeline_has_culled = from->timeline_has_culled;
        for (size_t i = 0; i < from->timeline.count; i++)
            (void)vec_push(&to->timeline, from->timeline.data[i]);
    }
    to->from_ns = from->from_ns;
    to->to_ns = from->to_ns;
    to->moment_ns = from->moment_ns;
    if (from->later_ns > to->later_ns)
        to->later_ns = from->later_ns;
    histogram_join(&to->sizes, &from->sizes);
    histogram_join(&to->lifetimes, &from->lifetimes);
    to->omitted_blocks += from->omitted_blocks;
    to->limited_blocks += from->limited_blocks;
    to->later_blocks += from->later_blocks;
    to->fates_end |= from->fates_end;
    if (from->limit_ns != 0 && (to->limit_ns == 0 || from->limit_ns < to->limit_ns))
        to->limit_ns = from->limit_ns;
    to->lacks_temporaries |= from->lacks_temporaries;
    to->releases_without_stack += from->releases_without_stack;
    to->events += from->events;
    to->from_totals |= from->from_totals;
    to->interrupted |= from->interrupted;
    if (from->read_until_ns > to->read_until_ns)
        to->read_until_ns = from->read_until_ns;
    return 0;
}
