/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cull: see cull.h.
 *
 * Values of a queued event:
 *
 *     alloc   address, size, usable, number, previous (1: continues its chain)
 *     free    size, number
 *     rare    as they are written
 *
 * Invariants
 *  1. The queue is in the order of the events, so an alloc leaves it before
 *     its release, and a chain's first block before the others.
 *  2. A chain is decided when it ends, or when its first block has waited for
 *     the threshold: at the latest when its first event is the oldest.  So
 *     nothing waits longer than the threshold.
 *  3. Culled events stay in the queue until they are the oldest or room is
 *     needed; they are counted when they leave it.
 */
#include "store/cull.h"

#include <stdlib.h>
#include <string.h>

#include "store/stream.h"
#include "tool/memory.h"
#include "wire/record.h"

enum { CULL_ALLOC = 1, CULL_FREE = 2, CULL_RARE = 3 };
enum { CHAIN_OPEN = 0, CHAIN_KEPT = 1, CHAIN_CULLED = 2 };
enum { VALUE_ADDRESS = 0, VALUE_SIZE = 1, VALUE_USABLE = 2, VALUE_NUMBER = 3, VALUE_PREVIOUS = 4 };
enum {
    CULL_QUEUE_MIN = 1 << 10,
    CULL_QUEUE_MAX = 1 << 30,
    CULL_LIMBO_MAX = 4096, /* reallocs under way; the oldest is taken to have ended */
};

