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
    uint64_t made; /* blocks */
};

static inline uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool quick_is_plain(const struct pair *p)
{
    return p->parked.count == 0 && p->sample_rate == 0 && p->pass == NULL && p->filter == NULL &&
           p->made == p->stream->next_allocation && !course_is_late(&p->totals.course, p->line->last);
}

/* Items that a run may take; 0: something is special. */
static size_t quick_limit(const struct pair *p, size_t count)
{
    const struct totals *t = &p->totals;
    if (!quick_is_plain(p) || t->allocations >= t->course.until_allocations)
        return 0;
    return min_of(count, min_of(staging_room(p->stream), t->course.until_allocations - t->allocations));
}

/* Of the levels that the chunk and the totals know, the lower. */
static inline uint64_t quick_high(const struct pair *p)
{
    const struct wake_stream *s = p->stream;
    return min_of(p->totals.live_bytes + (s->live_bytes_max - s->live_bytes), p->totals.peak_bytes);
}

static struct quick quick_open(const struct pair *p)
{
    return (struct quick){
        .stage = staging_open(p->stream),
        .live = p->totals.live_bytes,
        .high = quick_high(p),
        .time = p->line->last,
    };
}

/* Enters what has been done since quick_open: so many events, and so many of them allocations. */
static void quick_close(struct pair *p, const struct quick *q, uint64_t events)
{
    struct totals *t = &p->totals;
    struct wake_stream *s = p->stream;
    uint64_t freed = events - q->made;
    staging_close(&q->stage);
    p->made += q->made;
    p->released += freed;
    p->events += events;
    p->blocks.count += q->made - freed;
    s->made += q->made;
    s->released += freed;
    s->live_bytes += q->live - t->live_bytes;
    t->allocations += q->made;
    t->frees += freed;
    t->live_blocks += q->made - freed;
    t->live_bytes = q->live;
}

/* The live bytes have never been so many, in this chunk or at all.  Gives what quick.high is now. */
static __attribute__((noinline)) uint64_t quick_rise(struct pair *p, uint64_t live, uint64_t made,
                                                     uint64_t events, uint64_t time)
{
    struct totals *t = &p->totals;
    struct wake_stream *s = p->stream;
    uint64_t level = s->live_bytes + (live - t->live_bytes);
    if (level > s->live_bytes_max)
        s->live_bytes_max = level;
    if (live > t->peak_bytes)
        totals_set_peak(t, live, t->live_blocks + 2 * made - events, time, p->events + events - 1);
    return quick_high(p);
}

/* Time goes on; false: a tick of the course is over. */
static inline __attribute__((always_inline)) bool quick_advance(struct pair *p, struct quick *q,
                                                                uint64_t stamp)
{
    if (stamp - p->line->stamp >= p->line->quantum)
        q->time = timeline_advance(p->line, stamp);
    return !course_is_late(&p->totals.course, q->time);
}

static inline __attribute__((always_inline)) bool quick_alloc(struct pair *p, struct quick *q,
                                                              const struct item *i, uint64_t n)
{
    struct blocks *blocks = &p->blocks;
    struct totals *t = &p->totals;
    uint32_t stack = stackbook_get(&p->book->stacks, i->stack);
    struct block *b = blocks_look(blocks, i->address);
    if (PAIR_UNLIKELY(b->address != 0 || b == blocks->last ||
                      blocks->count + 2 * q->made - n >= blocks->grow_at || stack == 0 || stack >= t->count ||
                      i->thread >= p->latest.count || !quick_advance(p, q, i->stamp)))
        return false;
    uint64_t number = staging_next(&q->stage);
    block_set(b, i->address, i->size, number, stack);
    p->latest.data[i->thread] = number + 1;
    totals_row_alloc(totals_touch(t, stack, q->time), 1, i->size);
    t->allocated_bytes += i->size;
    unsigned op = staging_begin(p->stream, q->time, i->thread);
    staging_alloc(&q->stage, op, i->kind, stack, i->address, i->size, i->usable);
    q->made++;
    q->live += i->size;
    if (PAIR_UNLIKELY(q->live > q->high))
        q->high = quick_rise(p, q->live, q->made, n + 1, q->time);
    return true;
}

static inline __attribute__((always_inline)) bool quick_free(struct pair *p, struct quick *q,
                                                             const struct item *i)
{
    struct block *b = blocks_look(&p->blocks, i->address);
    if (PAIR_UNLIKELY(b->address == 0 || b->limbo || i->thread >= p->latest.count ||
                      !quick_advance(p, q, i->stamp)))
        return false;
    uint64_t number = block_number(b), size = b->size;
    bool temporary = p->latest.data[i->thread] == number + 1;
    uint32_t stack = (uint32_t)b->stack;
    blocks_take(&p->blocks, b);
    totals_row_free(&p->totals, totals_touch(&p->totals, stack, q->time), stack, 1, size, temporary);
    unsigned op = staging_begin(p->stream, q->time, i->thread);
    staging_free(&q->stage, op, i->kind, number);
    q->live -= size;
    return true;
}

static inline __attribute__((always_inline)) bool quick_one(struct pair *p, struct quick *q,
                                                            const struct item *i, uint64_t n)
{
    if (i->op == ITEM_ALLOC)
        return i->kind != KIND_REALLOC && i->traits == 0 && quick_alloc(p, q, i, n);
    return i->op == ITEM_FREE && i->stack == 0 && quick_free(p, q, i);
}

size_t pair_quick(struct pair *p, const struct item *items, size_t count)
{
    size_t n = 0, limit = quick_limit(p, count);
    if (limit == 0)
        return 0;
    struct quick q = quick_open(p);
    while (n < limit && quick_one(p, &q, &items[n], n))
        n++;
    quick_close(p, &q, n);
    return n;
}

size_t pair_quick_each(struct pair *p, const struct item *const *items, size_t count)
{
    size_t n = 0, limit = quick_limit(p, count);
    if (limit == 0)
        return 0;
    struct quick q = quick_open(p);
    while (n < limit && quick_one(p, &q, items[n], n))
        n++;
    quick_close(p, &q, n);
    return n;
}
