/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unknown: see unknown.h.
 */
#include "present/unknown.h"

#include "present/caveat_text.h"

bool unknown_print(struct page *p, enum measure measure, const struct caveat *why, uint64_t blocks)
{
    struct strbuf text;
    if (why == NULL || (why->because != CAVEAT_MADE_UP && blocks != 0))
        return false;
    strbuf_init(&text);
    caveat_text_add_short(&text, why);
    page_add(p, COLOUR_TITLE, measure_title(measure));
    page_addf(p, COLOUR_PLAIN, ": %s", strbuf_get(&text));
    page_end_line(p);
    p->out->failed |= text.failed;
    strbuf_release(&text);
    return true;
}
