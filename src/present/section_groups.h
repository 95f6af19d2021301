/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_groups: a table of groups by one measure.  JSON, under the name of
 * the measure:
 *
 *     {by, total_bytes, total_blocks, group_count,
 *      groups: [{name, self_bytes, self_blocks, bytes, blocks}], suppressed}
 *
 * Threads and processes have `pid` too, threads `tid`. Processes have no peak in common: each has its own, with
 * its time (`time_ns`) instead of its share, and the total is the highest.
 */
#ifndef HW_PRESENT_SECTION_GROUPS_H
#define HW_PRESENT_SECTION_GROUPS_H

#include "analysis/rollup.h"
#include "analysis/suppress.h"
#include "engine/measure.h"
#include "present/json.h"
#include "present/page.h"
#include "present/unknown.h"

#include <stddef.h>

struct section_groups {
    const struct traces *traces;
    struct rollup *groups; /* are put in order */
    enum measure measure;
    size_t limit;     /* groups shown; 0 = all */
    double threshold; /* share of the total (0 to 1), inclusive, below which none is shown */
    const char *(*kind)(unsigned kind); /* the word for a kind of allocation */
    const struct query_result *result;  /* when each process was at its peak; may be NULL otherwise */
    const struct suppress *suppress;    /* what leaks are left out; may be NULL */
    const struct caveat *unknown;       /* why the list is not known; NULL: it is */
};

void section_groups_text(struct page *p, const struct section_groups *s);
void section_groups_json(struct json *j, const struct section_groups *s);

#endif
