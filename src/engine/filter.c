/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * filter: see filter.h.
 */
#include "engine/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "engine/block_list.h"
#include "engine/checkpoint.h"
#include "engine/is_mmapped.h"
#include "engine/pattern.h"
#include "engine/thread_state.h"
#include "store/event_source.h"
#include "tool/memory.h"

/* ------------------------------------------------------------- what is set */

static unsigned filter_check_births(const struct query *q, const struct when *w)
{
    const struct query_filter *f = &q->filter;
    unsigned checks = q->keeps_stack != NULL ? CHECK_STACK : 0;
    if (!range_is_whole(&w->born) || f->allocated == SIDE_INSIDE || w->has_alive_at[0] || w->has_alive_at[1])
        checks |= CHECK_BORN;
    if (f->allocated == SIDE_OUTSIDE)
        checks |= CHECK_OUTSIDE;
    if (!range_is_whole(&f->size))
        checks |= CHECK_SIZE;
    if (!range_is_whole(&f->usable))
        checks |= CHECK_USABLE;
    if (!range_is_whole(&f->slack))
        checks |= CHECK_SLACK;
    if (!range_is_whole(&f->address))
        checks |= CHECK_ADDRESS;
    if (!range_is_whole(&f->depth) || f->stacks.count > 0 || f->not_stacks.count > 0 || f->patterns.count > 0)
        checks |= CHECK_STACK;
    if (f->threads.count > 0)
        checks |= CHECK_THREAD;
    if (f->kinds != 0)
        checks |= CHECK_KIND;
    if (f->mark != NULL)
        checks |= CHECK_MARK;
    if ((f->states & (STATE_LEAKED | STATE_FREED)) != 0)
        checks |= CHECK_LEAKED;
    if (f->mapped != MAPPED_ANY)
        checks |= CHECK_MAPPED;
    if (f->arena != ARENA_ANY)
        checks |= CHECK_ARENA;
    if (f->freeing_stacks.count > 0 || f->not_freeing_stacks.count > 0 || f->freeing_patterns.count > 0)
        checks |= CHECK_RELEASE;
    if (f->mappings.count > 0)
        checks |= CHECK_INSIDE;
    if (f->blocks != NULL)
        checks |= CHECK_LISTED;
    return checks;
}

static unsigned filter_check_rest(const struct query_filter *f, const struct when *w)
{
    unsigned checks = 0;
    if (w->must_have_died || w->kept_until != 0 || f->freed != SIDE_ANY || w->has_alive_at[0] ||
        w->has_alive_at[1] || !range_is_whole(&f->lifetime))
        checks |= CHECK_FATE;
    if ((f->states & STATE_TEMPORARY) != 0)
        checks |= CHECK_TEMPORARY;
    if (f->freeing_threads.count > 0)
        checks |= CHECK_FREER;
    if (!range_is_whole(&f->chain_length) || !range_is_whole(&f->chain_position) ||
        !range_is_whole(&f->chain_first_size) || !range_is_whole(&f->chain_last_size) ||
        !range_is_whole(&f->chain_lifetime) || (f->states & STATE_CHAIN_LEAKED) != 0)
        checks |= CHECK_CHAIN;
    if (!range_is_whole(&f->group_allocations) || f->group_leaked_min.is_set || f->group_leaked_max.is_set ||
        (f->states & STATE_GROUP_LEAKED) != 0)
        checks |= CHECK_GROUP_COUNTS;
    if (!range_is_whole(&w->group_interval) || !range_is_whole(&w->group_peak))
        checks |= CHECK_GROUP_TIMES;
    return checks;
}

/* ------------------------------------------------------------------ making */

static int filter_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool filter_list_leaked(struct filter *f)
{
    const struct wake_process *p = f->process;
    if (!vec_reserve(&f->leaked, p->live.count + 1))
        return false;
    for (size_t i = 0; i < p->live.count; i++)
        f->leaked.data[f->leaked.count++] = p->live.data[i].allocation;
    qsort(f->leaked.data, f->leaked.count, sizeof *f->leaked.data, filter_compare);
    f->leaked.data[f->leaked.count++] = UINT64_MAX;
    return true;
}

bool filter_is_leaked(const struct filter *f, uint64_t number)
{
    return bsearch(&number, f->leaked.data, f->leaked.count, sizeof *f->leaked.data, filter_compare) != NULL;
}

