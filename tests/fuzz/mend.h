/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * mend: puts the checksums of a damaged recording right and marks its payloads as
 * not compressed, so that a fuzzer gets past them.
 */
#ifndef MEND_H
#define MEND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "store/codec.h"
#include "store/format.h"

/* Marks the columns of an events payload as plain where their lengths allow it. */
static inline void mend_events(uint8_t *payload, size_t length)
{
    if (length < FORMAT_PRELUDE_SIZE)
        return;
    put_le64(payload + 88, codec_sum(payload, 88));
    uint32_t columns;
    memcpy(&columns, payload + 44, 4);
    for (size_t i = 0; i < columns % 32; i++) {
        uint8_t *entry = payload + FORMAT_PRELUDE_SIZE + i * FORMAT_COLUMN_ENTRY_SIZE;
        if (entry + FORMAT_COLUMN_ENTRY_SIZE > payload + length)
            return;
        if (entry[2] == FORMAT_PLAIN)
            memcpy(entry + 4, entry + 8, 4);
    }
}

/* Puts the checksum of what stands before a piece of a binary right. */
static inline void mend_binary(uint8_t *payload, size_t length)
{
    uint16_t id;
    uint32_t path;
    if (length < 40)
        return;
    memcpy(&id, payload + 22, 2);
    memcpy(&path, payload + 24, 4);
    if (id <= 256 && path <= 4096 && 40 + (size_t)id + path <= length)
        put_le64(payload + 32 + id + path, codec_sum(payload, 32 + (size_t)id + path));
}

static inline void mend(uint8_t *bytes, size_t size)
{
    if (size < FORMAT_HEADER_SIZE)
        return;
    file_header_encode(bytes, &(struct file_header){.major = 1, .length = FORMAT_HEADER_SIZE});
    size_t at = FORMAT_HEADER_SIZE;
    while (size - at >= FORMAT_CHUNK_HEADER_SIZE) {
        struct cursor c;
        struct chunk_header h;
        cursor_init(&c, bytes + at + 4, FORMAT_CHUNK_HEADER_SIZE);
        h.type = cursor_u16(&c);
        h.flags = cursor_u16(&c);
        h.process = cursor_u32(&c);
        h.raw = cursor_u32(&c);
        h.stored = cursor_u32(&c);
        size_t left = size - at - FORMAT_CHUNK_HEADER_SIZE;
        if (h.stored > left)
            h.stored = (uint32_t)left;
        if (h.flags == FORMAT_PLAIN)
            h.raw = h.stored;
        uint8_t *payload = bytes + at + FORMAT_CHUNK_HEADER_SIZE;
        if (h.type == FORMAT_EVENTS)
            mend_events(payload, h.stored);
        if (h.type == FORMAT_BINARY)
            mend_binary(payload, h.stored);
        h.sum = codec_sum(payload, h.stored);
        chunk_header_encode(bytes + at, &h);
        at += FORMAT_CHUNK_HEADER_SIZE + h.stored;
    }
}

#endif
