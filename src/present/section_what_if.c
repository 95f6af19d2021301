/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_what_if: see section_what_if.h.
 */
#include "present/section_what_if.h"

#include "present/units.h"

static void section_what_if_line(struct page *p, const char *word, const struct what_if_peak *peak)
{
    char bytes[UNITS_MAX], blocks[UNITS_MAX], when[UNITS_MAX];
    page_addf(p, COLOUR_PLAIN, "  %-9s  peak %s in %s block%s at %s", word, units_bytes(bytes, peak->bytes),
              units_count(blocks, peak->blocks), units_plural(peak->blocks), units_time(when, peak->time_ns));
}

void section_what_if_text(struct page *p, const struct section_what_if *s)
{
    const struct what_if_answer *a = s->answer;
    char text[UNITS_MAX], count[UNITS_MAX];
    page_add(p, COLOUR_TITLE, "What if");
    if (a->matched_blocks == 0) {
        page_add(p, COLOUR_PLAIN, ": no block was allocated with such a function, file or module\n");
        section_what_if_line(p, "was and is", &a->was);
        page_end_line(p);
        return;
    }
    page_addf(p, COLOUR_PLAIN, ": %s in %s block%s ", units_bytes(text, a->matched_bytes),
              units_count(count, a->matched_blocks), a->matched_blocks == 1 ? "" : "s");
    if (s->asked->has_earlier)
        page_addf(p, COLOUR_PLAIN, "had been freed %s earlier\n", units_time(text, s->asked->earlier_ns));
    else
        page_add(p, COLOUR_PLAIN, "had not been allocated\n");
    section_what_if_line(p, "was", &a->was);
    page_end_line(p);
    section_what_if_line(p, "would be", &a->would_be);
    if (a->was.bytes > 0)
        page_addf(p, COLOUR_PLAIN, ", %.1f %% less",
                  100 * ((double)a->was.bytes - (double)a->would_be.bytes) / (double)a->was.bytes);
    page_end_line(p);
}

static void section_what_if_json_peak(struct json *j, const char *key, const struct what_if_peak *peak)
{
    json_open_object(j, key);
    json_add_number(j, "peak_bytes", peak->bytes);
    json_add_number(j, "peak_blocks", peak->blocks);
    json_add_number(j, "peak_time_ns", peak->time_ns);
    json_close_object(j);
}

void section_what_if_json(struct json *j, const struct section_what_if *s)
{
    json_open_object(j, "what_if");
    json_add_number(j, "matched_blocks", s->answer->matched_blocks);
    json_add_number(j, "matched_bytes", s->answer->matched_bytes);
    if (s->asked->has_earlier)
        json_add_number(j, "earlier_ns", s->asked->earlier_ns);
    else
        json_add_null(j, "earlier_ns");
    section_what_if_json_peak(j, "was", &s->answer->was);
    section_what_if_json_peak(j, "would_be", &s->answer->would_be);
    json_close_object(j);
}
