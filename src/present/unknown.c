/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unknown: see unknown.h.
 */
#include "present/unknown.h"

bool unknown_print(struct page *p, enum measure measure, enum unknown unknown, uint64_t blocks)
{
    static const char *const words[] = {
        [UNKNOWN_SAMPLED] = ": not known in a sampled recording",
        [UNKNOWN_CULLED] = ": not known from the events of a culled recording",
        [UNKNOWN_MADE_UP] = ": not known of an import from sums",
        [UNKNOWN_FULL] = ": not known from the events of a file that was full",
    };
    if (unknown == UNKNOWN_NONE || (unknown != UNKNOWN_MADE_UP && blocks != 0))
        return false;
    page_add(p, COLOUR_TITLE, measure_title(measure));
    page_add(p, COLOUR_PLAIN, words[unknown]);
    page_end_line(p);
    return true;
}
