/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * scan: see scan.h.  scan_births and scan_segment are the inner loops of every query: each
 * event passes through them once.
 */
#include "query/scan.h"

#include "query/ahead.h"
#include "query/timeline.h"
#include "store/weight.h"

/* The loop over events is compiled twice, for inside and outside of the window. */
#define SCAN_INLINE inline __attribute__((always_inline))

/* --------------------------------------------------------------- one event */

static SCAN_INLINE bool scan_is_temporary(const struct scan *s, const struct scan_block *was, uint32_t slot,
                                          uint64_t lifetime)
{
    if (was->slot != slot)
        return false;
    if (s->sample_rate != 0 && s->temporary_ns == 0)
        return false; /* nobody knows what the thread allocated next */
    return s->temporary_ns != 0 ? lifetime <= s->temporary_ns
                                : s->slots.all.data[slot].made - was->made < s->temporary_allocations;
}

static SCAN_INLINE void scan_count_alloc(struct scan *s, struct tally_row *r, const struct wake_block *b,
                                         uint32_t i, struct weight weight)
{
    uint64_t size = b->size[i], number = b->number[i];
    if (r->allocated_blocks == 0)
        r->first_ns = b->time_ns[i];
    r->allocated_blocks += weight.blocks;
    r->last_ns = b->time_ns[i];
    r->allocated_bytes += weight.bytes;
    s->allocations += weight.blocks;
    s->allocated_bytes += weight.bytes;
    while (*s->leaked < number)
        s->leaked++;
    if (*s->leaked == number) {
        r->leaked_blocks += weight.blocks;
        r->leaked_bytes += weight.bytes;
    }
    if ((s->want & WANT_DETAIL) != 0)
        r->slack_bytes += b->usable[i] > size ? (b->usable[i] - size) * weight.blocks : 0;
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&s->result->sizes, size, weight.blocks, weight.bytes);
    if (s->tally.live_bytes > s->highest_bytes)
        s->highest_bytes = s->tally.live_bytes;
    if (s->tally.live_blocks > s->highest_blocks)
        s->highest_blocks = s->tally.live_blocks;
    tally_peak(&s->tally, b->time_ns[i]);
}

static SCAN_INLINE void scan_count_free(struct scan *s, struct tally_row *r, const struct scan_block *was,
                                        struct weight weight, uint32_t slot, uint64_t time_ns)
{
    uint64_t lifetime = time_ns - was->born_ns;
    if (r->freed_blocks == 0 || lifetime < r->lifetime_min_ns)
        r->lifetime_min_ns = lifetime;
    if (lifetime > r->lifetime_max_ns)
        r->lifetime_max_ns = lifetime;
    r->freed_blocks += weight.blocks;
    r->freed_bytes += weight.bytes;
    s->frees += weight.blocks;
    if (scan_is_temporary(s, was, slot, lifetime)) {
        r->temporary_blocks += weight.blocks;
        r->temporary_bytes += weight.bytes;
    }
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&s->result->lifetimes, lifetime, weight.blocks, weight.bytes);
    if ((s->want & WANT_MEDIAN) != 0 && !medians_add(&s->medians, was->row, lifetime))
        s->failed = true;
}

static SCAN_INLINE void scan_alloc(struct scan *s, const struct wake_block *b, uint32_t i, bool counts)
{
    uint32_t slot = slots_get(&s->slots, b->thread[i]);
    uint32_t made = ++s->slots.all.data[slot].made;
    if (!s->pass[i])
        return;
    uint32_t row = tally_find(&s->tally, filter_stack(s->filter, b->stack[i]), b->thread[i], b->detail[i]);
    struct scan_block *block = row == TALLY_NONE ? NULL : numbered_add(&s->live, b->number[i], sizeof *block);
    if (block == NULL) {
        s->failed = true;
        return;
    }
    struct weight weight = weight_of(s->sample_rate, b->number[i], b->size[i]);
    *block = (struct scan_block){
        .size = b->size[i], .born_ns = b->time_ns[i], .row = row, .slot = slot, .made = made};
    struct tally_row *r = tally_touch(&s->tally, row);
    tally_rise(&s->tally, r, weight.blocks, weight.bytes);
    if (counts)
        scan_count_alloc(s, r, b, i, weight);
}