void filter_name_stacks(uint8_t *allowed, size_t count, const uint32_t *wanted, size_t wanted_count,
                        const uint32_t *unwanted, size_t unwanted_count)
{
    memset(allowed, wanted_count == 0, count);
    for (size_t i = 0; i < wanted_count; i++)
        if (wanted[i] < count)
            allowed[wanted[i]] = 1;
    for (size_t i = 0; i < unwanted_count; i++)
        if (unwanted[i] < count)
            allowed[unwanted[i]] = 0;
}

/* Threads that are not known allocate nothing that matches. */
static bool filter_list_makers(struct filter *f)
{
    const struct query_filter *q = &f->query->filter;
    bool fine = true;
    for (size_t i = 0; (f->checks & CHECK_THREAD) != 0 && i < f->process->threads.count && fine; i++) {
        const struct wake_thread *t = &f->process->threads.data[i];
        if (thread_states_match(q->threads.data, q->threads.count, t))
            fine = map_set(&f->makers, t->number, 1);
    }
    return fine;
}

static int filter_allow_stacks(struct filter *f, uint32_t process, struct err *err)
{
    const struct query_filter *q = &f->query->filter;
    f->stacks = memory_new(f->stack_count);
    if (f->stacks == NULL)
        return err_no_memory(err);
    filter_name_stacks(f->stacks, f->stack_count, q->stacks.data, q->stacks.count, q->not_stacks.data,
                       q->not_stacks.count);
    for (uint32_t i = 0; i < f->stack_count; i++) {
        const struct wake_stack *s = wake_process_find_stack(f->process, i);
        f->stacks[i] = f->stacks[i] && range_has(&q->depth, s == NULL ? 0 : s->depth);
    }
    int code = pattern_narrow(f->query, q->patterns.data, q->patterns.count, f->process, process, f->stacks,
                              f->stack_count, err);
    for (uint32_t i = 0; i < f->stack_count && f->query->keeps_stack != NULL; i++)
        f->stacks[i] = f->stacks[i] && f->query->keeps_stack(f->query->keeps_context, process, i);
    return code;
}

static void filter_narrow(struct query_range *range, uint64_t min, uint64_t max)
{
    range->min = min > range->min ? min : range->min;
    range->max = max < range->max ? max : range->max;
}

/* When blocks may have been born and freed. */
static void filter_set_times(struct filter *f)
{
    const struct query_filter *q = &f->query->filter;
    const struct when *w = f->when;
    bool has_freer = (f->checks & (CHECK_TEMPORARY | CHECK_FREER)) != 0;
    f->born = w->born;
    f->died = (struct query_range){0, UINT64_MAX};
    f->lifetime = q->lifetime;
    if (q->allocated == SIDE_INSIDE)
        filter_narrow(&f->born, w->window.min, w->window.max);
    if (w->must_have_died)
        filter_narrow(&f->died, w->died.min, w->died.max);
    filter_narrow(&f->died, w->kept_until, UINT64_MAX);
    if (q->freed == SIDE_INSIDE)
        filter_narrow(&f->died, w->window.min, w->window.max);
    for (unsigned i = 0; i < 2; i++) {
        if (!w->has_alive_at[i])
            continue;
        filter_narrow(&f->born, 0, w->alive_at[i]);
        if (w->alive_at[i] == UINT64_MAX)
            f->none_freed = true;
        else
            filter_narrow(&f->died, w->alive_at[i] + 1, UINT64_MAX);
    }
    if ((f->checks & CHECK_TEMPORARY) != 0 && f->query->temporary_ns != 0)
        filter_narrow(&f->lifetime, 0, f->query->temporary_ns);
    f->none_freed = f->none_freed || f->died.min > f->died.max || f->lifetime.min > f->lifetime.max;
    f->none_leaked = w->must_have_died || q->freed == SIDE_INSIDE || has_freer;
    for (unsigned i = 0; i < 2; i++)
        f->none_leaked |= w->has_alive_at[i] && when_is_gone(w, f->process, w->alive_at[i]);
    f->has_more = q->freed == SIDE_OUTSIDE || has_freer;
}

