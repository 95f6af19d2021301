/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * window_events: what scan does between two events: the window begins or ends, a tick is over, live blocks are noted.
 */
#include "engine/scan.h"

uint64_t scan_next_moment(const struct scan *s)
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
    s->highest_bytes = s->tally.level.live_bytes;
    s->highest_blocks = s->tally.level.live_blocks;
    s->allocations = s->frees = s->allocated_bytes = 0;
}

static uint64_t scan_tick_after(const struct scan *s, size_t tick)
{
    return tick + 1 < s->result->timeline.count ? s->result->timeline.data[tick + 1].from_ns : UINT64_MAX;
}

void scan_moment(struct scan *s, uint64_t moment)
{
    if (s->close_ns == moment) {
        s->is_open = false;
        tally_close(&s->tally);
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
        s->highest_bytes = s->tally.level.live_bytes;
        s->highest_blocks = s->tally.level.live_blocks;
        tally_open(&s->tally, s->when->window.min);
    }
    if (s->tick_ns == moment) {
        scan_end_tick(s);
        s->tick++;
        s->tick_ns = scan_tick_after(s, s->tick);
    }
}

static void scan_stop_ticks(struct scan *s)
{
    scan_end_tick(s);
    s->tick = SIZE_MAX;
    s->tick_ns = UINT64_MAX;
}

void scan_finish(struct scan *s, const struct wake_process *p)
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
    if (s->is_open)
        tally_close(&s->tally);
    if (s->when->moment == UINT64_MAX)
        tally_note_live(&s->tally);
    for (size_t i = 0; s->has_temporaries_only && i < s->tally.rows.count; i++) {
        struct tally_row *r = &s->tally.rows.data[i];
        r->temporary_blocks = r->freed_blocks;
        r->temporary_bytes = r->freed_bytes;
    }
    tally_settle(&s->tally);
}
