/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * scan: see scan.h.  A stretch of events without a moment between them is counted (engine/count_batch.c), births apart from
 * releases.  Here is the rest: the level, whose order matters and which is followed only where the births of a stretch could
 * raise it above the peak so far; and what only some questions ask, in loops of its own.
 */
#include "engine/scan.h"

#include <string.h>

#include "base/sorted.h"
#include "engine/histogram.h"
#include "store/weight.h"

enum { SCAN_STRETCH = 128 /* events: so few that their births seldom reach the peak */ };

/* ----------------------------------------------------------------------- level */

/* What each event of first..end-1 adds to the live bytes. */
static void scan_list_changes(struct scan *s, uint32_t first, uint32_t end)
{
    memset(s->change + first, 0, (end - first) * sizeof *s->change);
    for (uint32_t j = 0; j < s->birth_count; j++)
        s->change[s->births[j]] = s->bytes[s->births[j]];
    for (uint32_t k = 0; k < s->death_count; k++)
        s->change[s->death_at[k]] = 0 - s->bytes[s->death_at[k]];
}

/* The event that makes the highest peak of the stretch; `end`: there is none above the one so far. */
static uint32_t scan_find_peak(const struct scan *s, uint32_t first, uint32_t end, uint64_t *peak)
{
    uint64_t level = s->tally.level.live_bytes, top = *peak;
    uint32_t at = end;
    for (uint32_t i = first; i < end; i++) {
        level += s->change[i];
        at = level > top ? i : at;
        top = level > top ? level : top;
    }
    *peak = top;
    return at;
}

/* Takes what came behind the peak out of its rows, or puts it back; the first time they change in a new epoch they keep what
 * they had at the peak. */
static void scan_count_behind(struct scan *s, uint32_t peak_at, bool is_back)
{
    struct tally_row *rows = s->tally.rows.data;
    const uint64_t epoch = s->tally.level.epoch;
    for (uint32_t j = s->birth_count; j-- > 0 && s->births[j] > peak_at;) {
        uint32_t i = s->births[j];
        uint64_t blocks = s->is_plain ? 1 : s->blocks[i];
        if (is_back)
            tally_rise(tally_touch(rows, epoch, s->row[i]), blocks, s->bytes[i]);
        else
            tally_rise(&rows[s->row[i]], 0 - blocks, 0 - s->bytes[i]);
    }
    for (uint32_t k = s->death_count; k-- > 0 && s->death_at[k] > peak_at;) {
        uint32_t i = s->death_at[k];
        uint64_t blocks = s->is_plain ? 1 : s->blocks[i];
        if (is_back)
            tally_fall(tally_touch(rows, epoch, s->row[i]), blocks, s->bytes[i]);
        else
            tally_fall(&rows[s->row[i]], 0 - blocks, 0 - s->bytes[i]);
    }
}

static void scan_look_for_peak(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end)
{
    struct tally_level *level = &s->tally.level;
    scan_list_changes(s, first, end);
    uint32_t at = scan_find_peak(s, first, end, &level->peak_bytes);
    if (at == end)
        return;
    level->peak_time_ns = b->time_ns[at];
    scan_count_behind(s, at, false);
    level->epoch++;
    scan_count_behind(s, at, true);
}

static void scan_level(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end)
{
    struct tally_level *level = &s->tally.level;
    uint64_t most;
    bool wraps = __builtin_add_overflow(level->live_bytes, s->rise_bytes, &most);
    if (s->is_open && (most > level->peak_bytes || wraps || s->has_odd))
        scan_look_for_peak(s, b, first, end);
    level->live_bytes += s->rise_bytes - s->fall_bytes;
    level->live_blocks += s->rise_blocks - s->fall_blocks;
}

/* What the live blocks of the tick have reached. */
static void scan_tick(struct scan *s)
{
    uint64_t bytes = s->tally.level.live_bytes, blocks = s->tally.level.live_blocks;
    for (uint32_t j = 0, k = 0; j < s->birth_count; j++) {
        uint32_t i = s->births[j];
        for (; k < s->death_count && s->death_at[k] < i; k++) {
            bytes -= s->bytes[s->death_at[k]];
            blocks -= s->is_plain ? 1 : s->blocks[s->death_at[k]];
        }
        bytes += s->bytes[i];
        blocks += s->is_plain ? 1 : s->blocks[i];
        s->highest_bytes = bytes > s->highest_bytes ? bytes : s->highest_bytes;
        s->highest_blocks = blocks > s->highest_blocks ? blocks : s->highest_blocks;
    }
}

