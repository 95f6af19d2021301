/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reckon: see reckon.h.
 */
#include "query/reckon.h"

#include <stdlib.h>

#include "query/admit.h"
#include "query/ascent.h"
#include "tool/memory.h"

#define RECKON_INLINE inline __attribute__((always_inline))

enum {
    RECKON_PLACES = 1 << 22, /* that a table of split rows can have */
};

/* Where rows are split: those that are known, by stack and by what splits it. */
struct reckon_split {
    uint16_t *parts; /* by class: its number among those that split a stack */
    size_t count;    /* of these numbers */
    uint32_t *rows;  /* stack * count + number -> row + 1; 0: not met yet.  NULL: there would be too many */
};

struct reckon {
    struct admit admit;
    struct scan *scan;
    struct reckon_split split;

    /* Of the entries at hand: */
    size_t first, count;
    const uint32_t *rows; /* and LEDGER_FALLS; means nothing where an entry does not pass */
    uint32_t split_rows[LEDGER_AT_ONCE];
    struct ascent_lists lists;
    /* Of those births or deaths of them for which more than sums is wanted, in the order of their list: */
    uint64_t values[LEDGER_AT_ONCE]; /* sizes, lifetimes */
    uint32_t sizes[LEDGER_AT_ONCE];
    uint32_t dead_rows[LEDGER_AT_ONCE]; /* of deaths */
};

/* -------------------------------------------------------------------- rows */

static uint32_t reckon_part(const struct reckon *r, size_t class)
{
    const struct ledger_class *c = &r->admit.ledger->class_list.data[class];
    return r->scan->tally.split == SPLIT_THREAD ? c->thread : c->kind;
}

/* False: no memory. */
static bool reckon_split_init(struct reckon *r)
{
    struct reckon_split *split = &r->split;
    size_t classes = r->admit.ledger->class_list.count, stacks = r->scan->stack_count;
    struct map numbers;
    map_init(&numbers);
    split->parts = memory_new(classes * sizeof *split->parts);
    bool fine = split->parts != NULL;
    for (size_t i = 0; i < classes && fine; i++) {
        const uint64_t *number = map_find(&numbers, reckon_part(r, i));
        split->parts[i] = (uint16_t)(number != NULL ? *number : split->count);
        if (number == NULL)
            fine = map_set(&numbers, reckon_part(r, i), split->count++);
    }
    map_release(&numbers);
    if (!fine || split->count == 0 || stacks > RECKON_PLACES / split->count)
        return fine;
    split->rows = memory_new_zeroed(stacks * split->count, sizeof *split->rows);
    return split->rows != NULL;
}

/* The row of a stack and a class. */
static uint32_t reckon_find_row(struct reckon *r, uint32_t stack, uint16_t class)
{
    struct reckon_split *split = &r->split;
    uint32_t *known = split->rows == NULL ? NULL : &split->rows[stack * split->count + split->parts[class]];
    if (known != NULL && *known != 0)
        return *known - 1;
    uint32_t part = reckon_part(r, class), row = tally_find(&r->scan->tally, stack, part, part);
    if (row == TALLY_NONE) {
        r->scan->failed = true;
        return 0;
    }
    if (known != NULL)
        *known = row + 1;
    return row;
}

/* Finds those that are known.  False: some that pass are not. */
static bool reckon_knows_rows(struct reckon *r, const uint32_t *stacks, const uint16_t *classes)
{
    const uint32_t *known = r->split.rows;
    const uint16_t *parts = r->split.parts;
    const uint8_t *pass = r->admit.pass;
    const size_t count = r->count, width = r->split.count;
    unsigned missing = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = known[(stacks[i] & ~LEDGER_FALLS) * width + parts[classes[i]]];
        r->split_rows[i] = (row - 1) | (stacks[i] & LEDGER_FALLS);
        missing |= (row == 0) & pass[i];
    }
    return missing == 0;
}

/* Finds the rows of the entries at hand. */
static void reckon_tell_rows(struct reckon *r)
{
    const uint32_t *stacks = r->admit.ledger->rows + r->first;
    const uint16_t *classes = r->admit.ledger->classes + r->first;
    r->rows = stacks;
    if (r->scan->tally.split == SPLIT_NONE)
        return;
    r->rows = r->split_rows;
    if (r->split.rows != NULL && reckon_knows_rows(r, stacks, classes))
        return;
    for (size_t i = 0; i < r->count && !r->scan->failed; i++)
        if (r->admit.pass[i] != 0)
            r->split_rows[i] =
                reckon_find_row(r, stacks[i] & ~LEDGER_FALLS, classes[i]) | (stacks[i] & LEDGER_FALLS);
}

