/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * replay: the mirror of stream.c; what the columns hold is drawn there.
 *
 * The payload comes from a file and may say anything.  Columns are bounded by
 * their ends; a read past the end, a number that does not fit, or counts that
 * differ from the prelude set `bad`.
 */
#include "store/replay.h"

#include <stdlib.h>

#include "base/varint.h"
#include "wire/record.h"

void replay_init(struct replay *r)
{
    *r = (struct replay){0};
}

void replay_release(struct replay *r)
{
    free(r->raw);
    free(r->arrays);
    replay_init(r);
}

static bool replay_reserve(struct replay *r, size_t raw)
{
    if (r->arrays == NULL && (r->arrays = calloc(1, sizeof *r->arrays)) == NULL)
        return false;
    if (raw <= r->capacity)
        return true;
    free(r->raw);
    r->raw = malloc(raw);
    r->capacity = r->raw == NULL ? 0 : raw;
    return r->raw != NULL;
}

/* Sum of the raw lengths in the column directory; 0 = makes no sense. */
static size_t replay_raw_size(const struct replay *r, struct cursor directory)
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

static bool replay_unpack(struct replay *r, struct codec *codec, struct cursor directory)
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
        if (column == 0 || column >= COLUMN_COUNT)
            continue;
        if (r->at[column] != NULL || !codec_unpack(codec, to, raw, bytes, stored, flags))
            return false;
        r->at[column] = to;
        r->end[column] = to + raw;
        to += raw;
    }
    return true;
}

int replay_open(struct replay *r, struct codec *codec, uint32_t process, const uint8_t *payload,
                size_t length)
{
    struct cursor c;
    cursor_init(&c, payload, length);
    const uint8_t *prelude = cursor_take(&c, FORMAT_PRELUDE_SIZE);
    if (prelude == NULL || !events_prelude_decode(prelude, &r->prelude))
        return ERR_INPUT;
    size_t raw = replay_raw_size(r, c);
    if (raw == 0)
        return ERR_INPUT;
    if (!replay_reserve(r, raw))
        return ERR_MEMORY;
    for (unsigned i = 0; i < COLUMN_COUNT; i++)
        r->at[i] = r->end[i] = NULL;
    if (!replay_unpack(r, codec, c))
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
    r->bad = false;
    expect_init(&r->expect);
    return 0;
}

static inline uint64_t replay_get(struct replay *r, unsigned column)
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

static inline uint64_t replay_get_address(struct replay *r)
{
    if (__builtin_expect(r->at[COLUMN_ADDRESS_LOW] == r->end[COLUMN_ADDRESS_LOW], 0)) {
        r->bad = true;
        return 0;
    }
    uint64_t low = *r->at[COLUMN_ADDRESS_LOW]++;
    uint64_t value = replay_get(r, COLUMN_ADDRESS_HIGH) << 8 | low;
    if (__builtin_expect(value == 0, 0))
        r->address += varint_unzigzag(replay_get(r, COLUMN_ADDRESS_ODD));
    else
        r->address = ((r->address >> 4) + varint_unzigzag(value - 1)) << 4;
    return r->address;
}

static void replay_alloc(struct replay *r, unsigned op, uint32_t i)
{
    struct replay_arrays *a = r->arrays;
    if (op & OP_STACK)
        r->stack = (uint32_t)replay_get(r, COLUMN_STACK);
    uint64_t size = replay_get(r, COLUMN_SIZE);
    uint64_t odd = replay_get(r, COLUMN_USABLE);
    uint64_t usable = expect_usable(&r->expect, size);
    if (__builtin_expect(odd != 0, 0)) {
        usable = size + varint_unzigzag(odd - 1);
        expect_learn(&r->expect, size, usable);
    }
    uint64_t number = r->prelude.first_allocation + r->allocations++;
    uint64_t previous = 0;
    if (__builtin_expect((op & OP_CODE) == KIND_REALLOC, 0)) {
        uint64_t ago = replay_get(r, COLUMN_PREVIOUS);
        if (ago > number)
            r->bad = true;
        else if (ago != 0)
            previous = number - ago + 1;
    }
    a->event[i] = WAKE_ALLOC;
    a->detail[i] = op & OP_CODE;
    a->stack[i] = r->stack;
    a->address[i] = replay_get_address(r);
    a->size[i] = size;
    a->usable[i] = usable;
    a->number[i] = number;
    a->previous[i] = previous;
}

