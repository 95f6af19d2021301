/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * verdict: see verdict.h.
 */
#include "analysis/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERDICT_TICKS_MIN = 8, /* fewer tell nothing about growth */
    VERDICT_TICKS_EVEN = 4,
    VERDICT_RISES_MIN = 4,
    VERDICT_IDLE = 4, /* a tick has so many times fewer allocations than others */
    VERDICT_PAIRS = LEVEL_TABLE_TICKS * (LEVEL_TABLE_TICKS - 1) / 2,
};

static const double verdict_sure = 2.58; /* standard deviations: 1 in 100, up or down */
static const double verdict_late = 0.3;  /* share of the whole slope that is still growth */
static const double verdict_even = 0.5;  /* that is growth although there were no calls since */
static const double minute_ns = 60e9;
static const uint64_t verdict_load_ns =
    100000000; /* less is no load of its own, however much was done in it */

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[VERDICT_COUNT] = {"",        "grows", "stopped", "bounded",
                                                     "at-exit", "once",  "passing", "unclear"};
    return names[kind];
}

/* ------------------------------------------------------------------- numbers */

static int verdict_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts the values. */
static double verdict_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, verdict_compare);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double verdict_median_of(const uint64_t *floor, size_t first, size_t end)
{
    double values[LEVEL_TABLE_TICKS] = {0};
    for (size_t i = first; i < end; i++)
        values[i - first] = (double)floor[i];
    return verdict_median(values, end - first);
}

/* The median of all pairs' slopes, in bytes a ns; pairs of one time have none. */
static double verdict_slope(const uint64_t *x, const uint64_t *time_ns, size_t n)
{
    double slopes[VERDICT_PAIRS] = {0};
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            if (time_ns[k] > time_ns[i])
                slopes[count++] = ((double)x[k] - (double)x[i]) / (double)(time_ns[k] - time_ns[i]);
        }
    return count == 0 ? 0 : verdict_median(slopes, count);
}

/* What equal values take from the variance of the test. */
static double verdict_ties(const uint64_t *x, size_t n)
{
    double sorted[LEVEL_TABLE_TICKS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (double)x[i];
    qsort(sorted, n, sizeof *sorted, verdict_compare);
    for (size_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && sorted[i + run] == sorted[i];)
            run++;
        double t = (double)run;
        sum += t * (t - 1) * (2 * t + 5);
    }
    return sum;
}

