/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * default_rows: see default_rows.h.
 */
#include "query/default_rows.h"

#include <string.h>

#include "query/measure.h"

void query_result_init(struct query_result *r)
{
    memset(r, 0, sizeof *r);
}

void query_result_release(struct query_result *r)
{
    vec_release(&r->rows);
    vec_release(&r->timeline);
}

static int default_rows_no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "There is no memory for the answer.");
}

/* The process whose own peak is the highest. */
static void default_rows_find_peak(const struct wake_reader *r, struct query_result *out)
{
    uint64_t highest = 0;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process_end *e = &wake_reader_process(r, i)->end;
        if (i == 0 || e->peak_bytes > highest) {
            highest = e->peak_bytes;
            out->peak_process = (uint32_t)i;
            out->peak_time_ns = e->peak_time_ns;
        }
        if (e->peak_rss_bytes > out->peak_rss_bytes)
            out->peak_rss_bytes = e->peak_rss_bytes;
    }
}

/* A damaged file may claim anything. */
static uint64_t default_rows_left(uint64_t made, uint64_t gone)
{
    return made > gone ? made - gone : 0;
}

static int default_rows_process(const struct wake_process *p, uint32_t index, struct query_result *out,
                                struct err *err)
{
    for (size_t stack = 0; stack < p->totals.count; stack++) {
        const struct wake_stack_totals *t = &p->totals.data[stack];
        struct query_row row = {.process = index, .stack = (uint32_t)stack};
        if (t->allocations == 0)
            continue;
        row.m.allocated_blocks = t->allocations;
        row.m.allocated_bytes = t->allocated_bytes;
        row.m.freed_blocks = t->freed;
        row.m.freed_bytes = t->freed_bytes;
        row.m.leaked_blocks = row.m.live_blocks = default_rows_left(t->allocations, t->freed);
        row.m.leaked_bytes = row.m.live_bytes = default_rows_left(t->allocated_bytes, t->freed_bytes);
        row.m.temporary_blocks = t->temporary;
        if (index == out->peak_process) {
            row.m.peak_blocks = t->peak_blocks;
            row.m.peak_bytes = t->peak_bytes;
        }
        if (!vec_push(&out->rows, row))
            return default_rows_no_memory(err);
        measure_add(&out->total, &row.m);
    }
    return 0;
}

static int default_rows_timeline(const struct wake_reader *r, struct query_result *out, struct err *err)
{
    size_t count = wake_reader_span_count(r, out->peak_process);
    for (size_t i = 0; i < count; i++) {
        struct wake_span span;
        if (!wake_reader_span(r, out->peak_process, i, &span))
            continue;
        struct query_tick tick = {
            .from_ns = span.first_ns,
            .live_bytes = span.live_bytes_max,
            .live_blocks = span.live_blocks_last,
            .allocations = span.allocations,
            .frees = span.frees,
        };
        if (!vec_push(&out->timeline, tick))
            return default_rows_no_memory(err);
    }
    return 0;
}

int default_rows(const struct wake_reader *r, struct query_result *out, struct err *err)
{
    int code = 0;
    default_rows_find_peak(r, out);
    for (size_t i = 0; i < wake_reader_process_count(r) && code == 0; i++)
        code = default_rows_process(wake_reader_process(r, i), (uint32_t)i, out, err);
    if (code == 0 && wake_reader_process_count(r) > 0)
        code = default_rows_timeline(r, out, err);
    return code;
}
