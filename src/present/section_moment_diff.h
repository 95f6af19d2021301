/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_moment_diff: how what sites hold has changed between two moments, signed.
 *
 *     "change": {total_bytes, total_blocks, site_count, sites: [{bytes, blocks, frames: [...]}]}
 */
#ifndef HW_PRESENT_SECTION_MOMENT_DIFF_H
#define HW_PRESENT_SECTION_MOMENT_DIFF_H

#include "analysis/moment_diff.h"
#include "present/json.h"
#include "present/page.h"

#include <stddef.h>

struct section_moment_diff {
    const struct traces *traces;
    const struct drift *drift; /* sorted */
    const char *title;         /* "from A to B" */
    size_t limit;              /* of those that have grown, and of those that have shrunk; 0 = all */
    double threshold; /* share (0 to 1) of all that has moved, up or down, below which none is shown */
};

/* The largest change first, up or down. */
void section_moment_diff_text(struct page *p, const struct section_moment_diff *s);
/* The same sites, in the order of the list: growth first, what has shrunk most last. */
void section_moment_diff_json(struct json *j, const struct section_moment_diff *s);

#endif
