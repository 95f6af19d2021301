/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * leap: see leap.h.
 */
#include "query/leap.h"

#include <stdlib.h>
#include <string.h>

#include "query/whole.h"
#include "tool/memory.h"

/* Conditions that are about stacks alone. */
#define LEAP_STACKS (CHECK_STACK | CHECK_GROUP_COUNTS)
/* Conditions that can be looked at where all leaked blocks are listed. */
#define LEAP_LEAKED (CHECK_LEAKED | LEAP_STACKS | CHECK_BORN | CHECK_OUTSIDE | CHECK_SIZE)

enum { LEAP_SMALL = 4 /* a set of stacks with less than this part of the events */ };

static bool leap_is_about_leaks(const struct filter *f)
{
    return (f->query->filter.states & STATE_LEAKED) != 0 && (f->checks & ~(unsigned)LEAP_LEAKED) == 0;
}

bool leap_suits(const struct query *q, const struct filter *f, const struct wake_process *p)
{
    bool is_sum = (f->checks & ~(unsigned)LEAP_STACKS) == 0 && (q->want & ~(unsigned)WANT_DETAIL) == 0;
    return scan_is_plain(q, p) && p->carried.count == 0 && (is_sum || leap_is_about_leaks(f));
}

bool leap_has(const struct stages *s, const struct query *q)
{
    return s->has_detail || (q->want & WANT_DETAIL) == 0;
}

bool leap_needs_trail(const struct query *q, const struct filter *f)
{
    return (q->ticks != 0 || (f->stacks != NULL && !q->sums_only)) && !leap_is_about_leaks(f);
}

/* ------------------------------------------------------------------ making */

struct leap_making {
    struct stages *stages;
    struct scan *scan;
    struct whole whole;
    uint64_t events; /* of the stage */
};

static int leap_take(const struct wake_block *b, void *context)
{
    struct leap_making *m = context;
    if (!whole_meet(&m->whole, b))
        return LEAP_ODD;
    if (m->stages->now.first_ns == UINT64_MAX)
        m->stages->now.first_ns = b->time_ns[0];
    int code = scan_block(b, m->scan);
    m->stages->seen_ns = m->scan->seen_ns;
    m->events += b->count;
    if (m->stages->trail.words != NULL)
        stages_add_steps(m->stages, m->scan->steps, b->time_ns, b->count);
    return m->stages->failed ? ERR_MEMORY : code;
}

static int leap_read_all(struct leap_making *m, struct wake_reader *reader, uint32_t process, struct err *err)
{
    struct stages *s = m->stages;
    size_t spans = wake_reader_span_count(reader, process);
    int code = 0;
    for (size_t i = 0; i < spans && code == 0;) {
        stages_begin(s, i, m->whole.next, &m->scan->slots);
        m->scan->floor = m->whole.next;
        m->events = 0;
        do
            code = wake_reader_visit_spans(reader, process, i, i + 1, UINT64_MAX, scan_columns(m->scan),
                                           leap_take, m, err);
        while (++i < spans && code == 0 && m->events < s->distance);
        stages_end(s, i, &m->scan->tally, numbered_count(&m->scan->live));
        if (s->failed)
            code = ERR_MEMORY;
    }
    return code;
}

int leap_make(struct stages *s, const struct stage_limits *limits, const struct query *q,
              const struct when *w, struct watch *watch, struct wake_reader *reader, uint32_t process,
              struct err *err)
{
    const struct wake_process *p = wake_reader_process(reader, process);
    const struct when whole = when_whole(w);
    struct query plain;
    struct filter filter;
    struct query_result nothing;
    struct scan *scan = memory_new_zeroed(1, sizeof *scan);
    if (scan == NULL)
        return scan_no_memory(err);
    query_init(&plain);
    plain.want = q->want & WANT_DETAIL;
    query_result_init(&nothing);
    memset(&filter, 0, sizeof filter);
    int code = filter_init(&filter, &plain, &whole, reader, process, err);
    if (code == 0)
        code = scan_begin(scan, &plain, &whole, &filter, NULL, watch, p, &nothing, err);
    if (code == 0) {
        struct leap_making m = {.stages = s, .scan = scan, .whole = whole_begin(reader, process)};
        if (stages_init(s, limits, filter.stack_count, p->events, plain.want != 0)) {
            scan_leave_stages(scan, s);
            code = leap_read_all(&m, reader, process, err);
        } else {
            code = ERR_MEMORY;
        }
        if (code == ERR_MEMORY)
            code = scan_no_memory(err);
        if (code == 0 && !whole_is_met(&m.whole, p, s->seen_ns))
            code = LEAP_ODD;
    }
    scan_release(scan);
    free(scan);
    filter_release(&filter);
    query_release(&plain);
    return code;
}

/* ------------------------------------------------------------------- using */