/* ----------------------------------------------------------------- counting */

/* What is to be known of those that pass. */
enum reckon_depth {
    RECKON_LEVEL, /* how many and how large they are: outside the window */
    RECKON_SUMS,  /* which of them are temporary too */
    RECKON_MORE,  /* and when they were made, how long they lived, and whatever else a query can want */
};

static enum reckon_depth reckon_depth_inside(const struct scan *s)
{
    return s->want == 0 ? RECKON_SUMS : RECKON_MORE;
}

static RECKON_INLINE void reckon_birth(struct reckon *r, struct tally_row *row, size_t at, uint64_t size,
                                       enum reckon_depth depth)
{
    row->made_blocks++;
    row->made_bytes += size;
    if (depth == RECKON_MORE)
        tally_born(row, r->admit.time_ns[at]);
}

static RECKON_INLINE void reckon_death(struct tally_row *row, uint64_t size, uint64_t lifetime,
                                       bool is_temporary, enum reckon_depth depth)
{
    row->gone_blocks++;
    row->gone_bytes += size;
    if (depth == RECKON_LEVEL)
        return;
    if (is_temporary) {
        row->temporary_blocks++;
        row->temporary_bytes += size;
    }
    if (depth == RECKON_MORE)
        tally_lived(row, lifetime);
}

/* Births of blocks that leak, in the window. */
static void reckon_add_leaks(struct reckon *r)
{
    const struct ledger *l = r->admit.ledger;
    size_t end = r->first + r->count;
    for (size_t i = r->admit.lasting; i < l->lasting.count && l->lasting.data[i] < end; i++) {
        size_t entry = l->lasting.data[i], at = entry - r->first;
        if (r->admit.pass[at] == 0 || !l->class_list.data[l->classes[entry]].is_leaked)
            continue;
        struct tally_row *row = &r->scan->tally.rows.data[r->rows[at]];
        row->leaked_blocks++;
        row->leaked_bytes += ledger_size(l, entry);
    }
}

/* ------------------------------------------------------- births and deaths apart */

/* The most blocks at once. */
static uint64_t reckon_follow_blocks(const struct reckon *r)
{
    const uint32_t *rows = r->admit.ledger->rows + r->first;
    uint64_t blocks = r->scan->tally.level.live_blocks, highest = blocks;
    for (size_t i = 0; i < r->count; i++) {
        uint64_t one = r->admit.pass[i];
        blocks += one - 2 * (one & rows[i] >> 31);
        highest = blocks > highest ? blocks : highest;
    }
    return highest;
}

/* Follows those that pass, and tells where births and deaths are.  How high it goes is of interest inside the window. */
static struct ascent reckon_follow(struct reckon *r)
{
    const struct scan *s = r->scan;
    const struct tally_level *level = &s->tally.level;
    uint64_t reached = s->is_open ? level->peak_bytes : UINT64_MAX;
    if (s->is_open && s->query->ticks != 0 && s->highest_bytes < reached)
        reached = s->highest_bytes;
    struct ascent c = {.bytes = level->live_bytes, .highest_bytes = reached};
    ascent_follow(&c, &r->lists, r->admit.ledger, r->first, r->count, r->admit.pass);
    return c;
}

/* Births from..to-1 of those that pass, and the same for deaths. */
static RECKON_INLINE void reckon_add_births(struct reckon *r, size_t from, size_t to, enum reckon_depth depth)
{
    const uint32_t *rows = r->rows, *sizes = r->admit.ledger->sizes + r->first;
    const struct tally tally = r->scan->tally; /* which stays as it is */
    for (size_t k = from; k < to; k++) {
        size_t at = r->lists.births[k];
        reckon_birth(r, tally_touch(&tally, &tally.level, rows[at]), at, sizes[at], depth);
        if (depth == RECKON_MORE)
            r->values[k - from] = r->sizes[k - from] = sizes[at];
    }
}

