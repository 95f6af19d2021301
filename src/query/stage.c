/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stage: see stage.h.
 *
 * The tally that stages are made of counts as if its window were open from the first event on.
 * At each end of a stage the window is closed and opened anew, so that every row has what has happened in
 * between; the highest level begins with what is live.
 */
#include "query/stage.h"

#include <stdlib.h>
#include <string.h>

enum {
    STAGE_COUNT = 128,    /* stages, if nothing else decides */
    STAGE_ROW_EVENTS = 4, /* events for each row, since all rows are looked at when a stage ends */
};

#define STAGE_BYTES (UINT64_C(32) << 20)
/* Beyond this sums of levels may overflow. */
#define STAGE_BYTES_ODD (UINT64_C(1) << 62)

bool stages_may_have_trail(const struct stage_limits *limits, uint64_t events)
{
    return events + events / 64 <= limits->trail_words; /* times take some, too */
}

bool stages_init(struct stages *s, const struct stage_limits *limits, size_t rows, uint64_t events,
                 bool has_detail)
{
    *s = (struct stages){.has_detail = has_detail, .row_count = rows, .limits = *limits};
    uint64_t share = events / STAGE_COUNT, for_rows = (uint64_t)rows * STAGE_ROW_EVENTS;
    s->distance = s->limits.events != 0 ? s->limits.events : share > for_rows ? share : for_rows;
    s->limits.bytes = s->limits.bytes != 0 ? s->limits.bytes : STAGE_BYTES;
    if (!stages_may_have_trail(limits, events))
        return true;
    /* A word an event and one for its time, if each has its own; long ones have to share that. */
    uint64_t most = limits->trail_words, words = 2 * events + TRAIL_EVENT_MAX;
    return trail_init(&s->trail, rows, (size_t)(words < most ? words : most)) || !memory_has_failed();
}

static void stage_release(struct stage *s)
{
    vec_release(&s->rows);
    vec_release(&s->heirlooms);
    vec_release(&s->newest);
}

void stages_release(struct stages *s)
{
    for (size_t i = 0; i < s->list.count; i++)
        stage_release(&s->list.data[i]);
    vec_release(&s->list);
    vec_release(&s->leaks);
    map_release(&s->large);
    stage_release(&s->now);
    vec_release(&s->longs);
    trail_release(&s->trail);
}

static size_t stage_bytes(const struct stage *s)
{
    return s->rows.count * sizeof *s->rows.data + s->heirlooms.count * sizeof *s->heirlooms.data +
           s->newest.count * sizeof *s->newest.data;
}

/* ------------------------------------------------------------------ making */

void stages_begin(struct stages *s, size_t span, uint64_t floor, const struct slots *slots)
{
    s->now = (struct stage){
        .first_span = span, .first_ns = UINT64_MAX, .floor = floor, .knows_highest = s->trail.words == NULL};
    for (size_t i = 0; i < slots->all.count && !s->failed; i++)
        s->failed = !vec_push(&s->now.newest,
                              ((struct stage_newest){slots->all.data[i].thread, slots->all.data[i].newest}));
    if (s->list.count > 0 && !vec_reserve(&s->now.heirlooms, s->list.data[s->list.count - 1].heirlooms.count))
        s->failed = true;
    s->now.trail_from = s->trail.count;
    trail_pause(&s->trail);
}

void stages_inherit(struct stages *s, uint64_t number, uint64_t born_ns, uint64_t size, uint32_t row)
{
    bool is_large = size >= STAGE_LARGE;
    struct stage_heirloom h = {number, born_ns, is_large ? STAGE_LARGE : (uint32_t)size, row};
    s->failed =
        !vec_push(&s->now.heirlooms, h) || (is_large && !map_set(&s->large, number, size)) || s->failed;
}

void stages_add_leak(struct stages *s, const struct stage_leak *leak)
{
    s->failed = !vec_push(&s->leaks, *leak) || s->failed;
}