/* ---------------------------------------------------------------------- births */

static inline struct weight scan_weight(const struct scan *s, uint32_t i)
{
    return (struct weight){s->is_plain ? 1 : s->blocks[i], s->bytes[i]};
}

/* Blocks that the file lists as live at its end; both lists rise. */
static void scan_leaks(struct scan *s, const struct wake_block *b)
{
    if (s->birth_count == 0 || (!b->is_carried && b->number[s->births[s->birth_count - 1]] < *s->leaked))
        return;
    for (uint32_t j = 0; j < s->birth_count; j++) {
        uint32_t i = s->births[j];
        while (*s->leaked < b->number[i])
            s->leaked++;
        if (*s->leaked != b->number[i])
            continue;
        struct weight weight = scan_weight(s, i);
        s->tally.rows.data[s->row[i]].leaked_blocks += weight.blocks;
        s->tally.rows.data[s->row[i]].leaked_bytes += weight.bytes;
        s->leaked++;
    }
}

static void scan_births(struct scan *s, const struct wake_block *b)
{
    scan_leaks(s, b);
    bool has_slack = (s->want & WANT_DETAIL) != 0, has_histograms = (s->want & WANT_HISTOGRAMS) != 0;
    for (uint32_t j = 0; j < s->birth_count && s->has_extras; j++) {
        uint32_t i = s->births[j];
        struct tally_row *r = &s->tally.rows.data[s->row[i]];
        struct weight weight = scan_weight(s, i);
        tally_born(r, b->time_ns[i]);
        s->allocations += weight.blocks;
        s->allocated_bytes += weight.bytes;
        if (has_slack)
            r->slack_bytes += b->usable[i] > b->size[i] ? (b->usable[i] - b->size[i]) * weight.blocks : 0;
        if (has_histograms)
            histogram_add(&s->result->sizes, b->size[i], weight.blocks, weight.bytes);
    }
}

/* -------------------------------------------------------------------- releases */

static void scan_temporaries(struct scan *s)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < s->death_count; k++) {
        s->some[found] = s->death_at[k];
        found += s->is_newest[s->death_at[k]];
    }
    for (uint32_t k = 0; k < found; k++) {
        uint32_t i = s->some[k];
        struct tally_row *r = &s->tally.rows.data[s->row[i]];
        struct weight weight = scan_weight(s, i);
        r->temporary_blocks += weight.blocks;
        r->temporary_bytes += weight.bytes;
    }
}

static void scan_releases(struct scan *s, const struct wake_block *b)
{
    if (s->asks_newest || !s->is_plain)
        scan_temporaries(s);
    bool has_histograms = (s->want & WANT_HISTOGRAMS) != 0, has_medians = (s->want & WANT_MEDIAN) != 0;
    for (uint32_t k = 0; k < s->death_count && s->has_extras; k++) {
        uint32_t i = s->death_at[k];
        uint64_t lifetime = b->time_ns[i] - s->born_ns[i];
        struct weight weight = scan_weight(s, i);
        s->frees += weight.blocks;
        tally_lived(&s->tally.rows.data[s->row[i]], lifetime);
        if (has_histograms)
            histogram_add(&s->result->lifetimes, lifetime, weight.blocks, weight.bytes);
        if (has_medians)
            medians_add(&s->medians, s->row[i], lifetime);
    }
}

/* ----------------------------------------------------------------- a block */

/* Events first..end-1: no moment lies between them. */
static void scan_segment(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end)
{
    count_batch_until(s, b, end);
    if (s->failed)
        return;
    if (s->is_open && s->query->ticks != 0)
        scan_tick(s);
    scan_level(s, b, first, end);
    if (s->is_open) {
        scan_births(s, b);
        scan_releases(s, b);
    }
}

