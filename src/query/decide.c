/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * decide: see decide.h.
 *
 * Without chains and groups only blocks that pass at birth are followed.  With
 * them all are: a link that does not match still makes its chain longer.
 */
#include "query/decide.h"

#include <stdlib.h>

#include "query/ahead.h"
#include "query/chain.h"
#include "query/cohort.h"
#include "query/ends.h"
#include "query/gather.h"
#include "query/linked.h"
#include "store/numbered.h"
#include "wire/record.h"

/* What has to be known of a live block that passes at birth.  The loop over events is compiled for each. */
enum decide_needs {
    NEEDS_BIRTH,  /* when: a uint64_t */
    NEEDS_THREAD, /* and by which thread, struct decide_brief: temporaries are those that live shorter */
    NEEDS_COUNTS, /* and how many its thread had made, struct decide_brief */
};

#define DECIDE_INLINE inline __attribute__((always_inline))

/* A live block that passes at birth. */
struct decide_brief {
    uint64_t born_ns;
    uint32_t slot, made; /* as in struct scan_dated; NEEDS_THREAD: the thread itself, and 0 */
};

/* A live block, where chains or groups are asked for. */
struct decide_block {
    struct decide_brief brief;
    uint64_t size;
    uint32_t stack;
    uint32_t chain : 31; /* CHAIN_NONE: so far it is one of its own */
    uint32_t passes : 1; /* at birth */
};

struct decide {
    struct filter *filter;
    struct bitset *chosen;
    struct watch *watch;
    struct numbered live;
    struct slots slots;
    struct chains chains;
    struct cohort *groups;   /* NULL: not asked for */
    enum decide_needs needs; /* without chains and groups */
    bool has_threads;        /* the thread column is read */
    bool has_chains;
    bool failed; /* no memory */
    uint8_t pass[WAKE_BLOCK_MAX];
    uint32_t slot[WAKE_BLOCK_MAX], made[WAKE_BLOCK_MAX]; /* where counts are needed (query/slots.h) */
    uint16_t list[WAKE_BLOCK_MAX];
};

bool decide_totals_agree(const struct wake_reader *reader, uint32_t process)
{
    const struct wake_process *p = wake_reader_process(reader, process);
    const struct wake_omissions *o = &p->omitted;
    uint64_t allocations = o->culled_blocks + o->allocations + o->elsewhere_allocations;
    uint64_t frees = o->culled_blocks + o->frees + o->elsewhere_frees;
    struct wake_span span;
    for (size_t i = 0; wake_reader_span(reader, process, i, &span); i++) {
        allocations += span.allocations;
        frees += span.frees;
    }
    bool is_sampled = o->sample_rate != 0;
    bool agree = p->missing_events == 0 && p->totals.count <= p->stacks.count &&
                 allocations == (is_sampled ? o->samples : p->end.allocations) &&
                 frees == (is_sampled ? o->freed_samples : p->end.frees) &&
                 p->live.count == (is_sampled ? o->samples - o->freed_samples : p->end.leaked_blocks);
    allocations = p->end.allocations;
    frees = p->end.frees;
    for (size_t i = 0; i < p->totals.count; i++) {
        allocations -= p->totals.data[i].allocations;
        frees -= p->totals.data[i].freed;
    }
    return agree && allocations == 0 && frees == 0;
}

bool decide_is_needed(const struct filter *f)
{
    return (f->checks & (CHECK_AT_DEATH | CHECK_GROUPS)) != 0;
}

static DECIDE_INLINE bool decide_is_temporary(const struct decide *d, const struct decide_brief *was,
                                              const struct wake_block *b, uint32_t i)
{
    const struct query *q = d->filter->query;
    if (was->slot != d->slot[i])
        return false;
    if (q->temporary_ns != 0)
        return b->time_ns[i] - was->born_ns <= q->temporary_ns;
    return d->filter->knows_order && d->made[i] - was->made < q->temporary_allocations;
}

