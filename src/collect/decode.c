/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * decode: from words to items.  The two hot records are decoded in the loop,
 * everything else by decode_cold.  Each word is read once.
 *
 * Slots of the block table are prefetched here, a batch before they are needed: whatever its size, the program
 * and the pauses of the collector see to it that caches have forgotten it.
 */
#include "collect/decode.h"

#include "collect/shape.h"
#include "wire/filter.h"
#include "wire/record.h"

enum {
    DECODE_FORKS_MAX = 1 << 16,
};

#define ADDRESS_MASK ((UINT64_C(1) << RECORD_ADDRESS_BITS) - 1)

static inline uint64_t word(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* What changes seldom while a lane is read.  Apart from the lane: items are written between, and the compiler
 * cannot know that none of them lies in it. */
struct decode_state {
    const uint64_t *at;   /* as in the lane's cursor */
    const uint64_t *stop; /* the limit, or the end of the chunk when that comes first */
    uint64_t stamp;
    uint64_t thread, lane; /* as words of an item have them */
    bool counts;           /* no scope of the program's leaves allocations out */
    struct blocks blocks;
};

static inline struct decode_state decode_open(const struct drain *d, const struct drain_lane *lane,
                                              const uint64_t *limit)
{
    const struct drain_cursor *c = &lane->read;
    return (struct decode_state){
        .at = c->at,
        .stop = limit >= c->at && limit < c->end ? limit : c->end,
        .stamp = lane->stamp,
        .thread = (uint64_t)lane->thread << 32,
        .lane = (uint64_t)lane->index << 32,
        .counts = lane->suppressed == 0,
        .blocks = *d->blocks,
    };
}

static inline void decode_close(const struct decode_state *s, struct drain_lane *lane)
{
    lane->read.at = s->at;
    lane->stamp = s->stamp;
}

/* Leaves in its words whatever the next in line can take from there.  Without branches on what the record is,
 * because whether an allocation or a release comes next is a coin toss in many programs; and without ?:, of
 * which compilers make branches.  A release has its address in its first word, where an allocation has it in
 * its second. */
static inline __attribute__((always_inline)) void decode_hot(struct decode_state *s, uint64_t first,
                                                             int32_t shape, struct item *out)
{
    uint64_t is_alloc = first / RECORD_ALLOC & 1;
    uint64_t second = word(s->at + is_alloc);
    uint64_t address = second >> (16 & (is_alloc - 1)) & ADDRESS_MASK;
    uint32_t hash = blocks_hash(address);
    blocks_prefetch(&s->blocks, hash);
    if ((first & RECORD_STAMPED) != 0)
        s->stamp = word(s->at + 1 + is_alloc);
    out->address = address;
    out->first = first;
    out->second = second;
    out->stamp = s->stamp;
    out->words[0] = hash | s->thread;
    out->words[1] = (uint32_t)shape >> 8 | s->lane;
    s->at += shape_event_words(shape);
}

/* Items of what the program itself tells.  True: *out is an event. */
static bool decode_note(struct drain_lane *lane, uint64_t first, const uint64_t *at, struct item *out)
{
    switch (first & 0xff) {
    case RECORD_MARK:
        out->op = ITEM_MARK;
        lane->stamp = word(at + 1);
        out->size = word(at + 2);
        break;
    case RECORD_POOL_ALLOC:
        out->op = ITEM_POOL_ALLOC;
        out->address = word(at + 1);
        out->size = word(at + 2);
        out->old = word(at + 3);
        lane->stamp = word(at + 4);
        break;
    case RECORD_POOL_FREE:
        out->op = ITEM_POOL_FREE;
        out->address = word(at + 1);
        out->old = out->stack;
        out->stack = 0;
        lane->stamp = word(at + 2);
        break;
    default:
        return false;
    }
    out->stamp = lane->stamp;
    return true;
}

/* Items of the rarer records.  True: *out is an event. */
static bool decode_rare(struct drain_lane *lane, uint64_t first, const uint64_t *at, struct item *out)
{
    unsigned kind = first >> 8 & 0xff;
    uint32_t high = (uint32_t)(first >> 32);
    *out = (struct item){.lane = lane->index, .thread = lane->thread, .kind = (uint8_t)kind, .stack = high};
    switch (first & 0xff) {
    case RECORD_ALLOC_LONG:
    case RECORD_EARLY:
        out->op = ITEM_ALLOC;
        out->address = word(at + 1);
        out->size = word(at + 2);
        out->usable = word(at + 3);
        if ((first & 0xff) == RECORD_EARLY) {
            out->traits = ITEM_EARLY;
        } else {
            lane->stamp = word(at + 4);
            out->old = word(at + 5);
        }
        break;
    case RECORD_FREE_LONG:
    case RECORD_FREE_STACK:
        out->op = kind == HOW_REALLOC ? ITEM_RELEASE : ITEM_FREE;
        out->address = word(at + 1);
        lane->stamp = word(at + 2);
        break;
    case RECORD_REALLOC_FAILED:
    case RECORD_REALLOC_FREED:
        out->op = (first & 0xff) == RECORD_REALLOC_FAILED ? ITEM_REALLOC_FAILED : ITEM_REALLOC_FREED;
        out->address = word(at + 1);
        lane->stamp = word(at + 2);
        break;
    case RECORD_MMAP:
        out->op = ITEM_MAP;
        out->address = word(at + 1);
        out->size = word(at + 2);
        out->usable = word(at + 3);
        lane->stamp = word(at + 4);
        break;
    case RECORD_MUNMAP:
    case RECORD_BRK:
        out->op = (first & 0xff) == RECORD_BRK ? ITEM_BRK : ITEM_UNMAP;
        out->address = word(at + 1);
        out->size = word(at + 2);
        lane->stamp = word(at + 3);
        break;
    case RECORD_LOST:
        out->op = ITEM_LOST;
        out->size = word(at + 1);
        break;
    case RECORD_NAME:
        out->op = ITEM_NAME;
        out->address = word(at + 1);
        out->size = word(at + 2);
        break;
    default:
        return decode_note(lane, first, at, out);
    }
    out->stamp = lane->stamp;
    return true;
}

static bool decode_is_sound(const struct item *i)
{
    if (i->op == ITEM_ALLOC || i->op == ITEM_FREE || i->op == ITEM_RELEASE) {
        unsigned kinds = i->op == ITEM_ALLOC ? (unsigned)KIND_COUNT : (unsigned)HOW_COUNT;
        return i->address != 0 && i->address <= BLOCKS_ADDRESS_MAX && i->size <= BLOCKS_ADDRESS_MAX &&
               i->kind != 0 && i->kind < kinds;
    }
    if (i->op == ITEM_MARK)
        return i->kind != 0 && i->kind < MARK_COUNT;
    return true;
}

/* In a scope of the program's: does the event count nevertheless? */
static bool decode_counts(const struct drain *d, struct item *i)
{
    if (i->op != ITEM_ALLOC)
        return i->op != ITEM_POOL_ALLOC;
    if (i->kind == KIND_REALLOC) {
        i->traits |= ITEM_SUPPRESSED;
        return true;
    }
    if (d->filter != NULL)
        filter_drop(d->filter, i->address);
    return false;
}

static void decode_suppress(struct drain_lane *lane, uint64_t first)
{
    if ((first >> 8 & 0xff) != 0 && lane->suppressed != UINT32_MAX)
        lane->suppressed++;
    else if ((first >> 8 & 0xff) == 0 && lane->suppressed != 0)
        lane->suppressed--;
}

/* Where stamps are counts, a STAMP may be one of them, or the collector's
 * clock, which is larger than any count can become. */
static void decode_stamp(struct drain *d, struct drain_lane *lane, uint64_t value)
{
    if (d->line->is_sequence && value >= d->view->fixed.start_ns)
        d->line->clock_ns = value;
    else
        lane->stamp = value;
}

/* Steps over one record that is not hot.  *made grows when it was an event.
 * False: there is nothing more to read now. */
static bool decode_cold(struct drain *d, struct drain_lane *lane, uint64_t first, struct item *out,
                        uint32_t *made, bool define)
{
    struct drain_cursor *c = &lane->read;
    uint32_t words = shape_measure(first);
    if (words == 0 || words > (size_t)(c->end - c->at)) {
        drain_close_lane(d, lane);
        return false;
    }
    const uint64_t *at = c->at;
    c->at += words;
    switch (first & 0xff) {
    case RECORD_LINK: {
        uint32_t left = c->chunk;
        if (!drain_enter(d, lane, c, (uint32_t)(first >> 32), define)) {
            c->at = c->end;
            return false;
        }
        drain_give_back(d, left);
        return true;
    }
    case RECORD_STAMP:
        decode_stamp(d, lane, word(at + 1));
        return true;
    case RECORD_THREAD:
        if (define)
            drain_define(d, lane, first, at);
        lane->thread = definitions_find_thread(d->book, word(at + 1));
        lane->stamp = word(at + 4);
        lane->suppressed = 0;
        return true;
    case RECORD_SUPPRESS:
        decode_suppress(lane, first);
        return true;
    case RECORD_FORK:
        lane->stamp = word(at + 1);
        if (d->forks.count < DECODE_FORKS_MAX &&
            !vec_push(&d->forks, ((struct drain_fork){(uint32_t)(first >> 32), (uint8_t)(first >> 8)})))
            d->out_of_memory = true;
        return true;
    default:
        break;
    }
    if (decode_rare(lane, first, at, out)) {
        if (!decode_is_sound(out))
            d->anomalies++;
        else if (lane->suppressed == 0 || decode_counts(d, out))
            ++*made;
    } else if (define) {
        drain_define(d, lane, first, at);
    }
    return !lane->closed;
}

/* One record that may be an event of any kind, and may be cut off by the end of the chunk.  False: it is
 * none of the hot ones. */
static inline bool decode_careful(struct drain *d, struct decode_state *s, uint64_t first, struct item **to)
{
    int32_t shape = shape_events[first & 0xff];
    if (shape == 0 || shape_event_words(shape) > (size_t)(s->stop - s->at))
        return false;
    struct item *out = *to;
    decode_hot(s, first, shape & ~SHAPE_MORE, out);
    if (shape < 0) {
        *out = item_unfold(out);
        out->old = word(s->at - 1);
    }
    if (out->address == 0)
        d->anomalies++;
    else if (s->counts || decode_counts(d, out))
        ++*to;
    return true;
}

/* As many as surely fit, up to one that needs care. */
static struct item *decode_many(struct decode_state *state, struct item *to, const struct item *last)
{
    struct decode_state s = *state; /* in registers */
    size_t sure = (size_t)(s.stop - s.at) / SHAPE_EVENT_WORDS_MAX;
    if (sure > (size_t)(last - to))
        sure = (size_t)(last - to);
    for (const struct item *end = to + sure; to < end; to++) {
        uint64_t first = __atomic_load_n(s.at, __ATOMIC_ACQUIRE);
        int32_t shape = shape_events[first & 0xff];
        if (__builtin_expect(shape <= 0, 0))
            break;
        decode_hot(&s, first, shape, to);
        if (__builtin_expect(to->address == 0, 0)) {
            s.at -= shape_event_words(shape); /* decode_careful counts it */
            break;
        }
    }
    state->at = s.at;
    state->stamp = s.stamp;
    return to;
}

/* limit: NULL, or where definitions end that are in the book already. */
static inline __attribute__((always_inline)) uint32_t decode_run(struct drain *d, struct drain_lane *lane,
                                                                 struct item *out, uint32_t max,
                                                                 const uint64_t *limit, bool define)
{
    struct decode_state s = decode_open(d, lane, limit);
    struct item *to = out, *last = out + max;
    for (;;) {
        if (s.counts)
            to = decode_many(&s, to, last);
        if (to == last || s.at >= s.stop)
            break;
        uint64_t first = __atomic_load_n(s.at, __ATOMIC_ACQUIRE);
        if (first == 0)
            break;
        if (decode_careful(d, &s, first, &to))
            continue;
        uint32_t made = 0;
        decode_close(&s, lane);
        bool goes_on = decode_cold(d, lane, first, to, &made, define);
        s = decode_open(d, lane, limit);
        to += made;
        if (!goes_on)
            break;
    }
    decode_close(&s, lane);
    return (uint32_t)(to - out);
}

uint32_t drain_stream(struct drain *d, struct drain_lane *lane, struct item *out, uint32_t max)
{
    if (lane->closed || (lane->read.at == NULL && !drain_begin(d, lane, &lane->read, true)))
        return 0;
    uint32_t n = decode_run(d, lane, out, max, NULL, true);
    lane->scan = lane->read;
    return n;
}

bool drain_fetch(struct drain *d, struct drain_lane *lane)
{
    struct item *half = lane->last > lane->ahead[1] ? lane->ahead[0] : lane->ahead[1];
    uint32_t count = 0;
    if (lane->read.at != lane->scan.at && (lane->read.at != NULL || drain_begin(d, lane, &lane->read, false)))
        count = decode_run(d, lane, half, DRAIN_AHEAD, lane->scan.at, false);
    if (count == 0 && lane->read.at == lane->scan.at)
        count = drain_stream(d, lane, half, DRAIN_AHEAD);
    if (count == 0)
        return false;
    lane->next = half;
    lane->last = half + count;
    return true;
}
