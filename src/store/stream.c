/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stream: events in, columns out.
 *
 *     op        1 byte: code, and which of the next columns have a value
 *     time      ns since the event before              when it is not 0
 *     thread    zigzag difference to the event before  when it is not 0
 *     stack     stack of an allocation                 when not that of the one before
 *     size      of an allocation
 *     usable    0 = as expected (store/expect.h), else zigzag(usable - size) + 1
 *     address   difference to the allocation before, in units of 16 bytes:
 *               v = zigzag + 1, low byte and the rest in columns of their own;
 *               v = 0: not a multiple of 16, whole difference in the odd column
 *     ref       of a release: how many allocations were made since its own
 *     free stack  of a release: its stack, when it was asked for
 *     arena     allocations of which it is not as guessed (store/heaps.h): how many stand between each and
 *               the one listed before
 *     previous  of a realloc: how many allocations ago its old block was made
 *     rare      everything else, in records with a length
 *
 * All are varints but op and address low.  The low byte of addresses is noise
 * that zstd passes over; apart from the rest it costs neither time nor space.
 *
 * A call only puts numbers on the stage; when that is full (a few hundred
 * events, all in the first-level cache) one short loop a column turns them
 * into bytes.  That is half the work of encoding event by event.
 *
 * Invariants
 *  1. Every column has room for VARINT_MAX bytes for each event that still
 *     fits on the stage; the rare column makes room for itself.
 *  2. A chunk can be decoded alone: all differences start anew with it.
 *  3. A chunk's raw columns stay below FORMAT_PAYLOAD_MAX.
 */
#include "store/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "store/cull.h"
#include "store/staging.h"
#include "tool/memory.h"
#include "wire/record.h"

enum {
    STREAM_EVENTS_MAX = 64 << 10, /* in a chunk: more makes the file no smaller */
    STREAM_RAW_MAX = 4 << 20,     /* bytes: a chunk closes soon after */
    STREAM_RARE_MAX = 80,         /* bytes of a rare record */
    STREAM_COLUMN_MIN = 2 * STREAM_STAGE * VARINT_MAX,
    STREAM_HASTE_NS = 4000,   /* from one event to the next: where it is less, there is no time to lose */
    STREAM_PLAIN_CHUNKS = 15, /* before zstd is tried again */
};

void stream_init(struct wake_stream *s, void *owner)
{
    *s = (struct wake_stream){.owner = owner};
    stream_restart(s);
}

void stream_release(struct wake_stream *s)
{
    for (unsigned i = 1; i < COLUMN_COUNT; i++) {
        free(s->begin[i]);
        s->begin[i] = s->at[i] = NULL;
        s->capacity[i] = 0;
    }
}

/* Each event has one op byte, on the stage or in its column. */
uint32_t stream_pending(const struct wake_stream *s)
{
    return (uint32_t)(s->at[COLUMN_OP] - s->begin[COLUMN_OP]) + s->stage.events;
}

void stream_close(struct wake_stream *s)
{
    s->lost += stream_pending(s);
    stream_release(s);
    s->closed = true;
    s->stage.events = s->stage.limit = 0;
}

void stream_limit(struct wake_stream *s)
{
    s->is_limited = s->omitted.is_limited = true;
    stream_release(s);
    s->stage.events = s->stage.limit = 0;
}

void stream_restart(struct wake_stream *s)
{
    s->next_event += stream_pending(s);
    s->live_blocks += s->next_allocation - s->prelude.first_allocation - s->frees;
    for (unsigned i = 1; i < COLUMN_COUNT; i++)
        s->at[i] = s->begin[i];
    s->stage.events = s->stage.limit = 0;
    s->last_thread = 0;
    s->stage.made[0].stack = 0;
    s->last_address = 0;
    s->frees = 0;
    s->live_bytes_max = s->live_bytes;
    s->prelude = (struct events_prelude){
        .first_event = s->next_event,
        .first_allocation = s->next_allocation,
        .first_ns = s->last_ns,
        .live_bytes_first = s->live_bytes,
        .live_blocks_first = s->live_blocks,
    };
    expect_init(&s->expect);
    s->arena_listed = 0;
    if (s->has_heaps)
        heaps_init(&s->heaps);
    s->has_heaps = false;
}

/* ---------------------------------------------------- the stage to columns */