static SCAN_INLINE void scan_free(struct scan *s, const struct wake_block *b, uint32_t i, bool counts)
{
    const struct scan_block *was = numbered_take(&s->live, b->number[i], sizeof *was);
    if (was == NULL)
        return;
    struct tally_row *r = tally_touch(&s->tally, was->row);
    struct weight weight = weight_of(s->sample_rate, b->number[i], was->size);
    tally_fall(&s->tally, r, weight.blocks, weight.bytes);
    if (counts)
        scan_count_free(s, r, was, weight, slots_get(&s->slots, b->thread[i]), b->time_ns[i]);
}

/* Events first..end-1: no moment lies between them. */
static void scan_segment(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end)
{
    if (s->is_open) {
        for (uint32_t i = first; i < end; i++) {
            if (b->event[i] == WAKE_ALLOC)
                scan_alloc(s, b, i, true);
            else if (b->event[i] == WAKE_FREE)
                scan_free(s, b, i, true);
        }
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        if (b->event[i] == WAKE_ALLOC)
            scan_alloc(s, b, i, false);
        else if (b->event[i] == WAKE_FREE)
            scan_free(s, b, i, false);
    }
}

/* ----------------------------------------------------------------- moments */

static uint64_t scan_next_moment(const struct scan *s)
{
    uint64_t next = s->open_ns < s->close_ns ? s->open_ns : s->close_ns;
    next = s->note_ns < next ? s->note_ns : next;
    return s->tick_ns < next ? s->tick_ns : next;
}

/* The current tick is over. */
static void scan_end_tick(struct scan *s)
{
    if (s->tick >= s->result->timeline.count)
        return;
    struct query_tick *t = &s->result->timeline.data[s->tick];
    t->live_bytes += s->highest_bytes;
    t->live_blocks += s->highest_blocks;
    t->allocations += s->allocations;
    t->frees += s->frees;
    t->allocated_bytes += s->allocated_bytes;
    s->highest_bytes = s->tally.live_bytes;
    s->highest_blocks = s->tally.live_blocks;
    s->allocations = s->frees = s->allocated_bytes = 0;
}

static uint64_t scan_tick_after(const struct scan *s, size_t tick)
{
    return tick + 1 < s->result->timeline.count ? s->result->timeline.data[tick + 1].from_ns : UINT64_MAX;
}

/* Everything that happens just before the first event at or after this moment. */
static void scan_moment(struct scan *s, uint64_t moment)
{
    if (s->close_ns == moment) {
        s->is_open = false;
        s->close_ns = s->tick_ns = UINT64_MAX;
        scan_end_tick(s);
        s->tick = SIZE_MAX;
    }
    if (s->note_ns == moment) {
        tally_note_live(&s->tally);
        s->note_ns = UINT64_MAX;
    }
    if (s->open_ns == moment) {
        s->is_open = true;
        s->open_ns = UINT64_MAX;
        s->tick = 0;
        s->tick_ns = scan_tick_after(s, 0);
        s->highest_bytes = s->tally.live_bytes;
        s->highest_blocks = s->tally.live_blocks;
        tally_open(&s->tally, s->when->window.min);
    }
    if (s->tick_ns == moment) {
        scan_end_tick(s);
        s->tick++;
        s->tick_ns = scan_tick_after(s, s->tick);
    }
}

