/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ridge: see ridge.h.
 *
 * Births with no counted death between them share a group, whose moment is the last of
 * them that counts: before it the level was lower.  A block of no bytes makes the level no
 * higher, so it does not belong to the moment before it; it begins a group.
 *
 * Invariants
 *  1. lead is never less than 0.  Of two equal moments the earlier is the peak, but the later may
 *     still gain, so both stay.
 *  2. A group other than first and newest has refs.
 *  3. The sum of all leads is highest - latest.
 */
#include "query/ridge.h"

enum {
    RIDGE_OPENING = 0,     /* the group of blocks born before the first moment */
    RIDGE_LIMIT = 1 << 12, /* entries: they stay in a cache */
};

static const struct ridge_list ridge_no_rows = {RIDGE_NONE, RIDGE_NONE};

/* ------------------------------------------------------------------ entries */

static void ridge_push(struct ridge *r, struct ridge_list *list, uint32_t row, uint64_t blocks,
                       uint64_t bytes)
{
    struct ridge_entry *last = list->last == RIDGE_NONE ? NULL : &r->entries.data[list->last];
    if (last != NULL && last->row == row) {
        last->blocks += blocks;
        last->bytes += bytes;
        return;
    }
    uint32_t at = r->unused_entry;
    const struct ridge_entry fresh = {.blocks = blocks, .bytes = bytes, .row = row, .next = RIDGE_NONE};
    if (at != RIDGE_NONE) {
        r->unused_entry = r->entries.data[at].next;
        r->entries.data[at] = fresh;
    } else {
        at = (uint32_t)r->entries.count;
        if (!vec_push(&r->entries, fresh)) {
            r->failed = true;
            return;
        }
    }
    r->used++;
    if (list->last == RIDGE_NONE)
        list->first = at;
    else
        r->entries.data[list->last].next = at;
    list->last = at;
}

static void ridge_free_entry(struct ridge *r, uint32_t at)
{
    r->entries.data[at].next = r->unused_entry;
    r->unused_entry = at;
    r->used--;
}

/* `list` behind `front`. */
static struct ridge_list ridge_join(struct ridge *r, struct ridge_list front, struct ridge_list list)
{
    if (front.last == RIDGE_NONE)
        return list;
    if (list.last == RIDGE_NONE)
        return front;
    r->entries.data[front.last].next = list.first;
    return (struct ridge_list){front.first, list.last};
}

static void ridge_apply(struct ridge *r, struct ridge_list *list)
{
    for (uint32_t at = list->first, next; at != RIDGE_NONE; at = next) {
        const struct ridge_entry *e = &r->entries.data[at];
        struct tally_row *row = &r->tally->rows.data[e->row];
        row->peak_blocks += e->blocks;
        row->peak_bytes += e->bytes;
        next = e->next;
        ridge_free_entry(r, at);
    }
    *list = ridge_no_rows;
}

/* One entry a row, and none that has said nothing since the last time. */
static void ridge_tidy_list(struct ridge *r, struct ridge_list *list)
{
    struct ridge_list tidy = ridge_no_rows;
    r->stamp++;
    for (uint32_t at = list->first, next; at != RIDGE_NONE; at = next) {
        struct ridge_entry *e = &r->entries.data[at];
        struct ridge_seen *seen = &r->seen.data[e->row];
        next = e->next;
        if (seen->stamp == r->stamp) {
            r->entries.data[seen->entry].blocks += e->blocks;
            r->entries.data[seen->entry].bytes += e->bytes;
            ridge_free_entry(r, at);
        } else if (e->blocks == 0 && e->bytes == 0) {
            ridge_free_entry(r, at);
        } else {
            *seen = (struct ridge_seen){r->stamp, at};
            e->next = RIDGE_NONE;
            tidy = ridge_join(r, tidy, (struct ridge_list){at, at});
        }
    }
    *list = tidy;
}

static void ridge_tidy(struct ridge *r)
{
    if (!vec_reserve(&r->seen, r->tally->rows.count)) {
        r->failed = true;
        return;
    }
    while (r->seen.count < r->tally->rows.count)
        r->seen.data[r->seen.count++] = (struct ridge_seen){0};
    for (uint32_t g = r->groups.data[r->first].after; g != RIDGE_NONE; g = r->groups.data[g].after)
        ridge_tidy_list(r, &r->groups.data[g].rows);
    ridge_tidy_list(r, &r->since);
    r->limit = r->used < RIDGE_LIMIT / 4 ? RIDGE_LIMIT : 4 * r->used;
    r->is_over = r->is_over || r->used > RIDGE_ENTRIES;
}

/* ------------------------------------------------------------------- groups */

bool ridge_init(struct ridge *r, struct tally *t, uint64_t time_ns)
{
    *r = (struct ridge){.tally = t,
                        .unused_group = RIDGE_NONE,
                        .unused_entry = RIDGE_NONE,
                        .limit = RIDGE_LIMIT,
                        .since = ridge_no_rows};
    return vec_push(&r->groups, ((struct ridge_group){.into = RIDGE_OPENING,
                                                      .before = RIDGE_NONE,
                                                      .after = RIDGE_NONE,
                                                      .time_ns = time_ns,
                                                      .rows = ridge_no_rows}));
}

void ridge_release(struct ridge *r)
{
    vec_release(&r->groups);
    vec_release(&r->entries);
    vec_release(&r->seen);
}

static void ridge_free_group(struct ridge *r, uint32_t g)
{
    r->groups.data[g].after = r->unused_group;
    r->unused_group = g;
}

