/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * naive_check: for tests: every number of an answer compared with the answer by definition (naive_answer.h).
 */
#ifndef HW_ENGINE_NAIVE_CHECK_H
#define HW_ENGINE_NAIVE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "engine/naive_answer.h"
#include "engine/naive_ask.h"

#define SAME(what, ours, right)                                                           \
    do {                                                                                  \
        unsigned long long ours_ = (ours), right_ = (right);                              \
        if (ours_ != right_)                                                              \
            fail_msg("%s is %llu, should be %llu; asked:%s", what, ours_, right_, asked); \
    } while (0)

static inline void check_metrics(const struct query *q, const struct metrics *m, const struct metrics *right)
{
    SAME("allocated_blocks", m->allocated_blocks, right->allocated_blocks);
    SAME("allocated_bytes", m->allocated_bytes, right->allocated_bytes);
    SAME("freed_blocks", m->freed_blocks, right->freed_blocks);
    SAME("freed_bytes", m->freed_bytes, right->freed_bytes);
    if (!q->sums_only) {
        SAME("peak_blocks", m->peak_blocks, right->peak_blocks);
        SAME("peak_bytes", m->peak_bytes, right->peak_bytes);
    }
    SAME("live_blocks", m->live_blocks, right->live_blocks);
    SAME("live_bytes", m->live_bytes, right->live_bytes);
    SAME("leaked_blocks", m->leaked_blocks, right->leaked_blocks);
    SAME("leaked_bytes", m->leaked_bytes, right->leaked_bytes);
    SAME("temporary_blocks", m->temporary_blocks, right->temporary_blocks);
    SAME("temporary_bytes", m->temporary_bytes, right->temporary_bytes);
    bool has_times = (q->want & (WANT_DETAIL | WANT_MEDIAN)) != 0;
    SAME("first_ns", m->first_ns, has_times ? right->first_ns : 0);
    SAME("last_ns", m->last_ns, has_times ? right->last_ns : 0);
    SAME("lifetime_min_ns", m->lifetime_min_ns, has_times ? right->lifetime_min_ns : 0);
    SAME("lifetime_max_ns", m->lifetime_max_ns, has_times ? right->lifetime_max_ns : 0);
    SAME("slack_bytes", m->slack_bytes, (q->want & WANT_DETAIL) != 0 ? right->slack_bytes : 0);
    if ((q->want & WANT_MEDIAN) != 0) {
        uint64_t off = m->lifetime_median_ns > right->lifetime_median_ns
                           ? m->lifetime_median_ns - right->lifetime_median_ns
                           : right->lifetime_median_ns - m->lifetime_median_ns;
        if (off * 100 > right->lifetime_median_ns)
            SAME("lifetime_median_ns", m->lifetime_median_ns, right->lifetime_median_ns);
    }
}

static inline void check_histograms(const struct naive_asked *a, const bool *match,
                                    const struct query_result *r)
{
    struct query_histogram sizes = {0}, lifetimes = {0};
    for (size_t i = 0; i < a->naive->blocks.count; i++) {
        const struct naive_block *b = &a->naive->blocks.data[i];
        unsigned bucket = 0;
        while (b->size >> bucket != 0)
            bucket++;
        if (match[i] && b->born_ns >= a->from && b->born_ns <= a->to) {
            sizes.blocks[bucket] += b->counts.blocks;
            sizes.bytes[bucket] += b->counts.bytes;
        }
        if (!match[i] || !b->freed || b->died_ns < a->from || b->died_ns > a->to)
            continue;
        for (bucket = 0; (b->died_ns - b->born_ns) >> bucket != 0;)
            bucket++;
        lifetimes.blocks[bucket] += b->counts.blocks;
        lifetimes.bytes[bucket] += b->counts.bytes;
    }
    assert_memory_equal(&r->sizes, &sizes, sizeof sizes);
    assert_memory_equal(&r->lifetimes, &lifetimes, sizeof lifetimes);
}

enum { NAIVE_PROCESSES = 16 };

/* Levels of processes that are there at once add up: whenever one comes, who is there? */
static inline struct query_tick naive_together(const struct naive_asked *a, const struct query_tick *ticks,
                                               uint64_t from, uint64_t until)
{
    struct query_tick highest = {0};
    for (uint32_t p = 0; p < a->naive->processes.count; p++) {
        const struct naive_process *one = &a->naive->processes.data[p];
        uint64_t now = one->start_ns > from ? one->start_ns : from;
        struct query_tick sum = {0};
        for (uint32_t k = 0; k < a->naive->processes.count && now < until; k++) {
            const struct naive_process *other = &a->naive->processes.data[k];
            bool is_instant = other->start_ns == other->end_ns && now == other->start_ns;
            if (other->start_ns > now || (other->end_ns <= now && !is_instant && now != from))
                continue;
            sum.live_bytes += ticks[k].live_bytes;
            sum.live_blocks += ticks[k].live_blocks;
            sum.rss_bytes += ticks[k].rss_bytes;
        }
        highest.live_bytes = sum.live_bytes > highest.live_bytes ? sum.live_bytes : highest.live_bytes;
        highest.live_blocks = sum.live_blocks > highest.live_blocks ? sum.live_blocks : highest.live_blocks;
        highest.rss_bytes = sum.rss_bytes > highest.rss_bytes ? sum.rss_bytes : highest.rss_bytes;
    }
    return highest;
}

