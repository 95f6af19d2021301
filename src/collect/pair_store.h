/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pair_store: the private floor of pair: makes one alloc or free final, in
 * the table, the totals and the store.  What may be made final is decided in
 * pair.c.
 */
#ifndef HW_COLLECT_PAIR_STORE_H
#define HW_COLLECT_PAIR_STORE_H

#include "collect/pair.h"
#include "store/weight.h"
#include "wire/filter.h"
#include "wire/record.h"

#define PAIR_UNLIKELY(x) __builtin_expect(!!(x), 0)

bool pair_reserve_thread(struct pair *p, uint32_t thread);

static inline uint64_t pair_time(struct pair *p, const struct item *i)
{
    return (i->traits & ITEM_EARLY) != 0 ? p->line->last : timeline_advance(p->line, i->stamp);
}

static inline uint32_t pair_stack(struct pair *p, uint32_t id)
{
    uint32_t stack = id == 0 ? 0 : stackbook_get(&p->book->stacks, id);
    if (PAIR_UNLIKELY(stack == 0 && id != 0))
        p->undefined_stacks++;
    if (PAIR_UNLIKELY(stack >= p->totals.count && !totals_reserve(&p->totals, stack))) {
        p->out_of_memory = true;
        return 0;
    }
    return stack;
}

void pair_note_limbo(struct pair *p, const struct item *i);

/* The first half of a realloc. */
static inline void pair_release_block(struct pair *p, const struct item *i, struct block *b)
{
    b->limbo = 1;
    if (!p->is_alone)
        pair_note_limbo(p, i);
}

/* b: an empty slot for the address. */
static inline void pair_store_alloc(struct pair *p, const struct item *i, struct block *b)
{
    uint32_t stack = pair_stack(p, i->stack);
    uint64_t time = pair_time(p, i);
    uint64_t number = p->made++;
    block_set(b, i->address, i->size, number, stack);
    p->blocks.count++;
    if (PAIR_UNLIKELY(i->thread >= p->latest.count) && !pair_reserve_thread(p, i->thread))
        p->out_of_memory = true;
    else
        p->latest.data[i->thread] = number + 1;
    if (PAIR_UNLIKELY(p->pass != NULL))
        tracked_frees_add(p->pass, i->address);
    struct weight weight = weight_made(p->sample_rate, number, i->size);
    totals_alloc(&p->totals, stack, weight.blocks, weight.bytes, time, p->events);
    p->events++;
    wake_stream_alloc(p->stream, time, i->thread, i->kind, stack, i->address, i->size, i->usable,
                      i->previous);
}

/* Takes b out of the table. */
static inline void pair_store_free(struct pair *p, const struct item *i, unsigned how, struct block *b)
{
    uint64_t time = pair_time(p, i);
    uint64_t number = block_number(b), size = b->size;
    /* Of a sample nobody knows what was allocated next. */
    bool temporary =
        i->thread < p->latest.count && p->latest.data[i->thread] == number + 1 && p->sample_rate == 0;
    struct weight weight = weight_made(p->sample_rate, number, size);
    totals_free(&p->totals, b->stack, weight.blocks, weight.bytes, time, temporary);
    p->released++;
    if (PAIR_UNLIKELY(p->pass != NULL))
        tracked_frees_remove(p->pass, b->address);
    if (PAIR_UNLIKELY(p->filter != NULL))
        filter_drop(p->filter, b->address);
    blocks_remove(&p->blocks, b);
    p->events++;
    uint32_t from = i->op == ITEM_FREE ? i->stack : 0;
    if (PAIR_UNLIKELY(from != 0))
        wake_stream_free_from(p->stream, time, i->thread, how, pair_stack(p, from), number, size);
    else
        wake_stream_free(p->stream, time, i->thread, how, number, size);
}

static inline bool pair_has_gaps(const struct pair *p)
{
    return p->has_gaps != NULL && __atomic_load_n(p->has_gaps, __ATOMIC_ACQUIRE) != 0;
}

/* A free of a block never seen.  Where blocks were left out, by somebody's wish or because only some are
 * sampled, it is one of those. */
static inline void pair_store_unknown(struct pair *p, const struct item *i, unsigned how, uint64_t address)
{
    if (pair_has_gaps(p))
        return;
    p->unknown_frees++;
    p->events++;
    /* What a realloc gives has the stack that released, too. */
    bool is_told = i->op == ITEM_FREE || (i->op == ITEM_ALLOC && i->old == address);
    uint32_t from = is_told ? pair_stack(p, i->stack) : 0;
    wake_stream_free_unknown(p->stream, pair_time(p, i), i->thread, how, from, address);
}

#endif
