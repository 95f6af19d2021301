/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * order: see order.h.
 */
#include "collect/order.h"

#include "collect/arch.h"
#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>

/* A stamp further ahead than this is not late but wrong, and is not waited for. */
#define ORDER_AHEAD_MAX (UINT64_C(1) << 32)

enum {
    ORDER_STREAM_LANES = 64
}; /* with more lanes, looking at all after each batch costs more than it saves */

bool order_init(struct order *o, struct drain *drain, struct pair *pair)
{
    memset(o, 0, sizeof *o);
    o->drain = drain;
    o->pair = pair;
    o->batch_number = 1;
    return true;
}

void order_release(struct order *o)
{
    free(o->heap);
    memset(o, 0, sizeof *o);
}

/* After decoding: whatever these events refer to is published by now. */
static void order_catch_up(struct order *o, const struct drain_lane *reading)
{
    drain_catch_up(o->drain, reading);
    o->pair->is_alone &= o->drain->lane_count <= 1;
}

static void order_flush(struct order *o)
{
    order_catch_up(o, NULL);
    pair_apply_each(o->pair, o->batch, o->batch_count);
    o->taken += o->batch_count;
    o->batch_count = 0;
    o->batch_number++;
}

/* The lane's further events.  It keeps those before the latest it fetched, and
 * the batch may point to them: it goes on before they are overwritten. */
static bool order_fetch(struct order *o, struct drain_lane *lane)
{
    if (lane->batch_number == o->batch_number)
        order_flush(o);
    lane->batch_number = o->batch_number;
    return drain_fetch(o->drain, lane);
}

/* ------------------------------------------------------------------ one lane */

/* The only lane with anything new, or NULL. */
static struct drain_lane *order_only_lane(struct order *o)
{
    struct drain_lane *only = NULL;
    struct drain *d = o->drain;
    if (d->lane_count > ORDER_STREAM_LANES)
        return NULL;
    for (uint32_t i = 0; i < d->lane_count; i++) {
        struct drain_lane *lane = d->lanes[i];
        if (lane->next != lane->last || lane->read.at != lane->scan.at)
            return NULL;
        if (!drain_has_news(d, lane))
            continue;
        if (only != NULL)
            return NULL;
        only = lane;
    }
    return only;
}

static bool order_others_wake(struct order *o, const struct drain_lane *lane)
{
    drain_look(o->drain);
    for (uint32_t i = 0; i < o->drain->lane_count; i++) {
        if (o->drain->lanes[i] != lane && drain_has_news(o->drain, o->drain->lanes[i]))
            return true;
    }
    return false;
}

static uint64_t order_stream(struct order *o, struct drain_lane *lane)
{
    uint64_t taken = 0;
    for (int i = 0; i < ORDER_STREAM_BATCHES; i++) {
        uint32_t count = drain_stream(o->drain, lane, o->stream, ORDER_BATCH);
        if (count == 0)
            break;
        taken += count;
        bool woken = order_others_wake(o, lane);
        order_catch_up(o, lane);
        pair_apply(o->pair, o->stream, count);
        if (woken)
            break;
    }
    return taken;
}

/* ---------------------------------------------------------------- many lanes */

static bool heap_less(const struct drain_lane *a, const struct drain_lane *b)
{
    return a->next->stamp != b->next->stamp ? a->next->stamp < b->next->stamp : a->index < b->index;
}

static void heap_sink(struct order *o, uint32_t at)
{
    struct drain_lane *lane = o->heap[at];
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= o->heap_count)
            break;
        if (child + 1 < o->heap_count && heap_less(o->heap[child + 1], o->heap[child]))
            child++;
        if (!heap_less(o->heap[child], lane))
            break;
        o->heap[at] = o->heap[child];
        at = child;
    }
    o->heap[at] = lane;
}

static bool heap_reserve(struct order *o, uint32_t count)
{
    if (count <= o->heap_room)
        return true;
    struct drain_lane **moved = memory_resize(o->heap, count * sizeof(struct drain_lane *));
    if (moved == NULL)
        return false;
    o->heap = moved;
    o->heap_room = count;
    return true;
}

static bool order_is_held(const struct drain_lane *lane, uint64_t until)
{
    uint64_t ahead = lane->next->stamp - until;
    return lane->next->stamp >= until && ahead < ORDER_AHEAD_MAX;
}

/* Where the lane with the least stamp but one is; 0: there is none. */
static uint32_t heap_second(const struct order *o)
{
    if (o->heap_count < 3)
        return o->heap_count - 1;
    return heap_less(o->heap[2], o->heap[1]) ? 2 : 1;
}

/* The first two lanes have their turn until this stamp. */
static uint64_t heap_third_stamp(const struct order *o, uint32_t second)
{
    const uint32_t others[] = {3 - second, second * 2 + 1, second * 2 + 2};
    uint64_t stamp = UINT64_MAX;
    for (uint32_t i = 0; i < 3; i++) {
        if (others[i] < o->heap_count && o->heap[others[i]]->next->stamp < stamp)
            stamp = o->heap[others[i]]->next->stamp;
    }
    return stamp;
}