/* f: that of d. */
static DECIDE_INLINE bool decide_passes(const struct decide *d, const struct filter *f,
                                        const struct decide_brief *was, const struct wake_block *b,
                                        uint32_t i, bool has_threads)
{
    struct fate fate = {.born_ns = was->born_ns, .died_ns = b->time_ns[i], .freed = true};
    if (has_threads) {
        fate.temporary = decide_is_temporary(d, was, b, i);
        fate.by_wanted_thread = d->slots.all.data[d->slot[i]].may_free;
    }
    return filter_fate(f, &fate);
}

/* ------------------------------------------------------- neither chains nor groups */

static DECIDE_INLINE size_t decide_brief_size(enum decide_needs needs)
{
    return needs == NEEDS_BIRTH ? sizeof(uint64_t) : sizeof(struct decide_brief);
}

/* Births apart from releases: query/pairs.c has the reason. */
static DECIDE_INLINE void decide_brief_births(struct decide *d, const struct wake_block *b,
                                              enum decide_needs needs)
{
    uint32_t count = filter_births(d->filter, &d->slots, b, d->list);
    const uint16_t *list = d->list;
    const uint64_t *numbers = b->number, *times = b->time_ns;
    for (uint32_t j = 0; j < count; j++) {
        uint32_t i = list[j];
        uint64_t *block = numbered_add(&d->live, numbers[i], decide_brief_size(needs));
        if (block == NULL) {
            d->failed = true;
            return;
        }
        if (needs == NEEDS_BIRTH)
            *block = times[i];
        else if (needs == NEEDS_THREAD)
            *(struct decide_brief *)block = (struct decide_brief){times[i], b->thread[i], 0};
        else
            *(struct decide_brief *)block = (struct decide_brief){times[i], d->slot[i], d->made[i]};
    }
}

/* f: that of d, or one that asks for as much. */
static DECIDE_INLINE bool decide_brief_passes(const struct decide *d, const struct filter *f,
                                              const struct decide_brief *was, const struct wake_block *b,
                                              uint32_t i, enum decide_needs needs)
{
    if (needs == NEEDS_COUNTS)
        return decide_passes(d, f, was, b, i, true);
    const struct fate fate = {.born_ns = was->born_ns, .died_ns = b->time_ns[i], .freed = true};
    return filter_fate(f, &fate) && (needs != NEEDS_THREAD || was->slot == b->thread[i]);
}

/* Releases k..end-1 of the block's list; those that are told of go to d->list. */
static DECIDE_INLINE uint32_t decide_brief_releases(struct decide *d, const struct wake_block *b, uint32_t k,
                                                    uint32_t end, uint32_t told, enum decide_needs needs)
{
    struct filter f = *d->filter;              /* stays in registers */
    const bool tells = !d->chosen->is_inverse; /* which passes; or which does not */
    const uint16_t *releases = b->free_at;
    const uint64_t *numbers = b->number;
    uint16_t *list = d->list;
    uint32_t taken = 0;
    f.has_more = f.has_more && needs != NEEDS_THREAD;
    for (; k < end; k++) {
        uint32_t i = releases[k];
        bool has;
        const struct decide_brief *was =
            numbered_take_if(&d->live, numbers[i], decide_brief_size(needs), &has);
        taken += has;
        list[told] = (uint16_t)i;
        told += has && decide_brief_passes(d, &f, was, b, i, needs) == tells;
    }
    numbered_took(&d->live, taken);
    return told;
}

static DECIDE_INLINE void decide_brief_events(struct decide *d, const struct wake_block *b,
                                              enum decide_needs needs)
{
    uint32_t told = 0;
    decide_brief_births(d, b, needs);
    for (uint32_t k = 0, stop; k < b->free_count && !d->failed; k = stop) {
        stop = ahead_step(&d->live, b, k, b->free_count, decide_brief_size(needs));
        told = decide_brief_releases(d, b, k, stop, told, needs);
    }
    for (uint32_t k = 0; k < told && !d->failed; k++)
        d->failed = !bitset_set(d->chosen, b->number[d->list[k]]);
}

