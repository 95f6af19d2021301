/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_timeline: the heap over time.  On a page a plot; JSON: "timeline",
 * [{from_ns, live_bytes, live_blocks, rss_bytes, allocations, frees,
 * allocated_bytes}].
 */
#ifndef HW_PRESENT_SECTION_TIMELINE_H
#define HW_PRESENT_SECTION_TIMELINE_H

#include "engine/result.h"
#include "present/json.h"
#include "present/page.h"
#include "session/caveats.h"

#include <stdint.h>

/* A line apart from what is above; the caption has what it lacks. */
void section_timeline_text(struct page *p, const struct query_result *r, uint64_t end_ns,
                           const struct caveats *answer);
void section_timeline_json(struct json *j, const struct query_result *r);

#endif
