/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_decoder: the mirror of stream.c; what the columns hold is drawn there.
 *
 * A block of events is decoded column by column.  First it is noted which events are allocations, releases
 * and others (store/classify_events.h); each column
 * is then one short loop over those that it has values for, so that no loop
 * has to guess what comes next.  Columns that nobody asked for are not even
 * unpacked.
 *
 * The payload comes from a file and may say anything.  Columns are bounded by
 * their ends; a read past the end, a number that does not fit, or counts that
 * differ from the prelude set `bad`.
 */
#include "store/chunk_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "store/chunk_decoder_arenas.h"
#include "store/chunk_decoder_column.h"
#include "store/classify_events.h"
#include "tool/memory.h"
#include "wire/record.h"

#define CHUNK_DECODER_ONES UINT64_C(0x0101010101010101)

enum {
    CHUNK_DECODER_FEW =
        16, /* events for each value, at least, that make it worth looking for those without */
    CHUNK_DECODER_SPARE = 16, /* bytes behind the columns that may be looked at, never used */
    CHUNK_DECODER_RUN = 16,   /* short values that pay for a slow way to a long one */
};

void chunk_decoder_init(struct chunk_decoder *r)
{
    *r = (struct chunk_decoder){0};
}

void chunk_decoder_release(struct chunk_decoder *r)
{
    free(r->raw);
    chunk_decoder_init(r);
}

struct chunk_decoder_arrays *chunk_decoder_arrays_new(void)
{
    struct chunk_decoder_arrays *arrays = memory_new_zeroed(1, sizeof *arrays);
    if (arrays != NULL)
        classify_events_init(arrays);
    return arrays;
}

static bool chunk_decoder_reserve(struct chunk_decoder *r, size_t raw)
{
    if (raw <= r->capacity)
        return true;
    free(r->raw);
    r->raw = memory_new(raw + CHUNK_DECODER_SPARE);
    r->capacity = r->raw == NULL ? 0 : raw;
    return r->raw != NULL;
}

/* Sum of the raw lengths in the column directory; 0 = makes no sense. */
static size_t chunk_decoder_raw_size(const struct chunk_decoder *r, struct cursor directory)
{
    size_t raw = 0, stored = 0;
    for (uint32_t i = 0; i < r->prelude.columns; i++) {
        cursor_skip(&directory, 4);
        raw += cursor_u32(&directory);
        stored += cursor_u32(&directory);
        if (raw > FORMAT_PAYLOAD_MAX || stored > FORMAT_PAYLOAD_MAX)
            return 0;
    }
    return cursor_is_bad(&directory) || cursor_left(&directory) != stored ? 0 : raw;
}

/* Whether a column of the file is needed for these columns of a block. */
static bool chunk_decoder_is_wanted(unsigned column, unsigned wanted)
{
    static const uint16_t needed_for[COLUMN_COUNT] = {
        [COLUMN_TIME] = WAKE_TIME,
        [COLUMN_THREAD] = WAKE_THREAD,
        [COLUMN_STACK] = WAKE_STACK,
        [COLUMN_SIZE] = WAKE_SIZE,
        [COLUMN_USABLE] = WAKE_USABLE,
        [COLUMN_ADDRESS_LOW] = WAKE_ADDRESS,
        [COLUMN_ADDRESS_HIGH] = WAKE_ADDRESS,
        [COLUMN_ADDRESS_ODD] = WAKE_ADDRESS,
        [COLUMN_PREVIOUS] = WAKE_PREVIOUS,
        [COLUMN_FREE_STACK] = WAKE_FREE_STACK,
        [COLUMN_ARENA] = WAKE_ARENA,
    };
    return needed_for[column] == 0 || (needed_for[column] & wanted) != 0;
}