/* Room for `need` more bytes in a column. */
static bool stream_grow(struct wake_stream *s, unsigned column, size_t need)
{
    size_t used = (size_t)(s->at[column] - s->begin[column]);
    if (s->capacity[column] - used >= need)
        return true;
    size_t wanted = s->capacity[column] == 0 ? STREAM_COLUMN_MIN : s->capacity[column] * 2;
    if (wanted < used + need)
        wanted = used + need;
    uint8_t *moved = memory_resize(s->begin[column], wanted);
    if (moved == NULL)
        return false;
    s->begin[column] = moved;
    s->at[column] = moved + used;
    s->capacity[column] = wanted;
    return true;
}

static size_t stream_raw(const struct wake_stream *s)
{
    size_t raw = FORMAT_PRELUDE_SIZE + COLUMN_COUNT * FORMAT_COLUMN_ENTRY_SIZE;
    for (unsigned i = 1; i < COLUMN_COUNT; i++)
        raw += (size_t)(s->at[i] - s->begin[i]);
    return raw;
}

static void stream_put(struct wake_stream *s, unsigned column, uint64_t value)
{
    s->at[column] = varint_put(s->at[column], value);
}

static void stream_put_all(struct wake_stream *s, unsigned column, const uint64_t *values, uint32_t count)
{
    uint8_t *at = s->at[column];
    for (uint32_t i = 0; i < count; i++)
        at = varint_put(at, values[i]);
    s->at[column] = at;
}

/* Those that are not as the one before, which made[-1] has; without a branch, as in staging_alloc. */
static void stream_put_stacks(struct wake_stream *s, const struct stream_made *made, uint32_t count)
{
    uint8_t *at = s->at[COLUMN_STACK];
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *end = varint_put(at, made[i].stack);
        at += (end - at) & -(ptrdiff_t)(made[i].stack != made[(ptrdiff_t)i - 1].stack);
    }
    s->at[COLUMN_STACK] = at;
}

static void stream_put_sizes(struct wake_stream *s, const struct stream_made *made, uint32_t count)
{
    uint8_t *at = s->at[COLUMN_SIZE];
    for (uint32_t i = 0; i < count; i++)
        at = varint_put(at, made[i].size);
    s->at[COLUMN_SIZE] = at;
}

/* 1: the block lies in an arena other than the main one. */
static inline uint64_t stream_arena(const struct wake_stream *s, const struct stream_made *m)
{
    return (m->usable & s->arena_bit) / RECORD_OTHER_ARENA & (m->usable != m->size);
}

static void stream_put_usable(struct wake_stream *s, const struct stream_made *made, uint32_t count)
{
    uint8_t *at = s->at[COLUMN_USABLE];
    uint64_t mask = ~s->arena_bit, seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = made[i].size, usable = made[i].usable & mask;
        seen |= made[i].usable;
        if (__builtin_expect(usable == expect_usable(&s->expect, size), 1)) {
            *at++ = 0;
            continue;
        }
        usable = made[i].usable == size ? size : usable;
        expect_learn(&s->expect, size, usable);
        at = varint_put(at, varint_zigzag(usable - size) + 1);
    }
    s->at[COLUMN_USABLE] = at;
    s->has_heaps = s->has_heaps || (seen & s->arena_bit) != 0;
}

/* Is every arena as guessed?  At times it says no where the answer is yes: to sizes that stand for themselves. */
static bool stream_guesses_arenas(struct wake_stream *s, const struct stream_made *made, uint32_t count)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        wrong |= (made[i].usable & RECORD_OTHER_ARENA) / RECORD_OTHER_ARENA ^
                 *heaps_slot(&s->heaps, made[i].address);
    return wrong == 0;
}

/* Only where there was another arena in this chunk: else every guess is right. */
static void stream_put_arenas(struct wake_stream *s, const struct stream_made *made, uint32_t count)
{
    if (stream_guesses_arenas(s, made, count))
        return;
    uint64_t first = s->next_allocation - count - s->prelude.first_allocation;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *other = heaps_slot(&s->heaps, made[i].address);
        if (__builtin_expect(stream_arena(s, &made[i]) == *other, 1))
            continue;
        *other ^= 1;
        stream_put(s, COLUMN_ARENA, first + i - s->arena_listed);
        s->arena_listed = first + i + 1;
    }
}

