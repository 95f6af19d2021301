/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * verdict: see verdict.h.
 */
#include "query/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERDICT_TICKS_MIN = 8, /* fewer tell nothing about growth */
    VERDICT_RISES_MIN = 4,
    VERDICT_PAIRS = LEVELS_TICKS * (LEVELS_TICKS - 1) / 2,
};

static const double verdict_sure = 2.58; /* standard deviations: 1 in 100, up or down */
static const double verdict_late = 0.3;  /* share of the whole slope that is still growth */
static const double minute_ns = 60e9;

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[VERDICT_COUNT] = {"",     "grows",   "bounded", "at-exit",
                                                     "once", "passing", "unclear"};
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
    double values[LEVELS_TICKS] = {0};
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
    double sorted[LEVELS_TICKS] = {0}, sum = 0;
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

static bool verdict_keeps_rising(const uint64_t *x, size_t n)
{
    size_t rises = 0, in_quarter[4] = {0};
    uint64_t highest = x[0];
    for (size_t i = 1; i < n; i++) {
        if (x[i] <= highest)
            continue;
        highest = x[i];
        rises++;
        in_quarter[i * 4 / n]++;
    }
    size_t quarters = 0;
    for (size_t i = 0; i < 4; i++)
        quarters += in_quarter[i] > 0;
    if (rises < VERDICT_RISES_MIN || quarters < 3 || in_quarter[3] == 0)
        return false;
    double early = verdict_median_of(x, 0, n / 3);
    for (size_t i = n - n / 3; i < n; i++) {
        if ((double)x[i] <= early)
            return false;
    }
    return true;
}

static bool verdict_grows(const uint64_t *x, const uint64_t *time_ns, size_t n, struct verdict *v)
{
    if (n < VERDICT_TICKS_MIN || !verdict_keeps_rising(x, n))
        return false;
    double trend = verdict_trend(x, n), late = verdict_late_share(x, n), slope = verdict_slope(x, time_ns, n);
    if (trend < verdict_sure || late < verdict_late)
        return false;
    /* A flat floor with few steps has a median slope of 0. */
    if (slope <= 0 && time_ns[n - 1] > time_ns[0])
        slope = ((double)x[n - 1] - (double)x[0]) / (double)(time_ns[n - 1] - time_ns[0]);
    v->bytes_per_minute = slope * minute_ns;
    v->confidence = erf(trend / sqrt(2)) * (late < 1 ? late : 1);
    v->confidence = v->confidence > 0.99 ? 0.99 : v->confidence;
    return true;
}

/* ------------------------------------------------------------------- shutdown */

/* The tick where the shutdown begins; LEVELS_TICKS: there was none. */
static size_t verdict_find_shutdown(const struct levels *l)
{
    size_t begin = LEVELS_TICKS - 1;
    if (!l->exited)
        return LEVELS_TICKS;
    for (size_t i = LEVELS_TICKS; i-- > LEVELS_TICKS * 3 / 4;) {
        if (l->freed[i] < 2 * l->made[i])
            break;
        if (l->freed[i] > 0)
            begin = i;
    }
    return begin;
}

static uint64_t verdict_count_freed(const struct levels_row *r, size_t before)
{
    uint64_t freed = 0;
    for (size_t i = 0; i < before; i++)
        freed += r->freed[i];
    return freed;
}

struct verdict verdict_find(const struct levels *l, const struct levels_row *r)
{
    struct verdict v = {.kind = VERDICT_BOUNDED};
    size_t stop = verdict_find_shutdown(l), first = r->first_tick;
    if (r->blocks == 0)
        return (struct verdict){.kind = VERDICT_NONE};
    if (first >= stop) /* the shutdown itself made it */
        stop = LEVELS_TICKS;
    uint64_t held = r->level[stop - 1];
    size_t life = stop - first;
    v.freed_at_exit = l->exited && held > 0 && r->left <= held / 10;
    if (verdict_grows(r->floor + first, l->until_ns + first, life, &v)) {
        v.kind = VERDICT_GROWS;
        return v;
    }
    /* What a site keeps in the later half of its life, bursts aside. */
    double kept = verdict_median_of(r->floor, first + life / 2, stop);
    bool is_short = r->last_ns - r->first_ns <= (l->to_ns - l->from_ns) / 16;
    /* Whatever it may have been within a tick; but blocks of no bytes may be kept as well. */
    bool is_nothing = kept == 0 && r->left == 0 && verdict_count_freed(r, LEVELS_TICKS) != 0;
    if (is_nothing || (kept * 100 < (double)r->highest && r->left < r->highest / 10))
        v = (struct verdict){VERDICT_PASSING, .leaves_some = r->left != 0, .freed_at_exit = v.freed_at_exit};
    else if (v.freed_at_exit && verdict_count_freed(r, stop) <= r->blocks / 10)
        v.kind = VERDICT_AT_EXIT;
    else if (is_short && !v.freed_at_exit)
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
