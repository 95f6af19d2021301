/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * leave: see leave.h.
 */
#include "query/leave.h"

struct leave {
    const struct filter *filter;
    struct bitset *chosen;
    struct watch *watch;
    struct slots slots;
    bool has_threads; /* the thread column is read */
    bool failed;      /* no memory */
};

bool leave_suits(const struct filter *f)
{
    const struct query *q = f->query;
    bool by_newest = q->temporary_ns == 0 && q->temporary_allocations == 1;
    return (f->checks & CHECK_AT_DEATH) != 0 && (f->checks & (CHECK_CHAIN | CHECK_GROUPS)) == 0 &&
           range_is_whole(&q->filter.lifetime) && ((f->checks & CHECK_TEMPORARY) == 0 || by_newest);
}

/* The loop over events is compiled for each of these. */
enum leave_threads { NO_THREADS, ONE_THREAD, ALL_THREADS };

static inline __attribute__((always_inline)) void leave_events(struct leave *l, const struct wake_block *b,
                                                               enum leave_threads threads)
{
    const bool has_threads = threads != NO_THREADS;
    const struct filter f = *l->filter; /* stays in registers */
    const uint8_t *events = b->event;
    const bool inverts = l->chosen->is_inverse, may_be_temporary = f.knows_order;
    struct slot *slot = NULL;
    for (uint32_t i = 0; i < b->count; i++) {
        if (threads == ALL_THREADS || (threads == ONE_THREAD && i == 0)) {
            uint32_t at = slots_get(&l->slots, b->thread[i]); /* first: the list may move */
            slot = &l->slots.all.data[at];
        }
        if (events[i] == WAKE_FREE) {
            /* Nobody asks how long it lived. */
            struct fate fate = {.born_ns = b->time_ns[i], .died_ns = b->time_ns[i], .freed = true};
            if (has_threads) {
                fate.temporary = may_be_temporary && slot->newest == b->number[i];
                fate.by_wanted_thread = slot->may_free;
            }
            if (filter_fate(&f, &fate) != inverts && !bitset_set(l->chosen, b->number[i]))
                l->failed = true;
        } else if (has_threads && events[i] == WAKE_ALLOC) {
            slot->newest = b->number[i];
        }
    }
}

static int leave_block(const struct wake_block *b, void *context)
{
    struct leave *l = context;
    if (!l->has_threads)
        leave_events(l, b, NO_THREADS);
    else if (b->is_of_one_thread)
        leave_events(l, b, ONE_THREAD);
    else
        leave_events(l, b, ALL_THREADS);
    l->failed = l->failed || l->slots.failed;
    return l->failed ? ERR_MEMORY : watch_advance(l->watch, b->count);
}

/* When the releases are that set a bit. */
static struct query_range leave_span(const struct filter *f, bool is_inverse)
{
    const struct query_range always = {0, UINT64_MAX};
    bool outside = f->query->filter.freed == SIDE_OUTSIDE;
    if ((f->checks & (CHECK_TEMPORARY | CHECK_FREER)) != 0 || f->none_freed)
        return always;
    if (!is_inverse)
        return f->died;
    if (f->died.max != UINT64_MAX || (f->died.min != 0 && outside))
        return always;
    return outside ? f->when->window : (struct query_range){0, f->died.min};
}

int leave_run(struct filter *f, struct bitset *chosen, struct watch *watch, struct wake_reader *reader,
              uint32_t process, struct err *err)
{
    struct leave l = {.filter = f,
                      .chosen = chosen,
                      .watch = watch,
                      .has_threads = (f->checks & (CHECK_TEMPORARY | CHECK_FREER)) != 0};
    chosen->is_inverse = !f->none_leaked;
    const struct query_range span = leave_span(f, chosen->is_inverse);
    int code = ERR_MEMORY;
    if (slots_init(&l.slots, f->query, f->process))
        code = wake_reader_visit_columns(reader, process, span.min, span.max, l.has_threads ? WAKE_THREAD : 0,
                                         leave_block, &l, err);
    if (code == ERR_MEMORY)
        err_set(err, code, "There is no memory for the blocks of the query.");
    slots_release(&l.slots);
    return code;
}