/* Lifetimes decide what is temporary only where the query says so. */
static RECKON_INLINE void reckon_add_deaths(struct reckon *r, size_t from, size_t to, enum reckon_depth depth)
{
    const struct ledger *l = r->admit.ledger;
    const uint32_t *rows = r->rows, *mates = l->mates + r->first, *sizes = l->sizes + r->first;
    const uint16_t *numbers = l->classes + r->first;
    const uint64_t *times = l->times.data, temporary_ns = r->admit.temporary_ns;
    const uint8_t *classes = r->admit.classes;
    const struct tally tally = r->scan->tally;
    for (size_t k = from; k < to; k++) {
        size_t at = r->lists.deaths[k];
        bool may_be = depth != RECKON_LEVEL && (classes[numbers[at]] & ADMIT_TEMPORARY) != 0;
        bool needs_time = depth == RECKON_MORE || (may_be && temporary_ns != UINT64_MAX);
        uint64_t lifetime = needs_time ? r->admit.time_ns[at] - times[mates[at]] : 0;
        reckon_death(tally_touch(&tally, &tally.level, rows[at] & ~LEDGER_FALLS), sizes[at], lifetime,
                     may_be && lifetime <= temporary_ns, depth);
        if (depth == RECKON_MORE) {
            r->values[k - from] = lifetime;
            r->dead_rows[k - from] = rows[at] & ~LEDGER_FALLS;
            r->sizes[k - from] = sizes[at];
        }
    }
}

/* What else is wanted of these births, and of these deaths. */
static void reckon_more_births(struct reckon *r, size_t from, size_t to)
{
    struct scan *s = r->scan;
    const struct ledger *l = r->admit.ledger;
    for (size_t k = from; k < to && (s->want & WANT_DETAIL) != 0; k++) {
        size_t at = r->lists.births[k];
        s->tally.rows.data[r->rows[at]].slack_bytes += l->class_list.data[l->classes[r->first + at]].slack;
    }
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add_many(&s->result->sizes, r->values, r->sizes, to - from);
}

static void reckon_more_deaths(struct reckon *r, size_t from, size_t to)
{
    struct scan *s = r->scan;
    if ((s->want & WANT_MEDIAN) != 0)
        medians_add_many(&s->medians, r->dead_rows, r->values, to - from);
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add_many(&s->result->lifetimes, r->values, r->sizes, to - from);
}

static __attribute__((noinline)) void reckon_births_inside(struct reckon *r, size_t from, size_t to)
{
    if (reckon_depth_inside(r->scan) == RECKON_MORE) {
        reckon_add_births(r, from, to, RECKON_MORE);
        reckon_more_births(r, from, to);
    } else {
        reckon_add_births(r, from, to, RECKON_SUMS);
    }
}

static __attribute__((noinline)) void reckon_deaths_inside(struct reckon *r, size_t from, size_t to)
{
    if (reckon_depth_inside(r->scan) == RECKON_MORE) {
        reckon_add_deaths(r, from, to, RECKON_MORE);
        reckon_more_deaths(r, from, to);
    } else {
        reckon_add_deaths(r, from, to, RECKON_SUMS);
    }
}

/* In the window.  Of all peaks among them the last and highest counts. */
static void reckon_add_inside(struct reckon *r, const struct ascent *c)
{
    struct scan *s = r->scan;
    struct tally_level *level = &s->tally.level;
    uint64_t blocks = s->query->ticks != 0 ? reckon_follow_blocks(r) : 0;
    size_t births = 0, deaths = 0;
    if (c->highest_bytes > level->peak_bytes) {
        births = c->births_before;
        deaths = c->deaths_before;
        reckon_births_inside(r, 0, births);
        reckon_deaths_inside(r, 0, deaths);
        level->peak_bytes = c->highest_bytes;
        level->peak_time_ns = r->admit.time_ns[r->lists.births[births - 1]];
        level->epoch++;
    }
    reckon_births_inside(r, births, c->births);
    reckon_deaths_inside(r, deaths, c->deaths);
    s->allocations += c->births;
    s->allocated_bytes += c->made_bytes;
    s->frees += c->deaths;
    s->highest_bytes = c->highest_bytes > s->highest_bytes ? c->highest_bytes : s->highest_bytes;
    s->highest_blocks = blocks > s->highest_blocks ? blocks : s->highest_blocks;
}

static void reckon_add_outside(struct reckon *r, const struct ascent *c)
{
    reckon_add_births(r, 0, c->births, RECKON_LEVEL);
    reckon_add_deaths(r, 0, c->deaths, RECKON_LEVEL);
}

static void reckon_add_apart(struct reckon *r)
{
    const struct ascent c = reckon_follow(r);
    struct tally_level *level = &r->scan->tally.level;
    if (r->scan->is_open)
        reckon_add_inside(r, &c);
    else
        reckon_add_outside(r, &c);
    level->live_bytes = c.bytes;
    level->live_blocks += c.births - c.deaths;
}

/* ------------------------------------------------------------------- in order */