void stages_add_long(struct stages *s, const struct trail_long *l)
{
    s->failed = !vec_push(&s->longs, *l) || s->failed;
}

void stages_add_steps(struct stages *s, const uint32_t *steps, const uint64_t *time_ns, size_t count)
{
    if (!trail_add(&s->trail, steps, time_ns, count, s->longs.data, s->longs.count))
        trail_release(&s->trail);
    s->longs.count = 0;
}

/* What a row has done since the stage began; its counters begin anew. */
static struct stage_row stage_take_row(struct tally_row *r, uint32_t row)
{
    uint64_t blocks = r->made_blocks - r->gone_blocks, bytes = r->made_bytes - r->gone_bytes;
    uint64_t bytes_before = bytes - r->allocated_bytes + r->freed_bytes;
    struct stage_row taken = {
        .row = row,
        .made_blocks = r->allocated_blocks,
        .made_bytes = r->allocated_bytes,
        .gone_blocks = r->freed_blocks,
        .gone_bytes = r->freed_bytes,
        .peak_blocks = r->peak_blocks - (blocks - r->allocated_blocks + r->freed_blocks),
        .peak_bytes = r->peak_bytes - bytes_before,
        .highest_bytes = r->highest_bytes > bytes_before ? r->highest_bytes - bytes_before : 0,
        .leaked_blocks = r->leaked_blocks,
        .leaked_bytes = r->leaked_bytes,
        .temporary_blocks = r->temporary_blocks,
        .temporary_bytes = r->temporary_bytes,
        .slack_bytes = r->slack_bytes,
        .lifetime_min_ns = r->lifetime_min_ns,
        .lifetime_max_ns = r->lifetime_max_ns,
        .first_ns = r->first_ns,
        .last_ns = r->last_ns,
    };
    r->leaked_blocks = r->leaked_bytes = r->temporary_blocks = r->temporary_bytes = r->slack_bytes = 0;
    r->lifetime_min_ns = r->last_ns = TALLY_NEVER;
    r->lifetime_max_ns = r->first_ns = 0;
    r->highest_bytes = 0;
    return taken;
}

static void stages_take_rows(struct stages *s, struct tally *t)
{
    const struct stage *before = s->list.count > 0 ? &s->list.data[s->list.count - 1] : &s->now;
    tally_settle(t);
    tally_close(t);
    s->failed = !vec_reserve(&s->now.rows, before->rows.count) || s->failed;
    for (uint32_t i = 0; i < t->rows.count; i++) {
        struct tally_row *r = &t->rows.data[i];
        if (r->allocated_blocks == 0 && r->freed_blocks == 0)
            continue;
        if (!vec_push(&s->now.rows, stage_take_row(r, i)))
            s->failed = true;
    }
    s->now.knows_highest = s->now.knows_highest && t->level.peak_bytes < STAGE_BYTES_ODD;
    s->now.peak_bytes = t->level.peak_bytes;
    s->now.peak_time_ns = t->level.peak_time_ns;
    t->level.peak_bytes = t->level.live_bytes;
    t->level.epoch++; /* each row that changes notes what was live before */
    tally_open(t, 0);
}

