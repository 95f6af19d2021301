/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chain_index: see chain_index.h.
 */
#include "engine/chain_index.h"

#include <stdlib.h>

void chain_index_init(struct chain_index *l, uint64_t bytes)
{
    *l = (struct chain_index){.bytes = bytes};
    map_init(&l->live);
    map_init(&l->released);
}

static void chain_index_release_maps(struct chain_index *l)
{
    map_release(&l->live);
    map_release(&l->released);
    map_init(&l->live);
    map_init(&l->released);
}

void chain_index_release(struct chain_index *l)
{
    vec_release(&l->chains);
    vec_release(&l->links);
    chain_index_release_maps(l);
}

static bool chain_index_has_room(struct chain_index *l)
{
    uint64_t taken =
        (l->chains.count + 1) * sizeof *l->chains.data + (l->links.count + 2) * sizeof *l->links.data;
    l->is_odd = l->is_odd || taken > l->bytes || l->chains.count >= UINT32_MAX;
    return !l->is_odd;
}

/* A chain that begins with this block. */
static bool chain_index_begin(struct chain_index *l, const struct chain_index_event *made)
{
    const struct chain_index_chain chain = {
        .first_size = made->size, .born_ns = made->time_ns, .is_leaked = true};
    return vec_push(&l->chains, chain);
}

/* A chain goes on with a block, the first included. */
static bool chain_index_push(struct chain_index *l, uint32_t chain, const struct chain_index_event *made)
{
    struct chain_index_chain *c = &l->chains.data[chain];
    c->last_size = made->size;
    c->is_leaked = true;
    const struct chain_index_link link = {made->entry, chain, ++c->length};
    return vec_push(&l->links, link) &&
           map_set(&l->live, made->number, (uint64_t)chain << 32 | link.position);
}

bool chain_index_add(struct chain_index *l, const struct chain_index_event *made, uint64_t previous,
                     bool is_large, bool *failed)
{
    uint64_t chain;
    if (!chain_index_has_room(l))
        return false;
    bool continues = previous != 0 && map_remove(&l->released, previous - 1, &chain);
    if (!continues && !is_large)
        return false;
    if (!continues) {
        chain = l->chains.count;
        *failed = !chain_index_begin(l, made) || *failed;
    }
    *failed = *failed || !chain_index_push(l, (uint32_t)chain, made);
    return !*failed;
}

bool chain_index_end(struct chain_index *l, const struct chain_index_event *gone,
                     const struct chain_index_event *born, bool by_realloc)
{
    uint64_t place;
    if (!chain_index_has_room(l))
        return true;
    if (born != NULL &&
        !(chain_index_begin(l, born) && chain_index_push(l, (uint32_t)l->chains.count - 1, born)))
        return false;
    if (!map_remove(&l->live, gone->number, &place))
        return true;
    uint32_t chain = (uint32_t)(place >> 32);
    l->chains.data[chain].is_leaked = false;
    l->chains.data[chain].died_ns = gone->time_ns;
    return vec_push(&l->links, ((struct chain_index_link){gone->entry, chain, (uint32_t)place})) &&
           (!by_realloc || map_set(&l->released, gone->number, chain));
}

static int chain_index_compare(const void *a, const void *b)
{
    const struct chain_index_link *x = a, *y = b;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

void chain_index_close(struct chain_index *l)
{
    chain_index_release_maps(l);
    if (l->links.count > 1) /* that a block is the first of a chain was known only when it was released */
        qsort(l->links.data, l->links.count, sizeof *l->links.data, chain_index_compare);
}

bool chain_index_passes(const struct filter *f, const struct chain_index_chain *c)
{
    const struct query_filter *q = &f->query->filter;
    uint64_t until = c->is_leaked ? f->end_ns : c->died_ns;
    uint64_t lifetime = until > c->born_ns ? until - c->born_ns : 0;
    return range_has(&q->chain_length, c->length) && range_has(&q->chain_first_size, c->first_size) &&
           range_has(&q->chain_last_size, c->last_size) && range_has(&q->chain_lifetime, lifetime) &&
           ((q->states & STATE_CHAIN_LEAKED) == 0 || c->is_leaked);
}

bool chain_index_find_singles(const struct filter *f, struct query_range *sizes,
                              struct query_range *lifetimes)
{
    const struct query_filter *q = &f->query->filter;
    const struct query_range *first = &q->chain_first_size, *last = &q->chain_last_size;
    sizes->min = first->min > last->min ? first->min : last->min;
    sizes->max = first->max < last->max ? first->max : last->max;
    *lifetimes = q->chain_lifetime;
    return range_has(&q->chain_length, 1) && range_has(&q->chain_position, 1) &&
           (q->states & STATE_CHAIN_LEAKED) == 0 && sizes->min <= sizes->max &&
           lifetimes->min <= lifetimes->max;
}