static bool chunk_decoder_unpack(struct chunk_decoder *r, struct codec *codec, struct cursor directory)
{
    struct cursor data = directory;
    cursor_skip(&data, (size_t)r->prelude.columns * FORMAT_COLUMN_ENTRY_SIZE);
    uint8_t *to = r->raw;
    for (uint32_t i = 0; i < r->prelude.columns; i++) {
        unsigned column = cursor_u16(&directory), flags = cursor_u16(&directory);
        size_t raw = cursor_u32(&directory), stored = cursor_u32(&directory);
        const uint8_t *bytes = cursor_take(&data, stored);
        if (bytes == NULL)
            return false;
        if (column == 0 || column >= COLUMN_COUNT || !chunk_decoder_is_wanted(column, r->wanted))
            continue;
        if (r->at[column] != NULL || !codec_unpack(codec, to, raw, bytes, stored, flags))
            return false;
        r->at[column] = to;
        r->end[column] = to + raw;
        to += raw;
    }
    return true;
}

int chunk_decoder_open(struct chunk_decoder *r, struct codec *codec, uint32_t process, unsigned wanted,
                       const uint8_t *payload, size_t length)
{
    struct cursor c;
    cursor_init(&c, payload, length);
    const uint8_t *prelude = cursor_take(&c, FORMAT_PRELUDE_SIZE);
    if (prelude == NULL || !events_prelude_decode(prelude, &r->prelude))
        return ERR_INPUT;
    size_t raw = chunk_decoder_raw_size(r, c);
    if (raw == 0)
        return ERR_INPUT;
    if (!chunk_decoder_reserve(r, raw))
        return ERR_MEMORY;
    memset(r->raw + raw, 0, CHUNK_DECODER_SPARE);
    /* A usable size is told as a difference to the size, an arena guessed from the address. */
    r->wanted = wanted | ((wanted & WAKE_USABLE) != 0 ? WAKE_SIZE : 0) |
                ((wanted & WAKE_ARENA) != 0 ? WAKE_ADDRESS : 0);
    for (unsigned i = 0; i < COLUMN_COUNT; i++)
        r->at[i] = r->end[i] = NULL;
    if (!chunk_decoder_unpack(r, codec, c))
        return ERR_INPUT;
    for (unsigned i = 0; i < COLUMN_COUNT; i++)
        if (r->at[i] == NULL)
            r->at[i] = r->end[i] = r->raw;
    if ((size_t)(r->end[COLUMN_OP] - r->at[COLUMN_OP]) != r->prelude.events)
        return ERR_INPUT;
    r->process = process;
    r->done = r->allocations = r->frees = 0;
    r->time_ns = r->prelude.first_ns;
    r->address = 0;
    r->thread = r->stack = 0;
    r->is_of_one_thread = false;
    r->bad = false;
    expect_init(&r->expect);
    chunk_decoder_arenas_begin(r);
    return 0;
}

static inline uint64_t chunk_decoder_get(struct chunk_decoder *r, unsigned column)
{
    uint64_t value;
    const uint8_t *after = varint_get(r->at[column], r->end[column], &value);
    if (__builtin_expect(after == NULL, 0)) {
        r->bad = true;
        return 0;
    }
    r->at[column] = after;
    return value;
}

/* ------------------------------------------------------------------ columns */

/* How many of the next ops have a bit. */
static inline __attribute__((always_inline)) uint32_t chunk_decoder_count(const uint8_t *ops, uint32_t count,
                                                                          unsigned bit)
{
    uint32_t found = 0, i = 0;
    for (; i + 8 <= count; i += 8)
        found += (uint32_t)(chunk_decoder_eight(ops + i, bit) / bit * CHUNK_DECODER_ONES >> 56);
    for (; i < count; i++)
        found += (ops[i] & bit) != 0;
    return found;
}

/* Each event gets what holds since the latest op with a bit: values[0] before the first.  Where there are many, without
 * a branch on whether there is one: with several threads nobody could predict it.  to: 64 bits each (wide) or 32. */
