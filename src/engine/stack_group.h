/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack_group: what all blocks of a stack have in common, matching or not.
 */
#ifndef HW_ENGINE_STACK_GROUP_H
#define HW_ENGINE_STACK_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/filter.h"
#include "store/weight.h"

/* Blocks of a sampled process count as what they stand for. */
struct stack_group {
    uint64_t allocations;
    uint64_t leaked;
    uint64_t first_ns, last_ns;
    uint64_t bytes, highest_bytes;
    uint64_t highest_ns; /* when bytes were first at their highest */
    uint64_t reach;      /* with fewer bytes than this they are not; 0 before the first block */
};

/* One for each stack of the filter's process, with `leaked` filled in; NULL: no memory. */
struct stack_group *stack_group_new(const struct filter *f);
/* Forbids stacks whose cohort does not pass. */
void stack_group_narrow(struct filter *f, const struct stack_group *cohorts);
/* Decides the conditions on counts, if there are any, by totals that agree with the events (store/reader.h): they know of blocks
 * that are not among these.  Where there is no memory for that, whoever reads the events decides. */
void stack_group_count(struct filter *f);

/* The bytes may be as high as never before. */
void stack_group_rise(struct stack_group *g, uint64_t time_ns);

/* A block is born; its bytes are not counted here.  In the order of time. */
static inline void stack_group_born(struct stack_group *g, uint64_t blocks, uint64_t time_ns)
{
    if (g->allocations == 0)
        g->first_ns = time_ns;
    g->last_ns = time_ns;
    g->allocations += blocks;
}

/* The bytes change; for less: wraps. */
static inline void stack_group_turn(struct stack_group *g, uint64_t bytes, uint64_t time_ns)
{
    g->bytes += bytes;
    if (__builtin_expect(g->bytes >= g->reach, 0))
        stack_group_rise(g, time_ns);
}

static inline void stack_group_alloc(struct stack_group *g, struct weight weight, uint64_t time_ns)
{
    stack_group_born(g, weight.blocks, time_ns);
    stack_group_turn(g, weight.bytes, time_ns);
}

#endif
