/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_counts: see entry_counts.h.
 */
#include "engine/entry_counts.h"

#include <stdlib.h>

#include "engine/entry_filter.h"
#include "engine/entry_levels.h"
#include "engine/histogram.h"
#include "tool/memory.h"

#define ENTRY_COUNTS_INLINE inline __attribute__((always_inline))

enum {
    ENTRY_COUNTS_PLACES = 1 << 22, /* that a table of split rows can have */
};

/* Where rows are split: those that are known, by stack and by what splits it. */
struct entry_counts_split {
    uint16_t *parts; /* by class: its number among those that split a stack */
    size_t count;    /* of these numbers */
    uint32_t *rows;  /* stack * count + number -> row + 1; 0: not met yet.  NULL: there would be too many */
};

struct entry_counts {
    struct entry_filter admit;
    struct scan *scan;
    struct entry_counts_split split;

    /* Of the entries at hand: */
    size_t first, count;
    const uint32_t *rows; /* and ENTRIES_FALLS; means nothing where an entry does not pass */
    uint32_t split_rows[ENTRIES_AT_ONCE];
    struct entry_levels_lists lists;
    /* Of those births or deaths of them for which more than sums is wanted, in the order of their list: */
    uint64_t values[ENTRIES_AT_ONCE]; /* sizes, lifetimes */
    uint32_t sizes[ENTRIES_AT_ONCE];
    uint32_t dead_rows[ENTRIES_AT_ONCE]; /* of deaths */
};

/* -------------------------------------------------------------------- rows */

static uint32_t entry_counts_part(const struct entry_counts *c, size_t class)
{
    const struct entries_class *l = &c->admit.entries->class_list.data[class];
    return c->scan->tally.split == SPLIT_THREAD ? l->thread : l->kind;
}

/* False: no memory. */
static bool entry_counts_split_init(struct entry_counts *c)
{
    struct entry_counts_split *split = &c->split;
    size_t classes = c->admit.entries->class_list.count, stacks = c->scan->stack_count;
    struct map numbers;
    map_init(&numbers);
    split->parts = memory_new(classes * sizeof *split->parts);
    bool fine = split->parts != NULL;
    for (size_t i = 0; i < classes && fine; i++) {
        const uint64_t *number = map_find(&numbers, entry_counts_part(c, i));
        split->parts[i] = (uint16_t)(number != NULL ? *number : split->count);
        if (number == NULL)
            fine = map_set(&numbers, entry_counts_part(c, i), split->count++);
    }
    map_release(&numbers);
    if (!fine || split->count == 0 || stacks > ENTRY_COUNTS_PLACES / split->count)
        return fine;
    split->rows = memory_new_zeroed(stacks * split->count, sizeof *split->rows);
    return split->rows != NULL;
}

/* The row of a stack and a class. */
static uint32_t entry_counts_find_row(struct entry_counts *c, uint32_t stack, uint16_t class)
{
    struct entry_counts_split *split = &c->split;
    uint32_t *known = split->rows == NULL ? NULL : &split->rows[stack * split->count + split->parts[class]];
    if (known != NULL && *known != 0)
        return *known - 1;
    uint32_t part = entry_counts_part(c, class), row = tally_find(&c->scan->tally, stack, part, part);
    if (row == TALLY_NONE) {
        c->scan->failed = true;
        return 0;
    }
    if (known != NULL)
        *known = row + 1;
    return row;
}

/* Finds those that are known.  False: some that pass are not. */
static bool entry_counts_knows_rows(struct entry_counts *c, const uint32_t *stacks, const uint16_t *classes)
{
    const uint32_t *known = c->split.rows;
    const uint16_t *parts = c->split.parts;
    const uint8_t *pass = c->admit.pass;
    const size_t count = c->count, width = c->split.count;
    unsigned missing = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = known[(stacks[i] & ~ENTRIES_FALLS) * width + parts[classes[i]]];
        c->split_rows[i] = (row - 1) | (stacks[i] & ENTRIES_FALLS);
        missing |= (row == 0) & pass[i];
    }
    return missing == 0;
}

/* Finds the rows of the entries at hand. */
static void entry_counts_tell_rows(struct entry_counts *c)
{
    const uint32_t *stacks = c->admit.entries->rows + c->first;
    const uint16_t *classes = c->admit.entries->classes + c->first;
    c->rows = stacks;
    if (c->scan->tally.split == SPLIT_NONE)
        return;
    c->rows = c->split_rows;
    if (c->split.rows != NULL && entry_counts_knows_rows(c, stacks, classes))
        return;
    for (size_t i = 0; i < c->count && !c->scan->failed; i++)
        if (c->admit.pass[i] != 0)
            c->split_rows[i] = entry_counts_find_row(c, stacks[i] & ~ENTRIES_FALLS, classes[i]) |
                               (stacks[i] & ENTRIES_FALLS);
}

