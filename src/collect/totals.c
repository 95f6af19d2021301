/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * totals: see totals.h.
 */
#include "collect/totals.h"

#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>

bool totals_init(struct totals *t)
{
    memset(t, 0, sizeof *t);
    return totals_reserve(t, 0);
}

void totals_release(struct totals *t)
{
    free(t->stacks);
    free(t->temporaries);
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

void totals_settle(struct totals *t)
{
    for (size_t i = 0; i < t->count; i++)
        totals_touch(t, (uint32_t)i);
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