/* Of blocks that an earlier file of a series has made only what the list of live blocks has is known. */
static int filter_check_arenas(const struct filter *f, struct err *err)
{
    const struct wake_process *p = f->process;
    if ((f->checks & CHECK_ARENA) == 0 || (p->events == 0 && p->carried.count == 0))
        return 0;
    if (!p->info.has_arenas)
        return err_set(err, ERR_ABSENT,
                       "Which arena the blocks of process %u lie in is not known: they are not glibc's, or "
                       "an older version or another tool recorded them. Leave 'arena' out, or record anew.",
                       p->info.pid);
    if (p->carried.count > 0)
        return err_set(err, ERR_ABSENT,
                       "Which arena the blocks of process %u lie in is not known of those that were made "
                       "in an earlier file of the series: name that too.",
                       p->info.pid);
    return 0;
}

/* Which allocation of its thread comes next is not known where some are not told of. */
static int filter_check_temporary(const struct filter *f, struct err *err)
{
    if ((f->checks & CHECK_TEMPORARY) == 0 || f->query->temporary_ns != 0 || f->knows_order)
        return 0;
    bool is_sampled = f->process->omitted.sample_rate != 0;
    return err_set(err, ERR_ABSENT,
                   "Which blocks of process %u were temporary is not known, as %s. "
                   "'--where temporary=1ms' goes by their time.",
                   f->process->info.pid, is_sampled ? "it was sampled" : "blocks of it were culled");
}

int filter_init(struct filter *f, const struct query *q, const struct when *w,
                const struct wake_reader *reader, uint32_t process, struct err *err)
{
    const struct wake_process *p = wake_reader_process(reader, process);
    *f = (struct filter){
        .query = q,
        .when = w,
        .process = p,
        .knows_order = wake_process_knows_order(p),
        .checks = filter_check_births(q, w) | filter_check_rest(&q->filter, w),
        .stack_count = p->stacks.count > 0 ? p->stacks.count : 1,
        .end_ns = p->end.end_ns,
    };
    bitset_init(&f->released);
    map_init(&f->makers);
    bitset_init(&f->inside);
    filter_set_times(f);
    if (!filter_list_leaked(f) || !filter_list_makers(f))
        return err_no_memory(err);
    int code = filter_check_arenas(f, err);
    if (code == 0)
        code = filter_check_temporary(f, err);
    if (code == 0 && q->filter.blocks != NULL) {
        code = block_list_check(q->filter.blocks, wake_reader_process_count(reader), err);
        f->listed = block_list_blocks(q->filter.blocks, process);
        while (f->listed != NULL && f->listed[f->listed_count] != UINT64_MAX)
            f->listed_count++;
    }
    if (code == 0 && (f->checks & (CHECK_STACK | CHECK_GROUPS)) != 0)
        code = filter_allow_stacks(f, process, err);
    return code;
}

void filter_release(struct filter *f)
{
    free(f->stacks);
    f->stacks = NULL;
    vec_release(&f->leaked);
    map_release(&f->makers);
    bitset_release(&f->released);
    bitset_release(&f->inside);
}

unsigned filter_columns(const struct filter *f)
{
    unsigned columns = 0;
    if ((f->checks & (CHECK_SIZE | CHECK_SLACK | CHECK_MAPPED)) != 0)
        columns |= WAKE_SIZE;
    if ((f->checks & (CHECK_USABLE | CHECK_SLACK | CHECK_MAPPED)) != 0)
        columns |= WAKE_USABLE;
    if ((f->checks & (CHECK_ADDRESS | CHECK_MAPPED)) != 0)
        columns |= WAKE_ADDRESS;
    if ((f->checks & (CHECK_STACK | CHECK_GROUPS | CHECK_MAPPED)) != 0)
        columns |= WAKE_STACK;
    if ((f->checks & CHECK_THREAD) != 0)
        columns |= WAKE_THREAD;
    if ((f->checks & CHECK_ARENA) != 0)
        columns |= WAKE_ARENA;
    if ((f->checks & (CHECK_BORN | CHECK_OUTSIDE)) != 0)
        columns |= WAKE_TIME;
    return columns;
}

/* ----------------------------------------------------------- events at birth */

/* Allocations that may still match, as a list of indices that each condition makes shorter, without a branch on what no
 * predictor can guess. */
struct births {
    const struct wake_block *b;
    uint16_t *list;
    uint32_t count;
};

