/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memtraq_records: the log of memtraq 0.6, as its library writes it or sends it
 * by UDP.  Numbers are those of the machine, little-endian here:
 *
 *     u32 bytes of the record, all of it     u64 serial, from 1     u32 event
 *     u64 microseconds                       u32 thread             then, by event,
 *
 *     0 init      u32 enabled
 *     1 malloc    u32 size, pointer, frames
 *     2 free      pointer [frames]
 *     3 realloc   pointer, u32 size, pointer, frames
 *     4 tag       name, u32 serial
 *
 * A pointer has 4 or 8 bytes, which no record says.  Whatever length of a payload is no
 * multiple of 8 tells that they have 4; the first records are asked.
 */
#include "import/memtraq_log.h"

#include <string.h>

#include "base/cursor.h"
#include "wire/record.h"

enum {
    MEMTRAQ_HEAD = 28,
    MEMTRAQ_RECORD_MAX = 1024,
    MEMTRAQ_LOOK = 256 << 10, /* bytes that are asked how long a pointer is */
};

enum memtraq_event {
    MEMTRAQ_INIT,
    MEMTRAQ_MALLOC,
    MEMTRAQ_FREE,
    MEMTRAQ_REALLOC,
    MEMTRAQ_TAG,
    MEMTRAQ_COUNT
};

struct memtraq_record {
    uint32_t length, event, thread;
    uint64_t serial, us;
};

/* False: what stands there is no record. */
static bool memtraq_record_decode(struct memtraq_record *r, struct cursor *c)
{
    r->length = cursor_u32(c);
    r->serial = cursor_u64(c);
    r->event = cursor_u32(c);
    r->us = cursor_u64(c);
    r->thread = cursor_u32(c);
    return !cursor_is_bad(c) && r->length >= MEMTRAQ_HEAD && r->length <= MEMTRAQ_RECORD_MAX &&
           r->event < MEMTRAQ_COUNT;
}

bool memtraq_records_is_one(const char *head, size_t length)
{
    struct memtraq_record r;
    struct cursor c;
    cursor_init(&c, head, length);
    return memtraq_record_decode(&r, &c);
}

static unsigned memtraq_pointer_size(struct feed *feed)
{
    struct memtraq_record r;
    struct cursor c;
    size_t length;
    const char *head = feed_peek(feed, MEMTRAQ_LOOK, &length);
    cursor_init(&c, head, length);
    while (memtraq_record_decode(&r, &c)) {
        uint32_t numbers = r.event == MEMTRAQ_MALLOC || r.event == MEMTRAQ_REALLOC ? 4 : 0;
        bool has_pointers = r.event >= MEMTRAQ_MALLOC && r.event <= MEMTRAQ_REALLOC;
        if (has_pointers && (r.length - MEMTRAQ_HEAD - numbers) % 8 != 0)
            return 4;
        cursor_skip(&c, r.length - MEMTRAQ_HEAD);
    }
    return 8;
}

static uint32_t memtraq_records_stack(struct memtraq_log *m, struct cursor *c, unsigned pointer)
{
    m->frames.count = 0;
    while (cursor_left(c) >= pointer) {
        uint64_t address = cursor_le(c, pointer);
        if (!vec_push(&m->frames, ((struct wake_frame){address & ~RECORD_FRAME_EXACT, 0})))
            m->failed = true;
    }
    return recast_stack(m->job->recast, m->frames.data, m->frames.count);
}

static void memtraq_records_event(struct memtraq_log *m, const struct memtraq_record *r, struct cursor *c,
                                  unsigned pointer)
{
    if (r->event == MEMTRAQ_INIT)
        return;
    memtraq_log_begin_event(m, r->us, r->thread, NULL, 0);
    if (r->event == MEMTRAQ_MALLOC) {
        uint64_t size = cursor_u32(c), address = cursor_le(c, pointer);
        uint32_t stack = memtraq_records_stack(m, c, pointer);
        if (!cursor_is_bad(c))
            addressed_alloc(&m->addressed, KIND_MALLOC, stack, address, size, 0);
    } else if (r->event == MEMTRAQ_FREE) {
        uint64_t address = cursor_le(c, pointer);
        uint32_t stack = memtraq_records_stack(m, c, pointer);
        if (!cursor_is_bad(c))
            memtraq_log_free(m, address, stack);
    } else if (r->event == MEMTRAQ_REALLOC) {
        uint64_t old = cursor_le(c, pointer), size = cursor_u32(c), address = cursor_le(c, pointer);
        uint32_t stack = memtraq_records_stack(m, c, pointer);
        if (!cursor_is_bad(c))
            memtraq_log_realloc(m, old, size, address, stack);
    } else {
        size_t length = cursor_left(c) < 4 ? 0 : cursor_left(c) - 4;
        const uint8_t *name = cursor_take(c, length);
        recast_mark(m->job->recast, (const char *)name, length);
    }
}

int memtraq_records_read(struct memtraq_log *m, struct err *err)
{
    struct feed *feed = m->job->feed;
    unsigned pointer = memtraq_pointer_size(feed);
    uint64_t serial = 0, lost = 0;
    int code = feed_check(feed, err);
    size_t left;
    while (code == 0 && (feed_peek(feed, 1, &left), left) > 0) {
        struct memtraq_record r;
        struct cursor c;
        uint64_t offset = feed_offset(feed);
        const uint8_t *head = feed_bytes(feed, MEMTRAQ_HEAD);
        cursor_init(&c, head, head == NULL ? 0 : MEMTRAQ_HEAD);
        if (!memtraq_record_decode(&r, &c))
            return feed_refuse_byte(feed, offset, err, "this is no record of memtraq.");
        const uint8_t *payload = feed_bytes(feed, r.length - MEMTRAQ_HEAD);
        cursor_init(&c, payload, payload == NULL ? 0 : r.length - MEMTRAQ_HEAD);
        if (payload != NULL)
            memtraq_records_event(m, &r, &c, pointer);
        if (payload == NULL || cursor_is_bad(&c))
            return feed_refuse_byte(feed, offset, err, "this record of memtraq is cut.");
        lost += serial != 0 && r.serial > serial + 1 ? r.serial - serial - 1 : 0;
        serial = r.serial;
        code = recast_check(m->job->recast, err);
        if (code == 0 && (m->failed || m->addressed.failed))
            code = err_no_memory(err);
    }
    if (lost > 0)
        recast_note(m->job->recast, "%llu records were lost on their way.", (unsigned long long)lost);
    recast_note(m->job->recast,
                "The log has addresses and no files: 'heapwake symbolize --maps' names them, with a "
                "copy of /proc/PID/maps.");
    return code;
}