/* First index whose time is not before ns. */
static uint32_t scan_find(const struct wake_block *b, uint32_t low, uint64_t ns)
{
    uint32_t high = b->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (b->time_ns[middle] < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void scan_choose(struct scan *s, const struct wake_block *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->event[i] == WAKE_ALLOC && s->pass[i])
            s->pass[i] = bitset_has(s->chosen, b->number[i]);
}

static int scan_block(const struct wake_block *b, void *context)
{
    struct scan *s = context;
    filter_births(s->filter, &s->slots, b, s->pass);
    if (s->chosen != NULL)
        scan_choose(s, b);
    for (uint32_t first = 0; first < b->count;) {
        uint64_t moment = scan_next_moment(s);
        uint32_t end = moment == UINT64_MAX ? b->count : scan_find(b, first, moment);
        for (uint32_t at = first, stop; at < end; at = stop) {
            stop = ahead_step(&s->live, b, at, end, sizeof(struct scan_block));
            scan_segment(s, b, at, stop);
        }
        if (end < b->count)
            scan_moment(s, moment);
        first = end;
    }
    s->seen_ns = b->time_ns[b->count - 1];
    s->failed = s->failed || s->slots.failed;
    return s->failed ? ERR_MEMORY : watch_advance(s->watch, b->count);
}

/* --------------------------------------------------------------------- run */

static unsigned scan_columns(const struct scan *s)
{
    unsigned columns = WAKE_SIZE | WAKE_STACK | WAKE_THREAD | filter_columns(s->filter);
    return (s->want & WANT_DETAIL) != 0 ? columns | WAKE_USABLE : columns;
}

static void scan_stop_ticks(struct scan *s)
{
    scan_end_tick(s);
    s->tick = SIZE_MAX;
    s->tick_ns = UINT64_MAX;
}

/* What still lies behind the last event. */
static void scan_finish(struct scan *s, const struct wake_process *p)
{
    uint64_t end = p->end.end_ns > s->seen_ns ? p->end.end_ns : s->seen_ns;
    for (uint64_t moment; (moment = scan_next_moment(s)) != UINT64_MAX;) {
        /* An ended process has nothing live in later ticks; one that was not read
         * to its end has none that we know. */
        bool is_over = moment > end || s->watch->interrupted, opens = moment == s->open_ns;
        if (moment == s->tick_ns && is_over)
            scan_stop_ticks(s);
        scan_moment(s, moment);
        if (opens && is_over)
            s->highest_bytes = s->highest_blocks = 0;
    }
    scan_end_tick(s);
    if (s->when->moment == UINT64_MAX)
        tally_note_live(&s->tally);
    tally_settle(&s->tally);
}

static uint64_t scan_behind(uint64_t ns)
{
    return ns == UINT64_MAX ? UINT64_MAX : ns + 1;
}

int scan_run(struct scan *s, const struct query *q, const struct when *w, struct filter *f,
             struct bitset *chosen, struct watch *watch, struct wake_reader *reader, uint32_t process,
             struct query_result *result, struct err *err)
{
    const struct wake_process *p = wake_reader_process(reader, process);
    uint64_t until = w->window.max > w->moment ? w->window.max : w->moment;
    *s = (struct scan){
        .query = q,
        .when = w,
        .filter = f,
        .chosen = chosen,
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
        .sample_rate = p->omitted.sample_rate,
    };
    numbered_init(&s->live);
    medians_init(&s->medians);
    filter_restart(f);
    int code = ERR_MEMORY;
    if (slots_init(&s->slots, q, p) && tally_init(&s->tally, q->split, f->stack_count))
        code = wake_reader_visit_columns(reader, process, 0, until, scan_columns(s), scan_block, s, err);
    if (code == ERR_MEMORY)
        return err_set(err, ERR_MEMORY, "There is no memory for the live blocks of the query.");
    if (code < 0)
        return code;
    scan_finish(s, p);
    return 0;
}

void scan_release(struct scan *s)
{
    numbered_release(&s->live);
    medians_release(&s->medians);
    slots_release(&s->slots);
    tally_release(&s->tally);
}
