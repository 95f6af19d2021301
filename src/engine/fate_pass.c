/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fate_pass: see fate_pass.h.
 *
 *     batch of events -> births: an entry for each block to follow -> releases: the entry decides the bit
 *
 * Without chains and groups only blocks that pass at birth are followed, with 16 bytes each.  With them all blocks are:
 * a link that does not match still makes its chain longer.
 *
 * The births of a batch come first and then its releases, so that no branch depends on which of the two an event is.  A
 * release never precedes its birth.  Two things depend on the order and are followed event by event: a realloc continues a
 * chain whose last link was released just before, and the bytes of a group have a peak.
 */
#include "engine/fate_pass.h"

#include <stdlib.h>

#include "engine/prefetch.h"
#include "engine/realloc_chain.h"
#include "engine/stack_group.h"
#include "engine/thread_state.h"
#include "store/numbered.h"
#include "wire/record.h"

#define FATE_INLINE inline __attribute__((always_inline))

/* A live block. */
struct fate_birth {
    uint64_t born_ns;
    uint32_t slot,
        made; /* its thread, and how many blocks that had made, this one included; where they are asked for */
};

/* A live block where chains or groups are asked for. */
struct fate_block {
    struct fate_birth birth;
    uint64_t size;
    uint32_t stack;
    uint32_t chain : 31; /* REALLOC_CHAIN_NONE: so far it is one of its own */
    uint32_t passes : 1; /* at birth */
};

struct fate_pass {
    struct filter *filter;
    struct bitset *chosen;
    struct watch *watch;
    struct numbered live; /* struct fate_birth or fate_block */
    struct thread_states slots;
    struct chains chains;
    struct stack_group *groups; /* NULL: not asked for */
    bool has_threads;           /* the thread column is read */
    bool has_chains;
    bool failed; /* no memory */
    uint8_t pass[WAKE_BLOCK_MAX];
    uint32_t slot[WAKE_BLOCK_MAX], made[WAKE_BLOCK_MAX]; /* of each event (engine/thread_state.h) */
};

bool fate_pass_is_needed(const struct filter *f)
{
    return (f->checks & (CHECK_AT_DEATH | CHECK_GROUPS)) != 0;
}

static void fate_choose(struct fate_pass *p, uint64_t number)
{
    p->failed = !bitset_set(p->chosen, number) || p->failed;
}

static FATE_INLINE struct fate_birth fate_birth_of(const struct fate_pass *p, const struct wake_block *b,
                                                   uint32_t i)
{
    struct fate_birth birth = {.born_ns = b->time_ns[i]};
    if (p->has_threads) {
        birth.slot = p->slot[i];
        birth.made = p->made[i];
    }
    return birth;
}

static bool fate_is_temporary(const struct fate_pass *p, const struct fate_birth *was,
                              const struct wake_block *b, uint32_t i)
{
    const struct query *q = p->filter->query;
    if (was->slot != p->slot[i])
        return false;
    if (q->temporary_ns != 0)
        return b->time_ns[i] - was->born_ns <= q->temporary_ns;
    return p->filter->knows_order && p->made[i] - was->made < q->temporary_allocations;
}

/* f: that of p. */
static FATE_INLINE bool fate_passes(const struct fate_pass *p, const struct filter *f,
                                    const struct fate_birth *was, const struct wake_block *b, uint32_t i)
{
    struct fate fate = {.born_ns = was->born_ns, .died_ns = b->time_ns[i], .freed = true};
    if (p->has_threads) {
        fate.temporary = fate_is_temporary(p, was, b, i);
        fate.by_wanted_thread = p->slots.all.data[p->slot[i]].may_free;
    }
    return filter_fate(f, &fate);
}

/* ------------------------------------------------------- neither chains nor groups */

