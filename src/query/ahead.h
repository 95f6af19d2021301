/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ahead: the memory that releases will look at, asked for a few dozen events before.
 *
 * Where more blocks are live than caches hold, each release waits for memory; what
 * it will look at is known, since events are decoded by the thousand.
 */
#ifndef HW_QUERY_AHEAD_H
#define HW_QUERY_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "store/numbered.h"
#include "store/reader.h"

enum {
    AHEAD_STEP = 32,      /* events: some hundred nanoseconds */
    AHEAD_MANY = 1 << 13, /* live blocks; fewer are in a cache anyway */
};

/* Events i..end-1 are next: how far to go before asking again.  Asks for what these need,
 * and for where to look for what the step after them needs.  `size` as in numbered.h. */
static inline uint32_t ahead_step(const struct numbered *live, const struct wake_block *b, uint32_t i,
                                  uint32_t end, size_t size)
{
    if (numbered_count(live) < AHEAD_MANY)
        return end;
    uint32_t near = b->count - i > AHEAD_STEP ? i + AHEAD_STEP : b->count;
    uint32_t far = b->count - near > AHEAD_STEP ? near + AHEAD_STEP : b->count;
    for (uint32_t at = near; at < far; at++)
        if (b->event[at] == WAKE_FREE)
            numbered_fetch(live, b->number[at], size);
    for (uint32_t at = i; at < near; at++)
        if (b->event[at] == WAKE_FREE)
            numbered_fetch_old(live, b->number[at], size);
    return near < end ? near : end;
}

#endif