/* Keeps those for which `passes`, an expression of i, is true. */
#define FILTER_KEEP(births, i, passes)                                        \
    do {                                                                      \
        uint16_t *filter_list = (births)->list;                               \
        uint32_t filter_kept = 0;                                             \
        for (uint32_t filter_j = 0; filter_j < (births)->count; filter_j++) { \
            uint32_t i = filter_list[filter_j];                               \
            bool filter_passes = (passes);                                    \
            filter_list[filter_kept] = (uint16_t)i;                           \
            filter_kept += filter_passes;                                     \
        }                                                                     \
        (births)->count = filter_kept;                                        \
    } while (0)

static void filter_range(struct births *a, const uint64_t *values, const struct query_range *range)
{
    uint64_t min = range->min, width = range->max - min;
    if (range->min > range->max)
        a->count = 0;
    FILTER_KEEP(a, i, values[i] - min <= width);
}

static void filter_slack(const struct filter *f, struct births *a)
{
    const struct query_range *range = &f->query->filter.slack;
    const uint64_t *usable = a->b->usable, *size = a->b->size;
    FILTER_KEEP(a, i, range_has(range, usable[i] > size[i] ? usable[i] - size[i] : 0));
}

static void filter_outside(const struct filter *f, struct births *a)
{
    FILTER_KEEP(a, i, !range_has(&f->when->window, a->b->time_ns[i]));
}

static void filter_stacks(const struct filter *f, struct births *a)
{
    const uint8_t *allowed = f->stacks;
    const uint32_t *stack = a->b->stack;
    const size_t count = f->stack_count;
    FILTER_KEEP(a, i, allowed[stack[i] < count ? stack[i] : 0] != 0);
}

static void filter_threads(const struct filter *f, struct births *a)
{
    const uint32_t *threads = a->b->thread;
    uint32_t latest = a->count > 0 ? threads[a->list[0]] : 0, kept = 0;
    bool passes = map_find(&f->makers, latest) != NULL;
    for (uint32_t j = 0; j < a->count; j++) {
        uint32_t i = a->list[j];
        if (threads[i] != latest)
            passes = map_find(&f->makers, threads[i]) != NULL;
        latest = threads[i];
        a->list[kept] = (uint16_t)i;
        kept += passes;
    }
    a->count = kept;
}

static void filter_kinds(const struct filter *f, struct births *a)
{
    const uint8_t *detail = a->b->detail;
    const uint32_t kinds = f->query->filter.kinds;
    FILTER_KEEP(a, i, (kinds >> (detail[i] & 31) & 1) != 0);
}

/* Is a number in such a list?  Numbers rise from allocation to allocation, as they do there. */
static inline bool filter_meets(const uint64_t *list, size_t *next, uint64_t number)
{
    while (list[*next] < number)
        ++*next;
    return list[*next] == number;
}

/* Keeps those that are in a list, or are not. */
static void filter_numbers(struct births *a, const uint64_t *list, size_t count, bool in_pass, bool out_pass)
{
    const uint64_t *numbers = a->b->number;
    size_t next = a->count > 0 ? sorted_below(list, count, numbers[a->list[0]]) : 0;
    if (a->b->is_carried) /* in no order */
        FILTER_KEEP(a, i, list[sorted_below(list, count, numbers[i])] == numbers[i] ? in_pass : out_pass);
    else
        FILTER_KEEP(a, i, filter_meets(list, &next, numbers[i]) ? in_pass : out_pass);
}

static void filter_mapped(const struct filter *f, struct births *a)
{
    enum is_mmapped wanted = f->query->filter.mapped == MAPPED_OWN ? IS_MMAPPED_YES : IS_MMAPPED_NO;
    const struct wake_block *b = a->b;
    FILTER_KEEP(a, i, is_mmapped_of(b->address[i], b->size[i], b->usable[i], b->stack[i]) == wanted);
}

static void filter_arenas(const struct filter *f, struct births *a)
{
    uint8_t unwanted = f->query->filter.arena == ARENA_OTHER ? 0 : 1;
    FILTER_KEEP(a, i, a->b->arena[i] != unwanted);
}

static void filter_found(const struct bitset *list, struct births *a)
{
    const uint64_t *numbers = a->b->number;
    FILTER_KEEP(a, i, bitset_find(list, numbers[i]));
}

