/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pair_quick: see pair_quick.h.  A run ends before the first item that is not
 * usual; pair_store.h does the same for one item of any kind.
 */
#include "collect/pair_quick.h"

#include "collect/pair_store.h"
#include "store/staging.h"

/* What a run has done so far, where the compiler can keep it in registers. */
struct quick {
    struct staging stage;
    uint64_t live; /* bytes */
    uint64_t high; /* live bytes that are nothing new, neither to the chunk nor to the totals */
    uint64_t time;
};

static inline uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool quick_is_plain(const struct pair *p)
{
    return p->parked.count == 0 && p->sample_rate == 0 && p->pass == NULL && p->filter == NULL &&
           p->made == p->stream->next_allocation && p->line->last <= p->stream->last_ns &&
           !level_sampler_is_late(&p->totals.course, p->line->last);
}

/* Items that a run may take; 0: something is special.  Whatever can run out has room for so many. */
static uint32_t quick_limit(struct pair *p, size_t count)
{
    const struct totals *t = &p->totals;
    if (!quick_is_plain(p) || t->allocations >= t->course.until_allocations ||
        p->blocks.count >= p->blocks.grow_at || p->stream->last_thread >= p->latest.count ||
        !totals_reserve(&p->totals, (uint32_t)p->book->stacks.stacks.count))
        return 0;
    uint64_t blocks =
        min_of(t->course.until_allocations - t->allocations, p->blocks.grow_at - p->blocks.count);
    return (uint32_t)min_of(count, min_of(staging_room(p->stream), blocks));
}

/* Of the levels that the chunk and the totals know, the lower. */
static inline uint64_t quick_high(const struct pair *p)
{
    const struct wake_stream *s = p->stream;
    return min_of(p->totals.live_bytes + (s->live_bytes_max - s->live_bytes), p->totals.peak_bytes);
}

static inline __attribute__((always_inline)) struct quick quick_open(const struct pair *p)
{
    return (struct quick){
        .stage = staging_open(p->stream),
        .live = p->totals.live_bytes,
        .high = quick_high(p),
        .time = p->line->last,
    };
}

/* Enters what has been done since quick_open: so many events. */
static inline __attribute__((always_inline)) void quick_close(struct pair *p, const struct quick *q,
                                                              uint64_t events)
{
    struct totals *t = &p->totals;
    struct wake_stream *s = p->stream;
    uint64_t made = q->stage.next - p->made, freed = events - made;
    staging_close(s, &q->stage);
    p->made += made;
    p->released += freed;
    p->events += events;
    p->blocks.count += made - freed;
    s->made += made;
    s->released += freed;
    s->live_bytes += q->live - t->live_bytes;
    t->allocations += made;
    t->frees += freed;
    t->live_blocks += made - freed;
    t->live_bytes = q->live;
}

/* After an allocation the live bytes have never been so many, in this chunk or at all.  op, next: of the stage.
 * Gives what quick.high is now. */
static __attribute__((noinline)) uint64_t quick_rise(struct pair *p, uint64_t live, const uint8_t *op,
                                                     uint64_t next, uint64_t time)
{
    struct totals *t = &p->totals;
    struct wake_stream *s = p->stream;
    uint64_t level = s->live_bytes + (live - t->live_bytes);
    if (level > s->live_bytes_max)
        s->live_bytes_max = level;
    if (live > t->peak_bytes) {
        uint64_t events = (uint64_t)(op - s->stage.op) - s->stage.events, made = next - p->made;
        totals_set_peak(t, live, t->live_blocks + 2 * made - events, time, p->events + events - 1);
    }
    return quick_high(p);
}

/* Time goes on; false: a tick of the course is over. */
static inline bool quick_advance(struct pair *p, struct quick *q, uint64_t stamp)
{
    q->time = timeline_advance(p->line, stamp);
    return !level_sampler_is_late(&p->totals.course, q->time);
}

