/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_maps: mappings, in the order that was asked for: who made them, how they were cut and
 * removed, what is left of them.
 *
 *     "maps": {mappings, left, left_bytes, peak_bytes, peak_time_ns, samples, not_followed},
 *     "mappings": [{id, pid, number, tid, address, bytes, permissions, permissions_seen, by, flags, name, time_ns,
 *                   frames, previous, leaked, left_bytes, gone_ns, peak_rss_bytes, peak_rss_time_ns, blurred,
 *                   pieces: [{address, bytes}], regions: [{address, bytes, from_ns, to_ns}],
 *                   removals: [{time_ns, tid, address, bytes, by, cut, mapping, stack, frames}],
 *                   usage: [{time_ns, rss_bytes, anonymous_bytes, swap_bytes}]}],
 *     "other_memory": [{pid, name, peak_bytes, peak_rss_bytes}]
 */
#ifndef HW_PRESENT_SECTION_MAPS_H
#define HW_PRESENT_SECTION_MAPS_H

#include "analysis/trace.h"
#include "engine/maps.h"
#include "present/json.h"
#include "present/page.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>

struct section_maps {
    struct traces *traces;
    const struct maps *maps; /* after maps_order */
    size_t limit;            /* mappings shown; 0 = all */
    bool in_depth;           /* in text: all that is known of each */
};

/* ERR_MEMORY. */
int section_maps_text(struct page *p, const struct section_maps *s, struct err *err);
int section_maps_json(struct json *j, const struct section_maps *s, struct err *err);

#endif
