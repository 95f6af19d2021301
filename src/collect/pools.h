/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pools: the live blocks of a process's own pools, by pool and address, so that a
 * release can say what it releases.
 */
#ifndef HW_COLLECT_POOLS_H
#define HW_COLLECT_POOLS_H

#include "tool/map.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct pools_block {
    uint64_t size;
    uint32_t stack;
};

struct pools {
    struct map live; /* pool, address -> index in blocks */
    VEC(struct pools_block) blocks;
    VEC(uint32_t) vacant; /* indices */
};

void pools_init(struct pools *p);
void pools_release(struct pools *p);

/* False: an address that cannot be, one that is live already, or no memory. */
bool pools_add(struct pools *p, uint64_t pool, uint64_t address, const struct pools_block *block);
/* Takes it out.  False: it is not there. */
bool pools_take(struct pools *p, uint64_t pool, uint64_t address, struct pools_block *block);

#endif