static void stream_put_addresses(struct wake_stream *s, const struct stream_made *made, uint32_t count)
{
    uint8_t *low = s->at[COLUMN_ADDRESS_LOW], *high = s->at[COLUMN_ADDRESS_HIGH];
    uint64_t last = s->last_address;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = made[i].address;
        uint64_t value = varint_zigzag((address >> 4) - (last >> 4)) + 1;
        if (__builtin_expect((address & 15) != 0, 0)) {
            value = 0;
            stream_put(s, COLUMN_ADDRESS_ODD, varint_zigzag(address - last));
        }
        last = address;
        *low++ = (uint8_t)value;
        high = varint_put(high, value >> 8);
    }
    s->last_address = last;
    s->at[COLUMN_ADDRESS_LOW] = low;
    s->at[COLUMN_ADDRESS_HIGH] = high;
}

/* Empties the stage. */
static void stream_settle(struct wake_stream *s)
{
    struct stream_stage *stage = &s->stage;
    if (stage->events == 0)
        return;
    memcpy(s->at[COLUMN_OP], stage->op, stage->events);
    s->at[COLUMN_OP] += stage->events;
    stream_put_all(s, COLUMN_TIME, stage->time, stage->times);
    const struct stream_made *made = stage->made + 1;
    stream_put_stacks(s, made, stage->allocations);
    stream_put_sizes(s, made, stage->allocations);
    stream_put_usable(s, made, stage->allocations);
    stream_put_addresses(s, made, stage->allocations);
    if (s->has_heaps)
        stream_put_arenas(s, made, stage->allocations);
    stream_put_all(s, COLUMN_REF, stage->ref, stage->frees);
    s->frees += stage->frees;
    stage->made[0] = stage->made[stage->allocations];
    stage->events = stage->times = stage->allocations = stage->frees = 0;
}

/* The uncommon path: the stage is full.  False: the event is lost (and counted). */
static __attribute__((noinline)) bool stream_make_room(struct wake_stream *s, uint64_t time_ns)
{
    if (s->stage.events > 0) {
        stream_settle(s);
        if (stream_pending(s) >= STREAM_EVENTS_MAX || stream_raw(s) >= STREAM_RAW_MAX)
            s->close_chunk(s, s->owner);
    }
    for (unsigned i = 1; i < COLUMN_COUNT && !s->closed && !s->is_limited; i++)
        if (i != COLUMN_RARE && !stream_grow(s, i, (STREAM_STAGE + 1) * VARINT_MAX))
            stream_close(s);
    if (s->is_limited) {
        if (s->omitted.limit_ns == 0)
            s->omitted.limit_ns = time_ns;
        return false;
    }
    if (s->closed) {
        s->lost++;
        return false;
    }
    s->stage.limit = STREAM_STAGE;
    if (stream_pending(s) == 0) {
        /* The first event of a chunk has difference 0. */
        if (time_ns > s->last_ns)
            s->last_ns = time_ns;
        s->prelude.first_ns = s->last_ns;
    }
    return true;
}

/* ------------------------------------------------------ events to the stage */

/* Is there room for another event?  False: it is lost. */
static inline bool stream_has_room(struct wake_stream *s, uint64_t time_ns)
{
    return __builtin_expect(s->stage.events < s->stage.limit, 1) || stream_make_room(s, time_ns);
}

static inline __attribute__((always_inline)) void stream_alloc(struct wake_stream *s, uint64_t time_ns,
                                                               uint32_t thread, unsigned kind, uint32_t stack,
                                                               uint64_t address, uint64_t size,
                                                               uint64_t usable, uint64_t previous)
{
    if (!stream_has_room(s, time_ns)) {
        if (s->is_limited) {
            s->omitted.allocations++;
            s->next_allocation++;
        }
        return;
    }
    if (__builtin_expect(kind == KIND_REALLOC, 0)) {
        bool known = previous != 0 && previous <= s->next_allocation;
        stream_put(s, COLUMN_PREVIOUS, known ? s->next_allocation - previous + 1 : 0);
    }
    unsigned op = staging_time(s, time_ns) | staging_thread(s, thread);
    struct staging g = staging_open(s);
    staging_alloc(&g, op, kind, stack, address, size, usable);
    staging_close(s, &g);
    s->live_bytes += size;
    if (s->live_bytes > s->live_bytes_max)
        s->live_bytes_max = s->live_bytes;
}

void stream_put_alloc(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned kind, uint32_t stack,
                      uint64_t address, uint64_t size, uint64_t usable, uint64_t previous)
{
    stream_alloc(s, time_ns, thread, kind, stack, address, size, usable, previous);
}

