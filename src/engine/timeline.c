/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * timeline: see timeline.h.
 */
#include "engine/timeline.h"

#include "base/sorted.h"

enum {
    TIMELINE_FINE = 2 /* chunks a tick that make a rough timeline worth looking at */
};

/* Index of the tick that a moment of the window falls into. */
static size_t timeline_find(const struct query_result *result, uint64_t time_ns)
{
    size_t next = sorted_up_to_by(result->timeline.data, result->timeline.count, time_ns, from_ns);
    return next == 0 ? 0 : next - 1;
}

/* The ticks from `from` up to, not with, `to`. */
static void timeline_add_resident(struct query_result *result, size_t from, size_t to, uint64_t bytes)
{
    for (size_t i = from; i < to; i++)
        result->timeline.data[i].rss_bytes += bytes;
}

void timeline_add_samples(struct query_result *result, const struct when *w, const struct wake_process *p)
{
    uint64_t highest = 0, latest = 0;
    size_t at = 0;
    if (p->end.end_ns < w->window.min)
        return;
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct wake_sample *s = &p->samples.data[i];
        if (s->time_ns < w->window.min)
            latest = highest = s->rss_bytes;
        if (s->time_ns < w->window.min || s->time_ns > w->window.max)
            continue;
        size_t tick = timeline_find(result, s->time_ns);
        if (tick != at) {
            timeline_add_resident(result, at, at + 1, highest);
            timeline_add_resident(result, at + 1, tick, latest);
            highest = latest;
            at = tick;
        }
        latest = s->rss_bytes;
        highest = latest > highest ? latest : highest;
    }
    timeline_add_resident(result, at, at + 1, highest);
    timeline_add_resident(result, at + 1, timeline_find(result, p->end.end_ns) + 1, latest);
}

bool timeline_init(struct query_result *result, const struct query *q, const struct when *w)
{
    uint64_t from = w->window.min > w->run_from ? w->window.min : w->run_from;
    uint64_t to = w->window.max < w->run_to ? w->window.max : w->run_to;
    uint64_t length = to > from ? to - from : 1;
    uint64_t ticks = q->ticks < length ? q->ticks : length;
    result->timeline.count = 0;
    if (!vec_reserve(&result->timeline, ticks))
        return false;
    for (uint64_t i = 0; i < ticks; i++)
        result->timeline.data[result->timeline.count++] =
            (struct query_tick){.from_ns = from + length / ticks * i + length % ticks * i / ticks};
    return true;
}

bool timeline_has_fine_spans(const struct query_result *result, const struct wake_reader *reader,
                             uint32_t process)
{
    return wake_reader_span_count(reader, process) / TIMELINE_FINE >= result->timeline.count;
}

static uint64_t timeline_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void timeline_add_spans(struct query_result *result, const struct wake_reader *reader, uint32_t process)
{
    size_t count = wake_reader_span_count(reader, process), at = 0;
    uint64_t bytes = 0, blocks = 0, after_bytes = 0, after_blocks = 0;
    struct wake_span span;
    for (size_t i = 0; i < count && wake_reader_span(reader, process, i, &span); i++) {
        size_t first = timeline_find(result, span.first_ns), last = timeline_find(result, span.last_ns);
        for (; at < first; at++) {
            result->timeline.data[at].live_bytes += bytes;
            result->timeline.data[at].live_blocks += blocks;
            bytes = after_bytes;
            blocks = after_blocks;
        }
        bytes = timeline_max(bytes, span.live_bytes_max);
        blocks = timeline_max(blocks, timeline_max(span.live_blocks_first, span.live_blocks_last));
        result->timeline.data[first].allocations += span.allocations;
        result->timeline.data[first].frees += span.frees;
        for (; at < last; at++) {
            result->timeline.data[at].live_bytes += bytes;
            result->timeline.data[at].live_blocks += blocks;
            bytes = span.live_bytes_max;
            blocks = timeline_max(span.live_blocks_first, span.live_blocks_last);
        }
        after_bytes = span.live_bytes_last;
        after_blocks = span.live_blocks_last;
    }
    for (; count > 0 && at <= timeline_find(result, wake_reader_process(reader, process)->end.end_ns); at++) {
        result->timeline.data[at].live_bytes += bytes;
        result->timeline.data[at].live_blocks += blocks;
        bytes = after_bytes;
        blocks = after_blocks;
    }
}