/* After events were taken from the lane there, whose next comes later or not at all. */
static void heap_settle(struct order *o, uint32_t at, uint64_t until)
{
    struct drain_lane *lane = o->heap[at];
    if ((lane->next == lane->last && !order_fetch(o, lane)) || order_is_held(lane, until))
        o->heap[at] = o->heap[--o->heap_count];
    if (at < o->heap_count)
        heap_sink(o, at);
}

/* Moves events of two lanes to the batch, those below a stamp, as long as both have some and the batch has room.
 * Whose turn it is nobody can guess when two threads run side by side: so without a branch on it. */
static void order_take_two(struct order *o, struct drain_lane *a, struct drain_lane *b, uint64_t bound)
{
    const struct item *x = a->next, *y = b->next;
    const struct item **to = o->batch + o->batch_count, *const *end = o->batch + ORDER_BATCH;
    while (to < end && x < a->last && y < b->last) {
        size_t is_y = y->stamp < x->stamp;
        if ((is_y ? y->stamp : x->stamp) >= bound)
            break;
        *to++ = (const void *)((uintptr_t)x ^ (((uintptr_t)x ^ (uintptr_t)y) & -is_y));
        x += 1 - is_y;
        y += is_y;
    }
    o->batch_count = (uint32_t)(to - o->batch);
    a->next = x;
    b->next = y;
}

/* Those of one lane, at least one. */
static void order_take_one(struct order *o, struct drain_lane *lane, uint64_t bound)
{
    do {
        o->batch[o->batch_count++] = lane->next++;
    } while (lane->next < lane->last && lane->next->stamp < bound && o->batch_count < ORDER_BATCH);
}

/* Moves events of the lanes whose turn it is to the batch, at least one. */
static void order_take(struct order *o, uint64_t until)
{
    struct drain_lane *first = o->heap[0];
    uint32_t at = heap_second(o), count = o->batch_count;
    if (at != 0) {
        struct drain_lane *second = o->heap[at];
        uint64_t third = heap_third_stamp(o, at), bound = third < until ? third : until;
        if (first->index < second->index) /* which goes first where stamps are the same */
            order_take_two(o, first, second, bound);
        else
            order_take_two(o, second, first, bound);
    }
    if (o->batch_count == count)
        order_take_one(o, first, at == 0 ? until : 0);
    if (o->batch_count == ORDER_BATCH)
        order_flush(o);
    if (at != 0)
        heap_settle(o, at, until);
    heap_settle(o, 0, until);
}

static uint64_t order_merge(struct order *o, uint64_t until)
{
    uint64_t before = o->taken;
    o->heap_count = 0;
    for (uint32_t i = 0; i < o->drain->lane_count && i < o->heap_room; i++) {
        struct drain_lane *lane = o->drain->lanes[i];
        if ((lane->next != lane->last || order_fetch(o, lane)) && !order_is_held(lane, until))
            o->heap[o->heap_count++] = lane;
    }
    for (uint32_t i = o->heap_count / 2; i-- > 0;)
        heap_sink(o, i);
    while (o->heap_count != 0)
        order_take(o, until);
    order_flush(o);
    return o->taken - before;
}

uint64_t order_now(const struct order *o)
{
    uint64_t sequence = __atomic_load_n(&o->drain->view->head->sequence, __ATOMIC_ACQUIRE);
    if (o->drain->view->fixed.stamp_kind == SEGMENT_STAMP_TSC && sequence <= SEGMENT_SEQUENCE_FIRST)
        return arch_counter();
    return sequence;
}

bool order_has_passed(struct order *o, uint64_t stamp)
{
    if (o->drain->line->is_sequence)
        return true;
    drain_look(o->drain);
    for (uint32_t i = 0; i < o->drain->lane_count; i++) {
        const struct drain_lane *lane = o->drain->lanes[i];
        uint64_t at = lane->next != lane->last ? lane->next->stamp : lane->stamp;
        bool has_more =
            lane->next != lane->last || lane->read.at != lane->scan.at || drain_has_news(o->drain, lane);
        if (!lane->closed && has_more && at < stamp)
            return false;
    }
    return true;
}

uint64_t order_round(struct order *o, bool last)
{
    uint64_t until = last ? UINT64_MAX : order_now(o);
    uint64_t taken = 0;
    drain_look(o->drain);
    o->pair->is_alone &= o->drain->lane_count <= 1;
    struct drain_lane *only = order_only_lane(o);
    if (only != NULL)
        taken = order_stream(o, only);
    else if (heap_reserve(o, o->drain->lane_count))
        taken = order_merge(o, until);
    else
        o->drain->out_of_memory = true;
    definitions_settle(o->drain->book); /* stacks that no event has named yet */
    pair_end_round(o->pair);
    return taken;
}
