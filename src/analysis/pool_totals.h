/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pool_totals: what the pools of a recording hold: blocks that programs told of
 * themselves (include/heapwake.h), beside the heap.  Each pool of each process
 * has an account; sizes are in the pool's own unit.
 *
 * Blocks of a pool may lie inside blocks of the heap that are live: those are its
 * *holders*, of which the pool's blocks are the children.  They are found for
 * what is live at the end.
 */
#ifndef HW_ANALYSIS_POOL_TOTALS_H
#define HW_ANALYSIS_POOL_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "store/reader.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

/* What one stack has in it. */
struct pool_total_site {
    uint32_t stack;
    uint64_t made, made_blocks;
    uint64_t live, live_blocks; /* at the end */
};

/* A stack whose heap blocks hold blocks of the pool. */
struct pool_total_holder {
    uint32_t stack;
    uint64_t size, blocks; /* of the pool's blocks in them */
};

struct pool_total {
    uint32_t process; /* counted over all recordings */
    const struct wake_pool *pool;
    uint64_t made, made_blocks, freed, freed_blocks;
    uint64_t live, live_blocks;
    uint64_t peak, peak_blocks, peak_time_ns;
    VEC(struct pool_total_site) sites;     /* most live first, then most made */
    VEC(struct pool_total_holder) holders; /* largest first */
    struct map slots;                      /* stack -> index in sites */
};

struct pool_totals {
    VEC(struct pool_total *) list;
};

void pool_totals_init(struct pool_totals *a);
void pool_totals_release(struct pool_totals *a);

/* Reads the pools of a recording whose first process is number `base` among all.  Where there are none no event
 * is read.  The recording has to live as long. */
int pool_totals_read(struct pool_totals *a, struct wake_reader *r, uint32_t base, struct err *err);

#endif