/* ----------------------------------------------------------------- counting */

/* What is to be known of those that pass. */
enum entry_counts_depth {
    ENTRY_COUNTS_LEVEL, /* how many and how large they are: outside the window */
    ENTRY_COUNTS_SUMS,  /* which of them are temporary too */
    ENTRY_COUNTS_MORE,  /* and when they were made, how long they lived, and whatever else a query can want */
};

static enum entry_counts_depth entry_counts_depth_inside(const struct scan *s)
{
    return s->want == 0 ? ENTRY_COUNTS_SUMS : ENTRY_COUNTS_MORE;
}

static ENTRY_COUNTS_INLINE void entry_counts_birth(struct entry_counts *c, struct tally_row *row, size_t at,
                                                   uint64_t size, enum entry_counts_depth depth)
{
    row->made_blocks++;
    row->made_bytes += size;
    if (depth == ENTRY_COUNTS_MORE)
        tally_born(row, c->admit.time_ns[at]);
}

static ENTRY_COUNTS_INLINE void entry_counts_death(struct tally_row *row, uint64_t size, uint64_t lifetime,
                                                   bool is_temporary, enum entry_counts_depth depth)
{
    row->gone_blocks++;
    row->gone_bytes += size;
    if (depth == ENTRY_COUNTS_LEVEL)
        return;
    if (is_temporary) {
        row->temporary_blocks++;
        row->temporary_bytes += size;
    }
    if (depth == ENTRY_COUNTS_MORE)
        tally_lived(row, lifetime);
}

/* Births of blocks that leak, in the window. */
static void entry_counts_add_leaks(struct entry_counts *c)
{
    const struct entries *l = c->admit.entries;
    size_t end = c->first + c->count;
    for (size_t i = c->admit.lasting; i < l->lasting.count && l->lasting.data[i] < end; i++) {
        size_t entry = l->lasting.data[i], at = entry - c->first;
        if (c->admit.pass[at] == 0 || !l->class_list.data[l->classes[entry]].is_leaked)
            continue;
        struct tally_row *row = &c->scan->tally.rows.data[c->rows[at]];
        row->leaked_blocks++;
        row->leaked_bytes += entries_size(l, entry);
    }
}

/* ------------------------------------------------------- births and deaths apart */

/* The most blocks at once. */
static uint64_t entry_counts_follow_blocks(const struct entry_counts *c)
{
    const uint32_t *rows = c->admit.entries->rows + c->first;
    uint64_t blocks = c->scan->tally.level.live_blocks, highest = blocks;
    for (size_t i = 0; i < c->count; i++) {
        uint64_t one = c->admit.pass[i];
        blocks += one - 2 * (one & rows[i] >> 31);
        highest = blocks > highest ? blocks : highest;
    }
    return highest;
}

/* Follows those that pass, and tells where births and deaths are.  How high it goes is of interest inside the window. */
static struct entry_levels entry_counts_follow(struct entry_counts *c)
{
    const struct scan *s = c->scan;
    const struct tally_level *level = &s->tally.level;
    uint64_t reached = s->is_open ? level->peak_bytes : UINT64_MAX;
    if (s->is_open && s->query->ticks != 0 && s->highest_bytes < reached)
        reached = s->highest_bytes;
    struct entry_levels a = {.bytes = level->live_bytes, .highest_bytes = reached};
    entry_levels_follow(&a, &c->lists, c->admit.entries, c->first, c->count, c->admit.pass);
    return a;
}

/* Births from..to-1 of those that pass, and the same for deaths. */
static ENTRY_COUNTS_INLINE void entry_counts_add_births(struct entry_counts *c, size_t from, size_t to,
                                                        enum entry_counts_depth depth)
{
    const uint32_t *rows = c->rows, *sizes = c->admit.entries->sizes + c->first;
    const struct tally tally = c->scan->tally; /* which stays as it is */
    for (size_t k = from; k < to; k++) {
        size_t at = c->lists.births[k];
        entry_counts_birth(c, tally_touch(tally.rows.data, tally.level.epoch, rows[at]), at, sizes[at],
                           depth);
        if (depth == ENTRY_COUNTS_MORE)
            c->values[k - from] = c->sizes[k - from] = sizes[at];
    }
}

