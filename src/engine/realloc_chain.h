/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * realloc_chain: realloc chains while events are read.  What a chain is: query.h.
 *
 *     chain   first size, first birth, length, latest size, last death
 *       |
 *       v
 *     link (position n) -> link (n - 1) -> ... -> link (1)
 *
 * Most blocks are a chain of their own, of which nothing need be kept here.  A chain grows at its end only.  When it is over all its links are decided at
 * once: only then are its length and its last size known.  Memory goes by the
 * links of chains that are not over yet.
 */
#ifndef HW_ENGINE_REALLOC_CHAIN_H
#define HW_ENGINE_REALLOC_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/bitset.h"
#include "engine/filter.h"
#include "tool/map.h"
#include "tool/vec.h"

struct realloc_chain_link {
    uint64_t number;
    uint32_t before; /* the link before it; also the next unused one */
    bool passes;     /* every condition but those on chains */
};

struct realloc_chain {
    uint64_t first_size, last_size;
    uint64_t born_ns, died_ns;
    uint64_t length;
    uint32_t last; /* link; also the next unused chain */
};

struct chains {
    const struct filter *filter;
    struct bitset *chosen;
    VEC(struct realloc_chain) all;
    VEC(struct realloc_chain_link) links;
    uint32_t unused_chain, unused_link;
    /* Whose latest link realloc released: that of the latest release, which is continued at once as a rule, and
     * number of the block -> chain for the others. */
    uint64_t latest_number;
    uint32_t latest; /* REALLOC_CHAIN_NONE: no such */
    struct map released;
    /* Of blocks that are a chain of their own and were freed: */
    bool may_be_single;
    struct query_range single_size, single_lifetime; /* never empty, see may_be_single */
};

#define REALLOC_CHAIN_NONE 0x7fffffffu /* fits 31 bits */

void chains_init(struct chains *c, const struct filter *f, struct bitset *chosen);
void chains_release(struct chains *c);

/* A block that took nobody's place and passes everything but chains dies, and none takes its place:
 * chosen or not.  False: no memory. */
bool chains_end_single(struct chains *c, uint64_t number, uint64_t size, const struct fate *fate);
/* Whether it is, if it was freed. */
static inline bool chains_has_single(const struct chains *c, uint64_t size, uint64_t lifetime)
{
    return c->may_be_single && size - c->single_size.min <= c->single_size.max - c->single_size.min &&
           lifetime - c->single_lifetime.min <= c->single_lifetime.max - c->single_lifetime.min;
}

/* A block is born.  previous: as in struct wake_block.  Its chain, or REALLOC_CHAIN_NONE: no memory. */
uint32_t chains_add(struct chains *c, uint64_t number, uint64_t previous, uint64_t size, uint64_t time_ns);
/* A block dies, or is live when the stream ends, and passes or not.  chain: of which it is the latest link, or
 * REALLOC_CHAIN_NONE: then one begins with it.  by_realloc: the chain may go on.  False: no memory. */
bool chains_end_link(struct chains *c, uint32_t chain, uint64_t number, uint64_t size, bool passes,
                     const struct fate *fate, bool by_realloc);
/* No more events: chains that nobody continued are over. */
bool chains_finish(struct chains *c);

#endif