static void reckon_add_birth(struct reckon *r, struct tally_row *row, size_t at, uint64_t size)
{
    struct scan *s = r->scan;
    struct tally_level *level = &s->tally.level;
    reckon_birth(r, row, at, size, s->is_open ? reckon_depth_inside(s) : RECKON_LEVEL);
    level->live_blocks++;
    level->live_bytes += size;
    if (!s->is_open)
        return;
    if ((s->want & WANT_DETAIL) != 0)
        row->slack_bytes += r->admit.ledger->class_list.data[r->admit.ledger->classes[r->first + at]].slack;
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&s->result->sizes, size, 1, size);
    s->allocations++;
    s->allocated_bytes += size;
    s->highest_bytes = level->live_bytes > s->highest_bytes ? level->live_bytes : s->highest_bytes;
    s->highest_blocks = level->live_blocks > s->highest_blocks ? level->live_blocks : s->highest_blocks;
    tally_peak(level, r->admit.time_ns[at]);
}

static void reckon_add_death(struct reckon *r, struct tally_row *row, size_t at, uint64_t size)
{
    const struct ledger *l = r->admit.ledger;
    struct scan *s = r->scan;
    uint64_t lifetime = r->admit.time_ns[at] - l->times.data[l->mates[r->first + at]];
    bool may_be = (r->admit.classes[l->classes[r->first + at]] & ADMIT_TEMPORARY) != 0;
    reckon_death(row, size, lifetime, may_be && lifetime <= r->admit.temporary_ns,
                 s->is_open ? reckon_depth_inside(s) : RECKON_LEVEL);
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
static void reckon_add_in_order(struct reckon *r)
{
    struct tally *t = &r->scan->tally;
    for (size_t at = 0; at < r->count; at++) {
        if (r->admit.pass[at] == 0)
            continue;
        uint64_t size = ledger_size(r->admit.ledger, r->first + at);
        struct tally_row *row = tally_touch(t, &t->level, r->rows[at] & ~LEDGER_FALLS);
        if (r->rows[at] < LEDGER_FALLS)
            reckon_add_birth(r, row, at, size);
        else
            reckon_add_death(r, row, at, size);
    }
}

/* --------------------------------------------------------------------- run */

/* The entries at hand. */
static void reckon_add(struct reckon *r)
{
    admit_entries(&r->admit, r->first, r->count);
    reckon_tell_rows(r);
    if (r->scan->failed)
        return;
    if (r->admit.has_large)
        reckon_add_in_order(r);
    else
        reckon_add_apart(r);
    if (r->scan->is_open)
        reckon_add_leaks(r);
}

/* All entries up to a time, and the moments between them. */
static void reckon_add_all(struct reckon *r, uint64_t until)
{
    size_t count = until == UINT64_MAX ? r->admit.ledger->count : admit_find(&r->admit, until + 1);
    for (size_t next = 0; next < count && !r->scan->failed;) {
        uint64_t moment = scan_next_moment(r->scan);
        size_t end = moment == UINT64_MAX ? count : admit_find(&r->admit, moment);
        end = end < count ? end : count;
        for (; next < end && !r->scan->failed; next += r->count) {
            r->first = next;
            r->count = end - next < LEDGER_AT_ONCE ? end - next : LEDGER_AT_ONCE;
            reckon_add(r);
        }
        if (end < count)
            scan_moment(r->scan, moment);
    }
    /* Behind the last entry there may be events of other kinds. */
    uint64_t seen_ns = r->admit.ledger->seen_ns < until ? r->admit.ledger->seen_ns : until;
    for (uint64_t moment; !r->scan->failed && (moment = scan_next_moment(r->scan)) <= seen_ns;)
        scan_moment(r->scan, moment);
}

int reckon_run(struct scan *s, const struct ledger *l, const struct query *q, const struct when *w,
               struct filter *f, struct watch *watch, const struct wake_process *p,
               struct query_result *result, struct err *err)
{
    int code = scan_begin(s, q, w, f, NULL, watch, p, result, err);
    if (code != 0)
        return code;
    struct reckon *r = memory_new_zeroed(1, sizeof *r);
    if (r == NULL)
        return scan_no_memory(err);
    r->scan = s;
    ones_init(&r->lists.ones);
    s->failed = !admit_init(&r->admit, l, f) || (q->split != SPLIT_NONE && !reckon_split_init(r));
    if (!s->failed)
        reckon_add_all(r, w->window.max > w->moment ? w->window.max : w->moment);
    admit_release(&r->admit);
    free(r->split.parts);
    free(r->split.rows);
    free(r);
    if (s->failed)
        return scan_no_memory(err);
    s->seen_ns = l->seen_ns;
    scan_finish(s, p);
    return 0;
}
