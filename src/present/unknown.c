/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unknown: see unknown.h.
 */
#include "present/unknown.h"

bool unknown_print(struct page *p, enum measure measure, enum unknown unknown, uint64_t blocks)
{
    if (measure != MEASURE_TEMPORARY || unknown == UNKNOWN_NONE ||
        (unknown == UNKNOWN_SAMPLED && blocks != 0))
        return false;
    page_add(p, COLOUR_TITLE, measure_title(measure));
    page_add(p, COLOUR_PLAIN,
             unknown == UNKNOWN_SAMPLED ? ": not known in a sampled recording"
                                        : ": not known of an import from sums");
    page_end_line(p);
    return true;
}
