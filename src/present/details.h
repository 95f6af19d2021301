/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * details: what a list of sites leaves out: how long the blocks of a site lived, what the allocator gave
 * beyond what was asked for, and how often they were made.  Needs an answer with WANT_DETAIL and WANT_MEDIAN.
 */
#ifndef HW_PRESENT_DETAILS_H
#define HW_PRESENT_DETAILS_H

#include "engine/result.h"
#include "present/json.h"
#include "present/page.h"

#include <stddef.h>

/* A line, or two. */
void details_print(struct page *p, const struct metrics *m, size_t indent);
/* As "details": {allocated_bytes, allocated_blocks, freed_blocks, slack_bytes, first_ns, last_ns, per_second,
 * lifetime_min_ns, lifetime_median_ns, lifetime_max_ns}; what is not known is null. */
void details_json(struct json *j, const struct metrics *m);

#endif