static inline __attribute__((always_inline)) void chunk_decoder_spread(const struct chunk_decoder *r,
                                                                       unsigned bit, uint32_t count,
                                                                       bool is_sparse, void *to, bool is_wide)
{
    const uint8_t *ops = r->at[COLUMN_OP];
    const uint64_t *value = r->arrays->values;
    for (uint32_t i = 0; i < count; i += 8) {
        uint64_t same = *value;
        bool is_same = is_sparse && chunk_decoder_eight(ops + i, bit) == 0;
        /* Eight in any case: behind the last there is room for them, and values for which nobody asks. */
#pragma GCC unroll 8
        for (uint32_t k = i; k < i + 8; k++) {
            if (!is_same) {
                value += (ops[k] & bit) / bit;
                same = *value;
            }
            if (is_wide)
                ((uint64_t *)to)[k] = same;
            else
                ((uint32_t *)to)[k] = (uint32_t)same;
        }
    }
}

static void chunk_decoder_times(struct chunk_decoder *r, uint32_t count)
{
    uint64_t *sums = r->arrays->values, now = r->time_ns;
    uint32_t values = chunk_decoder_count(r->at[COLUMN_OP], count, OP_TIME);
    bool bad = false;
    chunk_decoder_values(r, COLUMN_TIME, sums + 1, NULL, values);
    sums[0] = now;
    for (uint32_t j = 1; j <= values; j++) {
        bad |= __builtin_add_overflow(now, sums[j], &now);
        sums[j] = now;
    }
    if (values < count / CHUNK_DECODER_FEW)
        chunk_decoder_spread(r, OP_TIME, count, true, r->arrays->time_ns, true);
    else
        chunk_decoder_spread(r, OP_TIME, count, false, r->arrays->time_ns, true);
    r->bad = r->bad || bad;
    r->time_ns = now;
}

/* Sixteen bytes at a time. */
static void chunk_decoder_fill(uint32_t *to, uint32_t value)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    const four values = {value, value, value, value};
    for (uint32_t i = 0; i < WAKE_BLOCK_MAX; i += 4)
        memcpy(to + i, &values, sizeof values);
}

static void chunk_decoder_threads(struct chunk_decoder *r, uint32_t count)
{
    uint64_t *sums = r->arrays->values;
    uint32_t values = chunk_decoder_count(r->at[COLUMN_OP], count, OP_THREAD), thread = r->thread;
    r->is_of_one_thread = values == 0;
    if (values == 0) {
        chunk_decoder_fill(r->arrays->thread, thread);
        return;
    }
    chunk_decoder_short_values(r, COLUMN_THREAD, sums + 1, values);
    sums[0] = thread;
    for (uint32_t j = 1; j <= values; j++)
        sums[j] = thread += (uint32_t)varint_unzigzag(sums[j]);
    if (values < count / CHUNK_DECODER_FEW)
        chunk_decoder_spread(r, OP_THREAD, count, true, r->arrays->thread, false);
    else
        chunk_decoder_spread(r, OP_THREAD, count, false, r->arrays->thread, false);
    r->thread = thread;
}

/* Events that have no value in a column: promised to be 0 when all is asked for. */
static void chunk_decoder_blank(const struct chunk_decoder *r, void *array, size_t bytes)
{
    if (r->wanted == WAKE_EVERYTHING || r->block_others > 0)
        memset(array, 0, bytes);
}

