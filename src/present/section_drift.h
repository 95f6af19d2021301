/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_drift: how what sites hold has changed between two moments, signed.
 *
 *     "change": {total_bytes, total_blocks, site_count, sites: [{bytes, blocks, frames: [...]}]}
 */
#ifndef HW_PRESENT_SECTION_DRIFT_H
#define HW_PRESENT_SECTION_DRIFT_H

#include "present/json.h"
#include "present/page.h"
#include "query/drift.h"

#include <stddef.h>

/* title: "from A to B".  d is sorted.  limit: sites shown of those that have grown, and of those that
 * have shrunk; 0 = all. */
void section_drift_text(struct page *p, const struct traces *c, const struct drift *d, const char *title,
                        size_t limit);
/* The first `limit` of the list; 0 = all. */
void section_drift_json(struct json *j, const struct traces *c, const struct drift *d, size_t limit);

#endif
