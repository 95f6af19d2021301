/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * salvage: finds the chunks of a recording.
 *
 * The quick way: the last bytes are a sound end chunk, it names the index, the
 * index names everything.  Otherwise the file is walked from header to header,
 * hopping over payloads; where no sound header stands, the next one is looked
 * for byte by byte.  What is found between is as good as ever: each chunk
 * vouches for itself.
 *
 * An end chunk that stands before the last bytes counts as long as nothing
 * follows but what may be added to a closed recording: somebody began to add
 * names and was stopped.
 */
#include "store/recording.h"

#include <stdlib.h>
#include <string.h>

#include "store/format.h"
#include "tool/file.h"
#include "tool/memory.h"

enum {
    SALVAGE_WINDOW = 256 << 10 /* bytes looked at in one read while searching */
};

/* ---------------------------------------------------------- the quick way */

enum { SALVAGE_END = FORMAT_CHUNK_HEADER_SIZE + FORMAT_END_SIZE };

/* Takes what the end chunk at offset says; false: there is none. */
static bool salvage_read_end(struct wake_reader *r, uint64_t offset, uint64_t *index_offset,
                             uint32_t *index_chunks)
{
    uint8_t bytes[FORMAT_CHUNK_HEADER_SIZE + FORMAT_END_SIZE];
    struct chunk_header h;
    size_t got;
    if (file_read_at(r->fd, bytes, sizeof bytes, offset, &got) != 0 || got < sizeof bytes ||
        !chunk_header_decode(bytes, &h))
        return false;
    const uint8_t *payload = bytes + FORMAT_CHUNK_HEADER_SIZE;
    if (h.type != FORMAT_END || h.stored != FORMAT_END_SIZE || h.flags != FORMAT_PLAIN ||
        h.sum != codec_sum(payload, FORMAT_END_SIZE))
        return false;
    struct cursor c;
    cursor_init(&c, payload, FORMAT_END_SIZE);
    *index_offset = cursor_u64(&c);
    *index_chunks = cursor_u32(&c);
    r->summary.write_error = (int)cursor_u32(&c);
    cursor_skip(&c, 8);
    r->summary.not_kept = cursor_u64(&c);
    r->summary.collector_cpu_ns = cursor_u64(&c);
    r->summary.end_wall_ns = cursor_u64(&c);
    r->summary.unrecorded = cursor_u64(&c);
    r->summary.closed = true;
    return *index_offset >= r->begin && *index_offset <= offset;
}

/* The entries fit the file: in order, and before the index. */
static bool salvage_index_fits(const struct wake_reader *r, uint64_t index_offset)
{
    uint64_t end = r->begin;
    for (size_t i = 0; i < r->index.entries.count; i++) {
        const struct index_entry *e = &r->index.entries.data[i];
        if (e->offset < end || index_entry_end(e) > index_offset)
            return false;
        end = index_entry_end(e);
    }
    return true;
}

static int salvage_from_end(struct wake_reader *r)
{
    uint64_t index_offset;
    uint32_t pieces;
    if (r->size < r->begin + SALVAGE_END ||
        !salvage_read_end(r, r->size - SALVAGE_END, &index_offset, &pieces))
        return ERR_INPUT;
    r->chunks_end = index_offset;
    uint64_t offset = index_offset;
    for (uint32_t i = 0; i < pieces; i++) {
        struct index_entry e = {.offset = offset, .type = FORMAT_INDEX, .process = FORMAT_NO_PROCESS};
        struct chunk_header h;
        struct payload p;
        if (!recording_read_header(r, offset, &h) || h.type != FORMAT_INDEX)
            return ERR_INPUT;
        e.stored = h.stored;
        int code = recording_read(r, &e, &p);
        if (code != 0)
            return code;
        if (!index_decode(&r->index, p.bytes, p.length))
            return ERR_INPUT;
        offset = index_entry_end(&e);
    }
    return salvage_index_fits(r, index_offset) ? 0 : ERR_INPUT;
}

/* ------------------------------------------------------------- the long way */

