/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * realloc_chain: see realloc_chain.h.
 */
#include "engine/realloc_chain.h"

void chains_init(struct chains *c, const struct filter *f, struct bitset *chosen)
{
    const struct query_filter *q = &f->query->filter;
    const struct query_range *first = &q->chain_first_size, *last = &q->chain_last_size;
    *c = (struct chains){.filter = f,
                         .chosen = chosen,
                         .unused_chain = REALLOC_CHAIN_NONE,
                         .unused_link = REALLOC_CHAIN_NONE,
                         .latest = REALLOC_CHAIN_NONE};
    c->single_size.min = first->min > last->min ? first->min : last->min;
    c->single_size.max = first->max < last->max ? first->max : last->max;
    c->single_lifetime = q->chain_lifetime;
    c->may_be_single = range_has(&q->chain_length, 1) && range_has(&q->chain_position, 1) &&
                       (q->states & STATE_CHAIN_LEAKED) == 0 && c->single_size.min <= c->single_size.max &&
                       c->single_lifetime.min <= c->single_lifetime.max;
    map_init(&c->released);
}

void chains_release(struct chains *c)
{
    vec_release(&c->all);
    vec_release(&c->links);
    map_release(&c->released);
}

static uint32_t chains_new(struct chains *c, uint64_t size, uint64_t time_ns)
{
    struct realloc_chain fresh = {.first_size = size, .born_ns = time_ns, .last = REALLOC_CHAIN_NONE};
    uint32_t chain = c->unused_chain;
    if (chain == REALLOC_CHAIN_NONE) {
        chain = (uint32_t)c->all.count;
        return chain != REALLOC_CHAIN_NONE && vec_push(&c->all, fresh) ? chain : REALLOC_CHAIN_NONE;
    }
    c->unused_chain = c->all.data[chain].last;
    c->all.data[chain] = fresh;
    return chain;
}

static bool chains_add_link(struct chains *c, struct realloc_chain *chain, uint64_t number)
{
    struct realloc_chain_link fresh = {.number = number, .before = chain->last};
    uint32_t link = c->unused_link;
    if (link != REALLOC_CHAIN_NONE) {
        c->unused_link = c->links.data[link].before;
        c->links.data[link] = fresh;
    } else {
        link = (uint32_t)c->links.count;
        if (link == REALLOC_CHAIN_NONE || !vec_push(&c->links, fresh))
            return false;
    }
    chain->last = link;
    chain->length++;
    return true;
}

/* The chain whose latest link is this block, which realloc has released, is no longer one of those; REALLOC_CHAIN_NONE: there is none. */
static uint32_t chains_continue(struct chains *c, uint64_t number)
{
    uint64_t chain = c->latest;
    if (c->latest != REALLOC_CHAIN_NONE && c->latest_number == number)
        c->latest = REALLOC_CHAIN_NONE;
    else if (!map_remove(&c->released, number, &chain))
        chain = REALLOC_CHAIN_NONE;
    return (uint32_t)chain;
}

/* False: no memory. */
static bool chains_set_released(struct chains *c, uint64_t number, uint32_t chain)
{
    bool fine = c->latest == REALLOC_CHAIN_NONE || map_set(&c->released, c->latest_number, c->latest);
    c->latest_number = number;
    c->latest = chain;
    return fine;
}

uint32_t chains_add(struct chains *c, uint64_t number, uint64_t previous, uint64_t size, uint64_t time_ns)
{
    uint32_t chain = previous != 0 ? chains_continue(c, previous - 1) : REALLOC_CHAIN_NONE;
    if (chain == REALLOC_CHAIN_NONE)
        chain = chains_new(c, size, time_ns);
    if (chain == REALLOC_CHAIN_NONE || !chains_add_link(c, &c->all.data[chain], number))
        return REALLOC_CHAIN_NONE;
    c->all.data[chain].last_size = size;
    return chain;
}

static bool chains_passes(const struct chains *c, const struct realloc_chain *chain, bool leaked)
{
    const struct query_filter *q = &c->filter->query->filter;
    uint64_t lifetime = chain->died_ns > chain->born_ns ? chain->died_ns - chain->born_ns : 0;
    return range_has(&q->chain_length, chain->length) && range_has(&q->chain_first_size, chain->first_size) &&
           range_has(&q->chain_last_size, chain->last_size) && range_has(&q->chain_lifetime, lifetime) &&
           ((q->states & STATE_CHAIN_LEAKED) == 0 || leaked);
}

bool chains_end_single(struct chains *c, uint64_t number, uint64_t size, const struct fate *fate)
{
    if (fate->freed)
        return !chains_has_single(c, size, fate->died_ns - fate->born_ns) || bitset_set(c->chosen, number);
    const struct realloc_chain chain = {.first_size = size,
                                        .last_size = size,
                                        .born_ns = fate->born_ns,
                                        .died_ns = c->filter->end_ns,
                                        .length = 1};
    if (!range_has(&c->filter->query->filter.chain_position, 1) ||
        !chains_passes(c, &chain, filter_is_leaked(c->filter, number)))
        return true;
    return bitset_set(c->chosen, number);
}

/* Decides all links of a chain and gives them back.  False: no memory. */
static bool chains_decide(struct chains *c, uint32_t index, bool leaked)
{
    struct realloc_chain *chain = &c->all.data[index];
    const struct query_range *position = &c->filter->query->filter.chain_position;
    bool passes = chains_passes(c, chain, leaked), fine = true;
    for (uint32_t link = chain->last, before; link != REALLOC_CHAIN_NONE; link = before, chain->length--) {
        struct realloc_chain_link *l = &c->links.data[link];
        before = l->before;
        if (passes && l->passes && range_has(position, chain->length))
            fine = bitset_set(c->chosen, l->number) && fine;
        l->before = c->unused_link;
        c->unused_link = link;
    }
    chain->last = c->unused_chain;
    c->unused_chain = index;
    return fine;
}

bool chains_end_link(struct chains *c, uint32_t chain, uint64_t number, uint64_t size, bool passes,
                     const struct fate *fate, bool by_realloc)
{
    if (chain == REALLOC_CHAIN_NONE)
        chain = chains_add(c, number, 0, size, fate->born_ns);
    if (chain == REALLOC_CHAIN_NONE)
        return false;
    c->links.data[c->all.data[chain].last].passes = passes;
    c->all.data[chain].died_ns = fate->freed ? fate->died_ns : c->filter->end_ns;
    if (!fate->freed)
        return chains_decide(c, chain, filter_is_leaked(c->filter, number));
    if (by_realloc)
        return chains_set_released(c, number, chain);
    return chains_decide(c, chain, false);
}

bool chains_finish(struct chains *c)
{
    uint64_t number, chain;
    bool fine = c->latest == REALLOC_CHAIN_NONE || chains_decide(c, c->latest, false);
    for (size_t at = 0; map_next(&c->released, &at, &number, &chain);)
        fine = chains_decide(c, (uint32_t)chain, false) && fine;
    return fine;
}
