/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * modmap: see modmap.h.
 *
 *     ranges by start:    [a......]   [b..]      [c.........]
 *     turns of each:       g1 #1       g1 #2      g1 #3
 *                                      g4 #5
 *     reach:                 |a.end     |b.end      |c.end
 *
 * A plugin that is loaded again and again lies in the same place again and
 * again: that is one range with many turns, and a turn is added at the end. A
 * new range moves those behind it, which is rare.
 *
 * A lookup starts at the last range that begins at or before the address, goes
 * back while an earlier one can still reach it, and finds the turn in each.
 */
#include "collect/modmap.h"

#include <stdlib.h>
#include <string.h>

void modmap_init(struct modmap *m)
{
    *m = (struct modmap){0};
}

void modmap_release(struct modmap *m)
{
    for (size_t i = 0; i < m->ranges.count; i++)
        vec_release(&m->ranges.data[i].turns);
    vec_release(&m->ranges);
}

/* How many ranges come before (start, end) or, with end UINT64_MAX, begin no later than start. */
static size_t modmap_rank(const struct modmap *m, uint64_t start, uint64_t end)
{
    size_t low = 0, high = m->ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct modmap_range *r = &m->ranges.data[middle];
        if (r->start < start || (r->start == start && r->end < end))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many turns of a range are not newer than this one. */
static size_t modmap_turn_rank(const struct modmap_range *r, uint64_t generation, uint32_t number)
{
    size_t low = 0, high = r->turns.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct modmap_turn *t = &r->turns.data[middle];
        if (t->generation < generation || (t->generation == generation && t->number <= number))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void modmap_update_reach(struct modmap *m, size_t from)
{
    uint64_t reach = from == 0 ? 0 : m->ranges.data[from - 1].reach;
    for (size_t i = from; i < m->ranges.count; i++) {
        struct modmap_range *r = &m->ranges.data[i];
        reach = r->end > reach ? r->end : reach;
        if (r->reach == reach && i > from)
            break; /* and so are all that follow */
        r->reach = reach;
    }
}

/* The range of exactly these bounds, made if it is not there; NULL: no memory. */
static struct modmap_range *modmap_range(struct modmap *m, uint64_t start, uint64_t end)
{
    size_t at = modmap_rank(m, start, end);
    if (at < m->ranges.count && m->ranges.data[at].start == start && m->ranges.data[at].end == end)
        return &m->ranges.data[at];
    if (!vec_reserve(&m->ranges, m->ranges.count + 1))
        return NULL;
    struct modmap_range *r = &m->ranges.data[at];
    memmove(r + 1, r, (m->ranges.count - at) * sizeof *r);
    m->ranges.count++;
    *r = (struct modmap_range){.start = start, .end = end};
    modmap_update_reach(m, at);
    return r;
}

bool modmap_add(struct modmap *m, uint64_t start, uint64_t end, uint64_t generation, uint32_t number)
{
    struct modmap_range *r = modmap_range(m, start, end);
    if (r == NULL || !vec_reserve(&r->turns, r->turns.count + 1))
        return false;
    struct modmap_turn *t = &r->turns.data[modmap_turn_rank(r, generation, number)];
    memmove(t + 1, t, (size_t)(r->turns.data + r->turns.count - t) * sizeof *t);
    r->turns.count++;
    *t = (struct modmap_turn){generation, number};
    return true;
}

uint32_t modmap_find(const struct modmap *m, uint64_t address, uint64_t generation)
{
    const struct modmap_turn *best = NULL;
    for (size_t i = modmap_rank(m, address, UINT64_MAX); i-- > 0;) {
        const struct modmap_range *r = &m->ranges.data[i];
        if (r->reach <= address)
            break;
        size_t turns = address < r->end ? modmap_turn_rank(r, generation, UINT32_MAX) : 0;
        const struct modmap_turn *t = turns == 0 ? NULL : &r->turns.data[turns - 1];
        if (t != NULL && (best == NULL || t->generation > best->generation ||
                          (t->generation == best->generation && t->number > best->number)))
            best = t;
    }
    return best == NULL ? 0 : best->number;
}