/* False: it is no release of a known block, or lost. */
static inline __attribute__((always_inline)) bool stream_free(struct wake_stream *s, uint64_t time_ns,
                                                              uint32_t thread, unsigned how,
                                                              uint64_t allocation, uint64_t size)
{
    if (__builtin_expect(allocation >= s->next_allocation, 0)) {
        stream_put_rare(s, time_ns, thread, RARE_FREE_UNKNOWN, (uint64_t[]){how, 0}, 2);
        return false;
    }
    if (!stream_has_room(s, time_ns)) {
        s->omitted.frees += s->is_limited;
        return false;
    }
    unsigned op = staging_time(s, time_ns) | staging_thread(s, thread);
    struct staging g = staging_open(s);
    staging_free(&g, op, how, allocation);
    staging_close(s, &g);
    s->live_bytes -= size;
    return true;
}

void stream_put_free(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how, uint32_t stack,
                     uint64_t allocation, uint64_t size)
{
    if (!stream_free(s, time_ns, thread, how, allocation, size) || stack == 0)
        return;
    s->stage.op[s->stage.events - 1] |= OP_STACK;
    stream_put(s, COLUMN_FREE_STACK, stack);
}

void stream_put_rare(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned type,
                     const uint64_t *values, unsigned count)
{
    uint8_t record[STREAM_RARE_MAX];
    uint8_t *end = record;
    for (unsigned i = 0; i < count; i++)
        end = varint_put(end, values[i]);
    if (!s->is_limited && (s->closed || !stream_grow(s, COLUMN_RARE, 2 * VARINT_MAX + sizeof record))) {
        s->lost++;
        return;
    }
    /* A chunk that closes here empties the rare column and leaves its memory. */
    if (!stream_has_room(s, time_ns)) {
        s->omitted.others += s->is_limited;
        return;
    }
    s->stage.op[s->stage.events] = (uint8_t)(OP_RARE | staging_time(s, time_ns) | staging_thread(s, thread));
    s->stage.events++;
    stream_put(s, COLUMN_RARE, type);
    stream_put(s, COLUMN_RARE, (uint64_t)(end - record));
    memcpy(s->at[COLUMN_RARE], record, (size_t)(end - record));
    s->at[COLUMN_RARE] += end - record;
}

/* ------------------------------------------------- the calls of store/writer.h */

void wake_stream_alloc(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned kind,
                       uint32_t stack, uint64_t address, uint64_t size, uint64_t usable, uint64_t previous)
{
    uint64_t number = s->made++;
    if (__builtin_expect(s->cull == NULL, 1)) {
        stream_alloc(s, time_ns, thread, kind, stack, address, size, usable, previous);
        return;
    }
    const struct cull_event e = {.time_ns = time_ns,
                                 .thread = thread,
                                 .kind = (uint8_t)kind,
                                 .stack = stack,
                                 .values = {address, size, usable}};
    cull_add_alloc(s->cull, &e, number, previous);
}

void wake_stream_free_from(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                           uint32_t stack, uint64_t allocation, uint64_t size)
{
    s->released++;
    if (__builtin_expect(s->cull == NULL, 1)) {
        stream_put_free(s, time_ns, thread, how, stack, allocation, size);
        return;
    }
    const struct cull_event e = {
        .time_ns = time_ns, .thread = thread, .kind = (uint8_t)how, .stack = stack, .values = {0, size}};
    cull_add_free(s->cull, &e, allocation);
}

void wake_stream_free(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                      uint64_t allocation, uint64_t size)
{
    if (__builtin_expect(s->cull != NULL, 0)) {
        wake_stream_free_from(s, time_ns, thread, how, 0, allocation, size);
        return;
    }
    s->released++;
    stream_free(s, time_ns, thread, how, allocation, size);
}

static void stream_rare(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned type,
                        const uint64_t *values, unsigned count)
{
    if (__builtin_expect(s->cull == NULL, 1)) {
        stream_put_rare(s, time_ns, thread, type, values, count);
        return;
    }
    struct cull_event e = {
        .time_ns = time_ns, .thread = thread, .kind = (uint8_t)type, .count = (uint8_t)count};
    memcpy(e.values, values, count * sizeof *values);
    cull_add_other(s->cull, &e);
}

void wake_stream_free_unknown(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                              uint32_t stack, uint64_t address)
{
    stream_rare(s, time_ns, thread, RARE_FREE_UNKNOWN, (uint64_t[]){how, address, stack}, stack == 0 ? 2 : 3);
}

void wake_stream_map(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                     uint64_t address, uint64_t length, uint32_t prot, uint32_t flags)
{
    stream_rare(s, time_ns, thread, RARE_MAP, (uint64_t[]){stack, address, length, prot, flags}, 5);
}

