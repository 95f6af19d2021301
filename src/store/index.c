/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * index: see index.h.
 *
 *     index payload   varint count, then count entries:
 *       varint offset - end of the chunk before (0 in a sound file; the first:
 *       the offset itself), varint type, varint process + 1 (0 = none), varint
 *       stored length, and for an events chunk its prelude as varints.
 *
 *     prelude, fixed width, first in an events payload
 *        0 8 first event        40 4 frees               72 8 live blocks before
 *        8 8 first allocation   44 4 columns             80 8 live blocks after
 *       16 8 first ns           48 8 live bytes before   88 8 checksum of 0..87
 *       24 8 last ns            56 8 live bytes after
 *       32 4 events             64 8 live bytes at most
 *       36 4 allocations
 */
#include "store/index.h"

#include "store/codec.h"
#include "store/format.h"

uint64_t index_entry_end(const struct index_entry *e)
{
    return e->offset + FORMAT_CHUNK_HEADER_SIZE + e->stored;
}

void events_prelude_encode(uint8_t *to, const struct events_prelude *p)
{
    put_le64(to, p->first_event);
    put_le64(to + 8, p->first_allocation);
    put_le64(to + 16, p->first_ns);
    put_le64(to + 24, p->last_ns);
    put_le32(to + 32, p->events);
    put_le32(to + 36, p->allocations);
    put_le32(to + 40, p->frees);
    put_le32(to + 44, p->columns);
    put_le64(to + 48, p->live_bytes_first);
    put_le64(to + 56, p->live_bytes_last);
    put_le64(to + 64, p->live_bytes_max);
    put_le64(to + 72, p->live_blocks_first);
    put_le64(to + 80, p->live_blocks_last);
    put_le64(to + 88, codec_sum(to, 88));
}

static bool prelude_is_sound(const struct events_prelude *p)
{
    return p->events > 0 && p->events <= FORMAT_EVENTS_MAX && p->first_ns <= p->last_ns &&
           p->columns <= 255 && p->allocations <= p->events && p->frees <= p->events - p->allocations &&
           p->first_event <= UINT64_MAX - p->events && p->first_allocation <= UINT64_MAX - p->allocations;
}

bool events_prelude_decode(const uint8_t *from, struct events_prelude *p)
{
    struct cursor c;
    cursor_init(&c, from, FORMAT_PRELUDE_SIZE);
    p->first_event = cursor_u64(&c);
    p->first_allocation = cursor_u64(&c);
    p->first_ns = cursor_u64(&c);
    p->last_ns = cursor_u64(&c);
    p->events = cursor_u32(&c);
    p->allocations = cursor_u32(&c);
    p->frees = cursor_u32(&c);
    p->columns = cursor_u32(&c);
    p->live_bytes_first = cursor_u64(&c);
    p->live_bytes_last = cursor_u64(&c);
    p->live_bytes_max = cursor_u64(&c);
    p->live_blocks_first = cursor_u64(&c);
    p->live_blocks_last = cursor_u64(&c);
    return cursor_u64(&c) == codec_sum(from, 88) && prelude_is_sound(p);
}

static void prelude_add(struct strbuf *to, const struct events_prelude *p)
{
    strbuf_add_varint(to, p->first_event);
    strbuf_add_varint(to, p->first_allocation);
    strbuf_add_varint(to, p->first_ns);
    strbuf_add_varint(to, p->last_ns - p->first_ns);
    strbuf_add_varint(to, p->events);
    strbuf_add_varint(to, p->allocations);
    strbuf_add_varint(to, p->frees);
    strbuf_add_varint(to, p->columns);
    strbuf_add_varint(to, p->live_bytes_first);
    strbuf_add_varint(to, p->live_bytes_last);
    strbuf_add_varint(to, p->live_bytes_max);
    strbuf_add_varint(to, p->live_blocks_first);
    strbuf_add_varint(to, p->live_blocks_last);
}

void index_encode(const struct index *index, size_t first, size_t count, struct strbuf *to)
{
    uint64_t end = 0;
    strbuf_add_varint(to, count);
    for (size_t i = first; i < first + count; i++) {
        const struct index_entry *e = &index->entries.data[i];
        strbuf_add_varint(to, e->offset - end);
        strbuf_add_varint(to, e->type);
        strbuf_add_varint(to, e->process == FORMAT_NO_PROCESS ? 0 : (uint64_t)e->process + 1);
        strbuf_add_varint(to, e->stored);
        if (e->type == FORMAT_EVENTS)
            prelude_add(to, &e->events);
        end = index_entry_end(e);
    }
}

static bool prelude_take(struct cursor *c, struct events_prelude *p)
{
    p->first_event = cursor_uleb(c);
    p->first_allocation = cursor_uleb(c);
    p->first_ns = cursor_uleb(c);
    uint64_t span = cursor_uleb(c);
    uint64_t events = cursor_uleb(c), allocations = cursor_uleb(c), frees = cursor_uleb(c),
             columns = cursor_uleb(c);
    p->live_bytes_first = cursor_uleb(c);
    p->live_bytes_last = cursor_uleb(c);
    p->live_bytes_max = cursor_uleb(c);
    p->live_blocks_first = cursor_uleb(c);
    p->live_blocks_last = cursor_uleb(c);
    if ((events | allocations | frees | columns) > UINT32_MAX || span > UINT64_MAX - p->first_ns)
        return false;
    p->last_ns = p->first_ns + span;
    p->events = (uint32_t)events;
    p->allocations = (uint32_t)allocations;
    p->frees = (uint32_t)frees;
    p->columns = (uint32_t)columns;
    return prelude_is_sound(p);
}

bool index_decode(struct index *index, const uint8_t *bytes, size_t length)
{
    struct cursor c;
    cursor_init(&c, bytes, length);
    uint64_t end = 0;
    uint64_t count = cursor_uleb(&c);
    /* An entry takes at least four bytes: no memory for entries that cannot be there. */
    if (count > length / 4)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct index_entry e = {0};
        uint64_t gap = cursor_uleb(&c), type = cursor_uleb(&c), process = cursor_uleb(&c),
                 stored = cursor_uleb(&c);
        if (gap > INT64_MAX || type > UINT16_MAX || process > UINT32_MAX || stored > FORMAT_PAYLOAD_MAX)
            return false;
        e.offset = end + gap;
        e.type = (uint16_t)type;
        e.process = process == 0 ? FORMAT_NO_PROCESS : (uint32_t)(process - 1);
        e.stored = (uint32_t)stored;
        if (type == FORMAT_EVENTS && !prelude_take(&c, &e.events))
            return false;
        end = index_entry_end(&e);
        if (cursor_is_bad(&c) || end > INT64_MAX || !vec_push(&index->entries, e))
            return false;
    }
    return true;
}

void index_release(struct index *index)
{
    vec_release(&index->entries);
}
