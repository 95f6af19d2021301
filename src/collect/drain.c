/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * drain: see drain.h.  Here: chunks and lanes, and the scan; decoding of
 * events is in decode.c.
 */
#include "collect/drain.h"

#include "collect/decode.h"
#include "collect/shape.h"
#include "tool/memory.h"
#include "wire/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { DRAIN_PUSH_TRIES = 10000 };

/* Until somebody names the table to prefetch from. */
static struct block drain_no_slots[4];
static const struct blocks drain_no_blocks = {.slots = drain_no_slots, .homes = 1};

static size_t drain_owner_size(const struct view *view)
{
    return ((size_t)view->fixed.chunk_max + 1) * sizeof(uint32_t);
}

bool drain_init(struct drain *d, struct view *view, struct definitions *book, struct timeline *line)
{
    memset(d, 0, sizeof *d);
    d->view = view;
    d->book = book;
    d->line = line;
    d->blocks = &drain_no_blocks;
    /* Most of it is never touched: pages straight from the system cost nothing until they are. */
    void *owner =
        mmap(NULL, drain_owner_size(view), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    d->owner = owner == MAP_FAILED ? NULL : owner;
    return d->owner != NULL;
}

void drain_release(struct drain *d)
{
    for (uint32_t i = 0; i < d->lane_count; i++) {
        definitions_pending_release(&d->lanes[i]->pending);
        free(d->lanes[i]);
    }
    free(d->lanes);
    if (d->owner != NULL)
        munmap(d->owner, drain_owner_size(d->view));
    vec_release(&d->forks);
    memset(d, 0, sizeof *d);
}

void drain_close_lane(struct drain *d, struct drain_lane *lane)
{
    if (!lane->closed) {
        d->anomalies++;
        d->closed_lanes++;
    }
    lane->closed = true;
}

bool drain_enter(struct drain *d, struct drain_lane *lane, struct drain_cursor *c, uint32_t chunk, bool claim)
{
    uint32_t expected = claim ? 0 : lane->index + 1;
    if (chunk >= d->view->fixed.chunk_max || d->owner[chunk] != expected) {
        drain_close_lane(d, lane);
        return false;
    }
    d->owner[chunk] = lane->index + 1;
    c->chunk = chunk;
    c->at = view_chunk(d->view, chunk);
    c->end = c->at + SEGMENT_CHUNK_WORDS;
    return true;
}

bool drain_begin(struct drain *d, struct drain_lane *lane, struct drain_cursor *c, bool claim)
{
    uint32_t first = __atomic_load_n(&d->view->lanes[lane->index], __ATOMIC_ACQUIRE);
    return first != 0 && drain_enter(d, lane, c, first - 1, claim);
}

/* Invariant 2 of the segment: zeroed, then pushed. */
void drain_give_back(struct drain *d, uint32_t chunk)
{
    if (d->view->is_spool)
        return; /* owner[] keeps it: a chain must not come here again */
    /* First word first: a thread that was thrown out of our code looks there (probe/lane.c). */
    __atomic_store_n(view_chunk(d->view, chunk), 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memset(view_chunk(d->view, chunk), 0, SEGMENT_CHUNK_SIZE);
    d->owner[chunk] = 0;
    uint64_t *list = &d->view->head->free_list;
    uint64_t head = __atomic_load_n(list, __ATOMIC_RELAXED);
    for (int i = 0; i < DRAIN_PUSH_TRIES; i++) {
        __atomic_store_n(&d->view->next[chunk], (uint32_t)head, __ATOMIC_RELAXED);
        uint64_t pushed = ((head >> 32) + 1) << 32 | (chunk + 1);
        if (__atomic_compare_exchange_n(list, &head, pushed, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
    d->anomalies++;
}

static bool drain_add_lane(struct drain *d)
{
    if (d->lane_count == d->lane_room) {
        uint32_t room = d->lane_room == 0 ? 16 : d->lane_room * 2;
        struct drain_lane **moved = memory_resize(d->lanes, room * sizeof(struct drain_lane *));
        if (moved == NULL)
            return false;
        d->lanes = moved;
        d->lane_room = room;
    }
    struct drain_lane *lane = memory_new_zeroed(1, sizeof *lane);
    if (lane == NULL)
        return false;
    lane->index = d->lane_count;
    lane->stamp = d->line->is_sequence ? 0 : d->view->fixed.start_stamp;
    d->lanes[d->lane_count++] = lane;
    return true;
}

void drain_look(struct drain *d)
{
    uint32_t count = __atomic_load_n(&d->view->head->lane_count, __ATOMIC_ACQUIRE);
    if (count > d->view->fixed.lane_max)
        count = d->view->fixed.lane_max;
    while (d->lane_count < count) {
        if (!drain_add_lane(d)) {
            d->out_of_memory = true;
            return;
        }
    }
}

bool drain_has_news(const struct drain *d, const struct drain_lane *lane)
{
    if (lane->closed)
        return false;
    if (lane->scan.at == NULL)
        return __atomic_load_n(&d->view->lanes[lane->index], __ATOMIC_ACQUIRE) != 0;
    return lane->scan.at < lane->scan.end && __atomic_load_n(lane->scan.at, __ATOMIC_ACQUIRE) != 0;
}

void drain_define(struct drain *d, struct drain_lane *lane, uint64_t first, const uint64_t *at)
{
    uint64_t w[5] = {first};
    switch (first & 0xff) {
    case RECORD_MODULE:
        definitions_add_module(d->book, at, shape_measure(first));
        break;
    case RECORD_GONE:
        memcpy(w + 1, at + 1, 3 * sizeof *w);
        definitions_drop_module(d->book, w[1], w[2], w[3]);
        break;
    case RECORD_TEXT:
        definitions_add_text(d->book, at, shape_measure(first));
        break;
    case RECORD_POOL:
        memcpy(w + 1, at + 1, sizeof *w);
        definitions_add_pool(d->book, (uint32_t)(first >> 32), (uint32_t)w[1], (uint32_t)(w[1] >> 32));
        break;
    case RECORD_STACK:
        memcpy(w + 1, at + 1, 2 * sizeof *w);
        if (!definitions_open_stack(d->book, &lane->pending, w))
            drain_close_lane(d, lane);
        break;
    case RECORD_FRAMES:
        if (!definitions_add_frames(d->book, &lane->pending, at + 1, (uint32_t)(first >> 32)))
            drain_close_lane(d, lane);
        break;
    case RECORD_THREAD:
        memcpy(w + 1, at + 1, 4 * sizeof *w);
        definitions_add_thread(d->book, w[1], (uint32_t)(first >> 32), (const char *)&w[2],
                               timeline_peek(d->line, w[4]));
        break;
    default:
        break;
    }
}

/* Steps over events, which define nothing, up to a record that is none, is not there yet or does not fit. */
static const uint64_t *drain_skip_events(const uint64_t *at, const uint64_t *end)
{
    while (at < end) {
        uint64_t first = __atomic_load_n(at, __ATOMIC_ACQUIRE);
        uint32_t words = shape_event_words(shape_events[first & 0xff]);
        if (words == 0 || words > (size_t)(end - at))
            break;
        at += words;
    }
    return at;
}

/* Moves scan to the end of what is published, entering definitions. */
static void drain_scan(struct drain *d, struct drain_lane *lane)
{
    struct drain_cursor *c = &lane->scan;
    if (lane->closed || (c->at == NULL && !drain_begin(d, lane, c, true)))
        return;
    while (!lane->closed && (c->at = drain_skip_events(c->at, c->end)) < c->end) {
        uint64_t first = __atomic_load_n(c->at, __ATOMIC_ACQUIRE);
        if (first == 0)
            return;
        uint32_t words = shape_measure(first);
        if (words == 0 || words > (size_t)(c->end - c->at)) {
            drain_close_lane(d, lane);
            return;
        }
        if ((first & 0xff) == RECORD_LINK) {
            if (!drain_enter(d, lane, c, (uint32_t)(first >> 32), true))
                return;
            continue;
        }
        drain_define(d, lane, first, c->at);
        c->at += words;
    }
}

void drain_catch_up(struct drain *d, const struct drain_lane *reading)
{
    uint32_t now = __atomic_load_n(&d->view->head->definitions, __ATOMIC_ACQUIRE);
    drain_look(d);
    if (now != d->seen) {
        for (uint32_t i = 0; i < d->lane_count; i++) {
            if (d->lanes[i] != reading)
                drain_scan(d, d->lanes[i]);
        }
        if (reading == NULL)
            d->seen = now;
    }
    definitions_settle(d->book);
}

bool drain_is_event(uint64_t first)
{
    unsigned op = first & 0xff;
    return shape_events[op] != 0 || op == RECORD_ALLOC_LONG || op == RECORD_FREE_LONG ||
           op == RECORD_FREE_STACK;
}

/* Those from a place in a chunk on, over its links; no more of these than there are chunks, whatever they say. */
static uint64_t drain_count_from(const struct drain *d, struct drain_cursor c)
{
    uint64_t count = 0;
    uint32_t links = 0;
    while (c.at < c.end) {
        uint64_t first = __atomic_load_n(c.at, __ATOMIC_ACQUIRE);
        uint32_t words = shape_measure(first), next = (uint32_t)(first >> 32);
        if (first == 0 || words == 0)
            break;
        count += drain_is_event(first);
        c.at += words;
        if ((first & 0xff) != RECORD_LINK)
            continue;
        if (next >= d->view->fixed.chunk_max || ++links > d->view->fixed.chunk_max)
            break;
        c.at = view_chunk(d->view, next);
        c.end = c.at + SEGMENT_CHUNK_WORDS;
    }
    return count;
}

uint64_t drain_count_rest(const struct drain *d)
{
    uint64_t count = 0;
    uint32_t lanes = __atomic_load_n(&d->view->head->lane_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < lanes && i < d->view->fixed.lane_max; i++) {
        const struct drain_lane *lane = i < d->lane_count ? d->lanes[i] : NULL;
        uint32_t first = __atomic_load_n(&d->view->lanes[i], __ATOMIC_ACQUIRE);
        struct drain_cursor c = {0};
        if (lane != NULL && lane->read.at != NULL) {
            c = lane->read;
            count += (uint64_t)(lane->last - lane->next);
        } else if (first != 0 && first <= d->view->fixed.chunk_max) {
            c.at = view_chunk(d->view, first - 1);
            c.end = c.at + SEGMENT_CHUNK_WORDS;
        }
        count += drain_count_from(d, c);
    }
    return count;
}