/* The same row in two stages that follow each other. */
static struct stage_row stage_join_rows(const struct stage_row *a, const struct stage_row *b, bool peak_in_b)
{
    struct stage_row r = *a;
    uint64_t before_b = a->made_bytes - a->gone_bytes, highest_b = before_b + b->highest_bytes;
    if ((int64_t)highest_b > 0 && highest_b > r.highest_bytes)
        r.highest_bytes = highest_b;
    if (peak_in_b) {
        r.peak_blocks = a->made_blocks - a->gone_blocks + b->peak_blocks;
        r.peak_bytes = a->made_bytes - a->gone_bytes + b->peak_bytes;
    }
    r.made_blocks += b->made_blocks;
    r.made_bytes += b->made_bytes;
    r.gone_blocks += b->gone_blocks;
    r.gone_bytes += b->gone_bytes;
    r.leaked_blocks += b->leaked_blocks;
    r.leaked_bytes += b->leaked_bytes;
    r.temporary_blocks += b->temporary_blocks;
    r.temporary_bytes += b->temporary_bytes;
    r.slack_bytes += b->slack_bytes;
    r.lifetime_min_ns = b->lifetime_min_ns < r.lifetime_min_ns ? b->lifetime_min_ns : r.lifetime_min_ns;
    r.lifetime_max_ns = b->lifetime_max_ns > r.lifetime_max_ns ? b->lifetime_max_ns : r.lifetime_max_ns;
    r.first_ns = a->last_ns == TALLY_NEVER ? b->first_ns : a->first_ns;
    r.last_ns = b->last_ns == TALLY_NEVER ? a->last_ns : b->last_ns;
    return r;
}

/* A row that is not in one of the two is as one that nothing happened to. */
static bool stage_join_all_rows(struct stage *joined, const struct stage *a, const struct stage *b,
                                bool peak_in_b)
{
    size_t i = 0, k = 0;
    if (!vec_reserve(&joined->rows, a->rows.count + b->rows.count))
        return false;
    while (i < a->rows.count || k < b->rows.count) {
        uint32_t of_a = i < a->rows.count ? a->rows.data[i].row : UINT32_MAX;
        uint32_t of_b = k < b->rows.count ? b->rows.data[k].row : UINT32_MAX;
        struct stage_row none = {.lifetime_min_ns = TALLY_NEVER, .last_ns = TALLY_NEVER};
        none.row = of_a < of_b ? of_a : of_b;
        joined->rows.data[joined->rows.count++] = stage_join_rows(
            of_a <= of_b ? &a->rows.data[i] : &none, of_b <= of_a ? &b->rows.data[k] : &none, peak_in_b);
        i += of_a <= of_b;
        k += of_b <= of_a;
    }
    return true;
}

/* Two stages that follow each other become one, in place of the first.  False: no memory, nothing has changed. */
static bool stage_join(struct stage *a, struct stage *b)
{
    struct stage joined = *a;
    joined.rows.data = NULL;
    joined.rows.count = joined.rows.capacity = 0;
    bool peak_in_b = b->peak_bytes > a->peak_bytes;
    if (!vec_reserve(&a->heirlooms, a->heirlooms.count + b->heirlooms.count) ||
        !stage_join_all_rows(&joined, a, b, peak_in_b)) {
        vec_release(&joined.rows);
        return false;
    }
    for (size_t i = 0; i < b->heirlooms.count; i++)
        if (b->heirlooms.data[i].number < a->floor)
            a->heirlooms.data[a->heirlooms.count++] = b->heirlooms.data[i];
    a->trail_to = b->trail_to;
    a->knows_highest = a->knows_highest && b->knows_highest;
    free(a->rows.data);
    a->rows.data = joined.rows.data;
    a->rows.count = joined.rows.count;
    a->rows.capacity = joined.rows.capacity;
    a->end_span = b->end_span;
    a->last_ns = b->last_ns;
    a->peak_time_ns = peak_in_b ? b->peak_time_ns : a->peak_time_ns;
    a->peak_bytes = peak_in_b ? b->peak_bytes : a->peak_bytes;
    stage_release(b);
    return true;
}

static void stages_thin(struct stages *s)
{
    size_t kept = 0;
    s->bytes = 0;
    for (size_t i = 0; i < s->list.count; i++, kept++) {
        struct stage *to = &s->list.data[kept];
        if (kept != i)
            *to = s->list.data[i];
        if (i + 1 < s->list.count && stage_join(to, &s->list.data[i + 1]))
            i++;
        s->bytes += stage_bytes(to);
    }
    s->list.count = kept;
    s->distance *= 2;
}

