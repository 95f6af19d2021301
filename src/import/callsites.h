/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * callsites: stacks as addresses, with what was allocated there, and behind them
 * a copy of /proc/PID/maps: the shape of heap profiles that have no names.  Since
 * the maps come last, everything is gathered first.
 */
#ifndef HW_IMPORT_CALLSITES_H
#define HW_IMPORT_CALLSITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/import.h"
#include "import/linescan.h"
#include "import/lots.h"
#include "tool/vec.h"

struct callsite {
    size_t first; /* of its addresses */
    uint32_t count;
    struct lot_sum allocated, end;
};

struct callsites {
    VEC(uint64_t) addresses; /* of all stacks, each the innermost first */
    VEC(struct callsite) list;
    bool failed; /* no memory */
};

/* A zeroed one is empty. */
void callsites_release(struct callsites *c);

/* "0x55.. 0x55.." to the end of the line: begins a call site.  s is bad where it is anything else. */
struct callsite *callsites_begin(struct callsites *c, struct linescan *s);

/* "3: 300 [10: 1000]": live blocks and bytes, and those ever allocated. */
void callsites_sums(struct linescan *s, struct lot_sum *end, struct lot_sum *allocated);

/* What a profile that looks at one byte in `period` (0, 1: at all) stands for: jeprof and pprof
 * reckon so. */
struct lot_sum callsites_scale(struct lot_sum s, uint64_t period);

/* The rest of the feed is the maps; then everything is told to the job's recast. */
int callsites_write(struct callsites *c, struct import_job *job, struct err *err);

#endif