static void fate_add_births(struct fate_pass *p, const struct wake_block *b)
{
    for (uint32_t j = 0; j < b->match_count; j++) {
        uint32_t i = b->match_at[j];
        struct fate_birth *birth = numbered_add(&p->live, b->number[i], sizeof *birth);
        if (birth == NULL) {
            p->failed = true;
            return;
        }
        *birth = fate_birth_of(p, b, i);
    }
}

static int fate_visit_births(const struct wake_block *b, void *context)
{
    struct fate_pass *p = context;
    const struct filter f = *p->filter; /* stays in registers */
    if (p->has_threads)
        thread_states_count_made(&p->slots, b, p->slot, p->made);
    fate_add_births(p, b);
    for (uint32_t k = 0, stop; k < b->free_count && !p->failed; k = stop) {
        stop = prefetch_step(&p->live, b, k, b->free_count, sizeof(struct fate_birth));
        for (uint32_t at = k; at < stop; at++) {
            uint32_t i = b->free_at[at];
            const struct fate_birth *was = numbered_take(&p->live, b->number[i], sizeof *was);
            if (was != NULL && fate_passes(p, &f, was, b, i))
                fate_choose(p, b->number[i]);
        }
    }
    p->failed = p->failed || p->slots.failed;
    return p->failed ? ERR_MEMORY : watch_advance(p->watch, b->count);
}

static void fate_finish_births(struct fate_pass *p)
{
    const struct fate_birth *birth;
    uint64_t number;
    for (struct numbered_walk at = {0};
         (birth = numbered_next(&p->live, &at, &number, sizeof *birth)) != NULL && !p->failed;)
        if (filter_fate(p->filter, &(struct fate){.born_ns = birth->born_ns}))
            fate_choose(p, number);
}

/* ----------------------------------------------------------------- chains and groups */

static struct weight fate_weigh(const struct fate_pass *p, uint64_t number, uint64_t size)
{
    return weight_of(&p->filter->process->rule, number, size);
}

static FATE_INLINE void fate_alloc(struct fate_pass *p, const struct wake_block *b, uint32_t i)
{
    struct fate_block *block = numbered_add(&p->live, b->number[i], sizeof *block);
    if (block == NULL) {
        p->failed = true;
        return;
    }
    *block = (struct fate_block){.birth = fate_birth_of(p, b, i),
                                 .size = b->size[i],
                                 .chain = REALLOC_CHAIN_NONE,
                                 .passes = p->pass[i]};
    if (p->groups != NULL) {
        block->stack = filter_stack(p->filter, b->stack[i]);
        stack_group_alloc(&p->groups[block->stack], fate_weigh(p, b->number[i], block->size), b->time_ns[i]);
    }
    if (p->has_chains && b->has_previous && b->previous[i] != 0) {
        block->chain = chains_add(&p->chains, b->number[i], b->previous[i], b->size[i], b->time_ns[i]);
        p->failed = p->failed || block->chain == REALLOC_CHAIN_NONE;
    }
}

/* A block that dies, by realloc or not, or is left over.  False: no memory. */
static bool fate_end(struct fate_pass *p, const struct fate_block *was, uint64_t number, bool passes,
                     const struct fate *fate, bool by_realloc)
{
    if (!p->has_chains)
        return !passes || bitset_set(p->chosen, number);
    if (was->chain == REALLOC_CHAIN_NONE && !by_realloc)
        return !passes || chains_end_single(&p->chains, number, was->size, fate);
    return chains_end_link(&p->chains, was->chain, number, was->size, passes, fate, by_realloc);
}

static FATE_INLINE void fate_free(struct fate_pass *p, const struct wake_block *b, uint32_t i)
{
    const struct fate_block *was = numbered_take(&p->live, b->number[i], sizeof *was);
    if (was == NULL)
        return;
    if (p->groups != NULL)
        p->groups[was->stack].bytes -= fate_weigh(p, b->number[i], was->size).bytes;
    bool passes = was->passes && fate_passes(p, p->filter, &was->birth, b, i);
    const struct fate fate = {.born_ns = was->birth.born_ns, .died_ns = b->time_ns[i], .freed = true};
    if (!fate_end(p, was, b->number[i], passes, &fate, b->detail[i] == HOW_REALLOC))
        p->failed = true;
}

