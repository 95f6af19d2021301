/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * site_trend: see site_trend.h.  The reading makes the same course (store/level_sampler.h) of the events as the collector
 * made of them, but with rows for these stacks alone.
 */
#include "analysis/site_trend.h"

#include <stdlib.h>
#include <string.h>

#include "engine/watch.h"
#include "store/level_table.h"
#include "store/numbered.h"
#include "store/weight.h"
#include "tool/memory.h"
#include "tool/vec.h"

struct site_trend_block {
    uint64_t size;
    uint32_t stack;
};

struct site_trend_stack {
    struct level_sampler_state now;
    uint64_t tick; /* in which it was last touched, + 1 */
    bool is_wanted;
};

struct site_trend {
    struct level_sampler course;
    struct site_trend_stack *stacks; /* by number */
    size_t stack_count;
    struct numbered live;
    uint64_t tick;               /* ticks that have ended, all in all, + 1 */
    uint64_t allocations, frees; /* of all stacks, so far */
    struct weight_rule rule;
    struct watch watch;
};

static void site_trend_note(struct site_trend *f)
{
    level_sampler_settle(&f->course);
    for (size_t i = 0; i < f->course.rows.count; i++)
        level_sampler_note(&f->course, &f->course.rows.data[i], &f->stacks[f->course.rows.data[i].stack].now);
}

static void site_trend_end_tick(struct site_trend *f, uint64_t time_ns)
{
    if (level_sampler_is_full(&f->course)) {
        site_trend_note(f);
        level_sampler_shrink(&f->course, time_ns, f->allocations);
    }
    level_sampler_end_tick(&f->course, time_ns, f->allocations, f->frees);
    f->tick++;
}

static struct level_sampler_state *site_trend_touch(struct site_trend *f, uint32_t stack, uint64_t time_ns)
{
    struct site_trend_stack *s = &f->stacks[stack];
    if (s->tick != f->tick) {
        level_sampler_touch(&f->course, stack, time_ns, &s->now);
        s->now.lowest = s->now.level;
        s->tick = f->tick;
    }
    return &s->now;
}

static bool site_trend_add(struct site_trend *f, const struct wake_block *b, uint32_t i)
{
    uint32_t stack = b->stack[i] < f->stack_count ? b->stack[i] : 0;
    struct weight weight = weight_of(&f->rule, b->number[i], b->size[i]);
    if (level_sampler_is_over(&f->course, b->time_ns[i], f->allocations))
        site_trend_end_tick(f, b->time_ns[i]);
    f->allocations += weight.blocks;
    if (!f->stacks[stack].is_wanted && f->rule.rate == 0)
        return true;
    struct site_trend_block *block = numbered_add(&f->live, b->number[i], sizeof *block);
    if (block == NULL)
        return false;
    *block = (struct site_trend_block){b->size[i], stack};
    if (!f->stacks[stack].is_wanted)
        return true;
    struct level_sampler_state *s = site_trend_touch(f, stack, b->time_ns[i]);
    s->made += weight.blocks;
    s->level += weight.bytes;
    return true;
}

/* Of a sample it has to be known how many blocks it stood for, whoever made it. */
static void site_trend_take(struct site_trend *f, const struct wake_block *b, uint32_t i)
{
    const struct site_trend_block *was = numbered_take(&f->live, b->number[i], sizeof *was);
    if (level_sampler_is_late(&f->course, b->time_ns[i]))
        site_trend_end_tick(f, b->time_ns[i]);
    struct weight weight =
        was == NULL ? (struct weight){.blocks = 1} : weight_of(&f->rule, b->number[i], was->size);
    f->frees += weight.blocks;
    if (was == NULL || !f->stacks[was->stack].is_wanted)
        return;
    struct level_sampler_state *s = site_trend_touch(f, was->stack, b->time_ns[i]);
    s->freed += weight.blocks;
    s->level -= weight.bytes;
    if (s->level < s->lowest)
        s->lowest = s->level;
}

static int site_trend_visit(const struct wake_block *b, void *context)
{
    struct site_trend *f = context;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] == WAKE_ALLOC && !site_trend_add(f, b, i))
            return ERR_MEMORY;
        if (b->event[i] == WAKE_FREE)
            site_trend_take(f, b, i);
    }
    return f->course.failed ? ERR_MEMORY : watch_advance(&f->watch, b->count);
}

int site_trend_read(struct level_table *l, const struct query *q, struct wake_reader *r, uint32_t process,
                    const uint32_t *stacks, size_t count, struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct site_trend f = {.watch = {.query = q, .total = p->events},
                           .rule = p->rule,
                           .stack_count = p->stacks.count == 0 ? 1 : p->stacks.count,
                           .tick = 1};
    level_sampler_init(&f.course, p->info.start_ns);
    f.course.entries_max = f.course.rows_max = SIZE_MAX; /* somebody wants to know of each */
    numbered_init(&f.live);
    f.stacks = memory_new_zeroed(f.stack_count, sizeof *f.stacks);
    int code = f.stacks == NULL ? ERR_MEMORY : 0;
    for (size_t i = 0; i < count && code == 0; i++)
        if (stacks[i] < f.stack_count)
            f.stacks[stacks[i]].is_wanted = true;
    if (code == 0)
        code = wake_reader_visit_columns(r, process, 0, UINT64_MAX, WAKE_TIME | WAKE_STACK | WAKE_SIZE,
                                         site_trend_visit, &f, err);
    if (code == 0) {
        site_trend_note(&f);
        if (f.course.failed || !level_table_add_course(l, p, &f.course, stacks, count))
            code = ERR_MEMORY;
    }
    numbered_release(&f.live);
    level_sampler_release(&f.course);
    free(f.stacks);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    return code == WATCH_STOP ? ERR_ABSENT : code;
}

/* Judges the rows that are known; the others are counted. */
static size_t site_trend_find(struct verdict *verdicts, const struct level_table *l)
{
    size_t unknown = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        verdicts[i] = verdict_find(l, &l->rows.data[i]);
        unknown += verdicts[i].kind == VERDICT_NONE;
    }
    return unknown;
}

/* Those stacks that have no verdict, from the events. */
static int site_trend_judge_rest(struct verdict *verdicts, const struct query *q, struct wake_reader *r,
                                 uint32_t process, const uint32_t *stacks, size_t count, struct err *err)
{
    VEC(uint32_t) rest = {0};
    struct level_table levels;
    level_table_init(&levels);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        if (verdicts[i].kind == VERDICT_NONE && !vec_push(&rest, stacks[i]))
            code = err_no_memory(err);
    if (code == 0)
        code = site_trend_read(&levels, q, r, process, rest.data, rest.count, err);
    for (size_t i = 0, k = 0; i < count && code == 0; i++)
        if (verdicts[i].kind == VERDICT_NONE) {
            verdicts[i] = verdict_find(&levels, &levels.rows.data[k]);
            k++;
        }
    vec_release(&rest);
    level_table_release(&levels);
    return code;
}

int site_trend_judge(struct verdict *verdicts, const struct query *q, struct wake_reader *r, uint32_t process,
                     const uint32_t *stacks, size_t count, bool may_read, struct err *err)
{
    struct level_table levels;
    level_table_init(&levels);
    memset(verdicts, 0, count * sizeof *verdicts);
    int code = level_table_read(&levels, r, process, stacks, count);
    size_t unknown = code == 0 ? site_trend_find(verdicts, &levels) : count;
    level_table_release(&levels);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    return unknown == 0 || !may_read ? 0 : site_trend_judge_rest(verdicts, q, r, process, stacks, count, err);
}