/* The test of Mann and Kendall: standard deviations from no trend. */
static double verdict_trend(const uint64_t *x, size_t n)
{
    double s = 0, count = (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            s += (x[k] > x[i]) - (x[k] < x[i]);
    double variance = (count * (count - 1) * (2 * count + 5) - verdict_ties(x, n)) / 18;
    if (variance <= 0)
        return 0;
    return (s > 0 ? s - 1 : s < 0 ? s + 1 : 0) / sqrt(variance);
}

/* -------------------------------------------------------------------- growth */

/* Slope of the last third as a share of the slope of all, from the medians of six parts. */
static double verdict_late_share(const uint64_t *x, size_t n)
{
    double part[6];
    for (size_t i = 0; i < 6; i++)
        part[i] = verdict_median_of(x, n * i / 6, n * (i + 1) / 6);
    double whole = (part[5] - part[0]) / 5, late = (part[5] - part[3]) / 2;
    return whole > 0 ? late / whole : 0;
}

/* The ticks in which a site is judged, without pauses. */
struct verdict_life {
    uint64_t floor[LEVEL_TABLE_TICKS];
    uint64_t time_ns[LEVEL_TABLE_TICKS]; /* at their ends, by a clock that stands still in pauses */
    bool is_active[LEVEL_TABLE_TICKS];   /* something happened to the site */
    size_t count;
    uint64_t paused_ns;  /* left out */
    uint64_t longest_ns; /* in which nothing happened to it between two ticks in which something did */
    size_t end;          /* the tick behind that of the last call */
};

static bool verdict_is_active(const struct level_table_row *r, size_t i)
{
    uint64_t before = i == 0 ? 0 : r->level[i - 1];
    return r->floor[i] != before || r->level[i] != before || r->freed[i] != 0;
}

static uint64_t verdict_begin_of(const struct level_table *l, size_t tick)
{
    return tick == 0 ? l->from_ns : l->until_ns[tick - 1];
}

/* last_ns is a little before the last call, which may be in the next tick. */
static size_t verdict_find_last_call(const struct level_table *l, const struct level_table_row *r,
                                     size_t stop)
{
    size_t last = stop - 1;
    while (last > r->first_tick && verdict_begin_of(l, last) > r->last_ns &&
           r->level[last] <= r->level[last - 1])
        last--;
    return last;
}

static void verdict_live(struct verdict_life *f, const struct level_table *l, const struct level_table_row *r,
                         size_t stop)
{
    uint64_t made = 0, now_ns = 0, quiet_ns = 0;
    memset(f, 0, sizeof *f);
    f->end = verdict_find_last_call(l, r, stop) + 1;
    for (size_t i = 0; i < stop; i++)
        made += l->made[i];
    for (size_t i = r->first_tick; i < f->end; i++) {
        uint64_t length = l->until_ns[i] - verdict_begin_of(l, i);
        bool is_active = verdict_is_active(r, i),
             is_idle = (double)l->made[i] * (double)stop * VERDICT_IDLE < (double)made;
        quiet_ns = is_active ? 0 : quiet_ns + length;
        f->longest_ns = quiet_ns > f->longest_ns ? quiet_ns : f->longest_ns;
        if (is_idle && !is_active) {
            f->paused_ns += length;
            continue;
        }
        f->floor[f->count] = r->floor[i];
        f->time_ns[f->count] = now_ns += length;
        f->is_active[f->count++] = is_active;
    }
}

/* New heights: in how many ticks, of which quarters. */
static bool verdict_keeps_rising(const struct verdict_life *f)
{
    const uint64_t *x = f->floor;
    size_t n = f->count, active = 0, seen = 0, rises = 0, quarters = 0, in_quarter[4] = {0};
    uint64_t highest = x[0];
    bool is_late = false;
    for (size_t i = 0; i < n; i++)
        active += f->is_active[i];
    for (size_t i = 0; i < n; i++) {
        bool is_higher = x[i] > highest;
        highest = is_higher ? x[i] : highest;
        if (is_higher) {
            rises++;
            /* A level rises in a tick, and the floor in the next, which may be quiet. */
            in_quarter[(seen < active ? seen : active - 1) * 4 / active]++;
            is_late |= i * 4 / n == 3;
        }
        seen += f->is_active[i];
    }
    for (size_t i = 0; i < 4; i++)
        quarters += in_quarter[i] > 0;
    if (rises < VERDICT_RISES_MIN || quarters < 3 || !is_late)
        return false;
    double early = verdict_median_of(x, 0, n / 3);
    for (size_t i = n - n / 3; i < n; i++) {
        if ((double)x[i] <= early)
            return false;
    }
    return true;
}

/* late: the share of the slope of all that its last third has to have. */
static bool verdict_grows(const struct verdict_life *f, double late_min, struct verdict *v)
{
    const uint64_t *x = f->floor, *time_ns = f->time_ns;
    size_t n = f->count;
    if (n < VERDICT_TICKS_MIN || !verdict_keeps_rising(f))
        return false;
    double trend = verdict_trend(x, n), late = verdict_late_share(x, n), slope = verdict_slope(x, time_ns, n);
    if (trend < verdict_sure || late < late_min)
        return false;
    /* A flat floor with few steps has a median slope of 0. */
    if (slope <= 0 && time_ns[n - 1] > time_ns[0])
        slope = ((double)x[n - 1] - (double)x[0]) / (double)(time_ns[n - 1] - time_ns[0]);
    double all_ns = (double)time_ns[n - 1] + (double)f->paused_ns;
    v->bytes_per_minute = all_ns > 0 ? slope * minute_ns * (double)time_ns[n - 1] / all_ns : 0;
    v->confidence = erf(trend / sqrt(2)) * (late < 1 ? late : 1);
    v->confidence = v->confidence > 0.99 ? 0.99 : v->confidence;
    return true;
}

/* ------------------------------------------------------------------- shutdown */

/* The tick where the shutdown begins; LEVEL_TABLE_TICKS: there was none.  It has no pause. */
static size_t verdict_find_shutdown(const struct level_table *l)
{
    size_t begin = LEVEL_TABLE_TICKS - 1;
    if (!l->exited)
        return LEVEL_TABLE_TICKS;
    for (size_t i = LEVEL_TABLE_TICKS; i-- > LEVEL_TABLE_TICKS * 3 / 4;) {
        bool is_empty = l->freed[i] == 0 && l->made[i] == 0;
        if (is_empty || l->freed[i] < 2 * l->made[i])
            break;
        if (l->freed[i] > 0)
            begin = i;
    }
    return begin;
}

static uint64_t verdict_count_freed(const struct level_table_row *r, size_t before)
{
    uint64_t freed = 0;
    for (size_t i = 0; i < before; i++)
        freed += r->freed[i];
    return freed;
}

/* -------------------------------------------------------------------- the end */

/* Behind the last call most of what there was at once is still there. */
static bool verdict_is_kept(const struct verdict_life *f, const struct level_table_row *r, size_t stop)
{
    uint64_t highest = 0;
    for (size_t i = 0; i < f->count; i++)
        highest = f->floor[i] > highest ? f->floor[i] : highest;
    for (size_t i = f->end; i < stop; i++)
        if (r->floor[i] < highest - highest / 4)
            return false;
    return true;
}

/* The calls ended long before the life did. */
static bool verdict_is_silent(const struct verdict_life *f, const struct level_table *l,
                              const struct level_table_row *r, size_t stop)
{
    uint64_t end_ns = l->until_ns[stop - 1], silence_ns = end_ns > r->last_ns ? end_ns - r->last_ns : 0;
    return silence_ns >= (end_ns - r->first_ns) / 4 && silence_ns > f->longest_ns + f->longest_ns / 2;
}

/* For fewer ticks than a trend takes: nothing was freed, and the later half rose half as much as the first. */
static bool verdict_rose_evenly(const struct verdict_life *f, const struct level_table_row *r, size_t stop)
{
    size_t first = r->first_tick, count = f->end - first;
    if (count < VERDICT_TICKS_EVEN || count >= VERDICT_TICKS_MIN || verdict_count_freed(r, stop) != 0)
        return false;
    uint64_t before = r->level[first + count / 2 - 1];
    double half = (double)before, all = (double)r->level[f->end - 1];
    return half > 0 && all - half >= verdict_even * half;
}

/* Within a sixteenth of the life.  But half of the ticks are work, so that a load may have many of them in a short time;
 * what is made in one go has no such time. */
static bool verdict_is_moment(const struct verdict_life *f, const struct level_table *l,
                              const struct level_table_row *r)
{
    uint64_t length_ns = r->last_ns - r->first_ns;
    bool is_load = f->count >= VERDICT_TICKS_MIN && length_ns >= verdict_load_ns;
    return length_ns <= (l->to_ns - l->from_ns) / 16 && !is_load;
}

/* Grows or has stopped. */
static bool verdict_is_growth(const struct verdict_life *f, const struct level_table *l,
                              const struct level_table_row *r, size_t stop, struct verdict *v)
{
    if (!verdict_is_kept(f, r, stop))
        return false;
    bool is_silent = verdict_is_silent(f, l, r, stop);
    bool is_growth = verdict_grows(f, is_silent ? verdict_even : verdict_late, v);
    if (!is_silent) {
        v->kind = is_growth ? VERDICT_GROWS : v->kind;
    } else if ((is_growth || verdict_rose_evenly(f, r, stop)) && !verdict_is_moment(f, l, r)) {
        v->kind = VERDICT_STOPPED;
        v->until_ns = r->last_ns;
    }
    return v->kind != VERDICT_BOUNDED;
}

struct verdict verdict_find(const struct level_table *l, const struct level_table_row *r)
{
    struct verdict v = {.kind = VERDICT_BOUNDED};
    struct verdict_life f;
    size_t stop = verdict_find_shutdown(l), first = r->first_tick;
    if (r->blocks == 0)
        return (struct verdict){.kind = VERDICT_NONE};
    if (first >= stop) /* the shutdown itself made it */
        stop = LEVEL_TABLE_TICKS;
    uint64_t held = r->level[stop - 1];
    size_t life = stop - first;
    v.freed_at_exit = l->exited && held > 0 && r->left <= held / 10;
    verdict_live(&f, l, r, stop);
    if (verdict_is_growth(&f, l, r, stop, &v))
        return v;
    /* What a site keeps in the later half of its life, bursts aside. */
    double kept = verdict_median_of(r->floor, first + life / 2, stop);
    /* Whatever it may have been within a tick; but blocks of no bytes may be kept as well. */
    bool is_nothing = kept == 0 && r->left == 0 && verdict_count_freed(r, LEVEL_TABLE_TICKS) != 0;
    if (is_nothing || (kept * 100 < (double)r->highest && r->left < r->highest / 10))
        v = (struct verdict){VERDICT_PASSING, .leaves_some = r->left != 0, .freed_at_exit = v.freed_at_exit};
    else if (v.freed_at_exit && verdict_count_freed(r, stop) <= r->blocks / 10)
        v.kind = VERDICT_AT_EXIT;
    else if (verdict_is_moment(&f, l, r) && !v.freed_at_exit)
        v.kind = VERDICT_ONCE;
    else if (life < VERDICT_TICKS_MIN)
        v.kind = VERDICT_UNCLEAR;
    return v;
}

/* ----------------------------------------------------------------------- list */

void verdicts_init(struct verdicts *v)
{
    memset(v, 0, sizeof *v);
    map_init(&v->by_trace);
}

void verdicts_release(struct verdicts *v)
{
    map_release(&v->by_trace);
    vec_release(&v->list);
}

bool verdicts_add(struct verdicts *v, uint32_t trace, struct verdict verdict)
{
    return vec_push(&v->list, verdict) && map_set(&v->by_trace, trace, v->list.count - 1);
}

const struct verdict *verdicts_find(const struct verdicts *v, uint32_t trace)
{
    const uint64_t *at = map_find(&v->by_trace, trace);
    return at == NULL ? NULL : &v->list.data[*at];
}
