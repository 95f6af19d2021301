/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cursor: a bounded reader over bytes that somebody else made.
 *
 *     begin ---- at ------------- end
 *                ^ next byte to be read
 *
 * Invariants
 *  1. at never passes end.
 *  2. After the first read that does not fit, `bad` stays set, every further
 *     read gives zero and at stands still: a parser reads straight down and
 *     asks cursor_is_bad() once.
 *
 * No allocation, no errno, no libc: safe in the probe and in signal handlers.
 */
#ifndef HW_BASE_CURSOR_H
#define HW_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
    const uint8_t *begin;
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static inline void cursor_init(struct cursor *c, const void *bytes, size_t length)
{
    c->begin = bytes;
    c->at = c->begin;
    c->end = c->begin + length;
    c->bad = false;
}

static inline bool cursor_is_bad(const struct cursor *c)
{
    return c->bad;
}

static inline size_t cursor_left(const struct cursor *c)
{
    return c->bad ? 0 : (size_t)(c->end - c->at);
}

static inline size_t cursor_offset(const struct cursor *c)
{
    return (size_t)(c->at - c->begin);
}

/* The next `length` bytes, or NULL when they are not there. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t length)
{
    if (c->bad || (size_t)(c->end - c->at) < length) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *bytes = c->at;
    c->at += length;
    return bytes;
}

static inline void cursor_skip(struct cursor *c, size_t length)
{
    (void)cursor_take(c, length);
}

/* Fixed-width reads are little-endian and need no alignment. */
static inline uint64_t cursor_le(struct cursor *c, unsigned width)
{
    const uint8_t *bytes = cursor_take(c, width);
    uint64_t value = 0;
    if (bytes != NULL)
        __builtin_memcpy(&value, bytes, width);
    return value;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)cursor_le(c, 1);
}

static inline uint16_t cursor_u16(struct cursor *c)
{
    return (uint16_t)cursor_le(c, 2);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    return (uint32_t)cursor_le(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
    return cursor_le(c, 8);
}

/* LEB128 as DWARF and our own columns use it; more than ten bytes, or bits
 * beyond the 64th, make the cursor bad. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cursor_u8(c);
        if (c->bad)
            return 0;
        if (shift == 63 && (byte & 0x7e) != 0)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    c->bad = true;
    return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cursor_u8(c);
        if (c->bad)
            return 0;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            if (shift + 7 < 64 && (byte & 0x40) != 0)
                value |= ~UINT64_C(0) << (shift + 7);
            return (int64_t)value;
        }
    }
    c->bad = true;
    return 0;
}

/* A NUL-terminated string inside the bounds, or NULL. */
static inline const char *cursor_string(struct cursor *c)
{
    const uint8_t *start = c->at;
    while (!c->bad) {
        if (cursor_u8(c) == 0)
            return c->bad ? NULL : (const char *)start;
    }
    return NULL;
}

/* A record with its length before it; what a reader does not know of it is at its end. */
static inline bool cursor_take_record(struct cursor *c, struct cursor *record)
{
    uint64_t length = cursor_uleb(c);
    const uint8_t *bytes = cursor_take(c, length > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)length);
    if (bytes != NULL)
        cursor_init(record, bytes, (size_t)length);
    return bytes != NULL;
}

#endif
