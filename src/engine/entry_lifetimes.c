/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_lifetimes: see entry_lifetimes.h.
 */
#include "engine/entry_lifetimes.h"

#include <string.h>

void entry_lifetimes_init(struct entry_lifetimes *o, const struct query_range *lifetimes)
{
    o->lifetimes = *lifetimes;
    for (unsigned i = 0; i < 2; i++)
        o->made[i] = o->gone[i] = ENTRIES_NEVER + 1;
}

/* The first time from `at` on that is not before ns. */
static inline size_t entry_lifetimes_advance(const struct entries *l, size_t at, uint64_t ns)
{
    while (at < l->times.count && l->times.data[at] < ns)
        at++;
    return at;
}

/* Goes on to a later time. */
static void entry_lifetimes_move(struct entry_lifetimes *o, const struct entries *l, uint64_t now)
{
    uint64_t min = o->lifetimes.min, max = o->lifetimes.max, from, behind;
    o->made[0] = entry_lifetimes_advance(l, o->made[0], now > max ? now - max : 0);
    o->made[1] = entry_lifetimes_advance(l, o->made[1], now >= min ? now - min + 1 : 0);
    from = __builtin_add_overflow(now, min, &from) ? UINT64_MAX : from;
    behind = __builtin_add_overflow(now, max, &behind) || behind == UINT64_MAX ? UINT64_MAX : behind + 1;
    o->gone[0] = entry_lifetimes_advance(l, o->gone[0], from);
    o->gone[1] = entry_lifetimes_advance(l, o->gone[1], behind);
}

/* A range of mates, as what they are compared with: mate - min <= width. */
struct entry_lifetimes_mates {
    uint32_t min, width;
};

static struct entry_lifetimes_mates entry_lifetimes_mates(const size_t range[2])
{
    if (range[0] >= range[1])
        return (struct entry_lifetimes_mates){UINT32_MAX, 0}; /* there are not so many times */
    return (struct entry_lifetimes_mates){(uint32_t)range[0], (uint32_t)(range[1] - 1 - range[0])};
}

/* Four entries. */
typedef uint32_t outlive_four __attribute__((vector_size(16)));
typedef int32_t outlive_signs __attribute__((vector_size(16)));

/* Entries of one time, from..to-1. */
static void entry_lifetimes_find(struct entry_lifetimes *o, const uint32_t *rows, const uint32_t *mates,
                                 size_t from, size_t to)
{
    const struct entry_lifetimes_mates birth = entry_lifetimes_mates(o->gone),
                                       death = entry_lifetimes_mates(o->made);
    const uint32_t min_change = birth.min ^ death.min, width_change = birth.width ^ death.width;
    const outlive_four ones = {1, 1 << 8, 1 << 16, 1 << 24}; /* in a byte each */
    for (size_t i = from; i < to; i += ENTRY_LIFETIMES_FOUR) {
        outlive_four row, mate;
        memcpy(&row, rows + i, sizeof row);
        memcpy(&mate, mates + i, sizeof mate);
        outlive_four falls = (outlive_four)((outlive_signs)row >> 31);
        outlive_four min = birth.min ^ (falls & min_change), width = birth.width ^ (falls & width_change);
        outlive_four lived = (outlive_four)(mate - min <= width) & ones;
        uint64_t halves[2];
        memcpy(halves, &lived, sizeof halves);
        uint64_t half = halves[0] | halves[1];
        uint32_t bytes = (uint32_t)half | (uint32_t)(half >> 32);
        memcpy(o->found + i, &bytes, sizeof bytes);
    }
}

static void entry_lifetimes_take(const uint8_t *restrict found, uint8_t *restrict pass)
{
    for (size_t i = 0; i < ENTRIES_AT_ONCE; i++)
        pass[i] &= found[i];
}

void entry_lifetimes_look(struct entry_lifetimes *o, const struct entries *l, size_t first, size_t count,
                          size_t time, uint8_t *pass)
{
    const uint32_t *rows = l->rows + first, *mates = l->mates + first;
    for (size_t i = 0; i < count; time++) {
        size_t end = time + 1 < l->firsts.count ? l->firsts.data[time + 1] - first : count;
        end = end < count ? end : count;
        entry_lifetimes_move(o, l, l->times.data[time]);
        entry_lifetimes_find(o, rows, mates, i, end);
        i = end;
    }
    entry_lifetimes_take(o->found, pass);
}
