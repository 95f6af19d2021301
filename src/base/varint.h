/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * varint: unsigned LEB128, seven bits a byte, low bits first, and the zigzag
 * map that gives small numbers to small differences of either sign.
 *
 *     0 -> 0, -1 -> 1, 1 -> 2, -2 -> 3 ...
 *
 * Encoding writes to a pointer: the caller has made room for VARINT_MAX bytes.
 * Decoding is bounded; anything that is not a whole varint of at most 64 bits
 * gives NULL.  (base/cursor.h reads the same bytes, slower, with a sticky error.)
 *
 * No allocation, no libc.
 */
#ifndef HW_BASE_VARINT_H
#define HW_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum {
    VARINT_MAX = 10 /* bytes that a varint may take, and that varint_put may touch */
};

static inline uint64_t varint_zigzag(uint64_t difference)
{
    return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t varint_unzigzag(uint64_t value)
{
    return (value >> 1) ^ (0 - (value & 1));
}

/* Writes value at p and gives the byte after it.  One or two bytes, the common
 * lengths, are told apart without a branch: in columns of sizes and distances
 * no predictor can guess between them. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t value)
{
    while (__builtin_expect(value >= 1u << 14, 0)) {
        *p++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    unsigned two = value >= 0x80;
    p[0] = (uint8_t)(value | two << 7);
    p[1] = (uint8_t)(value >> 7);
    return p + 1 + two;
}

static inline const uint8_t *varint_get_long(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    uint64_t sum = 0;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            break;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            return p;
        }
    }
    *value = 0;
    return NULL;
}

/* Reads the varint at p; the byte after it, or NULL when there is none. */
static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    if (__builtin_expect(p < end && *p < 0x80, 1)) {
        *value = *p;
        return p + 1;
    }
    return varint_get_long(p, end, value);
}

/* The same where one and two bytes are as likely as each other: told apart
 * without a branch.  Two bytes from p on must be readable, even past end. */
static inline const uint8_t *varint_get_padded(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    size_t two = p[0] >> 7;
    uint64_t second = p[1] & (0 - two);
    if (__builtin_expect(second >= 0x80, 0))
        return varint_get_long(p, end, value);
    *value = (p[0] & 0x7f) | second << 7;
    p += 1 + two;
    return p <= end ? p : NULL;
}

#endif
