/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * staging: puts allocations and releases on the stage of a stream (store/stream.h), inlined where they come
 * from: a call for each, with all that there is to say, costs as much as what it does.
 *
 *     struct staging g = staging_open(s);
 *     up to staging_room(s) times:  staging_begin, then staging_alloc or staging_free
 *     staging_close(&g)
 *
 * In between nobody else may touch the stream.
 */
#ifndef HW_STORE_STAGING_H
#define HW_STORE_STAGING_H

#include "base/varint.h"
#include "store/stream.h"

/* What every event changes, where the compiler can keep it in registers; and what follows from that. */
struct staging {
    struct wake_stream *s;
    uint32_t events, allocations, stacks;
    uint32_t last_stack;
    uint32_t others;     /* events on the stage that are neither allocations nor releases */
    uint64_t first_made; /* number of the first allocation on the stage */
};

/* Events that fit; 0: ask wake_stream_alloc and wake_stream_free, which make room or know why there is none. */
static inline uint32_t staging_room(const struct wake_stream *s)
{
    return s->cull == NULL ? s->stage.limit - s->stage.events : 0;
}

static inline struct staging staging_open(struct wake_stream *s)
{
    const struct stream_stage *stage = &s->stage;
    return (struct staging){
        .s = s,
        .events = stage->events,
        .allocations = stage->allocations,
        .stacks = stage->stacks,
        .last_stack = s->last_stack,
        .others = stage->events - stage->allocations - stage->frees,
        .first_made = s->next_allocation - stage->allocations,
    };
}

/* The number of the next allocation. */
static inline uint64_t staging_next(const struct staging *g)
{
    return g->first_made + g->allocations;
}

static inline void staging_close(const struct staging *g)
{
    struct stream_stage *stage = &g->s->stage;
    stage->events = g->events;
    stage->allocations = g->allocations;
    stage->stacks = g->stacks;
    stage->frees = g->events - g->allocations - g->others;
    g->s->last_stack = g->last_stack;
    g->s->next_allocation = staging_next(g);
}

/* The bits of the op that time and thread of an event need. */
static inline unsigned staging_begin(struct wake_stream *s, uint64_t time_ns, uint32_t thread)
{
    unsigned op = 0;
    /* Time never runs backwards in a file, whatever the caller does. */
    if (__builtin_expect(time_ns > s->last_ns, 0)) {
        s->stage.time[s->stage.times++] = time_ns - s->last_ns;
        s->last_ns = time_ns;
        op |= OP_TIME;
    }
    if (__builtin_expect(thread != s->last_thread, 0)) {
        s->at[COLUMN_THREAD] =
            varint_put(s->at[COLUMN_THREAD], varint_zigzag((uint64_t)thread - s->last_thread));
        s->last_thread = thread;
        op |= OP_THREAD;
    }
    return op;
}

/* op: what staging_begin said. */
static inline void staging_alloc(struct staging *g, unsigned op, unsigned kind, uint32_t stack,
                                 uint64_t address, uint64_t size, uint64_t usable)
{
    struct stream_stage *stage = &g->s->stage;
    /* Without a branch: whether a stack repeats is a coin toss in many programs. */
    unsigned other = stack != g->last_stack;
    stage->op[g->events++] = (uint8_t)(op | (kind & OP_ALLOC_MAX) | other * OP_STACK);
    stage->stack[g->stacks] = stack;
    g->stacks += other;
    g->last_stack = stack;
    stage->size[g->allocations] = size;
    stage->usable[g->allocations] = usable;
    stage->address[g->allocations] = address;
    g->allocations++;
}

/* allocation: the number of a block that was made. */
static inline void staging_free(struct staging *g, unsigned op, unsigned how, uint64_t allocation)
{
    struct stream_stage *stage = &g->s->stage;
    stage->ref[g->events - g->allocations - g->others] = staging_next(g) - 1 - allocation;
    stage->op[g->events++] = (uint8_t)(op | (OP_FREE + (how & (OP_FREE_MAX - OP_FREE))));
}

#endif
