/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * live: the blocks that are live at a moment of a stream, by the number of
 * their allocation.  Feed it the events of one process in order, from the
 * first on, and it tells what each FREE releases.  Memory goes by live blocks.
 */
#ifndef HW_STORE_LIVE_H
#define HW_STORE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/numbered.h"
#include "store/reader.h"

struct wake_live {
    struct numbered blocks;
};

void wake_live_init(struct wake_live *l);
void wake_live_release(struct wake_live *l);
/* Live blocks. */
size_t wake_live_count(const struct wake_live *l);

/* Event i of a block is an ALLOC.  False: no memory. */
bool wake_live_add(struct wake_live *l, const struct wake_block *block, uint32_t i);
/* Takes out what a FREE of allocation `number` releases.  False: not here (made
 * before the window, or in a damaged part). */
bool wake_live_take(struct wake_live *l, uint64_t number, struct wake_live_block *was);
/* The next live block from *at (start with {0}) on, in no order.  False: no more. */
bool wake_live_next(const struct wake_live *l, struct numbered_walk *at, struct wake_live_block *block);

#endif
