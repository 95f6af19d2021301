/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * totals: see totals.h.
 */
#include "collect/totals.h"

#include "store/level_table.h"
#include "tool/memory.h"
#include "tool/strbuf.h"

#include <stdlib.h>
#include <string.h>

bool totals_init(struct totals *t, uint64_t from_ns)
{
    memset(t, 0, sizeof *t);
    t->epoch = t->tick_epoch = 1;
    level_sampler_init(&t->course, from_ns);
    return totals_reserve(t, 0);
}

void totals_release(struct totals *t)
{
    free(t->stacks);
    free(t->temporaries);
    level_sampler_release(&t->course);
    memset(t, 0, sizeof *t);
}

bool totals_reserve(struct totals *t, uint32_t number)
{
    if (number >= t->capacity) {
        size_t capacity = t->capacity < 64 ? 64 : t->capacity * 2;
        if (capacity <= number)
            capacity = (size_t)number + 1;
        void *temporaries = memory_resize(t->temporaries, capacity * sizeof *t->temporaries);
        if (temporaries == NULL)
            return false;
        t->temporaries = temporaries;
        void *moved = memory_new_aligned(64, capacity * sizeof *t->stacks);
        if (moved == NULL)
            return false;
        if (t->count != 0)
            memcpy(moved, t->stacks, t->count * sizeof *t->stacks);
        free(t->stacks);
        t->stacks = moved;
        t->capacity = capacity;
    }
    if (number >= t->count) {
        memset(t->stacks + t->count, 0, (number + 1 - t->count) * sizeof *t->stacks);
        memset(t->temporaries + t->count, 0, (number + 1 - t->count) * sizeof *t->temporaries);
        t->count = (size_t)number + 1;
    }
    return true;
}

static struct level_sampler_state totals_state(const struct totals_stack *s)
{
    return (struct level_sampler_state){.lowest = s->lowest,
                                        .level = s->allocated_bytes - s->freed_bytes,
                                        .freed = s->freed,
                                        .made = s->allocations};
}

/* Brings the course up to date. */
static void totals_note(struct totals *t)
{
    level_sampler_settle(&t->course);
    for (size_t i = 0; i < t->course.rows.count; i++) {
        struct level_sampler_row *row = &t->course.rows.data[i];
        struct level_sampler_state state = totals_state(&t->stacks[row->stack]);
        level_sampler_note(&t->course, row, &state);
    }
}

void totals_end_tick(struct totals *t, uint64_t time_ns)
{
    if (level_sampler_is_full(&t->course)) {
        totals_note(t);
        level_sampler_shrink(&t->course, time_ns, t->allocations);
    }
    level_sampler_end_tick(&t->course, time_ns, t->allocations, t->frees);
    t->tick_epoch = ++t->epoch;
}

void totals_enter_tick(struct totals *t, uint32_t stack, uint64_t time_ns)
{
    struct totals_stack *s = &t->stacks[stack];
    struct level_sampler_state state = totals_state(s);
    level_sampler_touch(&t->course, stack, time_ns, &state);
    s->lowest = state.level;
}

/* Epochs stay: of the course something may still have to be noted. */
void totals_settle(struct totals *t)
{
    for (size_t i = 0; i < t->count; i++) {
        struct totals_stack *s = &t->stacks[i];
        if (s->epoch >= t->peak_epoch)
            continue;
        s->peak_blocks = s->allocations - s->freed;
        s->peak_bytes = s->allocated_bytes - s->freed_bytes;
    }
}

struct wake_stack_totals *totals_copy(struct totals *t)
{
    totals_settle(t);
    struct wake_stack_totals *copy = t->count == 0 ? NULL : memory_new_zeroed(t->count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < t->count; i++) {
        const struct totals_stack *s = &t->stacks[i];
        copy[i] = (struct wake_stack_totals){
            .allocations = s->allocations,
            .allocated_bytes = s->allocated_bytes,
            .freed = s->freed,
            .freed_bytes = s->freed_bytes,
            .peak_blocks = s->peak_blocks,
            .peak_bytes = s->peak_bytes,
            .temporary = t->temporaries[i].blocks,
            .temporary_bytes = t->temporaries[i].bytes,
        };
    }
    return copy;
}

void totals_put_levels(struct totals *t, struct wake_writer *w, uint32_t process,
                       const struct wake_process_end *end)
{
    const struct level_table_end at = {end->end_ns, end->allocations, end->frees};
    struct strbuf payload;
    strbuf_init(&payload);
    totals_note(t);
    if (!t->course.failed && t->course.rows.count != 0)
        level_table_encode(&payload, &t->course, &at);
    if (!payload.failed)
        wake_writer_set_levels(w, process, payload.text, payload.length);
    strbuf_release(&payload);
}
