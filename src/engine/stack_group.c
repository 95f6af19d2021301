/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack_group: see stack_group.h.
 */
#include "engine/stack_group.h"

#include "tool/memory.h"

#include <stdlib.h>

struct stack_group *stack_group_new(const struct filter *f)
{
    const struct wake_process *p = f->process;
    struct stack_group *cohorts = memory_new_zeroed(f->stack_count, sizeof *cohorts);
    for (size_t i = 0; cohorts != NULL && i < p->live.count; i++) {
        const struct wake_live_block *b = &p->live.data[i];
        cohorts[filter_stack(f, b->stack)].leaked += weight_of(&p->rule, b->allocation, b->size).blocks;
    }
    return cohorts;
}

void stack_group_rise(struct stack_group *g, uint64_t time_ns)
{
    if (g->reach == 0 || g->bytes > g->highest_bytes) {
        g->highest_bytes = g->bytes;
        g->highest_ns = time_ns;
    }
    g->reach = g->highest_bytes == UINT64_MAX ? UINT64_MAX : g->highest_bytes + 1;
}

/* Compares a count with a number or with a share of a whole. */
static bool stack_group_at_least(uint64_t count, const struct query_amount *a, uint64_t whole)
{
    return a->is_percent ? (double)count * 100 >= a->percent * (double)whole : count >= a->number;
}

static bool stack_group_at_most(uint64_t count, const struct query_amount *a, uint64_t whole)
{
    return a->is_percent ? (double)count * 100 <= a->percent * (double)whole : count <= a->number;
}

static bool stack_group_has_numbers(const struct filter *f, const struct stack_group *g)
{
    const struct query_filter *q = &f->query->filter;
    if (!range_has(&q->group_allocations, g->allocations))
        return false;
    if (q->group_leaked_min.is_set && !stack_group_at_least(g->leaked, &q->group_leaked_min, g->allocations))
        return false;
    if (q->group_leaked_max.is_set && !stack_group_at_most(g->leaked, &q->group_leaked_max, g->allocations))
        return false;
    return (q->states & STATE_GROUP_LEAKED) == 0 || g->leaked >= g->allocations;
}

static bool stack_group_passes(const struct filter *f, const struct stack_group *g)
{
    bool has_numbers = (f->checks & CHECK_GROUP_COUNTS) == 0 || stack_group_has_numbers(f, g);
    return has_numbers && ((f->checks & CHECK_GROUP_TIMES) == 0 ||
                           (range_has(&f->when->group_interval, g->last_ns - g->first_ns) &&
                            range_has(&f->when->group_peak, g->highest_ns)));
}

void stack_group_narrow(struct filter *f, const struct stack_group *cohorts)
{
    for (size_t i = 0; i < f->stack_count; i++)
        f->stacks[i] &= cohorts[i].allocations > 0 && stack_group_passes(f, &cohorts[i]);
}

void stack_group_count(struct filter *f)
{
    const struct wake_process *p = f->process;
    bool is_asked = (f->checks & CHECK_GROUP_COUNTS) != 0;
    struct stack_group *cohorts = is_asked ? memory_new_zeroed(f->stack_count, sizeof *cohorts) : NULL;
    if (cohorts == NULL)
        return;
    for (size_t i = 0; i < f->stack_count && i < p->totals.count; i++) {
        cohorts[i].allocations = p->totals.data[i].allocations;
        cohorts[i].leaked = p->totals.data[i].allocations - p->totals.data[i].freed;
    }
    for (size_t i = 0; i < f->stack_count; i++)
        f->stacks[i] &= cohorts[i].allocations > 0 && stack_group_has_numbers(f, &cohorts[i]);
    free(cohorts);
    f->checks = (f->checks & ~(unsigned)CHECK_GROUP_COUNTS) | CHECK_STACK;
}
