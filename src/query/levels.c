/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * levels: see levels.h.
 */
#include "query/levels.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "query/watch.h"
#include "store/numbered.h"
#include "store/weight.h"
#include "tool/memory.h"

enum { LEVELS_RUN = 256 }; /* events */

struct levels_block {
    uint64_t size;
    uint32_t row;
};

struct levels_work {
    struct levels *to;
    uint32_t *row_of; /* by stack; UINT32_MAX = nobody asked */
    size_t stack_count;
    struct numbered live;
    uint64_t *bytes;  /* by row, now */
    uint64_t *lowest; /* by row, in this tick */
    size_t tick;
    uint64_t allocations; /* of all stacks, so far */
    double ticks_a_ns, ticks_an_allocation;
    struct watch watch;
    uint64_t sample_rate;
};

void levels_init(struct levels *l)
{
    memset(l, 0, sizeof *l);
}

void levels_release(struct levels *l)
{
    vec_release(&l->rows);
}

/* The current tick is over at this time, and all up to `next`. */
static void levels_end_ticks(struct levels_work *w, size_t next, uint64_t time_ns)
{
    struct levels *l = w->to;
    for (; w->tick < next; w->tick++) {
        l->until_ns[w->tick] = time_ns;
        for (size_t i = 0; i < l->rows.count; i++) {
            l->rows.data[i].floor[w->tick] = w->lowest[i];
            l->rows.data[i].level[w->tick] = w->lowest[i] = w->bytes[i];
        }
    }
}

/* The tick of an event, after so many allocations. */
static size_t levels_find(const struct levels_work *w, uint64_t time_ns, uint64_t allocations)
{
    uint64_t past = time_ns > w->to->from_ns ? time_ns - w->to->from_ns : 0;
    double position = (double)past * w->ticks_a_ns + (double)allocations * w->ticks_an_allocation;
    return position < LEVELS_TICKS - 1 ? (size_t)position : LEVELS_TICKS - 1;
}

static bool levels_add(struct levels_work *w, const struct wake_block *b, uint32_t i)
{
    uint32_t row = b->stack[i] < w->stack_count ? w->row_of[b->stack[i]] : w->row_of[0];
    w->to->made[w->tick]++;
    w->allocations++;
    if (row == UINT32_MAX)
        return true;
    struct levels_block *block = numbered_add(&w->live, b->number[i], sizeof *block);
    if (block == NULL)
        return false;
    struct weight weight = weight_of(w->sample_rate, b->number[i], b->size[i]);
    *block = (struct levels_block){weight.bytes, row};
    struct levels_row *r = &w->to->rows.data[row];
    if (r->blocks++ == 0) {
        r->first_ns = b->time_ns[i];
        r->first_tick = w->tick;
    }
    r->last_ns = b->time_ns[i];
    w->bytes[row] += weight.bytes;
    if (w->bytes[row] > r->highest)
        r->highest = w->bytes[row];
    return true;
}

static void levels_take(struct levels_work *w, const struct wake_block *b, uint32_t i)
{
    const struct levels_block *was = numbered_take(&w->live, b->number[i], sizeof *was);
    w->to->freed[w->tick]++;
    if (was == NULL)
        return;
    w->to->rows.data[was->row].freed[w->tick]++;
    w->bytes[was->row] -= was->size;
    if (w->bytes[was->row] < w->lowest[was->row])
        w->lowest[was->row] = w->bytes[was->row];
}

/* Ticks are long: one look at the end of a run of events mostly tells that none ends within. */
static int levels_visit(const struct wake_block *b, void *context)
{
    struct levels_work *w = context;
    for (uint32_t i = 0; i < b->count;) {
        uint32_t end = b->count - i < LEVELS_RUN ? b->count : i + LEVELS_RUN;
        bool is_within = levels_find(w, b->time_ns[end - 1], w->allocations + (end - i)) == w->tick;
        for (; i < end; i++) {
            if (!is_within)
                levels_end_ticks(w, levels_find(w, b->time_ns[i], w->allocations), b->time_ns[i]);
            if (b->event[i] == WAKE_ALLOC && !levels_add(w, b, i))
                return ERR_MEMORY;
            if (b->event[i] == WAKE_FREE)
                levels_take(w, b, i);
        }
    }
    return watch_advance(&w->watch, b->count);
}

static bool levels_begin(struct levels_work *w, const struct wake_process *p, const uint32_t *stacks,
                         size_t count)
{
    struct levels *l = w->to;
    uint64_t last = p->end.end_ns > p->info.start_ns ? p->end.end_ns : p->info.start_ns;
    l->from_ns = p->info.start_ns;
    l->to_ns = last;
    bool was_killed = p->end.wait_status >= 0 && WIFSIGNALED(p->end.wait_status);
    l->exited = p->ended && !p->end.execed && !was_killed;
    w->stack_count = p->stacks.count == 0 ? 1 : p->stacks.count;
    w->row_of = memory_new(w->stack_count * sizeof *w->row_of);
    w->bytes = memory_new_zeroed(count + 1, sizeof *w->bytes);
    w->lowest = memory_new_zeroed(count + 1, sizeof *w->lowest);
    if (w->row_of == NULL || w->bytes == NULL || w->lowest == NULL)
        return false;
    memset(w->row_of, 0xff, w->stack_count * sizeof *w->row_of);
    for (size_t i = 0; i < count; i++) {
        if (!vec_push(&l->rows, (struct levels_row){.stack = stacks[i]}))
            return false;
        if (stacks[i] < w->stack_count)
            w->row_of[stacks[i]] = (uint32_t)i;
    }
    w->ticks_a_ns = LEVELS_TICKS / 2.0 / (double)(l->to_ns > l->from_ns ? l->to_ns - l->from_ns : 1);
    w->ticks_an_allocation = LEVELS_TICKS / 2.0 / (double)(p->end.allocations > 0 ? p->end.allocations : 1);
    return true;
}

int levels_read(struct levels *l, const struct query *q, struct wake_reader *r, uint32_t process,
                const uint32_t *stacks, size_t count, struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct levels_work w = {
        .to = l, .watch = {.query = q, .total = p->events}, .sample_rate = p->omitted.sample_rate};
    numbered_init(&w.live);
    int code = levels_begin(&w, p, stacks, count) ? 0 : ERR_MEMORY;
    if (code == 0)
        code = wake_reader_visit_columns(r, process, 0, UINT64_MAX, WAKE_STACK | WAKE_SIZE, levels_visit, &w,
                                         err);
    if (code == 0) {
        levels_end_ticks(&w, LEVELS_TICKS, l->to_ns);
        for (size_t i = 0; i < l->rows.count; i++)
            l->rows.data[i].left = w.bytes[i];
    }
    numbered_release(&w.live);
    free(w.row_of);
    free(w.bytes);
    free(w.lowest);
    if (code == ERR_MEMORY)
        return err_set(err, ERR_MEMORY, "There is no memory for the verdicts.");
    return code == WATCH_STOP ? ERR_ABSENT : code;
}
