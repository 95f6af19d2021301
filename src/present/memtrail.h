/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memtrail: a tree as memtrail (of 2014) prints it, for scripts that read that:
 *
 *     ----
 *
 *     leaked: 5217 bytes
 *
 *     ->39.26% (2048B): test_calloc
 *     | ->39.26% (2048B): main
 *     |   ->39.26% (2048B): _start
 *     |
 *     -> 1.23% (64B) in 2 places, all below the 2.00% threshold
 *
 * Between siblings stands a line with the bars alone, and a blank behind the last one.
 */
#ifndef HW_PRESENT_MEMTRAIL_H
#define HW_PRESENT_MEMTRAIL_H

#include "analysis/trace.h"
#include "analysis/tree.h"
#include "tool/strbuf.h"

#include <stdbool.h>

enum { MEMTRAIL_DEPTH = 256 }; /* frames; what is further out is left out */

/* False: some stack has more frames than that. */
bool memtrail_add(struct strbuf *out, const struct traces *c, const struct tree *t);

#endif