/* The last that may say no, because it begins the event: *op gets the bits for time and thread. */
static inline __attribute__((always_inline)) bool quick_begin(struct pair *p, struct quick *q,
                                                              const struct item *i, bool mixed, unsigned *op)
{
    *op = 0;
    if (PAIR_UNLIKELY(i->thread >= p->latest.count))
        return false;
    if (PAIR_UNLIKELY(i->stamp - p->line->stamp >= p->line->quantum)) {
        if (!quick_advance(p, q, i->stamp))
            return false;
        *op = staging_time(p->stream, q->time);
    }
    *op |= mixed ? staging_thread_of_many(p->stream, i->thread) : staging_thread(p->stream, i->thread);
    return true;
}

static inline __attribute__((always_inline)) bool quick_alloc(struct pair *p, struct quick *q,
                                                              const struct item *i, bool mixed)
{
    struct totals *t = &p->totals;
    unsigned op;
    uint32_t stack = stackbook_get(&p->book->stacks, item_folded_stack(i));
    struct block *b = blocks_look(&p->blocks, i->hash, i->address);
    if (PAIR_UNLIKELY(b->address != 0 || b == p->blocks.last || stack == 0 ||
                      !quick_begin(p, q, i, mixed, &op)))
        return false;
    uint64_t number = q->stage.next, size = item_folded_size(i);
    block_set(b, i->address, size, number, stack);
    p->latest.data[i->thread] = number + 1;
    totals_row_alloc(totals_touch(t, stack, q->time), 1, size);
    t->allocated_bytes += size;
    staging_alloc(&q->stage, op, i->kind, stack, i->address, size, item_folded_usable(i));
    q->live += size;
    if (PAIR_UNLIKELY(q->live > q->high))
        q->high = quick_rise(p, q->live, q->stage.op, q->stage.next, q->time);
    return true;
}

static inline __attribute__((always_inline)) bool quick_free(struct pair *p, struct quick *q,
                                                             const struct item *i, bool mixed)
{
    unsigned op;
    struct block *b = blocks_look(&p->blocks, i->hash, i->address);
    if (PAIR_UNLIKELY(!block_is_at(b, i->address) || !quick_begin(p, q, i, mixed, &op)))
        return false;
    uint64_t number = block_number(b), size = b->size;
    bool temporary = p->latest.data[i->thread] == number + 1;
    uint32_t stack = (uint32_t)b->stack;
    blocks_take(&p->blocks, b);
    totals_row_free(&p->totals, totals_touch(&p->totals, stack, q->time), stack, 1, size, temporary);
    staging_free(&q->stage, op, i->kind, number);
    q->live -= size;
    return true;
}

/* mixed: items of several threads. */
static inline __attribute__((always_inline)) bool quick_one(struct pair *p, struct quick *q,
                                                            const struct item *i, bool mixed)
{
    uint32_t nature = i->nature & ITEM_NATURE_MASK;
    if (nature == ITEM_NATURE_FOLDED(ITEM_ALLOC))
        return quick_alloc(p, q, i, mixed);
    return nature == ITEM_NATURE_FOLDED(ITEM_FREE) && quick_free(p, q, i, mixed);
}

size_t pair_quick(struct pair *p, const struct item *items, size_t count)
{
    uint32_t limit = quick_limit(p, count);
    if (limit == 0)
        return 0;
    struct quick q = quick_open(p);
    const struct item *i = items, *end = items + limit;
    while (i < end && quick_one(p, &q, i, false))
        i++;
    quick_close(p, &q, (uint64_t)(i - items));
    return (size_t)(i - items);
}

size_t pair_quick_each(struct pair *p, const struct item *const *items, size_t count)
{
    uint32_t limit = quick_limit(p, count);
    if (limit == 0)
        return 0;
    struct quick q = quick_open(p);
    const struct item *const *i = items, *const *end = items + limit;
    while (i < end && quick_one(p, &q, *i, true))
        i++;
    quick_close(p, &q, (uint64_t)(i - items));
    return (size_t)(i - items);
}