static inline void check_timeline(const struct naive_asked *a, const bool *match,
                                  const struct query_result *r)
{
    assert_true(r->timeline.count > 0 && r->timeline.count <= a->query->ticks);
    for (size_t i = 0; i < r->timeline.count; i++) {
        const struct query_tick *t = &r->timeline.data[i];
        struct query_tick each[NAIVE_PROCESSES] = {0};
        uint64_t from = i == 0 ? a->from : t->from_ns;
        uint64_t until = i + 1 < r->timeline.count ? r->timeline.data[i + 1].from_ns
                                                   : (a->to == UINT64_MAX ? UINT64_MAX : a->to + 1);
        assert_true(until > from);
        assert_true(a->naive->processes.count <= NAIVE_PROCESSES);
        struct query_tick counts = {0};
        for (uint32_t p = 0; p < a->naive->processes.count; p++) {
            if (!naive_is_chosen(a, p))
                continue;
            each[p] = naive_tick(a, match, p, from, until);
            counts.allocations += each[p].allocations;
            counts.frees += each[p].frees;
            counts.allocated_bytes += each[p].allocated_bytes;
        }
        struct query_tick right = naive_together(a, each, from, until);
        SAME("tick: live_bytes", t->live_bytes, right.live_bytes);
        SAME("tick: live_blocks", t->live_blocks, right.live_blocks);
        SAME("tick: rss_bytes", t->rss_bytes, right.rss_bytes);
        SAME("tick: allocations", t->allocations, counts.allocations);
        SAME("tick: frees", t->frees, counts.frees);
        SAME("tick: allocated_bytes", t->allocated_bytes, counts.allocated_bytes);
    }
}

/* The process with the highest peak. */
static inline void find_peak(const struct naive_asked *a, const bool *match, uint32_t *process,
                             uint64_t *event, uint64_t *ns)
{
    uint64_t highest = 0;
    bool found = false;
    *process = 0;
    *event = UINT64_MAX;
    *ns = 0;
    for (uint32_t p = 0; p < a->naive->processes.count; p++) {
        uint64_t e, time, bytes;
        if (!naive_is_chosen(a, p))
            continue;
        naive_peak(a, match, p, &e, &time, &bytes);
        if (found && bytes <= highest)
            continue;
        found = true;
        highest = bytes;
        *process = p;
        *event = e;
        *ns = time;
    }
}

static inline void check_answer(const struct naive *n, const struct query *q, const struct query_result *r)
{
    struct naive_asked a;
    bool *match = malloc(n->blocks.count + 1);
    uint32_t peak_process;
    uint64_t peak_event, peak_ns, rows = 0;
    naive_understand(&a, n, q);
    for (size_t i = 0; i < n->blocks.count; i++)
        match[i] = naive_matches(&a, &n->blocks.data[i]);
    find_peak(&a, match, &peak_process, &peak_event, &peak_ns);
    struct metrics total = naive_metrics(&a, match, NULL, peak_process, peak_event);
    check_metrics(q, &r->total, &total);
    if (!q->sums_only) {
        SAME("peak_time_ns", r->peak_time_ns, peak_ns);
        SAME("peak_process", r->peak_process, peak_process);
    }
    SAME("peak_rss_bytes", r->peak_rss_bytes, a.rss_bytes);
    SAME("peak_rss_time_ns", r->peak_rss_time_ns, a.rss_ns);
    for (size_t i = 0; i < r->rows.count; i++) {
        struct metrics right = naive_metrics(&a, match, &r->rows.data[i], peak_process, peak_event);
        check_metrics(q, &r->rows.data[i].m, &right);
        for (size_t k = 0; k < i; k++)
            assert_false(r->rows.data[i].process == r->rows.data[k].process &&
                         r->rows.data[i].stack == r->rows.data[k].stack &&
                         r->rows.data[i].thread == r->rows.data[k].thread &&
                         r->rows.data[i].kind == r->rows.data[k].kind);
        rows += r->rows.data[i].m.allocated_blocks;
    }
    SAME("sum of the rows", rows, total.allocated_blocks);
    SAME("releases_without_stack", r->releases_without_stack, naive_unplaced(&a));
    if ((q->want & WANT_HISTOGRAMS) != 0)
        check_histograms(&a, match, r);
    if (q->ticks > 0)
        check_timeline(&a, match, r);
    free(match);
}

#endif