/* Lifetimes decide what is temporary only where the query says so. */
static ENTRY_COUNTS_INLINE void entry_counts_add_deaths(struct entry_counts *c, size_t from, size_t to,
                                                        enum entry_counts_depth depth)
{
    const struct entries *l = c->admit.entries;
    const uint32_t *rows = c->rows, *mates = l->mates + c->first, *sizes = l->sizes + c->first;
    const uint16_t *numbers = l->classes + c->first;
    const uint64_t *times = l->times.data, temporary_ns = c->admit.temporary_ns;
    const uint8_t *classes = c->admit.classes;
    const struct tally tally = c->scan->tally;
    for (size_t k = from; k < to; k++) {
        size_t at = c->lists.deaths[k];
        bool may_be = depth != ENTRY_COUNTS_LEVEL && (classes[numbers[at]] & ENTRY_FILTER_TEMPORARY) != 0;
        bool needs_time = depth == ENTRY_COUNTS_MORE || (may_be && temporary_ns != UINT64_MAX);
        uint64_t lifetime = needs_time ? c->admit.time_ns[at] - times[mates[at]] : 0;
        entry_counts_death(tally_touch(tally.rows.data, tally.level.epoch, rows[at] & ~ENTRIES_FALLS),
                           sizes[at], lifetime, may_be && lifetime <= temporary_ns, depth);
        if (depth == ENTRY_COUNTS_MORE) {
            c->values[k - from] = lifetime;
            c->dead_rows[k - from] = rows[at] & ~ENTRIES_FALLS;
            c->sizes[k - from] = sizes[at];
        }
    }
}

/* What else is wanted of these births, and of these deaths. */
static void entry_counts_more_births(struct entry_counts *c, size_t from, size_t to)
{
    struct scan *s = c->scan;
    const struct entries *l = c->admit.entries;
    for (size_t k = from; k < to && (s->want & WANT_DETAIL) != 0; k++) {
        size_t at = c->lists.births[k];
        s->tally.rows.data[c->rows[at]].slack_bytes += l->class_list.data[l->classes[c->first + at]].slack;
    }
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add_many(&s->result->sizes, c->values, c->sizes, to - from);
}

static void entry_counts_more_deaths(struct entry_counts *c, size_t from, size_t to)
{
    struct scan *s = c->scan;
    if ((s->want & WANT_MEDIAN) != 0)
        medians_add_many(&s->medians, c->dead_rows, c->values, to - from);
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add_many(&s->result->lifetimes, c->values, c->sizes, to - from);
}

static __attribute__((noinline)) void entry_counts_births_inside(struct entry_counts *c, size_t from,
                                                                 size_t to)
{
    if (entry_counts_depth_inside(c->scan) == ENTRY_COUNTS_MORE) {
        entry_counts_add_births(c, from, to, ENTRY_COUNTS_MORE);
        entry_counts_more_births(c, from, to);
    } else {
        entry_counts_add_births(c, from, to, ENTRY_COUNTS_SUMS);
    }
}

static __attribute__((noinline)) void entry_counts_deaths_inside(struct entry_counts *c, size_t from,
                                                                 size_t to)
{
    if (entry_counts_depth_inside(c->scan) == ENTRY_COUNTS_MORE) {
        entry_counts_add_deaths(c, from, to, ENTRY_COUNTS_MORE);
        entry_counts_more_deaths(c, from, to);
    } else {
        entry_counts_add_deaths(c, from, to, ENTRY_COUNTS_SUMS);
    }
}

/* In the window.  Of all peaks among them the last and highest counts. */
static void entry_counts_add_inside(struct entry_counts *c, const struct entry_levels *a)
{
    struct scan *s = c->scan;
    struct tally_level *level = &s->tally.level;
    uint64_t blocks = s->query->ticks != 0 ? entry_counts_follow_blocks(c) : 0;
    size_t births = 0, deaths = 0;
    if (a->highest_bytes > level->peak_bytes) {
        births = a->births_before;
        deaths = a->deaths_before;
        entry_counts_births_inside(c, 0, births);
        entry_counts_deaths_inside(c, 0, deaths);
        level->peak_bytes = a->highest_bytes;
        level->peak_time_ns = c->admit.time_ns[c->lists.births[births - 1]];
        level->epoch++;
    }
    entry_counts_births_inside(c, births, a->births);
    entry_counts_deaths_inside(c, deaths, a->deaths);
    s->allocations += a->births;
    s->allocated_bytes += a->made_bytes;
    s->frees += a->deaths;
    s->highest_bytes = a->highest_bytes > s->highest_bytes ? a->highest_bytes : s->highest_bytes;
    s->highest_blocks = blocks > s->highest_blocks ? blocks : s->highest_blocks;
}

static void entry_counts_add_outside(struct entry_counts *c, const struct entry_levels *a)
{
    entry_counts_add_births(c, 0, a->births, ENTRY_COUNTS_LEVEL);
    entry_counts_add_deaths(c, 0, a->deaths, ENTRY_COUNTS_LEVEL);
}

