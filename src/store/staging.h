/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * staging: puts allocations and releases on the stage of a stream (store/stream.h), inlined where they come
 * from: a call for each, with all that there is to say, costs as much as what it does.
 *
 *     struct staging g = staging_open(s);
 *     up to staging_room(s) times:  staging_time, staging_thread, then staging_alloc or staging_free
 *     staging_close(s, &g)
 *
 * In between nobody else may touch the stream.
 */
#ifndef HW_STORE_STAGING_H
#define HW_STORE_STAGING_H

#include "base/varint.h"
#include "store/stream.h"

/* What every event changes, where the compiler can keep it in registers. */
struct staging {
    uint8_t *op;              /* of the next event */
    uint64_t *ref;            /* of the next release */
    struct stream_made *made; /* the next allocation */
    uint64_t next;            /* its number */
};

/* Events that fit; 0: ask wake_stream_alloc and wake_stream_free, which make room or know why there is none. */
static inline uint32_t staging_room(const struct wake_stream *s)
{
    return s->cull == NULL ? s->stage.limit - s->stage.events : 0;
}

static inline struct staging staging_open(struct wake_stream *s)
{
    struct stream_stage *stage = &s->stage;
    return (struct staging){
        .op = stage->op + stage->events,
        .ref = stage->ref + stage->frees,
        .made = stage->made + 1 + stage->allocations,
        .next = s->next_allocation,
    };
}

static inline void staging_close(struct wake_stream *s, const struct staging *g)
{
    struct stream_stage *stage = &s->stage;
    stage->events = (uint32_t)(g->op - stage->op);
    stage->frees = (uint32_t)(g->ref - stage->ref);
    stage->allocations = (uint32_t)(g->made - stage->made) - 1;
    s->next_allocation = g->next;
}

/* The bits of the op that the time of an event needs, and its thread. */
static inline unsigned staging_time(struct wake_stream *s, uint64_t time_ns)
{
    /* Time never runs backwards in a file, whatever the caller does. */
    if (__builtin_expect(time_ns <= s->last_ns, 1))
        return 0;
    s->stage.time[s->stage.times++] = time_ns - s->last_ns;
    s->last_ns = time_ns;
    return OP_TIME;
}

static inline unsigned staging_thread(struct wake_stream *s, uint32_t thread)
{
    if (__builtin_expect(thread == s->last_thread, 1))
        return 0;
    s->at[COLUMN_THREAD] = varint_put(s->at[COLUMN_THREAD], varint_zigzag((uint64_t)thread - s->last_thread));
    s->last_thread = thread;
    return OP_THREAD;
}

/* The same where events of several threads are mixed: without a branch, since nobody can guess whose comes next. */
static inline unsigned staging_thread_of_many(struct wake_stream *s, uint32_t thread)
{
    uint64_t step = varint_zigzag((uint64_t)thread - s->last_thread);
    uint8_t *at = s->at[COLUMN_THREAD], *end = varint_put(at, step);
    size_t other = step != 0;
    s->at[COLUMN_THREAD] = at + ((size_t)(end - at) & -other);
    s->last_thread = thread;
    return (unsigned)other * OP_THREAD;
}

/* op: what staging_time and staging_thread said, together. */
static inline void staging_alloc(struct staging *g, unsigned op, unsigned kind, uint32_t stack,
                                 uint64_t address, uint64_t size, uint64_t usable)
{
    struct stream_made *m = g->made++;
    /* Without a branch: whether a stack repeats is a coin toss in many programs. */
    unsigned other = stack != m[-1].stack;
    *g->op++ = (uint8_t)(op | (kind & OP_ALLOC_MAX) | other * OP_STACK);
    m->address = address;
    m->size = size;
    m->usable = usable;
    m->stack = stack;
    g->next++;
}

/* allocation: the number of a block that was made. */
static inline void staging_free(struct staging *g, unsigned op, unsigned how, uint64_t allocation)
{
    *g->ref++ = g->next - 1 - allocation;
    *g->op++ = (uint8_t)(op | (OP_FREE + (how & (OP_FREE_MAX - OP_FREE))));
}

#endif
