/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * compare: the sites of two answers, side by side.
 *
 * Both answers share one struct traces, where equal frames are one; addresses
 * are those of the ELF files, so it does not matter where programs were loaded.
 *
 * Of the same code, sites are the same when all their frames are.  Of changed
 * code, first the call path decides: the names of the functions, whatever their
 * lines (code without a name: its place in its module).  Where several sites have
 * one call path, lines decide: as many before as after are taken in the
 * order of their lines, since code that is added above moves all of them; else those
 * with equal lines belong together, and what is left in order.
 *
 * Changes of all rows add up to the change of the totals, to the byte.
 */
#ifndef HW_ANALYSIS_COMPARE_H
#define HW_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/site.h"
#include "analysis/trace.h"
#include "engine/measure.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/vec.h"

struct compare_row {
    uint32_t trace; /* as after; as before where it is gone */
    bool was, is;   /* there before, there after */
    struct metrics before, after;
};

struct compare {
    VEC(struct compare_row) list;
    struct metrics before, after; /* totals */
};

void compare_init(struct compare *d);
void compare_release(struct compare *d);

/* Whether two recordings are of the same code: their programs and libraries have
 * the same build ids, but for those that only one of them has called. */
bool compare_is_same_code(const struct wake_reader *before, const struct wake_reader *after);

/* ERR_MEMORY. */
int compare_build(struct compare *d, const struct traces *c, const struct sites *before,
                  const struct sites *after, bool same_code, struct err *err);

/* The largest change first, up or down; rows that did not change come last.  Returns how
 * many did. */
size_t compare_sort(struct compare *d, const struct traces *c, enum measure measure);

/* The same, those that have become more before all others.  Returns how many have. */
size_t compare_sort_grown(struct compare *d, const struct traces *c, enum measure measure);

/* After - before.  Sizes beyond 2^63 are beyond any program's. */
int64_t compare_bytes(const struct compare_row *r, enum measure measure);
int64_t compare_blocks(const struct compare_row *r, enum measure measure);

#endif
