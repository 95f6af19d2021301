/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * crew: see crew.h.
 */
#include "engine/crew.h"

#include <stdbool.h>
#include <stdlib.h>

#include "engine/histogram.h"
#include "tool/memory.h"
#include "tool/worker.h"

enum {
    CREW_MOST = 8,
    CREW_LEAST = 1 << 18, /* entries: a millisecond, and some tens of microseconds to begin */
    CREW_A_ROW = 16,      /* entries for each row: rows have to be added up */
};

/* The level that a part begins with: it may fall, but not below 0. */
#define CREW_GROUND (UINT64_C(1) << 62)

struct crew_part {
    struct scan scan;
    struct query_result result; /* for its histograms */
    struct entry_counts *counting;
    size_t from, to;
    pthread_t thread;
    bool is_running;
};

void crew_init(struct crew *p, const struct ledger_limits *limits, struct scan *s, const struct entries *l)
{
    unsigned cpus = worker_cpus();
    size_t least = s->stack_count > CREW_LEAST / CREW_A_ROW ? s->stack_count * CREW_A_ROW : CREW_LEAST;
    *p = (struct crew){.scan = s,
                       .entries = l,
                       .most = limits->part_count != 0 ? limits->part_count
                                                       : (cpus < CREW_MOST ? cpus : CREW_MOST),
                       .least = limits->part_entries != 0 ? limits->part_entries : least};
}

/* ------------------------------------------------------------------- begin */

static void *crew_run(void *context)
{
    struct crew_part *part = context;
    entry_counts_add(part->counting, part->from, part->to);
    return NULL;
}

static void crew_free(struct crew_part *part)
{
    entry_counts_free(part->counting);
    scan_release(&part->scan);
    free(part);
}

/* NULL: no memory. */
static struct crew_part *crew_new(const struct crew *p, size_t from, size_t to)
{
    const struct scan *s = p->scan;
    struct err err;
    struct crew_part *part = memory_new_zeroed(1, sizeof *part);
    if (part == NULL)
        return NULL;
    part->from = from;
    part->to = to;
    int code = scan_begin(&part->scan, s->query, s->when, s->filter, NULL, s->watch, s->filter->process,
                          &part->result, &err);
    if (code == 0)
        part->counting = entry_counts_new(&part->scan, p->entries, s->filter);
    if (part->counting == NULL) {
        crew_free(part);
        return NULL;
    }
    part->scan.is_open = true;
    part->scan.tally.level.live_bytes = part->scan.tally.level.peak_bytes = CREW_GROUND;
    return part;
}

static void crew_start(struct crew *p)
{
    for (size_t i = 0; i < p->count; i++)
        p->list[i]->is_running = worker_start(&p->list[i]->thread, crew_run, p->list[i]);
}

/* Those behind the first.  False: no memory. */
static bool crew_make(struct crew *p, size_t count, size_t from, size_t to)
{
    size_t size = (to - from) / count;
    p->list = memory_new(count * sizeof(struct crew_part *));
    for (size_t i = 1; i < count && p->list != NULL; i++) {
        struct crew_part *part = crew_new(p, from + i * size, i + 1 < count ? from + (i + 1) * size : to);
        if (part == NULL)
            return false;
        p->list[p->count++] = part;
    }
    return p->list != NULL;
}

size_t crew_begin(struct crew *p, size_t from, size_t to)
{
    size_t count = (to - from) / p->least < p->most ? (to - from) / p->least : p->most;
    if (count < 2 || !p->scan->is_open || p->scan->query->ticks != 0)
        return to;
    if (!crew_make(p, count, from, to)) {
        p->scan->failed = true;
        return from;
    }
    crew_start(p);
    return p->list[0]->from;
}

/* --------------------------------------------------------------------- end */

/* What changes with the order of events comes from tally_touch, before. */
static void crew_add_row(struct tally_row *to, const struct tally_row *from)
{
    to->made_blocks += from->made_blocks;
    to->made_bytes += from->made_bytes;
    to->gone_blocks += from->gone_blocks;
    to->gone_bytes += from->gone_bytes;
    to->leaked_blocks += from->leaked_blocks;
    to->leaked_bytes += from->leaked_bytes;
    to->temporary_blocks += from->temporary_blocks;
    to->temporary_bytes += from->temporary_bytes;
    to->slack_bytes += from->slack_bytes;
    if (from->lifetime_min_ns != TALLY_NEVER) {
        tally_lived(to, from->lifetime_min_ns);
        tally_lived(to, from->lifetime_max_ns);
    }
    if (from->last_ns != TALLY_NEVER) {
        tally_born(to, from->first_ns);
        tally_born(to, from->last_ns);
    }
}

/* The part's peak is the highest so far. */
static bool crew_is_higher(const struct tally_level *to, const struct tally_level *from)
{
    return to->live_bytes + (from->peak_bytes - CREW_GROUND) > to->peak_bytes;
}

/* Rows.  False: no memory. */
static bool crew_add_rows(struct scan *s, struct scan *part, bool is_higher)
{
    struct tally *t = &s->tally;
    tally_settle(&part->tally);
    for (uint32_t i = 0; i < part->tally.rows.count; i++) {
        const struct tally_row *from = &part->tally.rows.data[i];
        uint32_t row = tally_find(t, from->stack, from->part, from->part);
        if (row == TALLY_NONE)
            return false;
        struct tally_row *to = tally_touch(t->rows.data, t->level.epoch, row);
        if (is_higher) {
            to->peak_blocks += from->peak_blocks;
            to->peak_bytes += from->peak_bytes;
        }
        crew_add_row(to, from);
        medians_join(&s->medians, row, &part->medians, i);
    }
    return true;
}

/* What follows what the scan has. */
static void crew_join(struct scan *s, struct scan *part)
{
    struct tally_level *level = &s->tally.level;
    const struct tally_level *from = &part->tally.level;
    bool is_higher = crew_is_higher(level, from);
    if (is_higher) {
        level->peak_bytes = level->live_bytes + (from->peak_bytes - CREW_GROUND);
        level->peak_time_ns = from->peak_time_ns;
        level->epoch++;
    }
    s->failed = part->failed || !crew_add_rows(s, part, is_higher);
    level->live_blocks += from->live_blocks;
    level->live_bytes += from->live_bytes - CREW_GROUND;
    histogram_join(&s->result->sizes, &part->result->sizes);
    histogram_join(&s->result->lifetimes, &part->result->lifetimes);
}

void crew_end(struct crew *p, struct entry_counts *c)
{
    for (size_t i = 0; i < p->count; i++) {
        struct crew_part *part = p->list[i];
        if (part->is_running)
            pthread_join(part->thread, NULL);
        if (!p->scan->failed && part->is_running)
            crew_join(p->scan, &part->scan);
        else if (!p->scan->failed)
            entry_counts_add(c, part->from, part->to); /* there was no thread to be had */
        crew_free(part);
    }
    free(p->list);
    p->list = NULL;
    p->count = 0;
}
