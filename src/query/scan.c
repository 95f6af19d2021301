/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * scan: see scan.h.  scan_births and scan_segment are the inner loops of every query: each
 * event passes through them once.
 */
#include "query/scan.h"

#include <string.h>

#include "query/ahead.h"
#include "store/weight.h"

/* The loop over events is compiled for inside and outside of the window, and for plain
 * questions and others. */
#define SCAN_INLINE inline __attribute__((always_inline))

/* What changes with every event, in registers as long as no moment comes. */
struct scan_state {
    struct tally_level level;
    uint64_t newest; /* allocation of the thread, where there is but one */
    uint64_t leaked; /* the next leaked block */
};

/* What a reading leaves besides its own answer. */
enum scan_stages { NO_STAGES, STAGES, STAGES_WITH_TRAIL };

/* Whose events they are, and what it takes to know temporaries: nothing, because all are, or nobody knows; the newest block of the
 * one thread or of each, or more than that (struct scan_dated). */
enum scan_threads { ANY_THREAD, ONE_THREAD, ALL_THREADS, DATED };

/* What a birth is asked: `pass` alone, or by its stack and its number too. */
enum scan_gates { ONE_GATE, ALL_GATES };

/* ------------------------------------------------------------------ rare things */

static __attribute__((noinline)) void scan_set_large(struct scan *s, struct scan_block *block,
                                                     uint64_t number, uint64_t size)
{
    block->size = SCAN_LARGE;
    s->failed = !map_set(&s->large, number, size) || s->failed;
}

static __attribute__((noinline)) uint64_t scan_unset_large(struct scan *s, uint64_t number)
{
    uint64_t size = 0;
    (void)map_remove(&s->large, number, &size);
    return size;
}

static __attribute__((noinline)) void scan_add_long(struct scan *s, uint32_t i, uint32_t row, uint64_t size,
                                                    bool falls)
{
    s->steps[i] = TRAIL_NONE;
    stages_add_long(s->stages, &(struct trail_long){i, row, size, falls});
}

/* A size that the block has no room for, or a step of the trail. */
static SCAN_INLINE void scan_keep_large(struct scan *s, struct scan_block *block, uint64_t number,
                                        uint64_t size, uint32_t row, uint32_t i, enum scan_stages stages)
{
    if (stages != STAGES_WITH_TRAIL || size >= SCAN_LARGE)
        scan_set_large(s, block, number, size);
    if (stages == STAGES_WITH_TRAIL)
        scan_add_long(s, i, row, size, false);
}

static SCAN_INLINE uint64_t scan_take_large(struct scan *s, uint64_t number, uint32_t row, uint64_t size,
                                            uint32_t i, enum scan_stages stages)
{
    if (stages != STAGES_WITH_TRAIL || size == SCAN_LARGE)
        size = scan_unset_large(s, number);
    if (stages == STAGES_WITH_TRAIL)
        scan_add_long(s, i, row, size, true);
    return size;
}

/* An allocation that is at or behind the next leaked block: what is the next one behind it? */
static __attribute__((noinline)) uint64_t scan_leak(struct scan *s, struct tally_row *r, uint64_t number,
                                                    struct weight weight)
{
    while (*s->leaked < number)
        s->leaked++;
    if (*s->leaked == number) {
        r->leaked_blocks += weight.blocks;
        r->leaked_bytes += weight.bytes;
        s->leaked++;
    }
    return *s->leaked;
}

/* The same while stages are made, which want to know of it. */
static __attribute__((noinline)) uint64_t scan_stage_leak(struct scan *s, struct tally_row *r,
                                                          const struct wake_block *b, uint32_t i)
{
    struct stage_leak leak = {.number = b->number[i],
                              .born_ns = b->time_ns[i],
                              .size = b->size[i],
                              .usable = (s->want & WANT_DETAIL) != 0 ? b->usable[i] : 0,
                              .stack = filter_stack(s->filter, b->stack[i])};
    uint64_t before = r->leaked_blocks, next = scan_leak(s, r, leak.number, (struct weight){1, leak.size});
    if (r->leaked_blocks != before)
        stages_add_leak(s->stages, &leak);
    return next;
}

static __attribute__((noinline)) void scan_stage_heirloom(struct scan *s, uint64_t number, uint64_t size,
                                                          const struct scan_block *was)
{
    stages_inherit(s->stages, number, was->born_ns, size, was->row);
}

