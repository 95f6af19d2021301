/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * budget: see budget.h; its file is read by budget_file.c.
 */
#include "analysis/budget.h"

#include <string.h>

#include "engine/quantity.h"

static const struct {
    const char *name;
    enum measure measure;
    bool is_bytes;
    enum verdict_kind verdict;
} budget_limits[BUDGET_COUNT] = {
    [BUDGET_PEAK] = {"max-peak", MEASURE_PEAK, true, VERDICT_NONE},
    [BUDGET_LEAK] = {"max-leak", MEASURE_LEAKED, true, VERDICT_NONE},
    [BUDGET_LEAK_PER_SITE] = {"max-leak-per-site", MEASURE_LEAKED, true, VERDICT_NONE},
    [BUDGET_LEAK_GROWING] = {"max-leak-growing", MEASURE_LEAKED, true, VERDICT_GROWS},
    [BUDGET_LEAK_STOPPED] = {"max-leak-stopped", MEASURE_LEAKED, true, VERDICT_STOPPED},
    [BUDGET_ALLOCATIONS] = {"max-allocations", MEASURE_CALLS, false, VERDICT_NONE},
    [BUDGET_GROWTH_PEAK] = {"max-growth-peak", MEASURE_PEAK, true, VERDICT_NONE},
    [BUDGET_GROWTH_LEAK] = {"max-growth-leak", MEASURE_LEAKED, true, VERDICT_NONE},
    [BUDGET_GROWTH_ALLOCATIONS] = {"max-growth-allocations", MEASURE_CALLS, false, VERDICT_NONE},
};

void budget_init(struct budget *b)
{
    memset(b, 0, sizeof *b);
    arena_init(&b->arena);
}

void budget_release(struct budget *b)
{
    vec_release(&b->suppressions);
    arena_release(&b->arena);
}

const char *budget_name(enum budget_limit limit)
{
    return budget_limits[limit].name;
}

bool budget_has_any(const struct budget *b)
{
    bool any = b->has_growth;
    for (size_t i = 0; i < BUDGET_GROWTH_PEAK; i++)
        any = any || b->has[i];
    return any;
}

bool budget_has_verdicts(const struct budget *b)
{
    return b->has[BUDGET_LEAK_GROWING] || b->has[BUDGET_LEAK_STOPPED];
}

/* -------------------------------------------------------------------- setting */

static int budget_set_number(struct budget *b, size_t limit, const char *value, struct err *err)
{
    uint64_t number;
    bool fine =
        budget_limits[limit].is_bytes ? quantity_size(value, &number) : quantity_count(value, &number);
    if (!fine)
        return err_set(err, ERR_USAGE, "%s takes %s, not '%.100s'.", budget_limits[limit].name,
                       budget_limits[limit].is_bytes ? "a size such as 200M" : "a number", value);
    b->has[limit] = true;
    b->max[limit] = number;
    return 0;
}

static int budget_set_text(struct budget *b, const char *name, const char *value, struct err *err)
{
    const char *copy = value[0] == '\0' ? NULL : arena_push_text(&b->arena, value, strlen(value));
    if (value[0] == '\0')
        return err_set(err, ERR_USAGE, "%s needs the name of a file.", name);
    bool is_base = strcmp(name, "base") == 0;
    if (copy == NULL || (!is_base && !vec_push(&b->suppressions, copy)))
        return err_no_memory(err);
    if (is_base)
        b->base = copy;
    return 0;
}

int budget_set(struct budget *b, const char *name, const char *value, struct err *err)
{
    double percent;
    for (size_t i = 0; i < BUDGET_GROWTH_PEAK; i++) {
        if (strcmp(name, budget_limits[i].name) == 0)
            return budget_set_number(b, i, value, err);
    }
    if (strcmp(name, "base") == 0 || strcmp(name, "suppressions") == 0)
        return budget_set_text(b, name, value, err);
    if (strcmp(name, "max-growth") != 0)
        return err_set(err, ERR_USAGE, "There is no limit '%.100s'.", name);
    if (!quantity_percent(value, &percent) || !(percent >= 0))
        return err_set(err, ERR_USAGE, "max-growth takes a percentage such as 5%%, not '%.100s'.", value);
    b->has_growth = true;
    b->growth_percent = percent;
    return 0;
}

/* ------------------------------------------------------------------- checking */

static uint64_t budget_grown(uint64_t base, double percent)
{
    double most = (double)base * (1 + percent / 100);
    return most >= (double)UINT64_MAX ? UINT64_MAX : (uint64_t)most;
}

static uint64_t budget_amount(const struct metrics *m, enum budget_limit limit)
{
    return budget_limits[limit].is_bytes ? measure_bytes(m, budget_limits[limit].measure)
                                         : measure_blocks(m, budget_limits[limit].measure);
}

/* The largest site, and how many are too large. */
static void budget_look_at_sites(struct budget_outcome *o, const struct sites *sites)
{
    for (size_t i = 0; i < sites->list.count; i++) {
        uint64_t leaked = sites->list.data[i].m.leaked_bytes;
        o->seen = leaked > o->seen ? leaked : o->seen;
        o->offenders += leaked > o->allowed;
    }
}

bool budget_is_about(enum budget_limit limit, const struct verdicts *verdicts, const struct site *site)
{
    enum verdict_kind kind = budget_limits[limit].verdict;
    const struct verdict *v = kind == VERDICT_NONE ? NULL : verdicts_find(verdicts, site->trace);
    return kind == VERDICT_NONE || (v != NULL && v->kind == kind);
}

static uint64_t budget_sum(enum budget_limit limit, const struct verdicts *verdicts,
                           const struct sites *sites)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sites->list.count; i++)
        if (budget_is_about(limit, verdicts, &sites->list.data[i]))
            sum += budget_amount(&sites->list.data[i].m, limit);
    return sum;
}

size_t budget_check(const struct budget *b, const struct sites *sites, const struct metrics *base,
                    const struct verdicts *verdicts, struct budget_outcome *outcomes)
{
    size_t count = 0;
    for (enum budget_limit i = 0; i < BUDGET_COUNT; i++) {
        bool is_growth = i >= BUDGET_GROWTH_PEAK;
        if (is_growth ? !b->has_growth || base == NULL : !b->has[i])
            continue;
        struct budget_outcome o = {
            .limit = i, .measure = budget_limits[i].measure, .is_bytes = budget_limits[i].is_bytes};
        if (is_growth) {
            o.base = budget_amount(base, i);
            o.allowed = budget_grown(o.base, b->growth_percent);
        } else {
            o.allowed = b->max[i];
        }
        if (i == BUDGET_LEAK_PER_SITE)
            budget_look_at_sites(&o, sites);
        else if (budget_limits[i].verdict != VERDICT_NONE)
            o.seen = budget_sum(i, verdicts, sites);
        else
            o.seen = budget_amount(&sites->total, i);
        o.is_kept = o.seen <= o.allowed;
        outcomes[count++] = o;
    }
    return count;
}
