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
 * The course of each stack (store/level_sampler.h) by the same means: a new tick advances the epoch too.
 *
 * Temporaries are counted apart: most stacks have none, and the others stay
 * within one cache line.
 */
#ifndef HW_COLLECT_TOTALS_H
#define HW_COLLECT_TOTALS_H

#include "store/level_sampler.h"
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
    uint64_t lowest; /* live bytes, since its row of the course was last touched */
};

struct totals_temporary {
    uint64_t blocks, bytes;
};

struct totals {
    struct totals_stack *stacks; /* index = stack number, 0 = no stack */
    struct totals_temporary *temporaries;
    size_t count, capacity;
    uint64_t epoch; /* goes on with each peak and with each tick of the course: */
    uint64_t peak_epoch, tick_epoch;
    uint64_t allocations;
    uint64_t peak_blocks;
    uint64_t live_blocks;
    uint64_t peak_bytes;
    uint64_t live_bytes;
    uint64_t peak_time_ns;
    uint64_t allocated_bytes;
    uint64_t peak_event;
    uint64_t frees;
    struct level_sampler course;
};

/* from_ns: when the process began. */
bool totals_init(struct totals *t, uint64_t from_ns);
void totals_release(struct totals *t);
/* Room for stacks up to number; false: no memory. */
bool totals_reserve(struct totals *t, uint32_t number);
/* Brings every stack's values at the peak up to date. */
void totals_settle(struct totals *t);
/* Settled totals in the form of the store; NULL: no memory.  The caller frees. */
struct wake_stack_totals *totals_copy(struct totals *t);
/* Writes the levels of all stacks, for a process that is about to end like this, or to pause. Without memory it
 * does nothing: then readers make them of the events. */
void totals_put_levels(struct totals *t, struct wake_writer *w, uint32_t process,
                       const struct wake_process_end *end);

/* A tick is over. */
void totals_end_tick(struct totals *t, uint64_t time_ns);
/* The first event of a stack in a tick is about to come. */
void totals_enter_tick(struct totals *t, uint32_t stack, uint64_t time_ns);

static inline struct totals_stack *totals_touch(struct totals *t, uint32_t stack, uint64_t time_ns)
{
    struct totals_stack *s = &t->stacks[stack];
    if (s->epoch != t->epoch) {
        if (s->epoch < t->peak_epoch) {
            s->peak_blocks = s->allocations - s->freed;
            s->peak_bytes = s->allocated_bytes - s->freed_bytes;
        }
        if (__builtin_expect(s->epoch < t->tick_epoch, 0))
            totals_enter_tick(t, stack, time_ns);
        s->epoch = t->epoch;
    }
    return s;
}

/* blocks: 1, or as many as a sampled one stands for; size is theirs together. */
static inline void totals_row_alloc(struct totals_stack *s, uint64_t blocks, uint64_t size)
{
    s->allocations += blocks;
    s->allocated_bytes += size;
}

static inline void totals_row_free(struct totals *t, struct totals_stack *s, uint32_t stack, uint64_t blocks,
                                   uint64_t size, bool temporary)
{
    s->freed += blocks;
    s->freed_bytes += size;
    uint64_t live = s->allocated_bytes - s->freed_bytes;
    s->lowest = live < s->lowest ? live : s->lowest; /* no branch: which it is nobody can guess */
    if (temporary) {
        t->temporaries[stack].blocks++;
        t->temporaries[stack].bytes += size;
    }
}

/* event: its number in the stream, from 0. */
static inline void totals_set_peak(struct totals *t, uint64_t bytes, uint64_t blocks, uint64_t time_ns,
                                   uint64_t event)
{
    t->peak_bytes = bytes;
    t->peak_blocks = blocks;
    t->peak_time_ns = time_ns;
    t->peak_event = event;
    t->peak_epoch = ++t->epoch;
}

static inline void totals_alloc(struct totals *t, uint32_t stack, uint64_t blocks, uint64_t size,
                                uint64_t time_ns, uint64_t event)
{
    if (__builtin_expect(level_sampler_is_over(&t->course, time_ns, t->allocations), 0))
        totals_end_tick(t, time_ns);
    totals_row_alloc(totals_touch(t, stack, time_ns), blocks, size);
    t->allocations += blocks;
    t->allocated_bytes += size;
    t->live_blocks += blocks;
    t->live_bytes += size;
    if (t->live_bytes > t->peak_bytes)
        totals_set_peak(t, t->live_bytes, t->live_blocks, time_ns, event);
}

static inline void totals_free(struct totals *t, uint32_t stack, uint64_t blocks, uint64_t size,
                               uint64_t time_ns, bool temporary)
{
    if (__builtin_expect(level_sampler_is_late(&t->course, time_ns), 0))
        totals_end_tick(t, time_ns);
    totals_row_free(t, totals_touch(t, stack, time_ns), stack, blocks, size, temporary);
    t->frees += blocks;
    t->live_blocks -= blocks;
    t->live_bytes -= size;
}

#endif
