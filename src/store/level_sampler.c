/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * level_sampler: see level_sampler.h.
 */
#include "store/level_sampler.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

#define LEVEL_SAMPLER_DROPPED UINT32_MAX

void level_sampler_init(struct level_sampler *c, uint64_t from_ns)
{
    memset(c, 0, sizeof *c);
    c->from_ns = from_ns;
    c->entries_max = LEVEL_SAMPLER_ENTRIES_MAX;
    c->rows_max = LEVEL_SAMPLER_ROWS_MAX;
}

void level_sampler_release(struct level_sampler *c)
{
    for (size_t i = 0; i < c->rows.count; i++)
        vec_release(&c->rows.data[i].entries);
    vec_release(&c->rows);
    vec_release(&c->numbers);
}

/* --------------------------------------------------------------------- ticks */

static uint64_t level_sampler_step(uint64_t all)
{
    return all < LEVEL_SAMPLER_DIVISIONS ? 1 : all / LEVEL_SAMPLER_DIVISIONS;
}

/* Numbers of a file may be anything. */
static uint64_t level_sampler_add(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static double level_sampler_distance(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) : 0;
}

void level_sampler_end_tick(struct level_sampler *c, uint64_t time_ns, uint64_t allocations, uint64_t frees)
{
    uint64_t past = time_ns > c->from_ns ? time_ns - c->from_ns : 0, step = level_sampler_step(past);
    /* Whatever happened was before until_ns; from there on nothing did. */
    if (c->until_ns != 0 && time_ns > c->until_ns && time_ns - c->until_ns > step)
        c->ticks[c->tick++] = (struct level_sampler_tick){c->until_ns, allocations, frees};
    if (c->until_ns != 0)
        c->ticks[c->tick++] = (struct level_sampler_tick){time_ns, allocations, frees};
    c->until_ns = level_sampler_add(time_ns, step);
    c->until_allocations = level_sampler_add(allocations, level_sampler_step(allocations));
}

static bool level_sampler_has_many_ticks(const struct level_sampler *c)
{
    return c->tick + 3 > LEVEL_SAMPLER_TICKS_MAX;
}

static bool level_sampler_has_many_rows(const struct level_sampler *c)
{
    return c->entries > c->entries_max || c->rows.count > c->rows_max;
}

bool level_sampler_is_full(const struct level_sampler *c)
{
    return level_sampler_has_many_ticks(c) || level_sampler_has_many_rows(c);
}

/* Makes one of neighbours that together are no longer than so many divisions; to: which each tick becomes a part of. */
static void level_sampler_merge_ticks(struct level_sampler *c, uint64_t time_ns, uint64_t allocations,
                                      double divisions, uint16_t *to)
{
    double past = level_sampler_distance(c->from_ns, time_ns);
    double a_ns = 0.5 * LEVEL_SAMPLER_DIVISIONS / (past > 0 ? past : 1);
    double an_allocation = 0.5 * LEVEL_SAMPLER_DIVISIONS / (double)(allocations > 0 ? allocations : 1);
    struct level_sampler_tick begin = {.end_ns = c->from_ns};
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->tick; i++) {
        const struct level_sampler_tick tick = c->ticks[i];
        double length = level_sampler_distance(begin.end_ns, tick.end_ns) * a_ns +
                        level_sampler_distance(begin.allocations, tick.allocations) * an_allocation;
        if (count == 0 || length > divisions) {
            if (count > 0)
                begin = c->ticks[count - 1];
            count++;
        }
        c->ticks[count - 1] = tick;
        to[i] = (uint16_t)(count - 1);
    }
    to[c->tick] = (uint16_t)count;
    c->tick = count;
}

/* ---------------------------------------------------------------------- rows */

struct level_sampler_row *level_sampler_find(const struct level_sampler *c, uint32_t stack)
{
    uint32_t number = stack < c->numbers.count ? c->numbers.data[stack] : 0;
    return number == 0 || number == LEVEL_SAMPLER_DROPPED ? NULL : &c->rows.data[number - 1];
}

static bool level_sampler_add_row(struct level_sampler *c, const struct level_sampler_touch *t)
{
    if (!vec_reserve(&c->numbers, (size_t)t->stack + 1))
        return false;
    while (c->numbers.count <= t->stack)
        c->numbers.data[c->numbers.count++] = 0;
    if (c->numbers.data[t->stack] == LEVEL_SAMPLER_DROPPED)
        return true;
    struct level_sampler_row row = {
        .stack = t->stack, .tick = t->tick, .last_made = t->tick, .first_ns = t->time_ns};
    if (!vec_push(&c->rows, row))
        return false;
    c->numbers.data[t->stack] = (uint32_t)c->rows.count;
    return true;
}