void wake_stream_unmap(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                       uint64_t address, uint64_t length)
{
    stream_rare(s, time_ns, thread, RARE_UNMAP, (uint64_t[]){stack, address, length}, 3);
}

void wake_stream_brk(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                     uint64_t old_end, uint64_t new_end)
{
    stream_rare(s, time_ns, thread, RARE_BRK, (uint64_t[]){stack, old_end, new_end}, 3);
}

void wake_stream_pool_alloc(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t pool,
                            uint32_t stack, uint64_t address, uint64_t size)
{
    stream_rare(s, time_ns, thread, RARE_POOL_ALLOC, (uint64_t[]){pool, stack, address, size}, 4);
}

void wake_stream_pool_free(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t pool,
                           uint32_t stack, uint64_t address, uint64_t size)
{
    stream_rare(s, time_ns, thread, RARE_POOL_FREE, (uint64_t[]){pool, stack, address, size}, 4);
}

void wake_stream_mark(struct wake_stream *s, uint64_t time_ns, uint32_t thread, const char *name,
                      size_t length)
{
    if (!s->closed)
        s->note_mark(s, s->owner, time_ns, thread, name, length);
    stream_rare(s, time_ns, thread, RARE_MARK, (uint64_t[]){s->marks}, 1);
    s->marks++;
}

void wake_stream_lost(struct wake_stream *s, uint64_t time_ns, unsigned reason, uint64_t count)
{
    stream_rare(s, time_ns, s->last_thread, RARE_LOST, (uint64_t[]){reason, count}, 2);
}

size_t stream_bound(struct wake_stream *s)
{
    stream_settle(s);
    size_t bound = FORMAT_PRELUDE_SIZE + COLUMN_COUNT * FORMAT_COLUMN_ENTRY_SIZE;
    for (unsigned i = 1; i < COLUMN_COUNT; i++)
        bound += codec_bound((size_t)(s->at[i] - s->begin[i]));
    return bound;
}

/* Packs a column.  Of one that zstd shrinks by less than a quarter, it takes most of the time: where events
 * come fast, that is left out, and tried again from time to time. */
static size_t stream_pack(struct wake_stream *s, struct codec *codec, unsigned column, uint8_t *to,
                          unsigned *flags)
{
    size_t length = (size_t)(s->at[column] - s->begin[column]);
    bool in_haste = (s->prelude.last_ns - s->prelude.first_ns) / STREAM_HASTE_NS < s->prelude.events;
    if (in_haste && s->plain[column] > 0) {
        s->plain[column]--;
        return codec_keep(to, s->begin[column], length, flags);
    }
    size_t stored = codec_pack(codec, to, s->begin[column], length, flags);
    s->plain[column] = stored > length / 4 * 3 ? STREAM_PLAIN_CHUNKS : 0;
    return stored;
}

size_t stream_encode(struct wake_stream *s, struct codec *codec, uint8_t *to, uint32_t *raw,
                     struct events_prelude *prelude)
{
    s->prelude.last_ns = s->last_ns;
    s->prelude.events = stream_pending(s);
    s->prelude.allocations = (uint32_t)(s->next_allocation - s->prelude.first_allocation);
    s->prelude.frees = (uint32_t)s->frees;
    s->prelude.live_bytes_last = s->live_bytes;
    s->prelude.live_bytes_max = s->live_bytes_max;
    s->prelude.live_blocks_last = s->live_blocks + s->prelude.allocations - s->frees;
    for (unsigned i = 1; i < COLUMN_COUNT; i++)
        s->prelude.columns += s->at[i] != s->begin[i];

    uint8_t *entry = to + FORMAT_PRELUDE_SIZE;
    uint8_t *data = entry + s->prelude.columns * FORMAT_COLUMN_ENTRY_SIZE;
    *raw = (uint32_t)(data - to);
    for (unsigned i = 1; i < COLUMN_COUNT; i++) {
        size_t length = (size_t)(s->at[i] - s->begin[i]);
        if (length == 0)
            continue;
        unsigned flags;
        size_t stored = stream_pack(s, codec, i, data, &flags);
        put_le16(entry, (uint16_t)i);
        put_le16(entry + 2, (uint16_t)flags);
        put_le32(entry + 4, (uint32_t)length);
        put_le32(entry + 8, (uint32_t)stored);
        entry += FORMAT_COLUMN_ENTRY_SIZE;
        data += stored;
        *raw += (uint32_t)length;
    }
    events_prelude_encode(to, &s->prelude);
    *prelude = s->prelude;
    return (size_t)(data - to);
}