static int decide_brief_block(const struct wake_block *b, void *context)
{
    struct decide *d = context;
    if (d->needs == NEEDS_BIRTH) {
        decide_brief_events(d, b, NEEDS_BIRTH);
    } else if (d->needs == NEEDS_THREAD) {
        decide_brief_events(d, b, NEEDS_THREAD);
    } else {
        slots_count_made(&d->slots, b, d->slot, d->made);
        decide_brief_events(d, b, NEEDS_COUNTS);
    }
    d->failed = d->failed || d->slots.failed;
    return d->failed ? ERR_MEMORY : watch_advance(d->watch, b->count);
}

static void decide_brief_rest(struct decide *d)
{
    const uint64_t *born_ns;
    uint64_t number;
    for (struct numbered_walk at = {0};
         (born_ns = numbered_next(&d->live, &at, &number, decide_brief_size(d->needs))) != NULL &&
         !d->failed;) {
        const struct fate fate = {.born_ns = *born_ns};
        if (filter_fate(d->filter, &fate) != d->chosen->is_inverse)
            d->failed = !bitset_set(d->chosen, number);
    }
}

/* ----------------------------------------------------------------- chains and groups */

static struct weight decide_weigh(const struct decide *d, uint64_t number, uint64_t size)
{
    return weight_of(&d->filter->process->rule, number, size);
}

static void decide_alloc(struct decide *d, const struct wake_block *b, uint32_t i)
{
    struct decide_block *block = numbered_add(&d->live, b->number[i], sizeof *block);
    if (block == NULL) {
        d->failed = true;
        return;
    }
    *block = (struct decide_block){
        .brief = {.born_ns = b->time_ns[i]}, .size = b->size[i], .chain = CHAIN_NONE, .passes = d->pass[i]};
    if (d->has_threads) {
        block->brief.slot = d->slot[i];
        block->brief.made = d->made[i];
    }
    if (d->groups != NULL) {
        block->stack = filter_stack(d->filter, b->stack[i]);
        cohort_alloc(&d->groups[block->stack], decide_weigh(d, b->number[i], block->size), b->time_ns[i]);
    }
    if (d->has_chains && b->previous[i] != 0) {
        block->chain = chains_add(&d->chains, b->number[i], b->previous[i], b->size[i], b->time_ns[i]);
        d->failed = d->failed || block->chain == CHAIN_NONE;
    }
}

/* A block that dies, by realloc or not, or is left over.  False: no memory. */
static bool decide_end(struct decide *d, const struct decide_block *was, uint64_t number, bool passes,
                       const struct fate *fate, bool by_realloc)
{
    if (!d->has_chains)
        return !passes || bitset_set(d->chosen, number);
    if (was->chain == CHAIN_NONE && !by_realloc)
        return !passes || chains_end_single(&d->chains, number, was->size, fate);
    return chains_end_link(&d->chains, was->chain, number, was->size, passes, fate, by_realloc);
}

static void decide_free(struct decide *d, const struct wake_block *b, uint32_t i)
{
    const struct decide_block *was = numbered_take(&d->live, b->number[i], sizeof *was);
    if (was == NULL)
        return;
    if (d->groups != NULL)
        d->groups[was->stack].bytes -= decide_weigh(d, b->number[i], was->size).bytes;
    bool passes = was->passes && decide_passes(d, d->filter, &was->brief, b, i, d->has_threads);
    const struct fate fate = {.born_ns = was->brief.born_ns, .died_ns = b->time_ns[i], .freed = true};
    if (!decide_end(d, was, b->number[i], passes, &fate, b->detail[i] == HOW_REALLOC))
        d->failed = true;
}

