/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unknown: see unknown.h.
 */
#include "present/unknown.h"

bool unknown_print(struct page *p, enum measure measure, bool is_sampled, uint64_t blocks)
{
    if (!is_sampled || measure != MEASURE_TEMPORARY || blocks != 0)
        return false;
    page_add(p, COLOUR_TITLE, measure_title(measure));
    page_add(p, COLOUR_PLAIN, ": not known in a sampled recording");
    page_end_line(p);
    return true;
}