void stages_end(struct stages *s, size_t end_span, struct tally *t, size_t live)
{
    struct stage *now = &s->now;
    s->live = live > s->live ? live : s->live;
    if (now->first_ns != UINT64_MAX && vec_reserve(&s->list, s->list.count + 1)) {
        stages_take_rows(s, t);
        now->end_span = end_span;
        now->last_ns = s->seen_ns;
        now->trail_to = s->trail.count;
        s->bytes += stage_bytes(now);
        s->list.data[s->list.count++] = *now;
        memset(now, 0, sizeof *now);
    } else {
        s->failed = s->failed || now->first_ns != UINT64_MAX;
        stage_release(now);
    }
    uint64_t most =
        s->limits.bytes + s->live * STAGE_LIVE_BYTES + s->row_count * STAGE_A_ROW * sizeof *now->rows.data;
    while (s->bytes > most && s->list.count > 1 && !s->failed)
        stages_thin(s);
}

/* ------------------------------------------------------------------- using */

static int stage_compare(const void *a, const void *b)
{
    const struct stage_heirloom *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

void stage_sort(struct stage *s)
{
    size_t in_order = 1;
    while (in_order < s->heirlooms.count &&
           s->heirlooms.data[in_order - 1].number < s->heirlooms.data[in_order].number)
        in_order++;
    if (in_order < s->heirlooms.count)
        qsort(s->heirlooms.data, s->heirlooms.count, sizeof *s->heirlooms.data, stage_compare);
}

uint64_t stage_find_rise(const struct stage *s, const uint8_t *allowed)
{
    uint64_t rise = s->knows_highest ? 0 : UINT64_MAX;
    for (size_t i = 0; i < s->rows.count && s->knows_highest; i++)
        if (allowed[s->rows.data[i].row] &&
            __builtin_add_overflow(rise, s->rows.data[i].highest_bytes, &rise))
            return UINT64_MAX;
    return rise;
}

static void stage_count_row(struct tally_row *r, const struct stage_row *from)
{
    if (from->last_ns != TALLY_NEVER) {
        if (r->last_ns == TALLY_NEVER)
            r->first_ns = from->first_ns;
        r->last_ns = from->last_ns;
    }
    r->lifetime_min_ns =
        from->lifetime_min_ns < r->lifetime_min_ns ? from->lifetime_min_ns : r->lifetime_min_ns;
    r->lifetime_max_ns =
        from->lifetime_max_ns > r->lifetime_max_ns ? from->lifetime_max_ns : r->lifetime_max_ns;
    r->leaked_blocks += from->leaked_blocks;
    r->leaked_bytes += from->leaked_bytes;
    r->temporary_blocks += from->temporary_blocks;
    r->temporary_bytes += from->temporary_bytes;
    r->slack_bytes += from->slack_bytes;
}

void stage_apply(const struct stage *s, struct tally *t, const uint8_t *allowed, bool counts, bool has_peak)
{
    struct tally_level *l = &t->level;
    bool is_peak = counts && has_peak && s->peak_bytes > l->peak_bytes;
    if (is_peak) {
        l->peak_bytes = s->peak_bytes;
        l->peak_time_ns = s->peak_time_ns;
        l->epoch++;
    }
    for (size_t i = 0; i < s->rows.count; i++) {
        const struct stage_row *from = &s->rows.data[i];
        if (allowed != NULL && !allowed[from->row])
            continue;
        struct tally_row *r = tally_touch(t->rows.data, l->epoch, from->row);
        if (is_peak) { /* tally_touch has noted what was live when the stage began */
            r->peak_blocks += from->peak_blocks;
            r->peak_bytes += from->peak_bytes;
        }
        tally_rise(r, from->made_blocks, from->made_bytes);
        tally_fall(r, from->gone_blocks, from->gone_bytes);
        l->live_blocks += from->made_blocks - from->gone_blocks;
        l->live_bytes += from->made_bytes - from->gone_bytes;
        if (counts)
            stage_count_row(r, from);
    }
}