static __attribute__((noinline)) void scan_extra_alloc(struct scan *s, struct tally_row *r,
                                                       uint64_t live_bytes, uint64_t live_blocks,
                                                       const struct wake_block *b, uint32_t i,
                                                       struct weight weight)
{
    uint64_t size = b->size[i];
    s->allocations += weight.blocks;
    s->allocated_bytes += weight.bytes;
    if (live_bytes > s->highest_bytes)
        s->highest_bytes = live_bytes;
    if (live_blocks > s->highest_blocks)
        s->highest_blocks = live_blocks;
    if ((s->want & WANT_DETAIL) != 0)
        r->slack_bytes += b->usable[i] > size ? (b->usable[i] - size) * weight.blocks : 0;
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&s->result->sizes, size, weight.blocks, weight.bytes);
}

static __attribute__((noinline)) void scan_extra_free(struct scan *s, uint32_t row, uint64_t lifetime,
                                                      struct weight weight)
{
    s->frees += weight.blocks;
    if ((s->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&s->result->lifetimes, lifetime, weight.blocks, weight.bytes);
    if ((s->want & WANT_MEDIAN) != 0)
        medians_add(&s->medians, row, lifetime);
}

/* --------------------------------------------------------------- one event */

/* The slot of an event's thread. */
static SCAN_INLINE struct slot *scan_slot(struct scan *s, const struct wake_block *b, uint32_t i)
{
    uint32_t slot = slots_get(&s->slots, b->thread[i]); /* first: the list may move */
    return &s->slots.all.data[slot];
}

/* The entry of a new block; NULL: no memory. */
static SCAN_INLINE struct scan_block *scan_add(struct scan *s, const struct wake_block *b, uint32_t i,
                                               uint64_t number, bool is_plain)
{
    if (is_plain)
        return numbered_add(&s->live, number, sizeof(struct scan_block));
    struct scan_dated *dated = numbered_add(&s->live, number, sizeof *dated);
    if (dated == NULL)
        return NULL;
    dated->slot = slots_get(&s->slots, b->thread[i]);
    dated->made = s->slots.all.data[dated->slot].made;
    return &dated->block;
}

static SCAN_INLINE struct weight scan_weight(const struct scan *s, uint64_t number, uint64_t size,
                                             bool is_plain)
{
    return is_plain ? (struct weight){1, size} : weight_of(&s->rule, number, size);
}

/* Stacks and what was chosen are looked at here and not ahead: both are at hand, and releases need not be asked. */
static SCAN_INLINE bool scan_passes(const struct scan *s, uint32_t i, uint32_t row, uint64_t number,
                                    enum scan_gates gates)
{
    if (!s->pass[i])
        return false;
    if (gates == ONE_GATE)
        return true;
    uint64_t bit = number - s->chosen_from;
    return (s->allowed == NULL || s->allowed[row] != 0) &&
           (!s->asks_numbers || (s->chosen_words[bit / 64] >> bit % 64 & 1) != 0);
}

static SCAN_INLINE void scan_alloc(struct scan *s, struct scan_state *now, const struct wake_block *b,
                                   uint32_t i, enum scan_threads threads, bool counts,
                                   enum scan_stages stages, enum scan_gates gates)
{
    bool is_plain = threads != DATED;
    uint64_t number = b->number[i], size = b->size[i], time_ns = b->time_ns[i];
    uint32_t row = b->stack[i] < s->stack_count ? b->stack[i] : 0; /* as filter_stack has it */
    if (threads == ONE_THREAD)
        now->newest = number;
    else if (threads == ALL_THREADS)
        scan_slot(s, b, i)->newest = number;
    else if (threads == DATED)
        scan_slot(s, b, i)->made++;
    if (!scan_passes(s, i, row, number, gates))
        return;
    if (!is_plain)
        row = tally_find(&s->tally, row, b->thread[i], b->detail[i]);
    struct scan_block *block = !is_plain && row == TALLY_NONE ? NULL : scan_add(s, b, i, number, is_plain);
    if (block == NULL) {
        s->failed = true;
        return;
    }
    *block = (struct scan_block){.born_ns = time_ns, .size = (uint32_t)size, .row = row};
    if (stages == STAGES_WITH_TRAIL)
        s->steps[i] = row * s->unit + (uint32_t)size;
    if (__builtin_expect(size >= (stages == STAGES_WITH_TRAIL ? s->unit : SCAN_LARGE), 0))
        scan_keep_large(s, block, number, size, row, i, stages);
    struct weight weight = scan_weight(s, number, size, is_plain);
    struct tally_row *r = tally_touch(&s->tally, &now->level, row);
    tally_rise(&now->level, r, weight.blocks, weight.bytes);
    if (!counts)
        return;
    if (stages == STAGES && r->made_bytes - r->gone_bytes > r->highest_bytes)
        r->highest_bytes = r->made_bytes - r->gone_bytes;
    if (stages != NO_STAGES || s->has_extras)
        tally_born(r, time_ns);
    if (__builtin_expect(number >= now->leaked, 0))
        now->leaked = stages != NO_STAGES ? scan_stage_leak(s, r, b, i) : scan_leak(s, r, number, weight);
    if (s->has_extras)
        scan_extra_alloc(s, r, now->level.live_bytes, now->level.live_blocks, b, i, weight);
    tally_peak(&now->level, time_ns);
}

static SCAN_INLINE bool scan_is_temporary(struct scan *s, struct scan_state *now,
                                          const struct scan_block *was, const struct wake_block *b,
                                          uint32_t i, enum scan_threads threads)
{
    if (threads == ANY_THREAD)
        return false;
    if (threads == ONE_THREAD)
        return now->newest == b->number[i];
    if (threads == ALL_THREADS)
        return scan_slot(s, b, i)->newest == b->number[i];
    const struct scan_dated *dated = (const struct scan_dated *)was;
    uint32_t slot = slots_get(&s->slots, b->thread[i]);
    if (dated->slot != slot)
        return false;
    if (s->temporary_ns != 0)
        return b->time_ns[i] - was->born_ns <= s->temporary_ns;
    return s->filter->knows_order && s->slots.all.data[slot].made - dated->made < s->temporary_allocations;
}

static SCAN_INLINE void scan_free(struct scan *s, struct scan_state *now, const struct wake_block *b,
                                  uint32_t i, enum scan_threads threads, bool counts, enum scan_stages stages)
{
    bool is_plain = threads != DATED;
    uint64_t number = b->number[i];
    const struct scan_block *was =
        numbered_take(&s->live, number, is_plain ? sizeof(struct scan_block) : sizeof(struct scan_dated));
    if (was == NULL) {
        if (stages == STAGES_WITH_TRAIL)
            s->steps[i] = TRAIL_NONE;
        return;
    }
    uint64_t size = was->size;
    if (stages == STAGES_WITH_TRAIL)
        s->steps[i] = (was->row * s->unit + was->size) | TRAIL_FALLS;
    if (__builtin_expect(stages == STAGES_WITH_TRAIL ? size >= s->unit : size == SCAN_LARGE, 0))
        size = scan_take_large(s, number, was->row, size, i, stages);
    struct weight weight = scan_weight(s, number, size, is_plain);
    struct tally_row *r = tally_touch(&s->tally, &now->level, was->row);
    tally_fall(&now->level, r, weight.blocks, weight.bytes);
    if (!counts)
        return;
    if (stages != NO_STAGES && __builtin_expect(number < s->floor, 0))
        scan_stage_heirloom(s, number, size, was);
    if (scan_is_temporary(s, now, was, b, i, threads)) {
        r->temporary_blocks += weight.blocks;
        r->temporary_bytes += weight.bytes;
    }
    if (stages == NO_STAGES && !s->has_extras)
        return; /* nobody asks for times */
    uint64_t lifetime = b->time_ns[i] - was->born_ns;
    tally_lived(r, lifetime);
    if (s->has_extras)
        scan_extra_free(s, was->row, lifetime, weight);
}

static SCAN_INLINE void scan_events(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end,
                                    enum scan_threads threads, bool counts, enum scan_stages stages,
                                    enum scan_gates gates)
{
    struct scan_state now = {.level = s->tally.level, .leaked = *s->leaked};
    if (threads == ONE_THREAD)
        now.newest = scan_slot(s, b, first)->newest;
    for (uint32_t i = first; i < end; i++) {
        if (b->event[i] == WAKE_ALLOC)
            scan_alloc(s, &now, b, i, threads, counts, stages, gates);
        else if (b->event[i] == WAKE_FREE)
            scan_free(s, &now, b, i, threads, counts, stages);
        else if (stages == STAGES_WITH_TRAIL)
            s->steps[i] = TRAIL_NONE;
    }
    s->tally.level = now.level;
    if (threads == ONE_THREAD)
        scan_slot(s, b, first)->newest = now.newest;
}

static SCAN_INLINE void scan_plain(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end,
                                   enum scan_threads threads)
{
    if (s->stages != NULL && s->stages->trail.words != NULL)
        scan_events(s, b, first, end, threads, true, STAGES_WITH_TRAIL, ONE_GATE);
    else if (s->stages != NULL)
        scan_events(s, b, first, end, threads, true, STAGES, ONE_GATE);
    else if (s->is_open && s->allowed == NULL && s->chosen == NULL)
        scan_events(s, b, first, end, threads, true, NO_STAGES, ONE_GATE);
    else if (s->is_open)
        scan_events(s, b, first, end, threads, true, NO_STAGES, ALL_GATES);
    else
        scan_events(s, b, first, end, threads, false, NO_STAGES, ALL_GATES);
}

/* Events first..end-1: no moment lies between them. */
static void scan_segment(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end)
{
    if (!s->is_plain && s->is_open)
        scan_events(s, b, first, end, DATED, true, NO_STAGES, ALL_GATES);
    else if (!s->is_plain)
        scan_events(s, b, first, end, DATED, false, NO_STAGES, ALL_GATES);
    else if (!s->asks_newest)
        scan_plain(s, b, first, end, ANY_THREAD);
    else if (b->is_of_one_thread)
        scan_plain(s, b, first, end, ONE_THREAD);
    else
        scan_plain(s, b, first, end, ALL_THREADS);
}

/* ----------------------------------------------------------------- a block */

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

/* Blocks that an earlier file of the series has made: their numbers may be any. */
static void scan_choose_carried(struct scan *s, const struct wake_block *b)
{
    s->asks_numbers = false;
    for (uint32_t i = 0; i < b->count; i++)
        s->pass[i] &= (uint8_t)(bitset_word(s->chosen, b->number[i]) >> b->number[i] % 64 & 1);
}

/* Else allocations are numbered one by one, so that the words of a block are few. */
static void scan_choose(struct scan *s, const struct wake_block *b)
{
    const uint8_t *first = memchr(b->event, WAKE_ALLOC, b->count);
    if (first == NULL)
        return;
    s->asks_numbers = true;
    s->chosen_from = b->number[first - b->event] & ~UINT64_C(63);
    uint64_t numbers = b->number[first - b->event] - s->chosen_from + b->count;
    for (uint64_t at = 0; at < numbers; at += 64)
        s->chosen_words[at / 64] = bitset_word(s->chosen, s->chosen_from + at);
}

int scan_block(const struct wake_block *b, void *context)
{
    struct scan *s = context;
    filter_births_of_any_stack(s->filter, &s->slots, b, s->pass);
    if (s->chosen != NULL && b->is_carried)
        scan_choose_carried(s, b);
    else if (s->chosen != NULL)
        scan_choose(s, b);
    for (uint32_t first = 0; first < b->count;) {
        uint64_t moment = scan_next_moment(s);
        uint32_t end = moment == UINT64_MAX ? b->count : scan_find(b, first, moment);
        for (uint32_t at = first, stop; at < end; at = stop) {
            stop = ahead_step(&s->live, b, at, end,
                              s->is_plain ? sizeof(struct scan_block) : sizeof(struct scan_dated));
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

unsigned scan_columns(const struct scan *s)
{
    unsigned columns = WAKE_SIZE | WAKE_STACK | filter_columns(s->filter);
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
    return err_set(err, ERR_MEMORY, "There is no memory for the live blocks of the query.");
}

/* Rows are stacks, and a block counts as one. */
static bool scan_has_plain_rows(const struct query *q, const struct wake_process *p)
{
    return q->split == SPLIT_NONE && p->omitted.sample_rate == 0;
}

bool scan_is_plain(const struct query *q, const struct wake_process *p)
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
        .allowed = f->stacks,
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
    filter_restart(f);
    bool fine = slots_init(&s->slots, q, p) && tally_init(&s->tally, q->split, f->stack_count);
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
        code = wake_reader_visit_columns(reader, process, 0, until, scan_columns(s), scan_block, s, err);
    if (code == ERR_MEMORY)
        return scan_no_memory(err);
    if (code < 0)
        return code;
    scan_finish(s, p);
    return 0;
}

void scan_leave_stages(struct scan *s, struct stages *stages)
{
    s->stages = stages;
    s->unit = UINT32_C(1) << stages->trail.bits;
}

void scan_inherit(struct scan *s, const struct stages *stages, struct stage *from)
{
    numbered_release(&s->live);
    map_release(&s->large);
    stage_sort(from);
    for (size_t i = 0; i < from->heirlooms.count && !s->failed; i++) {
        const struct stage_heirloom *h = &from->heirlooms.data[i];
        if (s->filter->stacks != NULL && !s->filter->stacks[h->row])
            continue;
        struct scan_block *block = numbered_add(&s->live, h->number, sizeof *block);
        if (block == NULL)
            s->failed = true;
        else
            *block = (struct scan_block){.born_ns = h->born_ns, .size = h->size, .row = h->row};
        if (h->size == SCAN_LARGE && block != NULL)
            scan_set_large(s, block, h->number, *map_find(&stages->large, h->number));
    }
    for (size_t i = 0; i < from->newest.count; i++) {
        uint32_t slot = slots_get(&s->slots, from->newest.data[i].thread);
        s->slots.all.data[slot].newest = from->newest.data[i].number;
    }
}

void scan_release(struct scan *s)
{
    numbered_release(&s->live);
    map_release(&s->large);
    medians_release(&s->medians);
    slots_release(&s->slots);
    tally_release(&s->tally);
}
