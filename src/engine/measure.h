/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * measure: which of the metrics a list is about.  One table says what each
 * reads, and whether bytes or blocks put it in order.
 */
#ifndef HW_ENGINE_MEASURE_H
#define HW_ENGINE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/result.h"

enum measure {
    MEASURE_PEAK,
    MEASURE_LEAKED,
    MEASURE_LIVE,      /* at the query's moment */
    MEASURE_ALLOCATED, /* by bytes */
    MEASURE_CALLS,     /* the same, by blocks */
    MEASURE_TEMPORARY, /* by blocks */
    MEASURE_COUNT
};

/* A stable word: peak, leaks, live, allocated, calls, temporary. */
const char *measure_name(enum measure measure);
/* The same for people: "Held at the peak". */
const char *measure_title(enum measure measure);
uint64_t measure_bytes(const struct metrics *m, enum measure measure);
uint64_t measure_blocks(const struct metrics *m, enum measure measure);
bool measure_is_by_blocks(enum measure measure);
/* What lists are sorted by and shares are of: bytes or blocks. */
uint64_t measure_weight(const struct metrics *m, enum measure measure);

/* Adds what other rows did.  Sums are exact.  A median cannot be had from
 * medians: where both have freed blocks it becomes 0, not known. */
void measure_add(struct metrics *to, const struct metrics *from);

#endif