struct cull *cull_new(struct wake_stream *s, const struct wake_cull_options *options)
{
    struct cull *c = memory_new_zeroed(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->stream = s;
    c->options = *options;
    c->room_max = CULL_QUEUE_MIN;
    while (c->room_max < c->options.pending && c->room_max < CULL_QUEUE_MAX)
        c->room_max *= 2;
    numbered_init(&c->alive);
    numbered_init(&c->written);
    c->queue = memory_new(CULL_QUEUE_MIN * sizeof *c->queue);
    c->room = CULL_QUEUE_MIN;
    if (c->queue == NULL || !vec_push(&c->chains, (struct cull_chain){0})) {
        cull_free(c);
        return NULL;
    }
    return c;
}

void cull_free(struct cull *c)
{
    if (c == NULL)
        return;
    numbered_release(&c->alive);
    numbered_release(&c->written);
    vec_release(&c->chains);
    vec_release(&c->limbo);
    vec_release(&c->culled);
    free(c->queue);
    free(c);
}

/* ------------------------------------------------------------------- chains */

/* A new chain with one user; 0: no memory. */
static uint32_t chain_new(struct cull *c, uint64_t start_ns)
{
    const struct cull_chain fresh = {.start_ns = start_ns, .users = 1};
    uint32_t chain = c->unused;
    if (chain != 0) {
        c->unused = c->chains.data[chain].next_unused;
        c->chains.data[chain] = fresh;
        return chain;
    }
    if (c->chains.count >= UINT32_MAX || !vec_push(&c->chains, fresh)) {
        c->failed = true;
        return 0;
    }
    return (uint32_t)c->chains.count - 1;
}

static void chain_leave(struct cull *c, uint32_t chain)
{
    struct cull_chain *h = &c->chains.data[chain];
    if (--h->users == 0) {
        h->next_unused = c->unused;
        c->unused = chain;
    }
}

/* Nothing of it is live any more: it lived until end_ns. */
static void chain_end(struct cull *c, uint32_t chain, uint64_t end_ns)
{
    struct cull_chain *h = &c->chains.data[chain];
    if (h->state == CHAIN_OPEN)
        h->state = end_ns - h->start_ns < c->options.threshold_ns ? CHAIN_CULLED : CHAIN_KEPT;
}

/* The release of a block by realloc that was never continued has ended its chain. */
static void limbo_push(struct cull *c, uint64_t number, uint32_t chain)
{
    if (c->limbo.count == CULL_LIMBO_MAX) {
        struct cull_chain *oldest = &c->chains.data[c->limbo.data[0].chain];
        if (oldest->state == CHAIN_OPEN)
            oldest->state = CHAIN_CULLED; /* released while it was open: it was young */
        chain_leave(c, c->limbo.data[0].chain);
        memmove(c->limbo.data, c->limbo.data + 1, --c->limbo.count * sizeof *c->limbo.data);
    }
    c->chains.data[chain].is_released = true;
    if (!vec_push(&c->limbo, ((struct cull_limbo){number, chain})))
        c->failed = true;
}

/* The chain that the release of block `number` has left open; 0: none. */
static uint32_t limbo_take(struct cull *c, uint64_t number)
{
    for (size_t n = c->limbo.count; n-- > 0;) {
        if (c->limbo.data[n].number != number)
            continue;
        uint32_t chain = c->limbo.data[n].chain;
        memmove(c->limbo.data + n, c->limbo.data + n + 1, (c->limbo.count - n - 1) * sizeof *c->limbo.data);
        c->limbo.count--;
        struct cull_chain *h = &c->chains.data[chain];
        h->is_released = false;
        if (h->state != CHAIN_CULLED)
            return chain;
        chain_leave(c, chain); /* it came too late: the beginning is gone */
        return 0;
    }
    return 0;
}

/* ------------------------------------------------------------------- leaving */

static void cull_count(struct cull *c, const struct cull_event *e)
{
    uint64_t size = e->values[VALUE_SIZE];
    c->blocks++;
    c->bytes += size;
    while (c->culled.count <= e->stack) {
        if (!vec_push(&c->culled, (struct wake_culled_stack){0})) {
            c->failed = true;
            return;
        }
    }
    struct wake_culled_stack *row = &c->culled.data[e->stack];
    if (row->blocks == 0 || size < row->smallest)
        row->smallest = size;
    if (size > row->largest)
        row->largest = size;
    row->blocks++;
    row->bytes += size;
}

/* What block `number` of the file was as it was made; by rising number. */
static void cull_tell_gap(struct cull *c, uint64_t number, uint64_t made)
{
    if (made - number == c->skipped)
        return;
    c->skipped = made - number;
    c->stream->note_gap(c->stream, c->stream->owner, number, c->skipped);
}

static void cull_write_alloc(struct cull *c, const struct cull_event *e)
{
    const struct wake_stream *s = c->stream;
    if (s->omitted.sample_rate != 0 && !s->closed && !s->is_limited) {
        cull_tell_gap(c, s->next_allocation, e->values[VALUE_NUMBER]);
        c->told = s->next_allocation + 1;
    }
    struct wake_live_block *block = numbered_add(&c->written, e->values[VALUE_NUMBER], sizeof *block);
    if (block == NULL)
        c->failed = true;
    else
        *block = (struct wake_live_block){.allocation = c->stream->next_allocation,
                                          .address = e->values[VALUE_ADDRESS],
                                          .size = e->values[VALUE_SIZE],
                                          .stack = e->stack};
    uint64_t previous = e->values[VALUE_PREVIOUS] == 0 ? 0 : c->chains.data[e->chain].last_written;
    stream_put_alloc(c->stream, e->time_ns, e->thread, e->kind, e->stack, e->values[VALUE_ADDRESS],
                     e->values[VALUE_SIZE], e->values[VALUE_USABLE], previous);
}

static void cull_write_free(struct cull *c, const struct cull_event *e)
{
    const struct wake_live_block *found = numbered_take(&c->written, e->values[VALUE_NUMBER], sizeof *found);
    uint64_t number = found == NULL ? UINT64_MAX : found->allocation;
    if (e->kind == HOW_REALLOC && found != NULL)
        c->chains.data[e->chain].last_written = number + 1;
    stream_put_free(c->stream, e->time_ns, e->thread, e->kind, e->stack, number, e->values[VALUE_SIZE]);
}

static void cull_write(struct cull *c, const struct cull_event *e)
{
    if (e->what == CULL_ALLOC)
        cull_write_alloc(c, e);
    else if (e->what == CULL_FREE)
        cull_write_free(c, e);
    else
        stream_put_rare(c->stream, e->time_ns, e->thread, e->kind, e->values, e->count);
}

static bool cull_is_culled(const struct cull *c, const struct cull_event *e)
{
    return e->chain != 0 && c->chains.data[e->chain].state == CHAIN_CULLED;
}

/* The event leaves the queue. */
static void cull_let_go(struct cull *c, const struct cull_event *e)
{
    if (!cull_is_culled(c, e))
        cull_write(c, e);
    else if (e->what == CULL_ALLOC)
        cull_count(c, e);
    if (e->chain != 0)
        chain_leave(c, e->chain);
}

/* Decides about an open chain whose first event is the oldest that waits. */
static void cull_decide(struct cull *c, uint32_t chain)
{
    struct cull_chain *h = &c->chains.data[chain];
    if (chain != 0 && h->state == CHAIN_OPEN)
        h->state = h->is_released ? CHAIN_CULLED : CHAIN_KEPT;
}

void cull_advance(struct cull *c, uint64_t now_ns)
{
    while (c->count > 0) {
        const struct cull_event e = c->queue[c->first];
        const struct cull_chain *h = &c->chains.data[e.chain];
        if (e.chain != 0 && h->state == CHAIN_OPEN) {
            if (now_ns < h->start_ns || now_ns - h->start_ns < c->options.threshold_ns)
                return;
            cull_decide(c, e.chain);
        }
        c->first = (c->first + 1) & (c->room - 1);
        c->count--;
        cull_let_go(c, &e);
    }
}

/* Writes the oldest until no more than `count` wait. */
static void cull_shrink(struct cull *c, size_t count)
{
    while (c->count > count) {
        const struct cull_event e = c->queue[c->first];
        cull_decide(c, e.chain);
        c->first = (c->first + 1) & (c->room - 1);
        c->count--;
        cull_let_go(c, &e);
    }
}

void cull_finish(struct cull *c)
{
    cull_shrink(c, 0);
}

static int cull_compare(const void *a, const void *b)
{
    const struct wake_live_block *x = a, *y = b;
    return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

void cull_renumber(struct cull *c, struct wake_live_block *live, size_t count)
{
    bool has_gaps = c->stream->omitted.sample_rate != 0 && !c->stream->closed;
    uint64_t beyond = c->stream->next_allocation;
    if (has_gaps && count > 0)
        qsort(live, count, sizeof *live, cull_compare);
    for (size_t i = 0; i < count; i++) {
        uint64_t made = live[i].allocation;
        const struct wake_live_block *found = numbered_find(&c->written, made, sizeof *found);
        live[i].allocation = found != NULL ? found->allocation : beyond++;
        if (has_gaps && live[i].allocation >= c->told)
            cull_tell_gap(c, live[i].allocation, made);
    }
}

void cull_forget_gaps(struct cull *c)
{
    c->skipped = UINT64_MAX; /* no number is that much lower: the next is told of whatever it is */
}

/* ------------------------------------------------------------------ entering */

/* Takes out of the queue what has been culled meanwhile. */
static void cull_compact(struct cull *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct cull_event e = c->queue[(c->first + i) & (c->room - 1)];
        if (cull_is_culled(c, &e))
            cull_let_go(c, &e);
        else
            c->queue[(c->first + kept++) & (c->room - 1)] = e;
    }
    c->count = kept;
}

static bool cull_grow(struct cull *c)
{
    struct cull_event *moved = memory_new(2 * c->room * sizeof *moved);
    if (moved == NULL)
        return false;
    for (size_t i = 0; i < c->count; i++)
        moved[i] = c->queue[(c->first + i) & (c->room - 1)];
    free(c->queue);
    c->queue = moved;
    c->first = 0;
    c->room *= 2;
    return true;
}

static void cull_make_room(struct cull *c)
{
    cull_compact(c);
    if (c->count < c->room / 2)
        return;
    bool may_grow = c->room < c->room_max && !c->failed;
    if (!may_grow || !cull_grow(c))
        cull_shrink(c, c->room - c->room / 4);
}

static void cull_push(struct cull *c, const struct cull_event *e)
{
    cull_advance(c, e->time_ns);
    if (c->count == c->room)
        cull_make_room(c);
    if (e->chain != 0)
        c->chains.data[e->chain].users++;
    c->queue[(c->first + c->count++) & (c->room - 1)] = *e;
    if (c->failed)
        cull_shrink(c, 0);
}

void cull_add_alloc(struct cull *c, const struct cull_event *given, uint64_t number, uint64_t previous)
{
    struct cull_event e = *given;
    e.what = CULL_ALLOC;
    e.chain = previous == 0 ? 0 : limbo_take(c, previous - 1);
    e.values[VALUE_NUMBER] = number;
    e.values[VALUE_PREVIOUS] = e.chain != 0;
    if (e.chain == 0)
        e.chain = chain_new(c, e.time_ns);
    uint32_t *alive = e.chain == 0 ? NULL : numbered_add(&c->alive, number, sizeof *alive);
    if (alive == NULL)
        c->failed = true;
    else
        *alive = e.chain;
    cull_push(c, &e);
}

void cull_add_free(struct cull *c, const struct cull_event *given, uint64_t number)
{
    struct cull_event e = *given;
    const uint32_t *found = numbered_take(&c->alive, number, sizeof *found);
    e.what = CULL_FREE;
    e.chain = found == NULL ? 0 : *found;
    e.values[VALUE_NUMBER] = number;
    if (e.kind == HOW_REALLOC && e.chain != 0) {
        cull_push(c, &e);
        struct cull_chain *h = &c->chains.data[e.chain];
        if (h->state == CHAIN_OPEN && e.time_ns - h->start_ns >= c->options.threshold_ns)
            h->state = CHAIN_KEPT;
        limbo_push(c, number, e.chain);
        return;
    }
    if (e.chain != 0)
        chain_end(c, e.chain, e.time_ns);
    if (!cull_is_culled(c, &e))
        cull_push(c, &e);
    if (e.chain != 0)
        chain_leave(c, e.chain);
}

void cull_add_other(struct cull *c, const struct cull_event *given)
{
    struct cull_event e = *given;
    e.what = CULL_RARE;
    e.chain = 0;
    cull_push(c, &e);
}