struct leap {
    struct stages *stages;
    struct scan *scan;
    struct wake_reader *reader;
    uint32_t process;
    uint64_t until;
    const uint8_t *allowed; /* stacks, by number; NULL: all that there are */
    struct trail_set set;   /* the same, where a trail is followed for some */
    size_t peak;            /* with a trail, the stage that has the peak of some stacks; SIZE_MAX: none */
    uint64_t reached;       /* without, what their bytes have reached in the window, at least */

    /* Where a trail is followed for ticks anyway, it tells which stage has the peak on the way, and that one is read
     * afterwards: */
    bool reads_peak_last;
    uint64_t highest;         /* bytes in the stage `peak` */
    uint64_t highest_here;    /* in the stage that is followed */
    uint64_t highest_carried; /* in the current tick, before that stage */
    size_t read_peak;         /* the stage before or in which the tally has its peak */
};

static int leap_block(const struct wake_block *b, void *context)
{
    struct scan *s = context;
    bool was_interrupted = s->watch->interrupted; /* then these have been read before */
    int code = scan_block(b, s);
    return code == WATCH_STOP && was_interrupted ? 0 : code;
}

static int leap_read(struct leap *l, struct stage *stage, wake_block_fn *visit, struct err *err)
{
    scan_inherit(l->scan, l->stages, stage);
    if (l->scan->failed)
        return ERR_MEMORY;
    return wake_reader_visit_spans(l->reader, l->process, stage->first_span, stage->end_span, l->until,
                                   scan_columns(l->scan), visit, l->scan, err);
}

/* A tick begins. */
static uint64_t leap_tick(struct trail_level *level, void *context)
{
    struct leap *l = context;
    struct scan *s = l->scan;
    s->tally.level.live_bytes = level->bytes;
    s->tally.level.live_blocks = level->blocks;
    l->highest_here = level->highest_bytes > l->highest_here ? level->highest_bytes : l->highest_here;
    s->highest_bytes = level->highest_bytes > l->highest_carried ? level->highest_bytes : l->highest_carried;
    s->highest_blocks = level->highest_blocks;
    s->allocations = level->made_blocks;
    s->allocated_bytes = level->made_bytes;
    s->frees = level->gone_blocks;
    if (s->tick_ns != UINT64_MAX && s->tick_ns <= level->time_ns)
        scan_moment(s, s->tick_ns);
    l->highest_carried = 0;
    level->highest_bytes = s->highest_bytes;
    level->highest_blocks = s->highest_blocks;
    level->made_blocks = s->allocations;
    level->made_bytes = s->allocated_bytes;
    level->gone_blocks = s->frees;
    return s->tick_ns;
}

/* The ticks of a stage; its rows are left alone. */
static void leap_add_ticks(struct leap *l, size_t i)
{
    struct scan *s = l->scan;
    const struct stage *stage = &l->stages->list.data[i];
    const struct tally_level before = s->tally.level;
    struct trail_level level = {.bytes = before.live_bytes,
                                .blocks = before.live_blocks,
                                .highest_bytes = before.live_bytes,
                                .highest_blocks = s->highest_blocks,
                                .made_blocks = s->allocations,
                                .made_bytes = s->allocated_bytes,
                                .gone_blocks = s->frees};
    l->highest_here = 0;
    l->highest_carried = s->highest_bytes;
    trail_follow(&l->stages->trail, stage->trail_from, stage->trail_to, &level,
                 l->allowed == NULL ? NULL : &l->set, s->tick_ns, leap_tick, l);
    level.time_ns = 0; /* no tick begins */
    (void)leap_tick(&level, l);
    s->tally.level = before;
    if (l->highest_here > l->highest) {
        l->highest = l->highest_here;
        l->peak = i;
    }
}

/* The peak of the allowed stacks is not in a stage that begins now. */
static bool leap_lacks_peak(const struct leap *l, size_t i)
{
    const struct tally_level *level = &l->scan->tally.level;
    uint64_t highest;
    if (l->allowed == NULL || l->scan->query->sums_only)
        return true;
    if (l->stages->trail.words != NULL)
        return l->reads_peak_last || i != l->peak;
    uint64_t rise = stage_find_rise(&l->stages->list.data[i], l->allowed);
    if (__builtin_add_overflow(level->live_bytes, rise, &highest))
        return false;
    return highest < l->reached || highest <= level->peak_bytes;
}

/* No moment but ticks lies among the events of the stage. */
static bool leap_may_pass(const struct leap *l, size_t i)
{
    const struct scan *s = l->scan;
    uint64_t last = l->stages->list.data[i].last_ns;
    bool has_ticks = s->is_open && s->result->timeline.count > 0 && s->query->ticks != 0;
    if (s->open_ns <= last || s->close_ns <= last || s->note_ns <= last)
        return false;
    if (has_ticks && l->stages->trail.words == NULL)
        return false;
    return !s->is_open || leap_lacks_peak(l, i);
}