static int scan_block(const struct wake_block *b, void *context)
{
    struct scan *s = context;
    count_batch_begin(s, b);
    for (uint32_t first = 0; first < b->count && !s->failed;) {
        uint64_t moment = scan_next_moment(s);
        uint32_t end = b->count;
        if (moment != UINT64_MAX)
            end = first + (uint32_t)sorted_below(b->time_ns + first, b->count - first, moment);
        for (uint32_t stop; first < end && !s->failed; first = stop) {
            stop = end - first > SCAN_STRETCH ? first + SCAN_STRETCH : end;
            scan_segment(s, b, first, stop);
        }
        if (end < b->count)
            scan_moment(s, moment);
    }
    s->seen_ns = b->time_ns[b->count - 1];
    s->failed = s->failed || s->slots.failed;
    return s->failed ? ERR_MEMORY : watch_advance(s->watch, b->count);
}

/* --------------------------------------------------------------------- run */

static unsigned scan_columns(const struct scan *s)
{
    unsigned columns = WAKE_TIME | WAKE_SIZE | WAKE_STACK;
    if (!s->is_plain || s->asks_newest)
        columns |= WAKE_THREAD;
    return (s->want & WANT_DETAIL) != 0 ? columns | WAKE_USABLE : columns;
}

static uint64_t scan_behind(uint64_t ns)
{
    return ns == UINT64_MAX ? UINT64_MAX : ns + 1;
}

int scan_no_memory(struct err *err)
{
    return err_no_memory(err);
}

/* Rows are stacks, and a block counts as one. */
static bool scan_has_plain_rows(const struct query *q, const struct wake_process *p)
{
    return q->split == SPLIT_NONE && p->omitted.sample_rate == 0;
}

static bool scan_is_plain(const struct query *q, const struct wake_process *p)
{
    return scan_has_plain_rows(q, p) && q->temporary_ns == 0 && q->temporary_allocations == 1;
}

int scan_begin(struct scan *s, const struct query *q, const struct when *w, struct filter *f,
               struct bitset *chosen, struct watch *watch, const struct wake_process *p,
               struct query_result *result, struct err *err)
{
    bool has_temporaries_only = chosen != NULL && (f->checks & CHECK_TEMPORARY) != 0;
    *s = (struct scan){
        .query = q,
        .when = w,
        .filter = f,
        .chosen = chosen,
        .stack_count = f->stack_count,
        .result = result,
        .watch = watch,
        .leaked = f->leaked.data,
        .want = q->want,
        .temporary_ns = q->temporary_ns,
        .temporary_allocations = q->temporary_allocations,
        .open_ns = w->window.min,
        .close_ns = scan_behind(w->window.max),
        .note_ns = scan_behind(w->moment),
        .tick_ns = UINT64_MAX,
        .tick = SIZE_MAX,
        .rule = p->rule,
        .is_plain = scan_is_plain(q, p) || (has_temporaries_only && scan_has_plain_rows(q, p)),
        .has_temporaries_only = has_temporaries_only,
        .asks_newest = !has_temporaries_only && f->knows_order,
        .has_extras = q->want != 0 || q->ticks != 0,
    };
    numbered_init(&s->live);
    map_init(&s->large);
    medians_init(&s->medians);
    if ((s->want & WANT_MEDIAN) != 0)
        medians_prepare(&s->medians, f->stack_count);
    bool fine = thread_states_init(&s->slots, q, p) && tally_init(&s->tally, q->split, f->stack_count);
    return fine ? 0 : scan_no_memory(err);
}

int scan_run(struct scan *s, const struct query *q, const struct when *w, struct filter *f,
             struct bitset *chosen, struct watch *watch, struct wake_reader *reader, uint32_t process,
             struct query_result *result, struct err *err)
{
    const struct wake_process *p = wake_reader_process(reader, process);
    uint64_t until = w->window.max > w->moment ? w->window.max : w->moment;
    int code = scan_begin(s, q, w, f, chosen, watch, p, result, err);
    if (code == 0)
        code = filter_visit(f, reader, process, until, scan_columns(s), scan_block, s, err);
    if (code == ERR_MEMORY)
        return scan_no_memory(err);
    if (code < 0)
        return code;
    scan_finish(s, p);
    return 0;
}

void scan_release(struct scan *s)
{
    numbered_release(&s->live);
    map_release(&s->large);
    medians_release(&s->medians);
    thread_states_release(&s->slots);
    tally_release(&s->tally);
}