/* How many allocations of the block name their stack. */
static uint32_t chunk_decoder_count_stacks(const struct chunk_decoder *r, uint32_t count)
{
    const struct chunk_decoder_arrays *a = r->arrays;
    const uint8_t *ops = r->at[COLUMN_OP];
    uint32_t found = 0, i = 0;
    /* Eight at a time, where all that are no releases are allocations. */
    for (; r->block_others == 0 && i + 8 <= count; i += 8) {
        uint64_t named = chunk_decoder_eight(ops + i, OP_STACK) / OP_STACK;
        uint64_t releases = chunk_decoder_eight(ops + i, OP_FREE) / OP_FREE;
        found += (uint32_t)((named & ~releases) * CHUNK_DECODER_ONES >> 56);
    }
    for (; r->block_others == 0 && i < count; i++)
        found += (ops[i] & OP_FREE) == 0 && ops[i] / OP_STACK != 0;
    for (uint32_t j = 0; r->block_others != 0 && j < r->block_allocations; j++)
        found += ops[a->alloc_at[j]] / OP_STACK;
    return found;
}

/* Without a branch on whether there is a value: nobody could predict it. */
static void chunk_decoder_stacks(struct chunk_decoder *r, uint32_t count)
{
    struct chunk_decoder_arrays *a = r->arrays;
    const uint8_t *ops = r->at[COLUMN_OP];
    chunk_decoder_blank(r, a->stack, count * sizeof *a->stack);
    a->values[0] = r->stack;
    chunk_decoder_values(r, COLUMN_STACK, a->values + 1, NULL, chunk_decoder_count_stacks(r, count));
    uint32_t values = 0;
    for (uint32_t j = 0; j < r->block_allocations; j++) {
        uint32_t i = a->alloc_at[j];
        values += ops[i] / OP_STACK;
        a->stack[i] = (uint32_t)a->values[values];
    }
    r->stack = (uint32_t)a->values[values];
}

/* Behind chunk_decoder_stacks, which may blank everything.  Most recordings have none. */
static void chunk_decoder_free_stacks(struct chunk_decoder *r)
{
    const struct chunk_decoder_arrays *a = r->arrays;
    const uint8_t *ops = r->at[COLUMN_OP];
    struct chunk_decoder_column c = chunk_decoder_begin(r, COLUMN_FREE_STACK);
    bool has_some = r->at[COLUMN_FREE_STACK] != r->end[COLUMN_FREE_STACK];
    for (uint32_t j = 0; j < r->block_frees; j++) {
        uint32_t i = a->free_at[j];
        bool has = has_some && (ops[i] & OP_STACK) != 0;
        r->arrays->stack[i] = has ? (uint32_t)chunk_decoder_column_get(&c) : 0;
    }
    chunk_decoder_end(r, COLUMN_FREE_STACK, &c);
}

/* Sizes of allocations and values of releases from `done` on, in pairs, as far as they have one or two bytes.  Where a value
 * begins depends on the one before it, so the wait for the one column is time for the other.  How far. */
static uint32_t chunk_decoder_pairs(struct chunk_decoder *r, uint32_t done, uint32_t count)
{
    struct chunk_decoder_arrays *a = r->arrays;
    const uint8_t *size = r->at[COLUMN_SIZE], *ref = r->at[COLUMN_REF];
    size_t size_pairs = (size_t)(r->end[COLUMN_SIZE] - size) / 2;
    size_t ref_pairs = (size_t)(r->end[COLUMN_REF] - ref) / 2;
    size_t pairs = size_pairs < ref_pairs ? size_pairs : ref_pairs;
    uint32_t end = pairs < count - done ? done + (uint32_t)pairs : count;
    for (; done < end; done++) {
        size_t size_two = size[0] >> 7, size_second = size[1] & (0 - size_two);
        size_t ref_two = ref[0] >> 7, ref_second = ref[1] & (0 - ref_two);
        if (__builtin_expect((size_second | ref_second) >= 0x80, 0))
            break;
        a->size[a->alloc_at[done]] = (size[0] & 0x7f) | size_second << 7;
        a->values[done] = (ref[0] & 0x7f) | ref_second << 7;
        size += 1 + size_two;
        ref += 1 + ref_two;
    }
    r->at[COLUMN_SIZE] = size;
    r->at[COLUMN_REF] = ref;
    return done;
}

