/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * site: the rows of an answer whose stacks are one trace, as one.
 *
 * Sites add up to their `total`, which is that of the rows, to the byte in every
 * metric but the lifetimes.
 */
#ifndef HW_ANALYSIS_SITE_H
#define HW_ANALYSIS_SITE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/trace.h"
#include "engine/measure.h"
#include "engine/result.h"
#include "tool/err.h"
#include "tool/vec.h"

struct site {
    uint32_t trace; /* 0 = no frames */
    uint32_t rows;  /* that are in it */
    struct metrics m;
};

struct sites {
    VEC(struct site) list;
    struct metrics total;
};

void sites_init(struct sites *s);
void sites_release(struct sites *s);

/* Adds rows; their processes count as in c.  ERR_MEMORY. */
int sites_add(struct sites *s, struct traces *c, const struct query_row *rows, size_t count, struct err *err);

/* Largest first; equal ones in an order that depends on their frames alone, so
 * that a report of the same recording is always the same. */
void sites_sort(struct sites *s, const struct traces *c, enum measure measure);
/* That order: by the frames of two traces, from the inside out; <0, 0, >0. */
int sites_compare_traces(const struct traces *c, uint32_t a, uint32_t b);

#endif
