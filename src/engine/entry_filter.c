/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_filter: see entry_filter.h.  The loops look at ENTRIES_AT_ONCE entries whether all are wanted or not: compilers do more with a
 * number that they know.
 */
#include "engine/entry_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "engine/thread_state.h"
#include "tool/memory.h"

/* Conditions on what classes have. */
#define ENTRY_FILTER_CLASSES                                                                               \
    (CHECK_SLACK | CHECK_THREAD | CHECK_KIND | CHECK_MARK | CHECK_ARENA | CHECK_LEAKED | CHECK_TEMPORARY | \
     CHECK_FREER)
/* Conditions on when blocks were made, and on what becomes of them. */
#define ENTRY_FILTER_BIRTHS (CHECK_BORN | CHECK_OUTSIDE)
#define ENTRY_FILTER_FATES (CHECK_FATE | CHECK_TEMPORARY | CHECK_FREER)
#define ENTRY_FILTER_ALL                                                                           \
    (ENTRY_FILTER_CLASSES | ENTRY_FILTER_BIRTHS | ENTRY_FILTER_FATES | CHECK_SIZE | CHECK_USABLE | \
     CHECK_STACK | CHECK_GROUPS | CHECK_ADDRESS | CHECK_CHAIN)

bool entry_filter_suits(const struct query *q, const struct filter *f, const struct wake_process *p)
{
    /* Entries take chains for leaked that were released when the file was full. */
    bool asks_too_much = (q->filter.states & STATE_CHAIN_LEAKED) != 0 && p->omitted.is_limited;
    return (f->checks & ~(unsigned)ENTRY_FILTER_ALL) == 0 && p->omitted.sample_rate == 0 &&
           p->carried.count == 0 && !asks_too_much && (q->temporary_ns != 0 || q->temporary_allocations == 1);
}

bool entry_filter_knows(const struct entries *l, const struct filter *f, uint64_t until_ns)
{
    bool asks_fates = (f->checks & (CHECK_AT_DEATH | CHECK_GROUPS)) != 0;
    return (l->is_whole || (until_ns < l->until_ns && !asks_fates)) &&
           (l->knows_marks || (f->checks & CHECK_MARK) == 0) &&
           (l->knows_usable || (f->checks & CHECK_USABLE) == 0) &&
           (l->knows_addresses || (f->checks & CHECK_ADDRESS) == 0) &&
           (l->knows_chains || (f->checks & CHECK_CHAIN) == 0);
}

/* ----------------------------------------------------------------- classes */

/* If it does not live too long for that. */
static bool entry_filter_may_be_temporary(const struct query *q, const struct entries_class *c)
{
    return c->is_freed && (q->temporary_ns != 0 ? c->freer == c->thread : c->is_temporary);
}

static bool entry_filter_class(const struct filter *f, struct thread_states *slots, const struct entries *l,
                               size_t number, unsigned checks)
{
    const struct query_filter *q = &f->query->filter;
    const struct entries_class *c = &l->class_list.data[number];
    const char *mark = l->marks.data[c->mark];
    uint32_t maker = thread_states_get(slots, c->thread), freer = thread_states_get(slots, c->freer);
    bool is_other = (q->states & (c->is_leaked ? STATE_FREED : STATE_LEAKED)) != 0;
    return ((checks & CHECK_SLACK) == 0 || range_has(&q->slack, c->slack)) &&
           ((checks & CHECK_THREAD) == 0 || slots->all.data[maker].may_allocate) &&
           ((checks & CHECK_KIND) == 0 || (q->kinds >> c->kind & 1) != 0) &&
           ((checks & CHECK_MARK) == 0 || (mark != NULL && strcmp(mark, q->mark) == 0)) &&
           ((checks & CHECK_ARENA) == 0 || (c->arena != 0) == (q->arena == ARENA_OTHER)) &&
           ((checks & CHECK_LEAKED) == 0 || !is_other) &&
           ((checks & CHECK_TEMPORARY) == 0 || entry_filter_may_be_temporary(f->query, c)) &&
           ((checks & CHECK_FREER) == 0 || (c->is_freed && slots->all.data[freer].may_free));
}

/* Of some of the conditions on classes.  False: no memory, or not all pass. */
static bool entry_filter_all_classes(const struct filter *f, struct thread_states *slots,
                                     const struct entries *l, unsigned checks)
{
    bool all = true;
    for (size_t i = 0; i < l->class_list.count && all; i++)
        all = entry_filter_class(f, slots, l, i, checks);
    return all && !slots->failed;
}