static int fate_visit_blocks(const struct wake_block *b, void *context)
{
    struct fate_pass *p = context;
    bool in_order = p->groups != NULL || b->has_previous;
    struct prefetch ahead = {0};
    filter_flag(b, p->pass);
    if (p->has_threads)
        thread_states_count_made(&p->slots, b, p->slot, p->made);
    for (uint32_t i = 0; in_order && i < b->count; i++) {
        if (b->event[i] == WAKE_ALLOC) {
            fate_alloc(p, b, i);
        } else if (b->event[i] == WAKE_FREE) {
            prefetch_release(&ahead, &p->live, b, sizeof(struct fate_block));
            fate_free(p, b, i);
        }
    }
    for (uint32_t j = 0; !in_order && j < b->alloc_count; j++)
        fate_alloc(p, b, b->alloc_at[j]);
    for (uint32_t k = 0; !in_order && k < b->free_count; k++) {
        prefetch_release(&ahead, &p->live, b, sizeof(struct fate_block));
        fate_free(p, b, b->free_at[k]);
    }
    p->failed = p->failed || p->slots.failed;
    return p->failed ? ERR_MEMORY : watch_advance(p->watch, b->count);
}

/* Blocks that no event releases. */
static void fate_finish_blocks(struct fate_pass *p)
{
    const struct fate_block *block;
    uint64_t number;
    for (struct numbered_walk at = {0};
         (block = numbered_next(&p->live, &at, &number, sizeof *block)) != NULL && !p->failed;) {
        const struct fate fate = {.born_ns = block->birth.born_ns};
        bool passes = block->passes && filter_fate(p->filter, &fate);
        p->failed = !fate_end(p, block, number, passes, &fate, false);
    }
    if (p->has_chains && !p->failed)
        p->failed = !chains_finish(&p->chains);
    if (p->groups != NULL)
        stack_group_narrow(p->filter, p->groups);
}

/* --------------------------------------------------------------------- run */

static unsigned fate_columns(const struct fate_pass *p)
{
    unsigned columns = WAKE_TIME;
    if (p->has_threads)
        columns |= WAKE_THREAD;
    if (p->groups != NULL)
        columns |= WAKE_STACK | WAKE_SIZE;
    if (p->has_chains)
        columns |= WAKE_PREVIOUS | WAKE_SIZE;
    return columns;
}

int fate_pass_run(struct filter *f, struct bitset *chosen, struct watch *watch, struct wake_reader *reader,
                  uint32_t process, struct err *err)
{
    struct fate_pass p = {
        .filter = f,
        .chosen = chosen,
        .watch = watch,
        .has_threads = (f->checks & (CHECK_TEMPORARY | CHECK_FREER)) != 0,
        .has_chains = (f->checks & CHECK_CHAIN) != 0,
    };
    bool has_groups = (f->checks & CHECK_GROUPS) != 0, follows_all = has_groups || p.has_chains;
    int code = ERR_MEMORY;
    watch->total += f->process->events;
    numbered_init(&p.live);
    chains_init(&p.chains, f, chosen);
    if (thread_states_init(&p.slots, f->query, f->process) &&
        (!has_groups || (p.groups = stack_group_new(f)) != NULL))
        code = filter_visit(f, reader, process, UINT64_MAX, fate_columns(&p),
                            follows_all ? fate_visit_blocks : fate_visit_births, &p, err);
    if (code == 0 && follows_all)
        fate_finish_blocks(&p);
    else if (code == 0)
        fate_finish_births(&p);
    if (code == 0 && p.failed)
        code = ERR_MEMORY;
    if (code == ERR_MEMORY)
        err_no_memory(err);
    numbered_release(&p.live);
    chains_release(&p.chains);
    thread_states_release(&p.slots);
    free(p.groups);
    return code;
}
