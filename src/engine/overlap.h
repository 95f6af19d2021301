/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * overlap: the levels of several processes in one timeline.
 *
 * Of each process the highest level in every tick is known, not when it was.  What processes that are there at
 * once hold adds up; one that begins when another has ended has nothing to do with it, though both are in the
 * same tick.  So a tick has what those hold together that make most of it at one moment.
 */
#ifndef HW_ENGINE_OVERLAP_H
#define HW_ENGINE_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/result.h"
#include "store/reader.h"
#include "tool/vec.h"

struct overlap_level {
    uint64_t live_bytes, live_blocks, rss_bytes;
};

/* A process that is not there for the whole of a tick comes or goes. */
struct overlap_step {
    size_t tick;
    uint64_t time_ns;
    bool comes;
    struct overlap_level level;
};

struct overlap {
    VEC(struct overlap_level) whole; /* a tick each: of processes that are there for all of it */
    VEC(struct overlap_step) steps;
};

/* Takes the levels of one process out of the timeline, for the next to begin at nothing.  False: no memory. */
bool overlap_take(struct overlap *o, struct query_result *r, const struct wake_process *p);
/* Puts those of all of them into it. */
void overlap_give(struct overlap *o, struct query_result *r);
/* Accepts a zeroed one. */
void overlap_release(struct overlap *o);

#endif