void entry_filter_relax(struct filter *f, const struct entries *l)
{
    const unsigned alone = ENTRY_FILTER_CLASSES & ~(unsigned)ENTRY_FILTER_FATES; /* the others change more */
    struct thread_states slots;
    bool fine = thread_states_init(&slots, f->query, f->process);
    if ((f->checks & CHECK_GROUPS) != 0) {
        stack_group_narrow(f, l->groups);
        f->checks = (f->checks & ~(unsigned)CHECK_GROUPS) | CHECK_STACK;
    }
    for (unsigned check = 1; check <= alone && fine; check <<= 1)
        if ((f->checks & alone & check) != 0 && entry_filter_all_classes(f, &slots, l, check))
            f->checks &= ~check;
    const struct query_range *sizes = &f->query->filter.size;
    if (sizes->min <= l->smallest && sizes->max >= l->largest)
        f->checks &= ~(unsigned)CHECK_SIZE;
    thread_states_release(&slots);
}

/* Which chains pass.  False: no memory. */
static bool entry_filter_init_chains(struct entry_filter *a)
{
    const struct chain_index *lineage = &a->entries->lineage;
    if ((a->filter->checks & CHECK_CHAIN) == 0)
        return true;
    a->chains = memory_new(lineage->chains.count + 1);
    for (size_t i = 0; i < lineage->chains.count && a->chains != NULL; i++)
        a->chains[i] = chain_index_passes(a->filter, &lineage->chains.data[i]);
    return a->chains != NULL;
}

bool entry_filter_init(struct entry_filter *a, const struct entries *l, const struct filter *f)
{
    const struct query *q = f->query;
    struct thread_states slots;
    a->entries = l;
    a->filter = f;
    a->asks_classes = false;
    /* Where all that pass are temporary nobody has to ask them again. */
    bool asks_briefness = q->temporary_ns != 0 && (f->checks & CHECK_TEMPORARY) == 0;
    a->temporary_ns = asks_briefness ? q->temporary_ns : UINT64_MAX;
    a->time = a->lasting = a->link = 0;
    a->chains = NULL;
    entry_lifetimes_init(&a->lifetimes, &f->lifetime);
    entry_lifetimes_init(&a->chain_lifetimes, &q->filter.chain_lifetime);
    a->classes = memory_new(l->class_list.count);
    a->slacks = (f->checks & CHECK_USABLE) == 0 ? NULL : memory_new(l->class_list.count * sizeof *a->slacks);
    bool has_slacks = a->slacks != NULL || (f->checks & CHECK_USABLE) == 0;
    bool fine = thread_states_init(&slots, q, f->process) && a->classes != NULL && has_slacks &&
                entry_filter_init_chains(a);
    for (size_t i = 0; i < l->class_list.count && fine; i++) {
        bool passes = entry_filter_class(f, &slots, l, i, f->checks);
        bool is_brief = entry_filter_may_be_temporary(q, &l->class_list.data[i]);
        a->classes[i] =
            (uint8_t)((passes ? ENTRY_FILTER_PASSES : 0) | (is_brief ? ENTRY_FILTER_TEMPORARY : 0));
        a->asks_classes = a->asks_classes || !passes;
        if (a->slacks != NULL)
            a->slacks[i] = l->class_list.data[i].slack;
    }
    fine = fine && !slots.failed;
    thread_states_release(&slots);
    return fine;
}

void entry_filter_release(struct entry_filter *a)
{
    free(a->classes);
    free(a->slacks);
    free(a->chains);
    a->classes = a->chains = NULL;
    a->slacks = NULL;
}

/* -------------------------------------------------------------------- times */

/* Of entries that follow. */
static void entry_filter_tell_times(struct entry_filter *a, size_t first, size_t count)
{
    const struct entries *l = a->entries;
    for (size_t i = 0; i < count;) {
        while (a->time + 1 < l->firsts.count && l->firsts.data[a->time + 1] <= first + i)
            a->time++;
        a->first_time = i == 0 ? a->time : a->first_time;
        size_t end = a->time + 1 < l->firsts.count ? l->firsts.data[a->time + 1] - first : count;
        uint64_t time_ns = l->times.data[a->time];
        for (end = end < count ? end : count; i < end; i++)
            a->time_ns[i] = time_ns;
    }
}

size_t entry_filter_find(const struct entry_filter *a, uint64_t ns)
{
    const struct entries *l = a->entries;
    size_t low = a->time > ENTRIES_NEVER ? a->time : ENTRIES_NEVER + 1;
    if (low < l->times.count)
        low += sorted_below(l->times.data + low, l->times.count - low, ns);
    return low < l->times.count ? l->firsts.data[low] : l->published;
}

