/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * flame: a comparison as boxes: functions stand on those that called them, the
 * outermost at the bottom.
 *
 * A box is as wide as before and after together, so that what is gone is seen
 * as well as what is new, and the widths of what stands on a box add up to its own
 * or less.  Boxes below the threshold are left out, as is what would stand
 * higher than FLAME_LEVELS.
 */
#ifndef HW_ANALYSIS_FLAME_H
#define HW_ANALYSIS_FLAME_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/compare.h"
#include "analysis/trace.h"
#include "engine/measure.h"
#include "tool/err.h"
#include "tool/vec.h"

enum { FLAME_LEVELS = 400 };

struct flame_box {
    uint32_t frame;         /* + 1; 0 = no stack */
    uint32_t level;         /* 0 = the outermost function */
    double x, width;        /* shares of the whole, 0 to 1 */
    uint64_t before, after; /* bytes or blocks, with all above it */
};

struct flame {
    uint64_t before, after; /* of all */
    uint32_t levels;
    VEC(struct flame_box) boxes; /* a box comes after the one it stands on */
};

void flame_init(struct flame *f);
void flame_release(struct flame *f);

/* threshold: share of the whole that a box must have, above 0.  ERR_MEMORY. */
int flame_build(struct flame *f, const struct traces *c, const struct compare *d, enum measure measure,
                double threshold, struct err *err);

#endif
