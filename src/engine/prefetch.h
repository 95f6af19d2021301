/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * prefetch: the memory that releases will look at, asked for a few dozen of them before.
 *
 * Where more blocks are live than caches hold, each release waits for memory; what
 * it will look at is known, since events are decoded by the thousand.
 */
#ifndef HW_ENGINE_PREFETCH_H
#define HW_ENGINE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#include "store/numbered.h"
#include "store/reader.h"

enum {
    PREFETCH_STEP = 16,      /* releases: some hundred nanoseconds */
    PREFETCH_MANY = 1 << 13, /* live blocks; fewer are in a cache anyway */
};

/* Releases k..end-1 of the block's list are next: how far to go before asking again.  Asks for what these need,
 * and for where to look for what the step after them needs.  `size` as in numbered.h. */
static inline uint32_t prefetch_step(const struct numbered *live, const struct wake_block *b, uint32_t k,
                                     uint32_t end, size_t size)
{
    if (numbered_count(live) < PREFETCH_MANY)
        return end;
    uint32_t near = b->free_count - k > PREFETCH_STEP ? k + PREFETCH_STEP : b->free_count;
    uint32_t far = b->free_count - near > PREFETCH_STEP ? near + PREFETCH_STEP : b->free_count;
    for (uint32_t at = near; at < far; at++)
        numbered_fetch(live, b->number[b->free_at[at]], size);
    for (uint32_t at = k; at < near; at++)
        numbered_fetch_old(live, b->number[b->free_at[at]], size);
    return near < end ? near : end;
}

/* The same for who goes through all events of a block: to be called before each release. */
struct prefetch {
    uint32_t next, stop; /* of the block's list */
};

static inline void prefetch_release(struct prefetch *a, const struct numbered *live,
                                    const struct wake_block *b, size_t size)
{
    if (a->next++ == a->stop)
        a->stop = prefetch_step(live, b, a->stop, b->free_count, size);
}

#endif