static void entry_counts_add_apart(struct entry_counts *c)
{
    const struct entry_levels a = entry_counts_follow(c);
    struct tally_level *level = &c->scan->tally.level;
    if (c->scan->is_open)
        entry_counts_add_inside(c, &a);
    else
        entry_counts_add_outside(c, &a);
    level->live_bytes = a.bytes;
    level->live_blocks += a.births - a.deaths;
}

/* ------------------------------------------------------------------- in order */

static void entry_counts_add_birth(struct entry_counts *c, struct tally_row *row, size_t at, uint64_t size)
{
    struct scan *s = c->scan;
    struct tally_level *level = &s->tally.level;
    entry_counts_birth(c, row, at, size, s->is_open ? entry_counts_depth_inside(s) : ENTRY_COUNTS_LEVEL);
    level->live_blocks++;
    level->live_bytes += size;
    if (!s->is_open)
        return;
    if ((s->want & WANT_DETAIL) != 0)
        row->slack_bytes += c->admit.entries->class_list.data[c->admit.entries->classes[c->first + at]].slack;
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&s->result->sizes, size, 1, size);
    s->allocations++;
    s->allocated_bytes += size;
    s->highest_bytes = level->live_bytes > s->highest_bytes ? level->live_bytes : s->highest_bytes;
    s->highest_blocks = level->live_blocks > s->highest_blocks ? level->live_blocks : s->highest_blocks;
    tally_peak(level, c->admit.time_ns[at]);
}

static void entry_counts_add_death(struct entry_counts *c, struct tally_row *row, size_t at, uint64_t size)
{
    const struct entries *l = c->admit.entries;
    struct scan *s = c->scan;
    uint64_t lifetime = c->admit.time_ns[at] - l->times.data[l->mates[c->first + at]];
    bool may_be = (c->admit.classes[l->classes[c->first + at]] & ENTRY_FILTER_TEMPORARY) != 0;
    entry_counts_death(row, size, lifetime, may_be && lifetime <= c->admit.temporary_ns,
                       s->is_open ? entry_counts_depth_inside(s) : ENTRY_COUNTS_LEVEL);
    s->tally.level.live_blocks--;
    s->tally.level.live_bytes -= size;
    if (!s->is_open)
        return;
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&s->result->lifetimes, lifetime, 1, size);
    if ((s->want & WANT_MEDIAN) != 0)
        medians_add(&s->medians, (uint32_t)(row - s->tally.rows.data), lifetime);
    s->frees++;
}

/* One by one: any sizes. */
static void entry_counts_add_in_order(struct entry_counts *c)
{
    struct tally *t = &c->scan->tally;
    for (size_t at = 0; at < c->count; at++) {
        if (c->admit.pass[at] == 0)
            continue;
        uint64_t size = entries_size(c->admit.entries, c->first + at);
        struct tally_row *row = tally_touch(t->rows.data, t->level.epoch, c->rows[at] & ~ENTRIES_FALLS);
        if (c->rows[at] < ENTRIES_FALLS)
            entry_counts_add_birth(c, row, at, size);
        else
            entry_counts_add_death(c, row, at, size);
    }
}

/* --------------------------------------------------------------------- run */

/* The entries at hand. */
static void entry_counts_add_some(struct entry_counts *c)
{
    entry_filter_entries(&c->admit, c->first, c->count);
    entry_counts_tell_rows(c);
    if (c->scan->failed)
        return;
    if (c->admit.has_large)
        entry_counts_add_in_order(c);
    else
        entry_counts_add_apart(c);
    if (c->scan->is_open)
        entry_counts_add_leaks(c);
}

void entry_counts_add(struct entry_counts *c, size_t from, size_t to)
{
    for (size_t next = from; next < to && !c->scan->failed; next += c->count) {
        c->first = next;
        c->count = to - next < ENTRIES_AT_ONCE ? to - next : ENTRIES_AT_ONCE;
        entry_counts_add_some(c);
    }
}

size_t entry_counts_find(const struct entry_counts *c, uint64_t ns)
{
    return entry_filter_find(&c->admit, ns);
}

struct entry_counts *entry_counts_new(struct scan *s, const struct entries *l, const struct filter *f)
{
    struct entry_counts *c = memory_new_zeroed(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->scan = s;
    ones_init(&c->lists.ones);
    if (!entry_filter_init(&c->admit, l, f) ||
        (s->tally.split != SPLIT_NONE && !entry_counts_split_init(c))) {
        entry_counts_free(c);
        return NULL;
    }
    return c;
}

void entry_counts_free(struct entry_counts *c)
{
    if (c == NULL)
        return;
    entry_filter_release(&c->admit);
    free(c->split.parts);
    free(c->split.rows);
    free(c);
}
