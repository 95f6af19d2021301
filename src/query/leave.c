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
    uint8_t is_newest[WAKE_BLOCK_MAX];
    uint16_t told[WAKE_BLOCK_MAX]; /* releases that set a bit */
};

bool leave_suits(const struct filter *f)
{
    const struct query *q = f->query;
    bool by_newest = q->temporary_ns == 0 && q->temporary_allocations == 1;
    return (f->checks & CHECK_AT_DEATH) != 0 && (f->checks & (CHECK_CHAIN | CHECK_GROUPS)) == 0 &&
           range_is_whole(&q->filter.lifetime) && ((f->checks & CHECK_TEMPORARY) == 0 || by_newest);
}

static int leave_block(const struct wake_block *b, void *context)
{
    struct leave *l = context;
    const struct filter f = *l->filter; /* stays in registers */
    uint32_t found = 0;
    if (l->has_threads)
        slots_find_newest(&l->slots, b, l->is_newest);
    for (uint32_t k = 0; k < b->free_count; k++) {
        uint32_t i = b->free_at[k];
        /* Nobody asks how long it lived. */
        struct fate fate = {.born_ns = b->time_ns[i], .died_ns = b->time_ns[i], .freed = true};
        if (l->has_threads) {
            fate.temporary = f.knows_order && l->is_newest[i];
            uint32_t at = slots_get(&l->slots, b->thread[i]); /* first: the list may move */
            fate.by_wanted_thread = l->slots.all.data[at].may_free;
        }
        l->told[found] = (uint16_t)i;
        found += filter_fate(&f, &fate) != l->chosen->is_inverse;
    }
    for (uint32_t k = 0; k < found; k++)
        if (!bitset_set(l->chosen, b->number[l->told[k]]))
            l->failed = true;
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
    bool has_times = !l.has_threads || !range_is_whole(&f->died) || f->query->filter.freed == SIDE_OUTSIDE;
    unsigned columns = (has_times ? WAKE_TIME : 0) | (l.has_threads ? WAKE_THREAD : 0);
    int code = ERR_MEMORY;
    if (slots_init(&l.slots, f->query, f->process))
        code = wake_reader_visit_columns(reader, process, span.min, span.max, columns, leave_block, &l, err);
    if (code == ERR_MEMORY)
        err_set(err, code, "There is no memory for the blocks of the query.");
    slots_release(&l.slots);
    return code;
}