/* The entry of the row's tick; a new one has nothing yet but the highest floor.  NULL: no memory. */
static struct level_sampler_entry *level_sampler_get_entry(struct level_sampler *c,
                                                           struct level_sampler_row *r)
{
    size_t count = r->entries.count;
    if (count != 0 && r->entries.data[count - 1].tick == r->tick)
        return &r->entries.data[count - 1];
    if (!vec_reserve(&r->entries, count + 1))
        return NULL;
    r->entries.count++;
    c->entries++;
    r->entries.data[count].floor = UINT64_MAX;
    return &r->entries.data[count];
}

void level_sampler_note(struct level_sampler *c, struct level_sampler_row *r,
                        const struct level_sampler_state *s)
{
    struct level_sampler_entry *e = level_sampler_get_entry(c, r);
    if (s->made != r->made)
        r->last_made = r->tick;
    r->made = s->made;
    if (s->level > r->highest)
        r->highest = s->level;
    if (e == NULL) {
        c->failed = true;
        return;
    }
    e->floor = s->lowest < e->floor ? s->lowest : e->floor;
    e->level = s->level;
    e->tick =
        (uint16_t)r->tick; /* with what stands beside it, or the next read would have to wait for both */
    e->freed = s->freed & ((UINT64_C(1) << 48) - 1);
}

/* Fetches what the touch at i needs: its row, and nearer to it the end of the row's entries. */
static void level_sampler_fetch(const struct level_sampler *c, uint32_t i)
{
    const struct level_sampler_row *far =
        i + 16 < c->touched ? level_sampler_find(c, c->touches[i + 16].stack) : NULL;
    const struct level_sampler_row *near =
        i + 8 < c->touched ? level_sampler_find(c, c->touches[i + 8].stack) : NULL;
    if (far != NULL)
        __builtin_prefetch(far, 1);
    if (near != NULL && near->entries.count != 0)
        __builtin_prefetch(&near->entries.data[near->entries.count - 1], 1);
}

void level_sampler_settle(struct level_sampler *c)
{
    for (uint32_t i = 0; i < c->touched; i++) {
        level_sampler_fetch(c, i);
        const struct level_sampler_touch *t = &c->touches[i];
        struct level_sampler_row *r = level_sampler_find(c, t->stack);
        if (r != NULL) {
            level_sampler_note(c, r, &t->before);
            r->tick = t->tick;
        } else if (!level_sampler_add_row(c, t)) {
            c->failed = true;
        }
    }
    c->touched = 0;
}

static void level_sampler_merge_entries(struct level_sampler *c, struct level_sampler_row *r,
                                        const uint16_t *to)
{
    size_t count = 0;
    for (size_t i = 0; i < r->entries.count; i++) {
        struct level_sampler_entry entry = r->entries.data[i];
        struct level_sampler_entry *last = count == 0 ? NULL : &r->entries.data[count - 1];
        entry.tick = to[entry.tick];
        if (last != NULL && last->tick == entry.tick) {
            entry.floor = last->floor < entry.floor ? last->floor : entry.floor;
            *last = entry;
        } else {
            r->entries.data[count++] = entry;
        }
    }
    c->entries -= r->entries.count - count;
    r->entries.count = count;
    r->tick = to[r->tick];
    r->last_made = to[r->last_made];
}

static int level_sampler_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The half of the rows that held least. */
static void level_sampler_drop_rows(struct level_sampler *c)
{
    size_t count = c->rows.count, kept = 0;
    uint64_t *highest = memory_new((count + 1) * sizeof *highest);
    if (highest == NULL) {
        c->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        highest[i] = c->rows.data[i].highest;
    qsort(highest, count, sizeof *highest, level_sampler_compare);
    uint64_t least = highest[count - count / 2 - 1]; /* of these that many stay as there is room for */
    size_t room = 0;
    for (size_t i = count - count / 2; i < count; i++)
        room += highest[i] == least;
    free(highest);
    for (size_t i = 0; i < count; i++) {
        struct level_sampler_row row = c->rows.data[i];
        bool stays = row.highest > least || (row.highest == least && room > 0);
        if (stays && row.highest == least)
            room--;
        c->numbers.data[row.stack] = stays ? (uint32_t)kept + 1 : LEVEL_SAMPLER_DROPPED;
        if (stays) {
            c->rows.data[kept++] = row;
        } else {
            c->entries -= row.entries.count;
            vec_release(&row.entries);
        }
    }
    c->rows.count = kept;
}

/* The rows have no say in what the ticks are. */
void level_sampler_shrink(struct level_sampler *c, uint64_t time_ns, uint64_t allocations)
{
    uint16_t to[LEVEL_SAMPLER_TICKS_MAX + 1];
    /* Once is enough, if times and counts only ever go up. */
    for (double divisions = 1; level_sampler_has_many_ticks(c); divisions *= 2) {
        level_sampler_merge_ticks(c, time_ns, allocations, divisions, to);
        for (size_t i = 0; i < c->rows.count; i++)
            level_sampler_merge_entries(c, &c->rows.data[i], to);
    }
    while (!c->failed && level_sampler_has_many_rows(c))
        level_sampler_drop_rows(c);
}