/* The next place from offset on where a sound chunk header stands; r->size: none. */
static uint64_t salvage_search(struct wake_reader *r, uint64_t offset, uint8_t *window)
{
    const uint32_t magic = FORMAT_CHUNK_MAGIC;
    while (offset + FORMAT_CHUNK_HEADER_SIZE <= r->size) {
        size_t got;
        if (file_read_at(r->fd, window, SALVAGE_WINDOW, offset, &got) != 0 || got < FORMAT_CHUNK_HEADER_SIZE)
            break;
        const uint8_t *last = window + got - FORMAT_CHUNK_HEADER_SIZE;
        for (const uint8_t *at = window; at <= last; at++) {
            struct chunk_header h;
            at = memmem(at, (size_t)(last - at) + sizeof magic, &magic, sizeof magic);
            if (at == NULL)
                break;
            if (chunk_header_decode(at, &h))
                return offset + (uint64_t)(at - window);
        }
        offset += got - FORMAT_CHUNK_HEADER_SIZE + 1;
    }
    return r->size;
}

/* Adds the chunk at offset; 0, ERR_INPUT: an events chunk without a sound prelude. */
static int salvage_add(struct wake_reader *r, uint64_t offset, const struct chunk_header *h)
{
    struct index_entry e = {.offset = offset, .type = h->type, .process = h->process, .stored = h->stored};
    if (h->type == FORMAT_EVENTS) {
        uint8_t prelude[FORMAT_PRELUDE_SIZE];
        size_t got;
        if (h->stored < sizeof prelude ||
            file_read_at(r->fd, prelude, sizeof prelude, offset + FORMAT_CHUNK_HEADER_SIZE, &got) != 0 ||
            got < sizeof prelude || !events_prelude_decode(prelude, &e.events))
            return ERR_INPUT;
    }
    return vec_push(&r->index.entries, e) ? 0 : ERR_MEMORY;
}

/* Is the recording closed, after a chunk of this type? */
static void salvage_note_end(struct wake_reader *r, uint64_t offset, const struct chunk_header *h)
{
    uint64_t index_offset;
    uint32_t pieces;
    if (h->type == FORMAT_END)
        (void)salvage_read_end(r, offset, &index_offset, &pieces);
    else if (!chunk_type_get(h->type)->is_added)
        r->summary.closed = false;
}

/* A chunk that is not whole yet is no damage while somebody writes it. */
static bool salvage_is_growing(const struct wake_reader *r)
{
    return r->may_grow && recording_is_being_written(r);
}

int salvage_scan(struct wake_reader *r)
{
    uint8_t *window = memory_new(SALVAGE_WINDOW);
    if (window == NULL)
        return ERR_MEMORY;
    int code = 0;
    uint64_t offset = r->chunks_end;
    bool had_end = r->summary.closed;
    while (offset < r->size && code != ERR_MEMORY) {
        struct chunk_header h;
        if (!recording_read_header(r, offset, &h)) {
            if (r->size - offset < FORMAT_CHUNK_HEADER_SIZE && salvage_is_growing(r))
                break;
            uint64_t next = salvage_search(r, offset + 1, window);
            recording_damage(r, offset,
                             "%llu bytes from byte %llu on are not a whole chunk and are left out.",
                             (unsigned long long)(next - offset), (unsigned long long)offset);
            /* Nothing can be in a part of a header, nor behind the end of a recording. */
            if (next == r->size && (r->summary.closed || next - offset < FORMAT_CHUNK_HEADER_SIZE))
                break;
            offset = next;
            continue;
        }
        uint64_t end = offset + FORMAT_CHUNK_HEADER_SIZE + h.stored;
        if (end > r->size && salvage_is_growing(r))
            break;
        if (end > r->size) {
            recording_damage(r, offset, "The file ends inside the %s chunk at byte %llu.",
                             chunk_type_get(h.type)->name, (unsigned long long)offset);
            break;
        }
        salvage_note_end(r, offset, &h);
        code = salvage_add(r, offset, &h);
        if (code == ERR_INPUT)
            recording_damage(r, offset,
                             "The events chunk at byte %llu (%u bytes) is damaged and is left out.",
                             (unsigned long long)offset, h.stored);
        offset = end;
    }
    r->chunks_end = offset;
    r->summary.closed |= had_end;
    free(window);
    return code == ERR_MEMORY ? code : 0;
}

int salvage_index(struct wake_reader *r)
{
    int code = salvage_from_end(r);
    if (code == 0)
        return 0;
    if (code == ERR_MEMORY)
        return code;
    /* An end without a sound index still tells how the writer fared. */
    r->index.entries.count = 0;
    r->is_scanned = true;
    r->chunks_end = r->begin;
    return salvage_scan(r);
}