static void entry_filter_born(struct entry_filter *a, size_t first, const struct query_range *range,
                              bool inside)
{
    const uint32_t *rows = a->entries->rows + first, *mates = a->entries->mates + first;
    const uint64_t *times = a->entries->times.data, min = range->min, width = range->max - min;
    const bool some = range->min <= range->max;
    for (size_t i = 0; i < ENTRIES_AT_ONCE; i++) {
        uint64_t born = rows[i] >= ENTRIES_FALLS ? times[mates[i]] : a->time_ns[i];
        a->pass[i] &= (some & (born - min <= width)) == inside;
    }
}

/* Of blocks that are freed, this and the next. */
static void entry_filter_died(struct entry_filter *a, size_t first, const struct query_range *range,
                              bool inside)
{
    const uint32_t *rows = a->entries->rows + first, *mates = a->entries->mates + first;
    const uint64_t *times = a->entries->times.data, min = range->min, width = range->max - min;
    const bool some = range->min <= range->max;
    for (size_t i = 0; i < ENTRIES_AT_ONCE; i++) {
        uint64_t died = rows[i] >= ENTRIES_FALLS ? a->time_ns[i] : times[mates[i]];
        a->pass[i] &= (some & (died - min <= width)) == inside;
    }
}

/* What becomes of blocks, as filter_fate has it.  To be asked first. */
static void entry_filter_fates(struct entry_filter *a, size_t first, size_t count)
{
    const struct filter *f = a->filter;
    const struct entries *l = a->entries;
    if (f->none_freed)
        memset(a->pass, 0, sizeof a->pass);
    if (!f->none_freed && !range_is_whole(&f->died))
        entry_filter_died(a, first, &f->died, true);
    if (!f->none_freed && f->query->filter.freed == SIDE_OUTSIDE)
        entry_filter_died(a, first, &f->when->window, false);
    if (!f->none_freed && !range_is_whole(&f->lifetime))
        entry_lifetimes_look(&a->lifetimes, l, first, count, a->first_time, a->pass);
    for (size_t i = a->lasting; i < l->lasting.count && l->lasting.data[i] < first + count; i++) {
        size_t at = l->lasting.data[i] - first;
        if (l->mates[first + at] == ENTRIES_NEVER)
            a->pass[at] = filter_fate(f, &(struct fate){.born_ns = a->time_ns[at]});
    }
}

/* ------------------------------------------------------------------ the rest */

static void entry_filter_sizes(const uint32_t *restrict sizes, const struct query_range *range,
                               uint8_t *restrict pass)
{
    const uint32_t min = range->min < ENTRIES_LARGE ? (uint32_t)range->min : ENTRIES_LARGE;
    const uint32_t max = range->max < ENTRIES_LARGE ? (uint32_t)range->max : ENTRIES_LARGE;
    const uint32_t width = max - min;
    if (range->min > range->max)
        memset(pass, 0, ENTRIES_AT_ONCE);
    for (size_t i = 0; i < ENTRIES_AT_ONCE; i++) /* large ones are looked up later on */
        pass[i] &= sizes[i] - min <= width;
}

static void entry_filter_usable(const struct entry_filter *a, size_t first, uint8_t *restrict pass)
{
    const struct query_range *range = &a->filter->query->filter.usable;
    const uint32_t *sizes = a->entries->sizes + first, *slacks = a->slacks;
    const uint16_t *classes = a->entries->classes + first;
    const uint64_t min = range->min, width = range->max - min;
    const bool some = range->min <= range->max;
    for (size_t i = 0; i < ENTRIES_AT_ONCE; i++) {
        uint64_t usable = (uint64_t)sizes[i] + slacks[classes[i]];
        pass[i] &= (some & (usable - min <= width)) | (sizes[i] == ENTRIES_LARGE);
    }
}

static void entry_filter_stacks(const uint32_t *rows, const uint8_t *allowed, uint8_t *restrict pass)
{
    for (size_t i = 0; i < ENTRIES_AT_ONCE; i++)
        pass[i] &= allowed[rows[i] & ~ENTRIES_FALLS];
}

static void entry_filter_classes(const uint16_t *numbers, const uint8_t *classes, uint8_t *restrict pass)
{
    for (size_t i = 0; i < ENTRIES_AT_ONCE; i++)
        pass[i] &= classes[numbers[i]];
}