/* Sizes, and the values of releases. */
static void chunk_decoder_sizes(struct chunk_decoder *r, uint32_t count)
{
    struct chunk_decoder_arrays *a = r->arrays;
    uint32_t both = r->block_frees < r->block_allocations ? r->block_frees : r->block_allocations;
    chunk_decoder_blank(r, a->size, count * sizeof *a->size);
    uint32_t done = chunk_decoder_pairs(r, 0, both), longer = 0;
    /* A longer one now and then. */
    for (; done < both && done >= longer * CHUNK_DECODER_RUN; done = chunk_decoder_pairs(r, done + 1, both)) {
        a->size[a->alloc_at[done]] = chunk_decoder_get(r, COLUMN_SIZE);
        a->values[done] = chunk_decoder_get(r, COLUMN_REF);
        longer++;
    }
    chunk_decoder_values(r, COLUMN_SIZE, a->size, a->alloc_at + done, r->block_allocations - done);
    chunk_decoder_values(r, COLUMN_REF, a->values + done, NULL, r->block_frees - done);
}

static void chunk_decoder_usables(struct chunk_decoder *r, uint32_t count)
{
    struct chunk_decoder_arrays *a = r->arrays;
    struct chunk_decoder_column c = chunk_decoder_begin(r, COLUMN_USABLE);
    chunk_decoder_blank(r, a->usable, count * sizeof *a->usable);
    for (uint32_t j = 0; j < r->block_allocations; j++) {
        /* Eight right guesses in a row. */
        while (c.end - c.at >= 8 && r->block_allocations - j > 8 && chunk_decoder_eight(c.at, 0xff) == 0) {
            for (uint32_t end = j + 8; j < end; j++)
                a->usable[a->alloc_at[j]] = expect_usable(&r->expect, a->size[a->alloc_at[j]]);
            c.at += 8;
        }
        uint32_t i = a->alloc_at[j];
        uint64_t size = a->size[i], odd = chunk_decoder_column_get(&c);
        uint64_t usable = expect_usable(&r->expect, size);
        if (__builtin_expect(odd != 0, 0)) {
            usable = size + varint_unzigzag(odd - 1);
            expect_learn(&r->expect, size, usable);
        }
        a->usable[i] = usable;
    }
    chunk_decoder_end(r, COLUMN_USABLE, &c);
}

static void chunk_decoder_addresses(struct chunk_decoder *r, uint32_t count)
{
    struct chunk_decoder_arrays *a = r->arrays;
    const uint8_t *low = r->at[COLUMN_ADDRESS_LOW];
    uint64_t address = r->address;
    chunk_decoder_blank(r, a->address, count * sizeof *a->address);
    if ((size_t)(r->end[COLUMN_ADDRESS_LOW] - low) < r->block_allocations) {
        r->bad = true;
        return;
    }
    chunk_decoder_values(r, COLUMN_ADDRESS_HIGH, a->values, NULL, r->block_allocations);
    for (uint32_t j = 0; j < r->block_allocations; j++) {
        uint64_t value = a->values[j] << 8 | low[j];
        if (__builtin_expect(value == 0, 0))
            address += varint_unzigzag(chunk_decoder_get(r, COLUMN_ADDRESS_ODD));
        else
            address = ((address >> 4) + varint_unzigzag(value - 1)) << 4;
        a->address[a->alloc_at[j]] = address;
    }
    r->address = address;
    r->at[COLUMN_ADDRESS_LOW] = low + r->block_allocations;
}

/* Allocations are numbered; a release says how many were made since. */
static inline __attribute__((always_inline)) void chunk_decoder_number(struct chunk_decoder *r,
                                                                       bool has_others)
{
    struct chunk_decoder_arrays *a = r->arrays;
    uint64_t first = r->prelude.first_allocation + r->allocations;
    bool bad = false;
    for (uint32_t j = 0; j < r->block_frees; j++) {
        uint32_t i = a->free_at[j];
        uint64_t made = has_others ? a->number[i] : first + (i - j), ago = a->values[j];
        bad |= ago >= made;
        a->number[i] = made - 1 - ago;
    }
    for (uint32_t j = 0; j < r->block_allocations; j++)
        a->number[a->alloc_at[j]] = first + j;
    r->bad = r->bad || bad;
}