/* A group that nothing comes from any more: the one before it is at least as high. */
static void ridge_give_up(struct ridge *r, uint32_t g)
{
    const struct ridge_group *was = &r->groups.data[g];
    struct ridge_group *next = &r->groups.data[was->after];
    next->lead += was->lead;
    next->rows = ridge_join(r, was->rows, next->rows);
    next->before = was->before;
    r->groups.data[was->before].after = was->after;
    ridge_free_group(r, g);
}

static void ridge_unref(struct ridge *r, uint32_t g)
{
    for (;;) {
        struct ridge_group *group = &r->groups.data[g];
        if (--group->refs != 0)
            return;
        if (group->into == g)
            break;
        uint32_t up = group->into;
        ridge_free_group(r, g);
        g = up;
    }
    if (g != r->first && g != r->newest)
        ridge_give_up(r, g);
}

/* The group that g has become part of.  Halves the way for the next time. */
static uint32_t ridge_find(struct ridge *r, uint32_t g)
{
    for (;;) {
        uint32_t up = r->groups.data[g].into, top = r->groups.data[up].into;
        if (up == top)
            return up;
        r->groups.data[g].into = top;
        r->groups.data[top].refs++;
        ridge_unref(r, up);
        g = top;
    }
}

/* The next group begins: where newest is of no use, in its place. */
static void ridge_begin(struct ridge *r)
{
    struct ridge_group *newest = &r->groups.data[r->newest];
    if (newest->refs == 0 && r->newest != r->first) {
        newest->lead += r->latest;
        newest->rows = ridge_join(r, newest->rows, r->since);
    } else {
        uint32_t at = r->unused_group;
        struct ridge_group fresh = {
            .before = r->newest, .after = RIDGE_NONE, .lead = r->latest, .rows = r->since};
        if (at != RIDGE_NONE) {
            r->unused_group = r->groups.data[at].after;
        } else {
            at = (uint32_t)r->groups.count;
            if (!vec_push(&r->groups, fresh)) {
                r->failed = true;
                return;
            }
        }
        fresh.into = at;
        r->groups.data[at] = fresh;
        r->groups.data[r->newest].after = at;
        r->newest = at;
    }
    r->latest = 0;
    r->since = ridge_no_rows;
    r->may_join = true;
}

static void ridge_merge(struct ridge *r, uint32_t g, uint32_t into)
{
    if (r->groups.data[g].refs == 0) {
        ridge_free_group(r, g);
        return;
    }
    r->groups.data[g].into = into;
    r->groups.data[into].refs++;
}

/* The group has become higher than the one before it. */
static void ridge_rise(struct ridge *r, uint32_t g)
{
    struct ridge_group *group = &r->groups.data[g];
    while ((int64_t)group->lead < 0) {
        uint32_t low = group->before;
        const struct ridge_group *was = &r->groups.data[low];
        group->before = was->before;
        if (low == r->first) {
            r->highest -= group->lead;
            group->lead = 0;
            ridge_apply(r, &group->rows);
            r->first = g;
        } else {
            group->lead += was->lead;
            group->rows = ridge_join(r, was->rows, group->rows);
            r->groups.data[was->before].after = g;
        }
        ridge_merge(r, low, g);
    }
}

/* ------------------------------------------------------------------- blocks */

uint32_t ridge_birth(struct ridge *r, uint64_t bytes)
{
    r->has_begun = true;
    if (!r->may_join || bytes == 0)
        ridge_begin(r);
    r->groups.data[r->newest].refs++;
    if (++r->blocks > RIDGE_BLOCKS)
        r->is_over = true;
    return r->newest;
}

uint32_t ridge_birth_before(struct ridge *r, uint64_t bytes)
{
    if (r->has_begun) /* time ran backwards: a damaged file */
        return ridge_birth(r, bytes);
    r->groups.data[RIDGE_OPENING].refs++;
    if (++r->blocks > RIDGE_BLOCKS)
        r->is_over = true;
    return RIDGE_OPENING;
}

void ridge_count(struct ridge *r, uint32_t group, uint32_t row, struct weight weight, uint64_t born_ns,
                 bool is_last)
{
    if (__builtin_expect(r->used >= r->limit, 0))
        ridge_tidy(r);
    uint32_t g = ridge_find(r, group);
    struct ridge_group *at = &r->groups.data[g];
    if (born_ns > at->time_ns)
        at->time_ns = born_ns;
    r->latest += weight.bytes;
    r->may_join = false;
    r->has_begun = true;
    r->counted++;
    if (g == r->first) {
        r->highest += weight.bytes;
        r->tally->rows.data[row].peak_blocks += weight.blocks;
        r->tally->rows.data[row].peak_bytes += weight.bytes;
    } else {
        ridge_push(r, &at->rows, row, weight.blocks, weight.bytes);
        at->lead -= weight.bytes;
        if ((int64_t)at->lead < 0)
            ridge_rise(r, g);
    }
    if (!is_last)
        ridge_push(r, &r->since, row, 0 - weight.blocks, 0 - weight.bytes);
}

void ridge_drop(struct ridge *r, uint32_t group)
{
    r->blocks--;
    if (__builtin_expect(++r->decided == RIDGE_TRIAL, 0) && r->counted > RIDGE_TRIAL / 4)
        r->is_over = true;
    ridge_unref(r, group);
}

void ridge_finish(struct ridge *r)
{
    struct tally *t = r->tally;
    t->level.peak_bytes = r->highest;
    t->level.peak_time_ns = r->highest == 0 ? 0 : r->groups.data[r->first].time_ns;
    for (size_t i = 0; i < t->rows.count && r->highest == 0; i++)
        t->rows.data[i].peak_blocks = t->rows.data[i].peak_bytes = 0;
}
