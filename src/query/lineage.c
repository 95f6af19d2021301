/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * lineage: see lineage.h.
 */
#include "query/lineage.h"

#include <stdlib.h>

void lineage_init(struct lineage *l, uint64_t bytes)
{
    *l = (struct lineage){.bytes = bytes};
    map_init(&l->live);
    map_init(&l->released);
}

static void lineage_release_maps(struct lineage *l)
{
    map_release(&l->live);
    map_release(&l->released);
    map_init(&l->live);
    map_init(&l->released);
}

void lineage_release(struct lineage *l)
{
    vec_release(&l->chains);
    vec_release(&l->links);
    lineage_release_maps(l);
}

static bool lineage_has_room(struct lineage *l)
{
    uint64_t taken =
        (l->chains.count + 1) * sizeof *l->chains.data + (l->links.count + 2) * sizeof *l->links.data;
    l->is_odd = l->is_odd || taken > l->bytes || l->chains.count >= UINT32_MAX;
    return !l->is_odd;
}

/* A chain that begins with this block. */
static bool lineage_begin(struct lineage *l, const struct lineage_event *made)
{
    const struct lineage_chain chain = {
        .first_size = made->size, .born_ns = made->time_ns, .is_leaked = true};
    return vec_push(&l->chains, chain);
}

/* A chain goes on with a block, the first included. */
static bool lineage_push(struct lineage *l, uint32_t chain, const struct lineage_event *made)
{
    struct lineage_chain *c = &l->chains.data[chain];
    c->last_size = made->size;
    c->is_leaked = true;
    const struct lineage_link link = {made->entry, chain, ++c->length};
    return vec_push(&l->links, link) &&
           map_set(&l->live, made->number, (uint64_t)chain << 32 | link.position);
}

bool lineage_add(struct lineage *l, const struct lineage_event *made, uint64_t previous, bool is_large,
                 bool *failed)
{
    uint64_t chain;
    if (!lineage_has_room(l))
        return false;
    bool continues = previous != 0 && map_remove(&l->released, previous - 1, &chain);
    if (!continues && !is_large)
        return false;
    if (!continues) {
        chain = l->chains.count;
        *failed = !lineage_begin(l, made) || *failed;
    }
    *failed = *failed || !lineage_push(l, (uint32_t)chain, made);
    return !*failed;
}

bool lineage_end(struct lineage *l, const struct lineage_event *gone, const struct lineage_event *born,
                 bool by_realloc)
{
    uint64_t place;
    if (!lineage_has_room(l))
        return true;
    if (born != NULL && !(lineage_begin(l, born) && lineage_push(l, (uint32_t)l->chains.count - 1, born)))
        return false;
    if (!map_remove(&l->live, gone->number, &place))
        return true;
    uint32_t chain = (uint32_t)(place >> 32);
    l->chains.data[chain].is_leaked = false;
    l->chains.data[chain].died_ns = gone->time_ns;
    return vec_push(&l->links, ((struct lineage_link){gone->entry, chain, (uint32_t)place})) &&
           (!by_realloc || map_set(&l->released, gone->number, chain));
}

static int lineage_compare(const void *a, const void *b)
{
    const struct lineage_link *x = a, *y = b;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

void lineage_close(struct lineage *l)
{
    lineage_release_maps(l);
    if (l->links.count > 1) /* that a block is the first of a chain was known only when it was released */
        qsort(l->links.data, l->links.count, sizeof *l->links.data, lineage_compare);
}

bool lineage_passes(const struct filter *f, const struct lineage_chain *c)
{
    const struct query_filter *q = &f->query->filter;
    uint64_t until = c->is_leaked ? f->end_ns : c->died_ns;
    uint64_t lifetime = until > c->born_ns ? until - c->born_ns : 0;
    return range_has(&q->chain_length, c->length) && range_has(&q->chain_first_size, c->first_size) &&
           range_has(&q->chain_last_size, c->last_size) && range_has(&q->chain_lifetime, lifetime) &&
           ((q->states & STATE_CHAIN_LEAKED) == 0 || c->is_leaked);
}

bool lineage_find_singles(const struct filter *f, struct query_range *sizes, struct query_range *lifetimes)
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
