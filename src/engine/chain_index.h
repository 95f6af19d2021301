/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chain_index: the realloc chains of a ledger (engine/entries.h).  What a chain is: query.h.
 *
 * Most blocks are a chain of their own, of which nothing is kept here: what is asked of their chain can be asked of
 * their entries.  The others are links:
 *
 *     links    in the order of entries, two for a block that is released: its chain, its position there
 *     chains   first and last size, first birth, last death, length
 *
 * Blocks that are so large that an entry has no room for their size are links too, if need be of a chain of one.
 *
 * Memory: 12 bytes a link and 40 a chain.
 */
#ifndef HW_ENGINE_CHAIN_INDEX_H
#define HW_ENGINE_CHAIN_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/filter.h"
#include "engine/query.h"
#include "tool/map.h"
#include "tool/vec.h"

struct chain_index_chain {
    uint64_t first_size, last_size;
    uint64_t born_ns, died_ns;
    uint32_t length;
    bool is_leaked; /* its last link was never freed */
};

struct chain_index_link {
    uint32_t entry;
    uint32_t chain, position; /* from 1 */
};

struct chain_index {
    VEC(struct chain_index_chain) chains;
    VEC(struct chain_index_link) links;
    bool is_odd; /* there are too many */

    /* While events are read: */
    struct map live;     /* number of a live link -> its chain << 32 | its position */
    struct map released; /* number of a block that realloc released -> its chain */
    uint64_t bytes;      /* of memory at most */
};

/* An allocation or a release that is entered. */
struct chain_index_event {
    uint64_t number, size, time_ns;
    uint32_t entry;
};

/* bytes: of memory at most, beyond it is odd. */
void chain_index_init(struct chain_index *l, uint64_t bytes);
/* Accepts a zeroed one. */
void chain_index_release(struct chain_index *l);
/* A block is made that names one before it (as in struct wake_block), or is too large for its entry: whether it is a
 * link.  *failed: there was no memory. */
bool chain_index_add(struct chain_index *l, const struct chain_index_event *made, uint64_t previous,
                     bool is_large, bool *failed);
/* A link is released, or another block by realloc.  born: its birth, if it is no link yet; else NULL.  False: no
 * memory. */
bool chain_index_end(struct chain_index *l, const struct chain_index_event *gone,
                     const struct chain_index_event *born, bool by_realloc);
/* No more events. */
void chain_index_close(struct chain_index *l);

/* Whether a chain passes the conditions on chains, but for the position of links. */
bool chain_index_passes(const struct filter *f, const struct chain_index_chain *c);
/* What freed blocks that are a chain of their own have to have.  False: none of them passes. */
bool chain_index_find_singles(const struct filter *f, struct query_range *sizes,
                              struct query_range *lifetimes);

#endif
