/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cohort: what all blocks of a stack have in common, matching or not.
 */
#ifndef HW_QUERY_COHORT_H
#define HW_QUERY_COHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/filter.h"

struct cohort {
    uint64_t allocations;
    uint64_t leaked;
    uint64_t first_ns, last_ns;
    uint64_t bytes, highest_bytes;
    uint64_t highest_ns; /* when bytes were first at their highest */
};

/* One for each stack of the filter's process, with `leaked` filled in; NULL: no memory. */
struct cohort *cohort_new(const struct filter *f);
/* Forbids stacks whose cohort does not pass. */
void cohort_narrow(struct filter *f, const struct cohort *cohorts);

static inline void cohort_alloc(struct cohort *g, uint64_t size, uint64_t time_ns)
{
    if (g->allocations == 0)
        g->first_ns = time_ns;
    g->last_ns = time_ns;
    g->bytes += size;
    if (g->allocations == 0 || g->bytes > g->highest_bytes) {
        g->highest_bytes = g->bytes;
        g->highest_ns = time_ns;
    }
    g->allocations++;
}

#endif
