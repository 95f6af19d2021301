/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * merge_display_rows: sites that look the same to a reader, as one.
 *
 * A page begins each site with the innermost frame of the reader's own code.  What stands in libraries below it is left out,
 * and so is what stands in libraries among its callers, and a frame without a line is its function's name alone.  So
 * stacks that differ there alone would be rows that look alike, each with a part of what belongs together.
 */
#ifndef HW_ANALYSIS_MERGE_DISPLAY_ROWS_H
#define HW_ANALYSIS_MERGE_DISPLAY_ROWS_H

#include "analysis/site.h"
#include "analysis/trace.h"
#include "engine/measure.h"
#include "tool/err.h"

#include <stdbool.h>

/* Into `folded`, which is sites_init'ed; both are put in the order of the measure.  A site of several has the trace of the
 * largest of them, by that measure.  brief: callers without names do not count either where one with a name stands further
 * out, as short lines skip them.  ERR_MEMORY. */
int merge_display_rows_sites(struct sites *folded, struct sites *from, const struct traces *c,
                             enum measure measure, bool brief, struct err *err);

#endif
