/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * naive_answer: for tests: the answer to a query by definition, in quadratic
 * time, from the list of blocks of naive.h.  It shares no code with the engine but the
 * structs of question and answer.
 */
#ifndef HW_ENGINE_NAIVE_ANSWER_H
#define HW_ENGINE_NAIVE_ANSWER_H

#include <regex.h>

#include "engine/block_list.h"
#include "engine/naive.h"

struct naive_asked {
    const struct naive *naive;
    const struct query *query;
    uint64_t run_from, run_to, from, to, moment;
    bool is_moment_asked;
    uint64_t rss_bytes, rss_ns;
};

static inline bool naive_is_chosen(const struct naive_asked *a, uint32_t process)
{
    bool chosen = a->query->pids.count == 0;
    for (size_t i = 0; i < a->query->pids.count; i++)
        chosen = chosen || a->query->pids.data[i] == a->naive->processes.data[process].pid;
    return chosen;
}

static inline uint64_t naive_time(const struct naive_asked *a, const struct query_time *t, uint64_t unset)
{
    uint64_t best = UINT64_MAX;
    if (t->when == WHEN_UNSET)
        return unset;
    if (t->when == WHEN_NS)
        return t->ns;
    if (t->when == WHEN_PERCENT)
        return a->run_from + (uint64_t)(t->percent / 100 * (double)(a->run_to - a->run_from));
    if (t->when == WHEN_PEAK_RSS)
        return a->rss_ns;
    for (uint32_t p = 0; p < a->naive->processes.count; p++)
        for (size_t i = 0; naive_is_chosen(a, p) && i < a->naive->processes.data[p].marks.count; i++) {
            const struct wake_mark *m = &a->naive->processes.data[p].marks.data[i];
            if (strcmp(m->name, t->mark) == 0 && m->time_ns < best)
                best = m->time_ns;
        }
    return best;
}

/* A moment behind the end of the recording is its end. */
static inline uint64_t naive_not_later(const struct naive_asked *a, uint64_t ns)
{
    uint64_t end_ns = 0;
    for (uint32_t i = 0; i < a->naive->processes.count; i++)
        end_ns = a->naive->processes.data[i].end_ns > end_ns ? a->naive->processes.data[i].end_ns : end_ns;
    return ns == UINT64_MAX || ns < end_ns ? ns : end_ns;
}

static inline void naive_understand(struct naive_asked *a, const struct naive *n, const struct query *q)
{
    *a = (struct naive_asked){.naive = n, .query = q, .run_from = UINT64_MAX};
    for (uint32_t i = 0; i < n->processes.count; i++) {
        const struct naive_process *p = &n->processes.data[i];
        if (!naive_is_chosen(a, i))
            continue;
        a->run_from = p->start_ns < a->run_from ? p->start_ns : a->run_from;
        a->run_to = p->end_ns > a->run_to ? p->end_ns : a->run_to;
    }
    a->from = naive_time(a, &q->from, 0);
    a->to = naive_time(a, &q->to, UINT64_MAX);
    for (uint32_t p = 0; p < n->processes.count; p++)
        for (size_t i = 0; naive_is_chosen(a, p) && i < n->processes.data[p].samples.count; i++) {
            struct wake_sample s = n->processes.data[p].samples.data[i];
            if (s.time_ns < a->from || s.time_ns > a->to || s.rss_bytes == 0)
                continue;
            if (s.rss_bytes > a->rss_bytes || (s.rss_bytes == a->rss_bytes && s.time_ns < a->rss_ns)) {
                a->rss_bytes = s.rss_bytes;
                a->rss_ns = s.time_ns;
            }
        }
    a->moment = naive_not_later(a, naive_time(a, &q->moment, a->to));
    a->is_moment_asked = a->moment != UINT64_MAX;
}

/* ----------------------------------------------------------------- matching */