static uint32_t filter_match(const void *filter, const struct wake_block *b, uint16_t *list)
{
    const struct filter *f = filter;
    const struct query_filter *q = &f->query->filter;
    struct births a = {b, list, b->alloc_count};
    unsigned checks = f->checks;
    memcpy(list, b->alloc_at, b->alloc_count * sizeof *list);
    if ((checks & CHECK_LEAKED) != 0)
        filter_numbers(&a, f->leaked.data, f->leaked.count - 1, (q->states & STATE_FREED) == 0,
                       (q->states & STATE_LEAKED) == 0);
    if ((checks & CHECK_LISTED) != 0)
        filter_numbers(&a, f->listed, f->listed_count, true, false);
    if ((checks & CHECK_BORN) != 0)
        filter_range(&a, b->time_ns, &f->born);
    if ((checks & CHECK_OUTSIDE) != 0)
        filter_outside(f, &a);
    if ((checks & CHECK_SIZE) != 0)
        filter_range(&a, b->size, &q->size);
    if ((checks & CHECK_USABLE) != 0)
        filter_range(&a, b->usable, &q->usable);
    if ((checks & CHECK_SLACK) != 0)
        filter_slack(f, &a);
    if ((checks & CHECK_ADDRESS) != 0)
        filter_range(&a, b->address, &q->address);
    if ((checks & CHECK_THREAD) != 0)
        filter_threads(f, &a);
    if ((checks & CHECK_KIND) != 0)
        filter_kinds(f, &a);
    if ((checks & CHECK_MAPPED) != 0)
        filter_mapped(f, &a);
    if ((checks & CHECK_ARENA) != 0)
        filter_arenas(f, &a);
    if ((checks & CHECK_RELEASE) != 0)
        filter_found(&f->released, &a);
    if ((checks & CHECK_INSIDE) != 0)
        filter_found(&f->inside, &a);
    if (f->stacks != NULL)
        filter_stacks(f, &a);
    return a.count;
}

/* Whether there are conditions at birth. */
static bool filter_has_births(const struct filter *f)
{
    return (f->checks & CHECK_AT_BIRTH) != 0 || f->stacks != NULL;
}

void filter_flag(const struct wake_block *b, uint8_t *pass)
{
    memset(pass, 0, b->count);
    for (uint32_t j = 0; j < b->match_count; j++)
        pass[b->match_at[j]] = 1;
}

/* ------------------------------------------------------------------- events */

/* Which mark is the latest depends on all events before, so that is asked in their order. */
struct filter_marks {
    const struct filter *filter;
    wake_block_fn *visit;
    void *context;
    bool is_marked; /* the latest mark is the one asked for */
    uint16_t list[WAKE_BLOCK_MAX];
};

static int filter_visit_marks(const struct wake_block *b, void *context)
{
    struct filter_marks *m = context;
    const struct wake_process *p = m->filter->process;
    struct wake_block marked = *b;
    uint32_t kept = 0, next = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] == WAKE_MARK) {
            const char *name = b->number[i] < p->marks.count ? p->marks.data[b->number[i]].name : NULL;
            m->is_marked = name != NULL && strcmp(name, m->filter->query->filter.mark) == 0;
        }
        if (next == b->match_count || b->match_at[next] != i)
            continue;
        m->list[kept] = b->match_at[next++];
        kept += m->is_marked;
    }
    marked.match_at = m->list;
    marked.match_count = kept;
    return m->visit(&marked, m->context);
}

int filter_visit(const struct filter *f, struct wake_reader *reader, uint32_t process, uint64_t to_ns,
                 unsigned columns, wake_block_fn *visit, void *context, struct err *err)
{
    struct filter_marks marks = {.filter = f, .visit = visit, .context = context};
    bool has_marks = (f->checks & CHECK_MARK) != 0;
    struct event_request request = event_request_all(reader, process, 0, to_ns, columns | filter_columns(f));
    request.match = filter_has_births(f) ? filter_match : NULL;
    request.match_of = f;
    if (f->start != NULL)
        checkpoint_begin(f->start, &request);
    return event_request_visit(&request, reader, has_marks ? filter_visit_marks : visit,
                               has_marks ? &marks : context, err);
}