static void entry_filter_addresses(const struct entry_filter *a, size_t first, uint8_t *restrict pass)
{
    const struct address_index *abode = &a->entries->abode;
    struct query_range codes;
    if (address_index_find(abode, &a->filter->query->filter.address, &codes))
        entry_filter_sizes(abode->codes + first, &codes, pass);
    else
        memset(pass, 0, ENTRIES_AT_ONCE);
}

/* Chains of one block that is never freed. */
static bool entry_filter_lasting_single(const struct entry_filter *a, size_t entry, uint64_t born_ns)
{
    uint64_t size = entries_size(a->entries, entry);
    const struct chain_index_chain single = {
        .first_size = size, .last_size = size, .born_ns = born_ns, .length = 1, .is_leaked = true};
    return range_has(&a->filter->query->filter.chain_position, 1) && chain_index_passes(a->filter, &single);
}

/* First all as if they were chains of their own; then those that are never freed, and then links, have their say. */
static void entry_filter_chains(struct entry_filter *a, size_t first, size_t count)
{
    const struct entries *l = a->entries;
    const struct query_range *position = &a->filter->query->filter.chain_position;
    struct query_range sizes, lifetimes;
    uint8_t before[ENTRIES_AT_ONCE];
    memcpy(before, a->pass, sizeof before);
    if (!chain_index_find_singles(a->filter, &sizes, &lifetimes))
        memset(a->pass, 0, sizeof a->pass);
    if (!range_is_whole(&sizes))
        entry_filter_sizes(l->sizes + first, &sizes, a->pass);
    if (!range_is_whole(&lifetimes))
        entry_lifetimes_look(&a->chain_lifetimes, l, first, count, a->first_time, a->pass);
    for (size_t i = a->lasting; i < l->lasting.count && l->lasting.data[i] < first + count; i++) {
        size_t entry = l->lasting.data[i], at = entry - first;
        if (l->mates[entry] == ENTRIES_NEVER)
            a->pass[at] = before[at] != 0 && entry_filter_lasting_single(a, entry, a->time_ns[at]);
    }
    for (; a->link < l->lineage.links.count && l->lineage.links.data[a->link].entry < first + count;
         a->link++) {
        const struct chain_index_link *link = &l->lineage.links.data[a->link];
        a->pass[link->entry - first] = before[link->entry - first] & a->chains[link->chain] &
                                       (uint8_t)range_has(position, link->position);
    }
}

/* Sizes that are not in the entry. */
static void entry_filter_large(struct entry_filter *a, size_t first, size_t count)
{
    const struct query_filter *q = &a->filter->query->filter;
    const struct entries *l = a->entries;
    a->has_large = false;
    for (size_t i = 0; i < count && map_count(&l->large) > 0; i++)
        if (__builtin_expect(l->sizes[first + i] == ENTRIES_LARGE && a->pass[i] != 0, 0)) {
            uint64_t size = entries_large_size(l, first + i);
            uint64_t usable = size + l->class_list.data[l->classes[first + i]].slack;
            a->pass[i] = range_has(&q->size, size) && (a->slacks == NULL || range_has(&q->usable, usable));
            a->has_large = a->has_large || a->pass[i] != 0;
        }
}

void entry_filter_entries(struct entry_filter *a, size_t first, size_t count)
{
    const struct entries *l = a->entries;
    const struct filter *f = a->filter;
    while (a->lasting < l->lasting.count && l->lasting.data[a->lasting] < first)
        a->lasting++;
    while (a->link < l->lineage.links.count && l->lineage.links.data[a->link].entry < first)
        a->link++;
    entry_filter_tell_times(a, first, count);
    memset(a->pass, 1, sizeof a->pass);
    if ((f->checks & ENTRY_FILTER_FATES) != 0)
        entry_filter_fates(a, first, count);
    if ((f->checks & CHECK_BORN) != 0)
        entry_filter_born(a, first, &f->born, true);
    if ((f->checks & CHECK_OUTSIDE) != 0)
        entry_filter_born(a, first, &f->when->window, false);
    if ((f->checks & CHECK_SIZE) != 0)
        entry_filter_sizes(l->sizes + first, &f->query->filter.size, a->pass);
    if (a->slacks != NULL)
        entry_filter_usable(a, first, a->pass);
    if (f->stacks != NULL)
        entry_filter_stacks(l->rows + first, f->stacks, a->pass);
    if (a->asks_classes)
        entry_filter_classes(l->classes + first, a->classes, a->pass);
    if ((f->checks & CHECK_ADDRESS) != 0)
        entry_filter_addresses(a, first, a->pass);
    if ((f->checks & CHECK_CHAIN) != 0)
        entry_filter_chains(a, first, count);
    entry_filter_large(a, first, count);
}