static void chunk_decoder_numbers(struct chunk_decoder *r)
{
    if (r->block_others > 0)
        chunk_decoder_number(r, true);
    else
        chunk_decoder_number(r, false);
}

static void chunk_decoder_previous(struct chunk_decoder *r)
{
    struct chunk_decoder_arrays *a = r->arrays;
    struct chunk_decoder_column c = chunk_decoder_begin(r, COLUMN_PREVIOUS);
    if (a->has_previous)
        memset(a->previous, 0, sizeof a->previous);
    a->has_previous = false;
    for (uint32_t j = 0; j < r->block_allocations; j++) {
        uint32_t i = a->alloc_at[j];
        if (__builtin_expect(a->detail[i] != KIND_REALLOC, 1))
            continue;
        uint64_t ago = chunk_decoder_column_get(&c);
        c.bad = c.bad || ago > a->number[i];
        a->previous[i] = ago == 0 ? 0 : a->number[i] - ago + 1;
        a->has_previous = true;
    }
    chunk_decoder_end(r, COLUMN_PREVIOUS, &c);
}

static void chunk_decoder_other(struct chunk_decoder *r, uint32_t i)
{
    struct chunk_decoder_arrays *a = r->arrays;
    a->detail[i] = 0;
    uint64_t type = chunk_decoder_get(r, COLUMN_RARE), length = chunk_decoder_get(r, COLUMN_RARE);
    struct cursor c;
    cursor_init(&c, r->at[COLUMN_RARE], (size_t)(r->end[COLUMN_RARE] - r->at[COLUMN_RARE]));
    const uint8_t *record = length > FORMAT_PAYLOAD_MAX ? NULL : cursor_take(&c, (size_t)length);
    if (r->bad || record == NULL) {
        r->bad = true;
        a->event[i] = WAKE_OTHER;
        return;
    }
    r->at[COLUMN_RARE] += length;
    cursor_init(&c, record, (size_t)length);
    a->event[i] = WAKE_OTHER;
    switch (type) {
    case RARE_FREE_UNKNOWN:
        a->event[i] = WAKE_FREE_UNKNOWN;
        a->detail[i] = (uint8_t)cursor_uleb(&c);
        a->address[i] = cursor_uleb(&c);
        a->stack[i] = cursor_left(&c) == 0 ? 0 : (uint32_t)cursor_uleb(&c);
        break;
    case RARE_MAP:
    case RARE_UNMAP:
        a->event[i] = type == RARE_MAP ? WAKE_MAP : WAKE_UNMAP;
        a->stack[i] = (uint32_t)cursor_uleb(&c);
        a->address[i] = cursor_uleb(&c);
        a->size[i] = cursor_uleb(&c);
        if (type == RARE_MAP) {
            a->usable[i] = cursor_uleb(&c) & UINT32_MAX;
            a->usable[i] |= cursor_uleb(&c) << 32;
        }
        break;
    case RARE_BRK:
        a->event[i] = WAKE_BRK;
        a->stack[i] = (uint32_t)cursor_uleb(&c);
        a->address[i] = cursor_uleb(&c);
        a->usable[i] = cursor_uleb(&c);
        break;
    case RARE_MARK:
        a->event[i] = WAKE_MARK;
        a->number[i] = cursor_uleb(&c);
        break;
    case RARE_POOL_ALLOC:
    case RARE_POOL_FREE:
        a->event[i] = type == RARE_POOL_ALLOC ? WAKE_POOL_ALLOC : WAKE_POOL_FREE;
        a->number[i] = cursor_uleb(&c);
        a->stack[i] = (uint32_t)cursor_uleb(&c);
        a->address[i] = cursor_uleb(&c);
        a->size[i] = cursor_uleb(&c);
        break;
    case RARE_LOST:
        a->event[i] = WAKE_LOST;
        a->detail[i] = (uint8_t)cursor_uleb(&c);
        a->size[i] = cursor_uleb(&c);
        break;
    default: /* of a later version of the format */
        break;
    }
    r->bad = r->bad || cursor_is_bad(&c);
}