static int leap_step(struct leap *l, size_t i, struct err *err)
{
    struct scan *s = l->scan;
    struct stage *stage = &l->stages->list.data[i];
    uint64_t epoch = s->tally.level.epoch;
    int code = 0;
    for (uint64_t moment; (moment = scan_next_moment(s)) <= stage->first_ns && moment != UINT64_MAX;)
        scan_moment(s, moment);
    if (!leap_may_pass(l, i)) {
        code = leap_read(l, stage, leap_block, err);
    } else {
        if (s->is_open && s->query->ticks != 0)
            leap_add_ticks(l, i);
        stage_apply(stage, &s->tally, l->allowed, s->is_open, l->allowed == NULL);
        s->seen_ns = stage->last_ns;
    }
    if (s->tally.level.epoch != epoch)
        l->read_peak = i;
    return code;
}

/* A stage is read to its end, once the rest is there. */
static int leap_block_last(const struct wake_block *b, void *context)
{
    int code = scan_block(b, context);
    return code == WATCH_STOP ? 0 : code;
}

/* The peak of the stage that was found to have it, with its rows, into those of the tally. */
static void leap_take_peak(struct tally *t, struct tally *from)
{
    tally_settle(from);
    t->level.peak_bytes = from->level.peak_bytes;
    t->level.peak_time_ns = from->level.peak_time_ns;
    t->level.epoch++;
    for (size_t i = 0; i < t->rows.count; i++) {
        t->rows.data[i].peak_blocks = from->rows.data[i].peak_blocks;
        t->rows.data[i].peak_bytes = from->rows.data[i].peak_bytes;
        t->rows.data[i].epoch = t->level.epoch;
    }
}

/* Reads the stage `peak`, which lies in the window, unless what was read has as high a level before it. */
static int leap_read_peak(struct leap *l, struct err *err)
{
    struct scan *s = l->scan;
    uint64_t peak = s->tally.level.peak_bytes;
    if (l->peak == SIZE_MAX || l->highest < peak || (l->highest == peak && l->read_peak <= l->peak))
        return 0;
    struct query plain = *s->query;
    struct scan *again = memory_new_zeroed(1, sizeof *again);
    struct leap of_peak = *l;
    of_peak.scan = again;
    plain.ticks = 0;
    if (again == NULL)
        return ERR_MEMORY;
    int code =
        scan_begin(again, &plain, s->when, s->filter, NULL, s->watch, s->filter->process, s->result, err);
    for (size_t i = 0; i < l->peak && code == 0; i++)
        stage_apply(&l->stages->list.data[i], &again->tally, l->allowed, false, false);
    again->open_ns = again->close_ns = again->note_ns = UINT64_MAX;
    again->is_open = true;
    if (code == 0)
        code = leap_read(&of_peak, &l->stages->list.data[l->peak], leap_block_last, err);
    if (code == 0)
        leap_take_peak(&s->tally, &again->tally);
    scan_release(again);
    free(again);
    return code;
}

/* Stacks that have no row in any stage may be left out or not. */
static bool leap_allows_all(const struct stages *s, const struct filter *f)
{
    for (size_t i = 0; i < s->list.count && f->stacks != NULL; i++)
        for (size_t k = 0; k < s->list.data[i].rows.count; k++)
            if (!f->stacks[s->list.data[i].rows.data[k].row])
                return false;
    return true;
}

/* Which of the stages that lie in the window as a whole has the peak of the allowed stacks; without a trail,
 * how high they are at the ends of stages. */
static void leap_find_peak(struct leap *l, const struct when *w)
{
    const struct trail *trail = &l->stages->trail;
    uint64_t bytes = 0, highest = 0;
    for (size_t i = 0; i < l->stages->list.count; i++) {
        const struct stage *s = &l->stages->list.data[i];
        bool ends_inside = s->last_ns >= w->window.min && s->last_ns <= w->window.max;
        if (trail->words != NULL && ends_inside && s->first_ns >= w->window.min) {
            uint64_t here = trail_find_highest(trail, s->trail_from, s->trail_to, &l->set, bytes);
            if (here > highest) {
                highest = here;
                l->peak = i;
            }
        }
        for (size_t k = 0; k < s->rows.count; k++)
            if (l->allowed[s->rows.data[k].row])
                bytes += s->rows.data[k].made_bytes - s->rows.data[k].gone_bytes;
        if (ends_inside && bytes > l->reached)
            l->reached = bytes;
    }
}