static inline bool naive_in(const struct query_range *r, uint64_t value)
{
    return value >= r->min && value <= r->max;
}

/* Is a process gone at a time? At the end of the run it is looked at as it was when it ended. */
static inline bool naive_is_gone(const struct naive_asked *a, uint32_t process, uint64_t ns)
{
    const struct naive_process *p = &a->naive->processes.data[process];
    return p->has_ended && ns != UINT64_MAX && ns > p->end_ns;
}

/* Neither released by then, whatever became of its process. */
static inline bool naive_is_left(const struct naive_block *b, uint64_t ns)
{
    return b->born_ns <= ns && !(b->freed && b->died_ns <= ns);
}

static inline bool naive_alive(const struct naive_asked *a, const struct naive_block *b, uint64_t ns)
{
    return naive_is_left(b, ns) && !naive_is_gone(a, b->process, ns);
}

static inline uint64_t naive_lifetime(const struct naive_asked *a, const struct naive_block *first,
                                      const struct naive_block *last)
{
    return (last->freed ? last->died_ns : a->naive->processes.data[last->process].end_ns) - first->born_ns;
}

static inline bool naive_temporary(const struct naive_asked *a, const struct naive_block *b)
{
    uint64_t between = 0;
    if (!b->freed || b->thread != b->died_thread)
        return false;
    if (a->query->temporary_ns != 0)
        return b->died_ns - b->born_ns <= a->query->temporary_ns;
    if (a->naive->sample_rate != 0) /* what was allocated between is not known */
        return false;
    for (size_t i = 0; i < a->naive->blocks.count; i++) {
        const struct naive_block *o = &a->naive->blocks.data[i];
        between +=
            o->process == b->process && o->thread == b->thread && o->born > b->born && o->born < b->died;
    }
    return between < a->query->temporary_allocations;
}

static inline bool naive_thread_is(const struct query_thread *t, size_t count, uint32_t thread)
{
    for (size_t i = 0; i < count; i++)
        if (t[i].name != NULL ? strcmp(t[i].name, naive_thread_names[thread]) == 0
                              : t[i].tid == 1000 + thread)
            return true;
    return count == 0;
}

static inline uint32_t naive_depth(uint32_t stack)
{
    uint32_t depth = 0;
    while (naive_frame(stack, depth) >= 0)
        depth++;
    return depth;
}

