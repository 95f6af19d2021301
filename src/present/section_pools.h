/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_pools: what pools hold, beside the heap: a line each, or with their
 * sites and the heap blocks that they lie in.
 *
 *     "pools": [{name, unit, pid, live, live_blocks, peak, peak_blocks, made, made_blocks,
 *                sites: [{live, live_blocks, made, made_blocks, frames}], inside: [{size, blocks, frames}]}]
 */
#ifndef HW_PRESENT_SECTION_POOLS_H
#define HW_PRESENT_SECTION_POOLS_H

#include "analysis/pool_totals.h"
#include "analysis/trace.h"
#include "present/json.h"
#include "present/page.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>

struct section_pools {
    struct traces *traces;
    const struct pool_totals *accounts;
    size_t limit; /* sites and holders shown of each; 0 = all */
    bool brief;   /* a line each */
};

/* ERR_MEMORY. */
int section_pools_text(struct page *p, const struct section_pools *s, struct err *err);
int section_pools_json(struct json *j, const struct section_pools *s, struct err *err);

#endif
