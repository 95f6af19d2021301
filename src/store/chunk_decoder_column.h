/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_decoder_column: values of one column after the other, for the loops of replay.c.
 */
#ifndef HW_STORE_CHUNK_DECODER_COLUMN_H
#define HW_STORE_CHUNK_DECODER_COLUMN_H

#include "base/varint.h"
#include "store/chunk_decoder.h"

/* A column while one loop reads it. */
struct chunk_decoder_column {
    const uint8_t *at, *end;
    bool bad;
};

static inline struct chunk_decoder_column chunk_decoder_begin(const struct chunk_decoder *r, unsigned column)
{
    return (struct chunk_decoder_column){.at = r->at[column], .end = r->end[column]};
}

static inline void chunk_decoder_end(struct chunk_decoder *r, unsigned column,
                                     const struct chunk_decoder_column *c)
{
    r->at[column] = c->at;
    r->bad = r->bad || c->bad;
}

static inline uint64_t chunk_decoder_column_get(struct chunk_decoder_column *c)
{
    uint64_t value;
    const uint8_t *after = varint_get_padded(c->at, c->end, &value);
    if (__builtin_expect(after == NULL, 0)) {
        c->bad = true;
        return 0;
    }
    c->at = after;
    return value;
}

/* The next `count` values of a column to `to`: one behind the other or, if `at` is there, to these
 * places.  While there are two bytes for each that is left the end needs no look. */
static inline __attribute__((always_inline)) void chunk_decoder_values(struct chunk_decoder *r,
                                                                       unsigned column, uint64_t *to,
                                                                       const uint16_t *at, uint32_t count)
{
    struct chunk_decoder_column c = chunk_decoder_begin(r, column);
    for (uint32_t j = 0; j < count;) {
        size_t pairs = (size_t)(c.end - c.at) / 2;
        uint32_t sure = pairs < count - j ? j + (uint32_t)pairs : count;
        for (; j < sure; j++) {
            size_t two = c.at[0] >> 7, second = c.at[1] & (0 - two);
            if (__builtin_expect(second >= 0x80, 0))
                break;
            to[at == NULL ? j : at[j]] = (c.at[0] & 0x7f) | second << 7;
            c.at += 1 + two;
        }
        /* Three bytes: old blocks that are released. */
        for (; j < sure && c.end - c.at >= 3 && (c.at[0] & c.at[1]) >= 0x80 && c.at[2] < 0x80; j++) {
            to[at == NULL ? j : at[j]] = (c.at[0] & 0x7fu) | (c.at[1] & 0x7fu) << 7 | (uint64_t)c.at[2] << 14;
            c.at += 3;
        }
        if (j < sure && (c.at[0] & c.at[1]) < 0x80)
            continue;
        if (j < count) {
            to[at == NULL ? j : at[j]] = chunk_decoder_column_get(&c);
            j++;
        }
    }
    chunk_decoder_end(r, column, &c);
}

/* The same for values that have one byte each, nearly always: where one begins need not be found out. */
static inline void chunk_decoder_short_values(struct chunk_decoder *r, unsigned column, uint64_t *to,
                                              uint32_t count)
{
    const uint8_t *at = r->at[column], *end = r->end[column];
    uint32_t done = 0;
    for (; count - done >= 8 && end - at >= 8 && chunk_decoder_eight(at, 0x80) == 0; done += 8, at += 8) {
        for (uint32_t k = 0; k < 8; k++)
            to[done + k] = at[k];
    }
    r->at[column] = at;
    chunk_decoder_values(r, column, to + done, NULL, count - done);
}

#endif