static inline bool naive_fits(const struct query_pattern *p, uint32_t stack)
{
    bool hit = false;
    regex_t r;
    if (regcomp(&r, p->text, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    for (uint32_t k = 0; k < naive_depth(stack); k++) {
        char function[32], source[32];
        int frame = naive_frame(stack, k);
        naive_frame_texts(frame, function, source);
        const char *text = p->field == FIELD_FUNCTION ? function
                           : p->field == FIELD_SOURCE ? source
                                                      : naive_modules[frame < 8 ? 0 : 1];
        hit = hit || regexec(&r, text, 0, NULL, 0) == 0;
    }
    regfree(&r);
    return hit != p->negated;
}

static inline bool naive_stack_is(const uint32_t *stacks, size_t count, uint32_t stack)
{
    for (size_t i = 0; i < count; i++)
        if (stacks[i] == stack)
            return true;
    return count == 0;
}

static inline bool naive_stack_passes(const struct naive_asked *a, uint32_t stack)
{
    const struct query_filter *f = &a->query->filter;
    for (size_t i = 0; i < f->patterns.count; i++)
        if (!naive_fits(&f->patterns.data[i], stack))
            return false;
    if (f->not_stacks.count > 0 && naive_stack_is(f->not_stacks.data, f->not_stacks.count, stack))
        return false;
    return naive_stack_is(f->stacks.data, f->stacks.count, stack) && naive_in(&f->depth, naive_depth(stack));
}

/* The stack that it was released from; 0 = not known. */
static inline uint32_t naive_died_stack(const struct naive_asked *a, const struct naive_block *b)
{
    return b->died_stack == 0 && b->next != 0 ? a->naive->blocks.data[b->next - 1].stack : b->died_stack;
}

static inline bool naive_asks_release(const struct query_filter *f)
{
    return f->freeing_stacks.count > 0 || f->not_freeing_stacks.count > 0 || f->freeing_patterns.count > 0;
}

/* stack: 0 = it was not released, or nobody knows from where. */
static inline bool naive_release_passes(const struct naive_asked *a, uint32_t stack)
{
    const struct query_filter *f = &a->query->filter;
    if (!naive_asks_release(f))
        return true;
    for (size_t i = 0; i < f->freeing_patterns.count; i++)
        if (!naive_fits(&f->freeing_patterns.data[i], stack))
            return false;
    if (f->not_freeing_stacks.count > 0 &&
        naive_stack_is(f->not_freeing_stacks.data, f->not_freeing_stacks.count, stack))
        return false;
    return stack != 0 && naive_stack_is(f->freeing_stacks.data, f->freeing_stacks.count, stack);
}

static inline bool naive_chain_passes(const struct naive_asked *a, const struct naive_block *b)
{
    const struct query_filter *f = &a->query->filter;
    const struct naive_block *first = b, *last = b;
    uint64_t position = 1, length;
    for (; first->before != 0; position++)
        first = &a->naive->blocks.data[first->before - 1];
    for (length = position; last->next != 0; length++)
        last = &a->naive->blocks.data[last->next - 1];
    return naive_in(&f->chain_length, length) && naive_in(&f->chain_position, position) &&
           naive_in(&f->chain_first_size, first->size) && naive_in(&f->chain_last_size, last->size) &&
           naive_in(&f->chain_lifetime, naive_lifetime(a, first, last)) &&
           ((f->states & STATE_CHAIN_LEAKED) == 0 || !last->freed);
}

static inline bool naive_group_passes(const struct naive_asked *a, const struct naive_block *b)
{
    const struct query_filter *f = &a->query->filter;
    uint64_t count = 0, leaked = 0, first = UINT64_MAX, last = 0, highest = 0, highest_ns = 0;
    for (size_t i = 0; i < a->naive->blocks.count; i++) {
        const struct naive_block *o = &a->naive->blocks.data[i];
        if (o->process != b->process || o->stack != b->stack)
            continue;
        uint64_t bytes = 0;
        for (size_t k = 0; k < a->naive->blocks.count; k++) {
            const struct naive_block *x = &a->naive->blocks.data[k];
            if (x->process == o->process && x->stack == o->stack && naive_is_live(x, o->born))
                bytes += x->counts.bytes;
        }
        if (count == 0 || bytes > highest) {
            highest = bytes;
            highest_ns = o->born_ns;
        }
        count += o->counts.blocks;
        leaked += o->freed ? 0 : o->counts.blocks;
        first = o->born_ns < first ? o->born_ns : first;
        last = o->born_ns > last ? o->born_ns : last;
    }
    double share = (double)leaked * 100 / (double)count, run = (double)(a->run_to - a->run_from);
    const struct query_amount *low = &f->group_leaked_min, *high = &f->group_leaked_max;
    if (low->is_set && (low->is_percent ? share < low->percent - 1e-9 : leaked < low->number))
        return false;
    if (high->is_set && (high->is_percent ? share > high->percent + 1e-9 : leaked > high->number))
        return false;
    low = &f->group_interval_min;
    high = &f->group_interval_max;
    if (low->is_set && last - first < (low->is_percent ? (uint64_t)(low->percent / 100 * run) : low->number))
        return false;
    if (high->is_set &&
        last - first > (high->is_percent ? (uint64_t)(high->percent / 100 * run) : high->number))
        return false;
    return naive_in(&f->group_allocations, count) &&
           ((f->states & STATE_GROUP_LEAKED) == 0 || leaked == count) &&
           highest_ns >= naive_time(a, &f->group_peak_from, 0) &&
           highest_ns <= naive_time(a, &f->group_peak_to, UINT64_MAX);
}

static inline bool naive_has_group_conditions(const struct query_filter *f)
{
    return f->group_leaked_min.is_set || f->group_leaked_max.is_set || f->group_interval_min.is_set ||
           f->group_interval_max.is_set || f->group_allocations.min != 0 ||
           f->group_allocations.max != UINT64_MAX || f->group_peak_from.when != WHEN_UNSET ||
           f->group_peak_to.when != WHEN_UNSET || (f->states & STATE_GROUP_LEAKED) != 0;
}

static inline bool naive_is_listed(const struct block_list *l, const struct naive_block *b)
{
    const uint64_t *at = block_list_blocks(l, b->process);
    while (*at != UINT64_MAX && *at != b->number)
        at++;
    return *at == b->number;
}

static inline bool naive_matches(const struct naive_asked *a, const struct naive_block *b)
{
    const struct query_filter *f = &a->query->filter;
    bool born_inside = b->born_ns >= a->from && b->born_ns <= a->to;
    bool died_inside = b->freed && b->died_ns >= a->from && b->died_ns <= a->to;
    if (!naive_is_chosen(a, b->process))
        return false;
    if (b->born_ns < naive_time(a, &f->allocated_from, 0) ||
        b->born_ns > naive_time(a, &f->allocated_to, UINT64_MAX))
        return false;
    if (f->freed_from.when != WHEN_UNSET && (!b->freed || b->died_ns < naive_time(a, &f->freed_from, 0)))
        return false;
    if (f->freed_to.when != WHEN_UNSET && (!b->freed || b->died_ns > naive_time(a, &f->freed_to, 0)))
        return false;
    if (f->kept_until.when != WHEN_UNSET && b->freed && b->died_ns < naive_time(a, &f->kept_until, 0))
        return false;
    if (f->alive_at.when != WHEN_UNSET &&
        !naive_alive(a, b, naive_not_later(a, naive_time(a, &f->alive_at, 0))))
        return false;
    if (f->alive_at_2.when != WHEN_UNSET &&
        !naive_alive(a, b, naive_not_later(a, naive_time(a, &f->alive_at_2, 0))))
        return false;
    if (f->allocated != SIDE_ANY && born_inside != (f->allocated == SIDE_INSIDE))
        return false;
    if (f->freed != SIDE_ANY && died_inside != (f->freed == SIDE_INSIDE))
        return false;
    if (((f->states & STATE_LEAKED) != 0 && b->freed) || ((f->states & STATE_FREED) != 0 && !b->freed) ||
        ((f->states & STATE_TEMPORARY) != 0 && !naive_temporary(a, b)))
        return false;
    if (!naive_in(&f->size, b->size) || !naive_in(&f->usable, b->usable) ||
        !naive_in(&f->slack, b->usable - b->size) || !naive_in(&f->address, b->address) ||
        !naive_in(&f->lifetime, naive_lifetime(a, b, b)))
        return false;
    if ((f->kinds != 0 && (f->kinds >> b->kind & 1) == 0) ||
        (f->mark != NULL && (b->mark == NULL || strcmp(b->mark, f->mark) != 0)))
        return false;
    if ((f->mapped != MAPPED_ANY && b->is_mapped != (f->mapped == MAPPED_OWN)) ||
        (f->arena != ARENA_ANY && b->is_other != (f->arena == ARENA_OTHER)))
        return false;
    if (!naive_thread_is(f->threads.data, f->threads.count, b->thread) || !naive_stack_passes(a, b->stack))
        return false;
    if (f->freeing_threads.count > 0 &&
        !(b->freed && naive_thread_is(f->freeing_threads.data, f->freeing_threads.count, b->died_thread)))
        return false;
    if (f->blocks != NULL && !naive_is_listed(f->blocks, b))
        return false;
    if (f->mappings.count > 0 && !naive_stack_is(f->mappings.data, f->mappings.count, b->mapping))
        return false;
    return naive_release_passes(a, b->freed ? naive_died_stack(a, b) : 0) && naive_chain_passes(a, b) &&
           (!naive_has_group_conditions(f) || naive_group_passes(a, b));
}

/* Releases of chosen processes of which the stack is not known, where it is asked for. */
static inline uint64_t naive_unplaced(const struct naive_asked *a)
{
    uint64_t count = 0;
    for (size_t i = 0; i < a->naive->blocks.count && naive_asks_release(&a->query->filter); i++) {
        const struct naive_block *b = &a->naive->blocks.data[i];
        count += naive_is_chosen(a, b->process) && b->freed && naive_died_stack(a, b) == 0;
    }
    return count;
}

/* ------------------------------------------------------------------- metrics */

/* Bytes and blocks of a process that match and are live behind an event (before
 * the first: UINT64_MAX). */
static inline void naive_level(const struct naive_asked *a, const bool *match, uint32_t process,
                               uint64_t event, uint64_t *bytes, uint64_t *blocks)
{
    *bytes = *blocks = 0;
    for (size_t i = 0; i < a->naive->blocks.count && event != UINT64_MAX; i++) {
        const struct naive_block *b = &a->naive->blocks.data[i];
        if (match[i] && b->process == process && naive_is_live(b, event)) {
            *bytes += b->counts.bytes;
            *blocks += b->counts.blocks;
        }
    }
}

/* The event behind which a process is in the state just before `ns`. */
static inline uint64_t naive_event_before(const struct naive_process *p, uint64_t ns)
{
    uint64_t event = UINT64_MAX;
    for (uint64_t e = 0; e < p->events && p->times.data[e] < ns; e++)
        event = e;
    return event;
}

static inline void naive_peak(const struct naive_asked *a, const bool *match, uint32_t process,
                              uint64_t *event, uint64_t *time_ns, uint64_t *highest)
{
    const struct naive_process *p = &a->naive->processes.data[process];
    uint64_t bytes, blocks;
    *event = naive_event_before(p, a->from);
    naive_level(a, match, process, *event, highest, &blocks);
    if (naive_is_gone(a, process, a->from))
        *highest = 0;
    *time_ns = *highest > 0 ? a->from : 0;
    if (*highest == 0)
        *event = UINT64_MAX;
    for (uint64_t e = 0; e < p->events; e++) {
        if (p->times.data[e] < a->from || p->times.data[e] > a->to)
            continue;
        naive_level(a, match, process, e, &bytes, &blocks);
        if (bytes > *highest) {
            *highest = bytes;
            *event = e;
            *time_ns = p->times.data[e];
        }
    }
}

static inline int naive_compare(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* Which row a block belongs to, and in which all do (NULL: the total). */
static inline bool naive_in_row(const struct naive_asked *a, const struct naive_block *b,
                                const struct query_row *row)
{
    return row == NULL || (b->process == row->process && b->stack == row->stack &&
                           (a->query->split != SPLIT_THREAD || b->thread == row->thread) &&
                           (a->query->split != SPLIT_KIND || b->kind == row->kind));
}

/* Everything of a row.  Peaks are those of peak_process behind peak_event. */
static inline struct metrics naive_metrics(const struct naive_asked *a, const bool *match,
                                           const struct query_row *row, uint32_t peak_process,
                                           uint64_t peak_event)
{
    struct metrics m = {0};
    size_t count = a->naive->blocks.count, lived = 0;
    uint64_t *lifetimes = malloc((count + 1) * sizeof *lifetimes);
    for (size_t i = 0; i < count; i++) {
        const struct naive_block *b = &a->naive->blocks.data[i];
        if (!match[i] || !naive_in_row(a, b, row))
            continue;
        bool at_peak = b->process == peak_process && peak_event != UINT64_MAX && naive_is_live(b, peak_event);
        m.peak_blocks += at_peak ? b->counts.blocks : 0;
        m.peak_bytes += at_peak ? b->counts.bytes : 0;
        bool is_live = a->is_moment_asked
                           ? naive_alive(a, b, a->moment)
                           : naive_is_left(b, a->moment) && !naive_is_gone(a, b->process, a->from);
        m.live_blocks += is_live ? b->counts.blocks : 0;
        m.live_bytes += is_live ? b->counts.bytes : 0;
        if (b->born_ns >= a->from && b->born_ns <= a->to) {
            m.first_ns = m.allocated_blocks == 0 || b->born_ns < m.first_ns ? b->born_ns : m.first_ns;
            m.last_ns = b->born_ns > m.last_ns ? b->born_ns : m.last_ns;
            m.allocated_blocks += b->counts.blocks;
            m.allocated_bytes += b->counts.bytes;
            m.leaked_blocks += b->freed ? 0 : b->counts.blocks;
            m.leaked_bytes += b->freed ? 0 : b->counts.bytes;
            m.slack_bytes += (b->usable - b->size) * b->counts.blocks;
        }
        if (b->freed && b->died_ns >= a->from && b->died_ns <= a->to) {
            bool is_temporary = naive_temporary(a, b);
            lifetimes[lived++] = b->died_ns - b->born_ns;
            m.freed_blocks += b->counts.blocks;
            m.freed_bytes += b->counts.bytes;
            m.temporary_blocks += is_temporary ? b->counts.blocks : 0;
            m.temporary_bytes += is_temporary ? b->counts.bytes : 0;
        }
    }
    if (lived > 0) {
        qsort(lifetimes, lived, sizeof *lifetimes, naive_compare);
        m.lifetime_min_ns = lifetimes[0];
        m.lifetime_max_ns = lifetimes[lived - 1];
        m.lifetime_median_ns = lifetimes[(lived - 1) / 2];
    }
    free(lifetimes);
    return m;
}

/* One tick of one process, up to `until` (not included). */
static inline struct query_tick naive_tick(const struct naive_asked *a, const bool *match, uint32_t process,
                                           uint64_t from, uint64_t until)
{
    const struct naive_process *p = &a->naive->processes.data[process];
    struct query_tick t = {0};
    uint64_t bytes, blocks;
    if (from <= p->end_ns)
        naive_level(a, match, process, naive_event_before(p, from), &t.live_bytes, &t.live_blocks);
    for (uint64_t e = 0; e < p->events; e++) {
        if (p->times.data[e] < from || p->times.data[e] >= until)
            continue;
        naive_level(a, match, process, e, &bytes, &blocks);
        t.live_bytes = bytes > t.live_bytes ? bytes : t.live_bytes;
        t.live_blocks = blocks > t.live_blocks ? blocks : t.live_blocks;
    }
    for (size_t i = 0; i < a->naive->blocks.count; i++) {
        const struct naive_block *b = &a->naive->blocks.data[i];
        if (!match[i] || b->process != process)
            continue;
        bool born = b->born_ns >= from && b->born_ns < until;
        bool died = b->freed && b->died_ns >= from && b->died_ns < until;
        t.allocations += born ? b->counts.blocks : 0;
        t.allocated_bytes += born ? b->counts.bytes : 0;
        t.frees += died ? b->counts.blocks : 0;
    }
    for (size_t i = 0; i < p->samples.count; i++) {
        struct wake_sample s = p->samples.data[i];
        if (s.time_ns < from && from <= p->end_ns)
            t.rss_bytes = s.rss_bytes;
        if (s.time_ns >= from && s.time_ns < until && s.rss_bytes > t.rss_bytes)
            t.rss_bytes = s.rss_bytes;
    }
    return t;
}

#endif
