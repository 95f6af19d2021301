/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_timeline: see section_timeline.h.
 */
#include "present/section_timeline.h"

#include "present/caveat_text.h"
#include "present/plot.h"
#include "present/units.h"

#include <stdio.h>
#include <string.h>

enum {
    TIMELINE_ROWS = 5,
    TIMELINE_AROUND = 30, /* columns that a caption leaves for labels and times */
};

void section_timeline_text(struct page *p, const struct query_result *r, uint64_t end_ns,
                           const struct caveats *answer)
{
    size_t before = p->out->length;
    page_end_line(p);
    size_t empty = p->out->length;
    uint64_t until_ns = r->to_ns < end_ns ? r->to_ns : end_ns;
    char caption[2 * UNITS_MAX + 240] = "", text[UNITS_MAX];
    struct caveat_row lack = {0};
    if (caveats_find(answer, CAVEAT_TIMELINE) != NULL)
        caveat_text_fill(&lack, caveats_find(answer, CAVEAT_TIMELINE));
    if (r->processes > 1)
        snprintf(caption, sizeof caption, "%s processes together", units_count(text, r->processes));
    if (lack.text[0] != '\0' && strlen(caption) + strlen(lack.text) + TIMELINE_AROUND > p->width)
        caption[0] = '\0'; /* what is lacking matters more */
    if (lack.text[0] != '\0')
        snprintf(caption + strlen(caption), sizeof caption - strlen(caption), "%s%s",
                 caption[0] == '\0' ? "" : ", ", lack.text);
    plot_print(p, r->timeline.data, r->timeline.count, until_ns, TIMELINE_ROWS, caption);
    if (p->out->length == empty) /* there is nothing to plot: no gap either */
        strbuf_cut(p->out, before);
}

void section_timeline_json(struct json *j, const struct query_result *r)
{
    json_open_array(j, "timeline");
    for (size_t i = 0; i < r->timeline.count; i++) {
        const struct query_tick *t = &r->timeline.data[i];
        json_open_object(j, NULL);
        json_add_number(j, "from_ns", t->from_ns);
        json_add_number(j, "live_bytes", t->live_bytes);
        json_add_number(j, "live_blocks", t->live_blocks);
        json_add_number(j, "rss_bytes", t->rss_bytes);
        json_add_number(j, "allocations", t->allocations);
        json_add_number(j, "frees", t->frees);
        if (!r->timeline_is_rough)
            json_add_number(j, "allocated_bytes", t->allocated_bytes);
        json_close_object(j);
    }
    json_close_array(j);
}
