/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_levels: see entry_levels.h.  Which entries pass, and which of these are births, no predictor can guess, so nothing asks: a
 * table (base/ones.h) says which of eight places go to which list.
 */
#include "engine/entry_levels.h"

#include <string.h>

enum { ENTRY_LEVELS_GROUP = 64 };

/* Lists those of a group that pass. */
static inline void entry_levels_list(struct entry_levels *c, struct entry_levels_lists *lists,
                                     const struct entries *l, size_t first, size_t from, const uint8_t *pass)
{
    for (size_t i = from; i < from + ENTRY_LEVELS_GROUP; i += ONES_EIGHT) {
        const uint8_t *bits = l->falls + (first + i) / 8;
        unsigned falls = (bits[0] | (unsigned)bits[1] << 8) >> (first + i) % 8;
        uint64_t eight;
        memcpy(&eight, pass + i, sizeof eight);
        unsigned byte = ones_gather(eight);
        unsigned births = byte & ~falls, deaths = byte & falls;
        ones_note(&lists->ones, lists->births + c->births, births, (uint32_t)i);
        ones_note(&lists->ones, lists->deaths + c->deaths, deaths, (uint32_t)i);
        c->births += lists->ones.counts[births];
        c->deaths += lists->ones.counts[deaths];
    }
}

static inline uint64_t entry_levels_sum(const uint32_t *sizes, const uint16_t *places, size_t from, size_t to)
{
    uint64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += sizes[places[i]];
    return sum;
}

/* A group one by one.  was: before it. */
static __attribute__((noinline)) void entry_levels_climb(struct entry_levels *c,
                                                         const struct entry_levels *was, const uint32_t *rows,
                                                         const uint32_t *sizes, const uint8_t *pass,
                                                         size_t from)
{
    uint64_t bytes = was->bytes, highest = was->highest_bytes;
    size_t births = was->births, deaths = was->deaths;
    size_t births_before = was->births_before, deaths_before = was->deaths_before;
    for (size_t i = from; i < from + ENTRY_LEVELS_GROUP; i++) {
        uint64_t one = pass[i], falls = rows[i] >> 31, sign = 0 - falls;
        uint64_t size = sizes[i] & (0 - one);
        bytes += (size ^ sign) - sign;
        births += one & ~falls;
        deaths += one & falls;
        bool is_higher = bytes > highest;
        highest = is_higher ? bytes : highest;
        births_before = is_higher ? births : births_before;
        deaths_before = is_higher ? deaths : deaths_before;
    }
    c->highest_bytes = highest;
    c->births_before = births_before;
    c->deaths_before = deaths_before;
}

void entry_levels_follow(struct entry_levels *ascent, struct entry_levels_lists *lists,
                         const struct entries *l, size_t first, size_t count, uint8_t *pass)
{
    const uint32_t *rows = l->rows + first, *sizes = l->sizes + first;
    struct entry_levels c = *ascent;
    memset(pass + count, 0, ENTRIES_AT_ONCE - count);
    for (size_t i = 0; i < count; i += ENTRY_LEVELS_GROUP) {
        const struct entry_levels was = c;
        entry_levels_list(&c, lists, l, first, i, pass);
        uint64_t up = entry_levels_sum(sizes, lists->births, was.births, c.births);
        if (c.bytes + up > c.highest_bytes)
            entry_levels_climb(&c, &was, rows, sizes, pass, i);
        c.bytes += up - entry_levels_sum(sizes, lists->deaths, was.deaths, c.deaths);
        c.made_bytes += up;
    }
    *ascent = c;
}