static void chunk_decoder_finish(struct chunk_decoder *r)
{
    bool ends_in_time = (r->wanted & WAKE_TIME) == 0 || r->time_ns == r->prelude.last_ns;
    bool consumed = r->allocations == r->prelude.allocations && r->frees == r->prelude.frees && ends_in_time;
    for (unsigned i = 1; i < COLUMN_COUNT; i++)
        consumed = consumed && r->at[i] == r->end[i];
    r->bad = r->bad || !consumed;
}

static void chunk_decoder_publish(struct chunk_decoder *r, uint32_t count)
{
    const struct chunk_decoder_arrays *a = r->arrays;
    r->block = (struct wake_block){
        .process = r->process,
        .count = count,
        .is_of_one_thread = r->is_of_one_thread,
        .has_previous = a->has_previous,
        .first_event = r->prelude.first_event + r->done,
        .event = a->event,
        .detail = a->detail,
        .time_ns = a->time_ns,
        .thread = a->thread,
        .stack = a->stack,
        .address = a->address,
        .size = a->size,
        .usable = a->usable,
        .number = a->number,
        .previous = a->previous,
        .arena = a->arena,
        .alloc_at = a->alloc_at,
        .free_at = a->free_at,
        .alloc_count = r->block_allocations,
        .free_count = r->block_frees,
        .match_at = a->alloc_at,
        .match_count = r->block_allocations,
    };
}

bool chunk_decoder_next(struct chunk_decoder *r)
{
    uint32_t left = r->prelude.events - r->done;
    uint32_t count = left < WAKE_BLOCK_MAX ? left : WAKE_BLOCK_MAX;
    if (count == 0 || r->bad)
        return false;
    classify_events_block(r, count);
    if ((r->wanted & WAKE_TIME) != 0)
        chunk_decoder_times(r, count);
    if ((r->wanted & WAKE_SIZE) != 0)
        chunk_decoder_sizes(r, count);
    else
        chunk_decoder_values(r, COLUMN_REF, r->arrays->values, NULL, r->block_frees);
    chunk_decoder_numbers(r);
    if ((r->wanted & WAKE_THREAD) != 0)
        chunk_decoder_threads(r, count);
    if ((r->wanted & WAKE_STACK) != 0)
        chunk_decoder_stacks(r, count);
    if ((r->wanted & WAKE_FREE_STACK) != 0)
        chunk_decoder_free_stacks(r);
    if ((r->wanted & WAKE_USABLE) != 0)
        chunk_decoder_usables(r, count);
    if ((r->wanted & WAKE_ADDRESS) != 0)
        chunk_decoder_addresses(r, count);
    if ((r->wanted & WAKE_ARENA) != 0)
        chunk_decoder_arenas_decode(r);
    if ((r->wanted & WAKE_PREVIOUS) != 0)
        chunk_decoder_previous(r);
    for (uint32_t j = 0; j < r->block_others && !r->bad; j++)
        chunk_decoder_other(r, r->arrays->other_at[j]);
    if (r->bad)
        return false;
    r->at[COLUMN_OP] += count;
    r->allocations += r->block_allocations;
    r->frees += r->block_frees;
    chunk_decoder_publish(r, count);
    r->done += count;
    if (r->done == r->prelude.events)
        chunk_decoder_finish(r);
    return true;
}