/* Of the events of all stages the allowed stacks have few. */
static bool leap_is_small(const struct leap *l)
{
    uint64_t all = 0, ours = 0;
    for (size_t i = 0; i < l->stages->list.count; i++)
        for (size_t k = 0; k < l->stages->list.data[i].rows.count; k++) {
            const struct stage_row *r = &l->stages->list.data[i].rows.data[k];
            all += r->made_blocks + r->gone_blocks;
            ours += l->allowed[r->row] != 0 ? r->made_blocks + r->gone_blocks : 0;
        }
    return ours < all / LEAP_SMALL;
}

static bool leap_make_set(struct leap *l, const struct query *q)
{
    if (l->stages->trail.words == NULL || l->allowed == NULL || (q->ticks == 0 && q->sums_only))
        return true;
    return trail_set_init(&l->set, &l->stages->trail, l->allowed, l->stages->row_count, leap_is_small(l));
}

static int leap_over_stages(struct leap *l, const struct query *q, const struct filter *f,
                            const struct when *w, struct err *err)
{
    int code = 0;
    l->allowed = leap_allows_all(l->stages, f) ? NULL : f->stacks;
    if (!leap_make_set(l, q))
        return ERR_MEMORY;
    l->reads_peak_last = l->stages->trail.words != NULL && q->ticks != 0;
    if (l->allowed != NULL && !q->sums_only && !l->reads_peak_last)
        leap_find_peak(l, w);
    for (size_t i = 0; i < l->stages->list.count && code == 0; i++) {
        if (l->stages->list.data[i].first_ns > l->until)
            break;
        code = leap_step(l, i, err);
    }
    if (code >= 0 && l->allowed != NULL && !q->sums_only && l->reads_peak_last) {
        int last = leap_read_peak(l, err);
        code = last < 0 ? last : code;
    }
    trail_set_release(&l->set);
    return code;
}

/* Columns of blocks that were never freed, as if nothing else had ever been allocated. */
struct leap_columns {
    uint8_t event[WAKE_BLOCK_MAX], detail[WAKE_BLOCK_MAX];
    uint32_t thread[WAKE_BLOCK_MAX], stack[WAKE_BLOCK_MAX];
    uint64_t time_ns[WAKE_BLOCK_MAX], size[WAKE_BLOCK_MAX], usable[WAKE_BLOCK_MAX], number[WAKE_BLOCK_MAX];
    uint16_t alloc_at[WAKE_BLOCK_MAX];
};

static int leap_over_leaks(struct leap *l)
{
    const struct stages *s = l->stages;
    struct leap_columns *c = memory_new_zeroed(1, sizeof *c);
    uint64_t done = l->scan->watch->done;
    int code = c == NULL ? ERR_MEMORY : 0;
    for (size_t at = 0; at < s->leaks.count && code == 0;) {
        struct wake_block block = {.process = l->process,
                                   .event = c->event,
                                   .detail = c->detail,
                                   .time_ns = c->time_ns,
                                   .thread = c->thread,
                                   .stack = c->stack,
                                   .size = c->size,
                                   .usable = c->usable,
                                   .number = c->number,
                                   .alloc_at = c->alloc_at,
                                   .free_at = c->alloc_at};
        for (; at < s->leaks.count && block.count < WAKE_BLOCK_MAX; at++, block.count++) {
            const struct stage_leak *leak = &s->leaks.data[at];
            if (leak->born_ns > l->until)
                break;
            c->event[block.count] = WAKE_ALLOC;
            c->time_ns[block.count] = leak->born_ns;
            c->stack[block.count] = leak->stack;
            c->size[block.count] = leak->size;
            c->usable[block.count] = leak->usable;
            c->number[block.count] = leak->number;
            c->alloc_at[block.count] = (uint16_t)block.count;
        }
        block.alloc_count = block.count;
        if (block.count == 0)
            break;
        code = leap_block(&block, l->scan);
    }
    free(c);
    l->scan->watch->done = done; /* nothing was read */
    return code;
}

int leap_run(struct scan *s, struct stages *stages, const struct query *q, const struct when *w,
             struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
             struct query_result *result, struct err *err)
{
    const struct wake_process *p = wake_reader_process(reader, process);
    struct leap l = {.stages = stages,
                     .scan = s,
                     .reader = reader,
                     .process = process,
                     .until = w->window.max > w->moment ? w->window.max : w->moment,
                     .peak = SIZE_MAX};
    int code = scan_begin(s, q, w, f, NULL, watch, p, result, err);
    if (code == 0)
        code = leap_is_about_leaks(f) ? leap_over_leaks(&l) : leap_over_stages(&l, q, f, w, err);
    if (code == ERR_MEMORY)
        return scan_no_memory(err);
    if (code < 0)
        return code;
    if (code == 0 && watch->interrupted && stages->seen_ns < l.until) /* so far the stages go */
        s->seen_ns = stages->seen_ns;
    scan_finish(s, p);
    return 0;
}
