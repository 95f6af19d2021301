/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * maps_filter: see maps_filter.h.
 *
 * The conditions are those of the filter of blocks; a mapping is held against them as a block would be.
 */
#include "engine/maps_filter.h"

#include <stdlib.h>
#include <string.h>

#include "engine/bitset.h"
#include "engine/filter.h"
#include "engine/released_from.h"
#include "engine/thread_state.h"
#include "engine/when.h"

struct choice {
    const struct query *query;
    const struct when *when;
    struct filter filter;
    struct thread_states slots;
    uint8_t *releases;     /* by stack: 1 = may have removed it; NULL unless that is asked for */
    struct bitset numbers; /* that are asked for, by place in the list */
};

/* The call that removed the last of it.  Of a mapping that is left: NULL. */
static const struct maps_removal *choice_end(const struct mapping *m)
{
    return m->left_bytes != 0 || m->removals.count == 0 ? NULL : &m->removals.data[m->removals.count - 1];
}

static bool choice_is_temporary(const struct query *q, const struct mapping *m,
                                const struct maps_removal *end)
{
    if (end == NULL || end->thread != m->thread)
        return false;
    return q->temporary_ns != 0 ? m->gone_ns - m->made_ns <= q->temporary_ns
                                : m->thread_made_since < q->temporary_allocations;
}

/* By whom, from where, behind which mark it was made. */
static bool choice_fits_birth(struct choice *c, const struct mapping *m)
{
    const struct filter *f = &c->filter;
    const struct query_filter *q = &f->query->filter;
    bool is_marked = m->mark != 0 && m->mark <= f->process->marks.count;
    const char *mark = is_marked ? f->process->marks.data[m->mark - 1].name : NULL;
    uint32_t maker = thread_states_get(&c->slots, m->thread);
    return range_has(&f->born, m->made_ns) &&
           (q->allocated != SIDE_OUTSIDE || !range_has(&c->when->window, m->made_ns)) &&
           ((f->checks & CHECK_STACK) == 0 || f->stacks[filter_stack(f, m->stack)]) &&
           c->slots.all.data[maker].may_allocate &&
           (q->mark == NULL || (mark != NULL && strcmp(mark, q->mark) == 0));
}

static bool choice_fits_end(struct choice *c, const struct mapping *m)
{
    const struct filter *f = &c->filter;
    const struct maps_removal *end = choice_end(m);
    struct fate fate = {.born_ns = m->made_ns,
                        .died_ns = m->gone_ns,
                        .freed = end != NULL,
                        .temporary = choice_is_temporary(c->query, m, end)};
    if (end != NULL) {
        uint32_t remover = thread_states_get(&c->slots, end->thread);
        fate.by_wanted_thread = c->slots.all.data[remover].may_free;
    }
    if (((f->query->filter.states & STATE_LEAKED) != 0 && fate.freed) ||
        ((f->query->filter.states & STATE_FREED) != 0 && !fate.freed) || !filter_fate(f, &fate))
        return false;
    uint32_t stack = end == NULL ? 0 : filter_stack(f, end->stack);
    return c->releases == NULL || (stack != 0 && c->releases[stack]);
}

static bool choice_fits(struct choice *c, size_t at, const struct mapping *m)
{
    const struct query_filter *q = &c->query->filter;
    const struct query_range *window = &c->when->window;
    unsigned rights = mapping_rights(m);
    bool is_left = m->left_bytes != 0 && !when_is_gone(c->when, c->filter.process, window->min);
    return m->made_ns <= window->max && (is_left || m->gone_ns >= window->min) &&
           (q->mappings.count == 0 || bitset_has(&c->numbers, at)) &&
           range_has(&q->size, m->end - m->start) && range_has(&q->address, m->start) &&
           (range_is_whole(&q->peak_rss) || (m->has_usage && range_has(&q->peak_rss, m->peak_rss_bytes))) &&
           (rights & q->rights) == q->rights && (rights & q->no_rights) == 0 && choice_fits_birth(c, m) &&
           choice_fits_end(c, m);
}

/* How much of those chosen from `first` on there was at once in the window, at most. */
static void choice_find_peak(const struct choice *c, struct maps *m, struct bitset *is_chosen)
{
    const struct query_range *window = &c->when->window;
    uint64_t level = 0, best = 0, best_ns = 0;
    bool is_open = false;
    for (size_t i = 0; i < m->changes.count && m->changes.data[i].time_ns <= window->max; i++) {
        const struct maps_change *change = &m->changes.data[i];
        if (!is_open && change->time_ns >= window->min) {
            is_open = true;
            best = level;
            best_ns = level == 0 ? 0 : window->min;
        }
        if (!bitset_has(is_chosen, change->mapping))
            continue;
        level += (uint64_t)change->bytes;
        if (is_open && level > best) {
            best = level;
            best_ns = change->time_ns;
        }
    }
    if (!is_open && level > 0) {
        best = level;
        best_ns = window->min;
    }
    if (best > m->peak_bytes) {
        m->peak_bytes = best;
        m->peak_ns = best_ns;
    }
}

static int choice_take(struct choice *c, struct maps *m, size_t first, struct err *err)
{
    struct bitset is_chosen;
    bool fine = true;
    bitset_init(&is_chosen);
    for (size_t i = first; i < m->list.count && fine; i++) {
        const struct mapping *x = &m->list.data[i];
        if (!choice_fits(c, i - first, x))
            continue;
        fine = vec_push(&m->chosen, i) && bitset_set(&is_chosen, i);
        m->left += x->left_bytes != 0;
        m->left_bytes += x->left_bytes;
    }
    choice_find_peak(c, m, &is_chosen);
    bitset_release(&is_chosen);
    return fine && !c->slots.failed ? 0 : err_no_memory(err);
}

static int choice_prepare(struct choice *c, const struct wake_reader *r, uint32_t process, struct err *err)
{
    const struct query_filter *q = &c->query->filter;
    bool fine = thread_states_init(&c->slots, c->query, c->filter.process);
    for (size_t i = 0; i < q->mappings.count && fine; i++)
        fine = q->mappings.data[i] == 0 || bitset_set(&c->numbers, q->mappings.data[i] - 1);
    if (!fine)
        return err_no_memory(err);
    if (!range_is_whole(&q->peak_rss) && wake_reader_process(r, process)->usage_samples.count == 0)
        return err_set(err, ERR_ABSENT,
                       "How much of the mappings of process %u was in memory is not known: that is recorded "
                       "by 'heapwake record --map-usage'.",
                       c->filter.process->info.pid);
    return (c->filter.checks & CHECK_RELEASE) == 0
               ? 0
               : released_from_allow(&c->filter, process, &c->releases, err);
}

int maps_choose(struct maps *m, size_t first, const struct query *q, const struct wake_reader *r,
                uint32_t process, struct err *err)
{
    struct choice c = {.query = q, .when = &m->when};
    int code = query_suits_mappings(q, err);
    if (code == 0 && m->when_of != r) {
        when_release(&m->when);
        code = when_resolve(&m->when, q, r, err);
        m->when_of = code == 0 ? r : NULL;
    }
    if (code != 0)
        return code;
    bitset_init(&c.numbers);
    code = filter_init(&c.filter, q, c.when, r, process, err);
    if (code == 0)
        code = choice_prepare(&c, r, process, err);
    if (code == 0)
        code = choice_take(&c, m, first, err);
    free(c.releases);
    thread_states_release(&c.slots);
    bitset_release(&c.numbers);
    filter_release(&c.filter);
    return code;
}
