/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ends: see ends.h.
 */
#include "query/ends.h"

#include <stdlib.h>

#include "query/cohort.h"
#include "query/decide.h"
#include "query/gather.h"
#include "tool/memory.h"

enum ends_side { FROM_BEGIN, FROM_END, SIDE_COUNT };

struct ends {
    const struct filter *filter;
    struct watch *watch;
    struct cohort *groups;
    uint8_t *seen;             /* by stack: a bit for each side */
    uint64_t *left;            /* by stack: allocations that no side has met */
    size_t missed[SIDE_COUNT]; /* stacks that a side has not met, and has to */
    enum ends_side side;
};

bool ends_suits(const struct filter *f, const struct wake_reader *reader, uint32_t process)
{
    const struct wake_process *p = f->process;
    const struct wake_omissions *o = &p->omitted;
    return gather_suits(f) && range_is_whole(&f->when->group_peak) && p->carried.count == 0 &&
           o->sample_rate == 0 && o->culled_blocks + o->allocations + o->elsewhere_allocations == 0 &&
           decide_totals_agree(reader, process);
}

/* A side meets a stack for the first time. */
static void ends_meet(struct ends *e, uint32_t stack, uint64_t time_ns)
{
    struct cohort *group = &e->groups[stack];
    if (e->seen[stack] == 0)
        group->first_ns = group->last_ns = time_ns;
    e->seen[stack] |= (uint8_t)(1 << e->side);
    e->missed[e->side] -= e->left[stack] > 0; /* else the totals do not know it */
}

/* All allocations of a stack have been met: the other side need not look for it. */
static void ends_complete(struct ends *e, uint32_t stack)
{
    for (unsigned side = 0; side < SIDE_COUNT; side++)
        e->missed[side] -= (e->seen[stack] >> side & 1) == 0;
    e->seen[stack] = (1 << SIDE_COUNT) - 1;
}

static int ends_events(const struct wake_block *b, void *context)
{
    struct ends *e = context;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] != WAKE_ALLOC)
            continue;
        uint32_t stack = filter_stack(e->filter, b->stack[i]);
        struct cohort *group = &e->groups[stack];
        if (__builtin_expect((e->seen[stack] >> e->side & 1) == 0, 0))
            ends_meet(e, stack, b->time_ns[i]);
        if (__builtin_expect(--e->left[stack] == 0, 0))
            ends_complete(e, stack);
        if (b->time_ns[i] < group->first_ns)
            group->first_ns = b->time_ns[i];
        if (b->time_ns[i] > group->last_ns)
            group->last_ns = b->time_ns[i];
    }
    return watch_advance(e->watch, b->count);
}

/* Stack numbers that the file does not know are 0. */
static void ends_count(struct ends *e)
{
    const struct wake_process *p = e->filter->process;
    for (size_t i = 0; i < p->totals.count; i++)
        e->groups[filter_stack(e->filter, (uint32_t)i)].allocations += p->totals.data[i].allocations;
    for (size_t i = 0; i < e->filter->stack_count; i++) {
        e->left[i] = e->groups[i].allocations;
        e->missed[FROM_BEGIN] += e->left[i] > 0;
    }
    e->missed[FROM_END] = e->missed[FROM_BEGIN];
}

static int ends_read(struct ends *e, struct wake_reader *reader, uint32_t process, struct err *err)
{
    size_t first = 0, end = wake_reader_span_count(reader, process);
    int code = 0;
    for (unsigned turn = 0; first < end && code == 0; turn++) {
        if (e->missed[FROM_BEGIN] == 0 && e->missed[FROM_END] == 0)
            break;
        e->side = turn % SIDE_COUNT;
        if (e->missed[e->side] == 0)
            continue;
        size_t span = e->side == FROM_BEGIN ? first++ : --end;
        code = wake_reader_visit_spans(reader, process, span, span + 1, UINT64_MAX, WAKE_STACK | WAKE_TIME,
                                       ends_events, e, err);
    }
    return code;
}

int ends_run(struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
             struct err *err)
{
    struct ends e = {.filter = f,
                     .watch = watch,
                     .groups = cohort_new(f),
                     .seen = memory_new_zeroed(f->stack_count, sizeof *e.seen),
                     .left = memory_new_zeroed(f->stack_count, sizeof *e.left)};
    uint64_t done = watch->done;
    int code = ERR_MEMORY;
    if (e.groups != NULL && e.seen != NULL && e.left != NULL) {
        ends_count(&e);
        code = ends_read(&e, reader, process, err);
    }
    for (size_t i = 0; i < f->stack_count && code == 0; i++)
        if (e.seen[i] == 0)
            e.groups[i].allocations = 0; /* all were in damaged chunks */
    if (code == 0) {
        cohort_narrow(f, e.groups);
        watch->total -= f->process->events - (watch->done - done);
    }
    if (code == ERR_MEMORY)
        err_set(err, code, "There is no memory for the groups of the query.");
    free(e.groups);
    free(e.seen);
    free(e.left);
    return code;
}
