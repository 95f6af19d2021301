/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * lots: blocks for a source that knows sums only.  A lot is what a source says
 * of one stack: how much was allocated in all, how much of it was live at the
 * peak and at the end.  Blocks are made up so that a recording of them has
 * exactly these sums, and no higher peak.
 *
 * Each block is two events, so there is a limit to how many are made up.  Beyond it
 * a made-up block stands for several: bytes stay right, numbers of blocks do not,
 * and a note says so.
 */
#ifndef HW_IMPORT_LOTS_H
#define HW_IMPORT_LOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/import.h"
#include "tool/vec.h"

struct lot_sum {
    uint64_t blocks, bytes;
};

struct lot {
    uint32_t stack;
    struct lot_sum allocated, peak, end;
};

struct lots {
    VEC(struct lot) list;
    bool knows_peak;          /* the peak of the lots means something; else it is taken to be at the end */
    uint64_t peak_ns, end_ns; /* moments of the peak and the end; 0: the source has no times */
};

/* A zeroed one is empty. */
void lots_release(struct lots *l);
/* False: no memory. */
bool lots_add(struct lots *l, const struct lot *lot);

/* Whether there can be blocks that have exactly these sums. */
bool lots_is_even(const struct lot *lot);

/* Tells the job's recast of blocks that make these lots. */
int lots_write(struct lots *l, const struct import_job *job, struct err *err);

#endif
