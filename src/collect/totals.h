/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * totals: what every stack of a process has allocated, freed and had live at
 * the moment of the process's peak, in one pass.
 *
 * The peak by epochs: a new maximum of the live bytes only advances the
 * process's epoch.  A stack that is touched in a later epoch than its own
 * first copies its live values to "at peak": between the two epochs nothing
 * about it changed, so these were its values at the peak.
 *
 * Temporaries are counted apart: most stacks have none, and the others stay
 * within one cache line.
 */
#ifndef HW_COLLECT_TOTALS_H
#define HW_COLLECT_TOTALS_H

#include "store/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One cache line.  Fields that change together do not stand side by side:
 * compilers would add to both with one wide access, which has to wait for the
 * narrow stores before it. */
struct totals_stack {
    uint64_t allocations;
    uint64_t peak_blocks;
    uint64_t allocated_bytes;
    uint64_t freed;
    uint64_t peak_bytes;
    uint64_t freed_bytes;
    uint64_t epoch;
    uint64_t unused; /* a whole line: none is shared with a neighbour */
};

struct totals_temporary {
    uint64_t blocks, bytes;
};

struct totals {
    struct totals_stack *stacks; /* index = stack number, 0 = no stack */
    struct totals_temporary *temporaries;
    size_t count, capacity;
    uint64_t epoch;
    uint64_t allocations;
    uint64_t peak_blocks;
    uint64_t live_blocks;
    uint64_t peak_bytes;
    uint64_t live_bytes;
    uint64_t peak_time_ns;
    uint64_t allocated_bytes;
    uint64_t peak_event;
    uint64_t frees;
};

bool totals_init(struct totals *t);
void totals_release(struct totals *t);
/* Room for stacks up to number; false: no memory. */
bool totals_reserve(struct totals *t, uint32_t number);
/* Brings every stack's values at the peak up to date. */
void totals_settle(struct totals *t);
/* Settled totals in the form of the store; NULL: no memory.  The caller frees. */
struct wake_stack_totals *totals_copy(struct totals *t);

static inline struct totals_stack *totals_touch(struct totals *t, uint32_t stack)
{
    struct totals_stack *s = &t->stacks[stack];
    if (s->epoch != t->epoch) {
        s->peak_blocks = s->allocations - s->freed;
        s->peak_bytes = s->allocated_bytes - s->freed_bytes;
        s->epoch = t->epoch;
    }
    return s;
}

/* event: number of this event in the stream, from 0.  blocks: 1, or as many as a sampled one stands for;
 * size is theirs together. */
static inline void totals_alloc(struct totals *t, uint32_t stack, uint64_t blocks, uint64_t size,
                                uint64_t time_ns, uint64_t event)
{
    struct totals_stack *s = totals_touch(t, stack);
    s->allocations += blocks;
    s->allocated_bytes += size;
    t->allocations += blocks;
    t->allocated_bytes += size;
    t->live_blocks += blocks;
    t->live_bytes += size;
    if (t->live_bytes > t->peak_bytes) {
        t->peak_bytes = t->live_bytes;
        t->peak_blocks = t->live_blocks;
        t->peak_time_ns = time_ns;
        t->peak_event = event;
        t->epoch++;
    }
}

static inline void totals_free(struct totals *t, uint32_t stack, uint64_t blocks, uint64_t size,
                               bool temporary)
{
    struct totals_stack *s = totals_touch(t, stack);
    s->freed += blocks;
    s->freed_bytes += size;
    if (temporary) {
        t->temporaries[stack].blocks++;
        t->temporaries[stack].bytes += size;
    }
    t->frees += blocks;
    t->live_blocks -= blocks;
    t->live_bytes -= size;
}

#endif
