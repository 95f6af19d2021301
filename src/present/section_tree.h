/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_tree: a tree of callers or callees by one measure.
 *
 *     Leaked: 140.6 KiB in 1,200 blocks
 *       -> 66.67% (93.8 KiB, 800x): file_receipt  kitchen.cc:49
 *         -> 66.67% (93.8 KiB, 800x): serve_soup  kitchen.cc:59
 *
 *       -> 0.10% (144 bytes, 2x) in 2 places, all below the 1% threshold
 *
 * Each level stands two columns further right, as far as the page has room: from there on each line has the number of
 * its level.  JSON is flat, a parent always before its children; under the name of the measure:
 *
 *     {way, total_bytes, total_blocks, threshold_percent, nodes: [
 *        {parent, bytes, blocks, self_bytes, self_blocks, places, function, ...}], suppressed}
 */
#ifndef HW_PRESENT_SECTION_TREE_H
#define HW_PRESENT_SECTION_TREE_H

#include "analysis/suppress.h"
#include "analysis/tree.h"
#include "present/json.h"
#include "present/page.h"
#include "present/unknown.h"

struct section_tree {
    const struct traces *traces;
    const struct tree *tree;         /* built */
    const char *root;                /* the function that was asked for; NULL = all */
    const struct suppress *suppress; /* what leaks are left out; may be NULL */
    const struct caveat *unknown;    /* why the list is not known; NULL: it is */
};

void section_tree_text(struct page *p, const struct section_tree *s);
void section_tree_json(struct json *j, const struct section_tree *s);

#endif