static void replay_blank(struct replay *r, uint32_t i)
{
    struct replay_arrays *a = r->arrays;
    a->detail[i] = 0;
    a->stack[i] = 0;
    a->address[i] = a->size[i] = a->usable[i] = a->number[i] = a->previous[i] = 0;
}

static void replay_free(struct replay *r, unsigned op, uint32_t i)
{
    struct replay_arrays *a = r->arrays;
    replay_blank(r, i);
    uint64_t made = r->prelude.first_allocation + r->allocations;
    uint64_t ago = replay_get(r, COLUMN_REF);
    if (ago >= made)
        r->bad = true;
    r->frees++;
    a->event[i] = WAKE_FREE;
    a->detail[i] = (uint8_t)((op & OP_CODE) - OP_FREE);
    a->number[i] = made - 1 - ago;
}

static void replay_rare(struct replay *r, uint32_t i)
{
    struct replay_arrays *a = r->arrays;
    replay_blank(r, i);
    uint64_t type = replay_get(r, COLUMN_RARE), length = replay_get(r, COLUMN_RARE);
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
    case RARE_LOST:
        a->event[i] = WAKE_LOST;
        a->detail[i] = (uint8_t)cursor_uleb(&c);
        a->size[i] = cursor_uleb(&c);
        break;
    }
    r->bad = r->bad || cursor_is_bad(&c);
}

static void replay_finish(struct replay *r)
{
    bool consumed = r->allocations == r->prelude.allocations && r->frees == r->prelude.frees &&
                    r->time_ns == r->prelude.last_ns;
    for (unsigned i = 1; i < COLUMN_COUNT; i++)
        consumed = consumed && r->at[i] == r->end[i];
    r->bad = r->bad || !consumed;
}

static void replay_publish(struct replay *r, uint32_t count)
{
    const struct replay_arrays *a = r->arrays;
    r->block = (struct wake_block){
        .process = r->process,
        .count = count,
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
    };
}

bool replay_next(struct replay *r)
{
    uint32_t left = r->prelude.events - r->done;
    uint32_t count = left < WAKE_BLOCK_MAX ? left : WAKE_BLOCK_MAX;
    if (count == 0 || r->bad)
        return false;
    const uint8_t *ops = r->at[COLUMN_OP];
    for (uint32_t i = 0; i < count; i++) {
        unsigned op = ops[i], code = op & OP_CODE;
        if ((op & OP_TIME) && __builtin_add_overflow(r->time_ns, replay_get(r, COLUMN_TIME), &r->time_ns))
            r->bad = true;
        if (op & OP_THREAD)
            r->thread += (uint32_t)varint_unzigzag(replay_get(r, COLUMN_THREAD));
        r->arrays->time_ns[i] = r->time_ns;
        r->arrays->thread[i] = r->thread;
        if (code - 1 < OP_ALLOC_MAX)
            replay_alloc(r, op, i);
        else if (code >= OP_FREE && code <= OP_FREE_MAX)
            replay_free(r, op, i);
        else if (code == OP_RARE)
            replay_rare(r, i);
        else
            r->bad = true;
        if (__builtin_expect(r->bad, 0))
            return false;
    }
    r->at[COLUMN_OP] += count;
    replay_publish(r, count);
    r->done += count;
    if (r->done == r->prelude.events)
        replay_finish(r);
    return true;
}