static int decide_block(const struct wake_block *b, void *context)
{
    struct decide *d = context;
    filter_flag_births(d->filter, &d->slots, b, d->pass);
    if (d->has_threads)
        slots_count_made(&d->slots, b, d->slot, d->made);
    struct ahead ahead = {0};
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] == WAKE_ALLOC) {
            decide_alloc(d, b, i);
        } else if (b->event[i] == WAKE_FREE) {
            ahead_release(&ahead, &d->live, b, sizeof(struct decide_block));
            decide_free(d, b, i);
        }
    }
    d->failed = d->failed || d->slots.failed;
    return d->failed ? ERR_MEMORY : watch_advance(d->watch, b->count);
}

/* Blocks that nobody freed. */
static void decide_rest(struct decide *d)
{
    const struct decide_block *block;
    uint64_t number;
    for (struct numbered_walk at = {0};
         (block = numbered_next(&d->live, &at, &number, sizeof *block)) != NULL && !d->failed;) {
        const struct fate fate = {.born_ns = block->brief.born_ns};
        bool passes = block->passes && filter_fate(d->filter, &fate);
        d->failed = !decide_end(d, block, number, passes, &fate, false);
    }
    if (d->has_chains && !d->failed)
        d->failed = !chains_finish(&d->chains);
}

static enum decide_needs decide_find_needs(const struct filter *f)
{
    if ((f->checks & (CHECK_TEMPORARY | CHECK_FREER)) == 0)
        return NEEDS_BIRTH;
    bool asks_more = (f->checks & CHECK_FREER) != 0 || f->query->filter.freed == SIDE_OUTSIDE;
    return f->query->temporary_ns != 0 && !asks_more ? NEEDS_THREAD : NEEDS_COUNTS;
}

static unsigned decide_columns(const struct decide *d)
{
    unsigned columns = WAKE_TIME | filter_columns(d->filter);
    if (d->has_threads)
        columns |= WAKE_THREAD;
    if (d->groups != NULL)
        columns |= WAKE_STACK | WAKE_SIZE;
    if (d->has_chains)
        columns |= WAKE_PREVIOUS | WAKE_SIZE;
    return columns;
}

int decide_run(struct filter *f, struct bitset *chosen, struct watch *watch, struct wake_reader *reader,
               uint32_t process, struct err *err)
{
    struct decide d = {
        .filter = f,
        .chosen = chosen,
        .watch = watch,
        .needs = decide_find_needs(f),
        .has_threads = (f->checks & (CHECK_TEMPORARY | CHECK_FREER)) != 0,
        .has_chains = (f->checks & CHECK_CHAIN) != 0,
    };
    int code = ERR_MEMORY;
    if (ends_suits(f, reader, process))
        return ends_run(f, watch, reader, process, err);
    if (gather_suits(f))
        return gather_run(f, watch, reader, process, err);
    if (linked_suits(f))
        return linked_run(f, chosen, watch, reader, process, err);
    numbered_init(&d.live);
    chains_init(&d.chains, f, chosen);
    filter_restart(f);
    if (!slots_init(&d.slots, f->query, f->process))
        goto out;
    if ((f->checks & CHECK_GROUPS) != 0 && (d.groups = cohort_new(f)) == NULL)
        goto out;
    bool follows_all = (f->checks & (CHECK_CHAIN | CHECK_GROUPS)) != 0;
    chosen->is_inverse = f->most_pass && !follows_all; /* fewer bits to set */
    code = wake_reader_visit_columns(reader, process, 0, UINT64_MAX, decide_columns(&d),
                                     follows_all ? decide_block : decide_brief_block, &d, err);
    if (code == 0 && follows_all)
        decide_rest(&d);
    else if (code == 0)
        decide_brief_rest(&d);
    if (code == 0 && d.failed)
        code = ERR_MEMORY;
    if (code == 0 && d.groups != NULL)
        cohort_narrow(f, d.groups);
out:
    if (code == ERR_MEMORY)
        err_set(err, code, "There is no memory for the live blocks of the query.");
    numbered_release(&d.live);
    chains_release(&d.chains);
    slots_release(&d.slots);
    free(d.groups);
    return code;
}
