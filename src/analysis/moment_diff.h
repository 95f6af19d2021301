/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * moment_diff: how far what sites hold has moved between two moments: signed bytes and
 * blocks, releases subtracted from the site that allocated.
 */
#ifndef HW_ANALYSIS_MOMENT_DIFF_H
#define HW_ANALYSIS_MOMENT_DIFF_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/trace.h"
#include "engine/result.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

enum { DRIFT_DEPTH_MAX = 1024 };

struct drift_site {
    uint32_t trace; /* 0 = no frames */
    int64_t bytes, blocks;
};

struct drift {
    VEC(struct drift_site) list;
    int64_t bytes, blocks; /* sums of the list */
    uint32_t depth;        /* innermost frames that tell sites apart; 0, or more than DRIFT_DEPTH_MAX: all */
    struct map slots;      /* trace -> index in the list */
};

void drift_init(struct drift *d, uint32_t depth);
void drift_release(struct drift *d);

/* Adds to the site of a trace.  ERR_MEMORY. */
int drift_add(struct drift *d, struct traces *c, uint32_t trace, int64_t bytes, int64_t blocks,
              struct err *err);
/* Adds what rows of an answer have live at its moment, times sign (1 or -1).  ERR_MEMORY. */
int drift_add_rows(struct drift *d, struct traces *c, const struct query_result *r, int sign,
                   struct err *err);

/* Leaves out what has not moved, and puts the rest in order: what has grown most comes first, what has
 * shrunk most last. */
void drift_sort(struct drift *d);

#endif
