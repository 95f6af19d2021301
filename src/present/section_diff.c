/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_diff: see section_diff.h.
 */
#include "present/section_diff.h"

#include "present/callers.h"
#include "present/caveat_text.h"
#include "present/frames.h"
#include "present/notes.h"
#include "present/safe.h"
#include "present/table.h"
#include "present/units.h"
#include "present/width.h"

#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------------- head */

static void section_diff_head_line(struct page *p, const char *word, const struct section_diff_side *s)
{
    struct strbuf name;
    char a[UNITS_MAX], b[UNITS_MAX], facts[3 * UNITS_MAX];
    strbuf_init(&name);
    safe_add_text(&name, frame_basename(s->file));
    if (s->moment != NULL) {
        strbuf_addf(&name, " at %s", units_time(a, s->moment_ns));
        snprintf(facts, sizeof facts, "live %s in %s block%s", units_bytes(a, s->total.live_bytes),
                 units_count(b, s->total.live_blocks), units_plural(s->total.live_blocks));
    } else {
        char c[UNITS_MAX];
        snprintf(facts, sizeof facts, "peak %s, leaked %s, %s call%s", units_bytes(a, s->total.peak_bytes),
                 units_bytes(b, s->total.leaked_bytes + s->suppressed_bytes),
                 units_count(c, s->total.allocated_blocks), units_plural(s->total.allocated_blocks));
    }
    page_addf(p, COLOUR_QUIET, "%-8s", word);
    size_t wide = width_of(facts), room = p->width > wide + 12 ? p->width - wide - 10 : 10;
    page_add_short(p, COLOUR_TITLE, strbuf_get(&name), room);
    page_addf(p, COLOUR_PLAIN, "  %s\n", facts);
    strbuf_release(&name);
}

/* What one side has and the other lacks would pass for a change. */
static void section_diff_lacks(struct page *p, const char *name, const struct section_diff_side *s)
{
    static const enum caveat_kind shown[] = {CAVEAT_SAMPLED, CAVEAT_LOST, CAVEAT_UNRECORDED, CAVEAT_OFF,
                                             CAVEAT_OMITTED};
    struct strbuf line;
    strbuf_init(&line);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const struct caveat *c = caveats_find(&s->caveats, shown[i]);
        if (c == NULL)
            continue;
        strbuf_clear(&line);
        caveat_text_add(&line, c, name);
        page_add_wrapped(p, COLOUR_ALARM, strbuf_get(&line), 0, 2);
        page_end_line(p);
        p->out->failed |= line.failed;
    }
    strbuf_release(&line);
}

/* The notes of one side that the other has too, or has not: the first, and how many there are beside them. */
static void section_diff_notes(struct page *p, const char *name, const struct section_diff_side *side,
                               const struct section_diff_side *other, bool are_shared)
{
    enum { SHOWN = 2 };
    struct strbuf line;
    char text[UNITS_MAX];
    size_t count = 0;
    strbuf_init(&line);
    for (size_t i = 0; i < wake_reader_note_count(side->reader); i++) {
        const char *note = wake_reader_note(side->reader, i);
        if (wake_reader_has_note(other->reader, note) != are_shared || ++count > SHOWN)
            continue;
        strbuf_clear(&line);
        strbuf_addf(&line, "%s: ", name);
        safe_add_text(&line, note);
        page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&line), 0, 2);
        page_end_line(p);
    }
    if (count > SHOWN)
        page_addf(p, COLOUR_PLAIN, "  (%s more: heapwake info)\n", units_count(text, count - SHOWN));
    p->out->failed |= line.failed;
    strbuf_release(&line);
}

void section_diff_head_text(struct page *p, const struct section_diff_side *before,
                            const struct section_diff_side *after)
{
    section_diff_head_line(p, "before", before);
    section_diff_head_line(p, "after", after);
    section_diff_lacks(p, "before", before);
    section_diff_lacks(p, "after", after);
    section_diff_notes(p, "both", before, after, true);
    section_diff_notes(p, "before", before, after, false);
    section_diff_notes(p, "after", after, before, false);
}

void section_diff_head_json(struct json *j, const char *key, const struct section_diff_side *s)
{
    json_open_object(j, key);
    json_add_text(j, "file", s->file, strlen(s->file));
    if (s->moment == NULL)
        json_add_null(j, "moment_ns");
    else
        json_add_number(j, "moment_ns", s->moment_ns);
    json_add_number(j, "peak_bytes", s->total.peak_bytes);
    json_add_number(j, "peak_time_ns", s->peak_time_ns);
    json_add_number(j, "leaked_bytes", s->total.leaked_bytes + s->suppressed_bytes);
    json_add_number(j, "suppressed_bytes", s->suppressed_bytes);
    json_add_number(j, "sample_rate", s->sum.sample_rate);
    json_add_number(j, "off_ns", s->sum.off_ns);
    json_add_number(j, "omitted_blocks", caveats_count(&s->caveats, CAVEAT_OMITTED));
    json_add_bool(j, "complete", summary_is_whole(&s->sum));
    json_add_number(j, "lost_events", s->sum.lost_events);
    json_add_number(j, "unrecorded_processes", s->sum.unrecorded_processes);
    notes_add_json(j, s->reader);
    json_add_number(j, "live_bytes", s->total.live_bytes);
    json_add_number(j, "allocations", s->total.allocated_blocks);
    json_add_number(j, "allocated_bytes", s->total.allocated_bytes);
    caveat_text_json(j, &s->caveats);
    json_close_object(j);
}

/* ----------------------------------------------------------------------- rows */

static void section_diff_title(struct page *p, const struct section_diff *s, size_t changed)
{
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];
    const struct metrics *x = &s->compare->before, *y = &s->compare->after;
    page_add(p, COLOUR_TITLE, measure_title(s->measure));
    if (measure_is_by_blocks(s->measure)) {
        uint64_t before = measure_blocks(x, s->measure), after = measure_blocks(y, s->measure);
        page_addf(p, COLOUR_PLAIN, ": %s (%s, then %s)", units_change_count(a, (int64_t)(after - before)),
                  units_count(b, before), units_count(c, after));
    } else {
        uint64_t before = measure_bytes(x, s->measure), after = measure_bytes(y, s->measure);
        page_addf(p, COLOUR_PLAIN, ": %s (%s, then %s)", units_change_bytes(a, (int64_t)(after - before)),
                  units_bytes(b, before), units_bytes(c, after));
    }
    if (changed == 0)
        page_add(p, COLOUR_PLAIN, ", no site differs");
    page_end_line(p);
    if (s->measure == MEASURE_LEAKED && s->suppressed_before + s->suppressed_after != 0)
        page_addf(p, COLOUR_QUIET, "  without %s, then %s suppressed\n", units_bytes(a, s->suppressed_before),
                  units_bytes(b, s->suppressed_after));
}

/* "new", "gone", or how much more. */
static void section_diff_share(char *text, size_t size, const struct section_diff *s,
                               const struct compare_row *r)
{
    uint64_t before = measure_weight(&r->before, s->measure), after = measure_weight(&r->after, s->measure);
    if (before == 0)
        snprintf(text, size, "new");
    else if (after == 0)
        snprintf(text, size, "gone");
    else
        snprintf(text, size, "%+.1f %%", 100 * ((double)after - (double)before) / (double)before);
}

static void section_diff_numbers(struct table *t, const struct section_diff *s, const struct compare_row *r)
{
    char a[UNITS_MAX], cell[UNITS_MAX + 8];
    int64_t bytes = compare_bytes(r, s->measure), blocks = compare_blocks(r, s->measure);
    bool by_blocks = measure_is_by_blocks(s->measure);
    table_add(t, by_blocks ? units_change_count(a, blocks) : units_change_bytes(a, bytes));
    section_diff_share(cell, sizeof cell, s, r);
    table_add(t, cell);
    if (by_blocks)
        snprintf(cell, sizeof cell, "%s", units_change_bytes(a, bytes));
    else
        snprintf(cell, sizeof cell, "%sx", units_change_count(a, blocks));
    table_add(t, cell);
    table_add(t, "");
}

void section_diff_text(struct page *p, const struct section_diff *s)
{
    struct table t;
    size_t changed = s->is_grown_only ? compare_sort_grown(s->compare, s->traces, s->measure)
                                      : compare_sort(s->compare, s->traces, s->measure);
    size_t shown = s->limit == 0 || changed < s->limit ? changed : s->limit;
    section_diff_title(p, s, changed);
    table_init(&t, 4);
    for (size_t i = 0; i < shown; i++)
        section_diff_numbers(&t, s, &s->compare->list.data[i]);
    size_t indent = table_indent(&t), left = p->width > indent + 10 ? p->width - indent : 10;
    for (size_t i = 0; i < shown && !t.failed; i++) {
        uint32_t trace = s->compare->list.data[i].trace;
        table_print_row(&t, p, i);
        callers_print_lead(p, s->traces, trace, left);
        page_end_line(p);
        callers_print_below(p, s->traces, trace, indent, CALLERS_SHOWN);
    }
    p->out->failed |= t.failed;
    if (shown < changed) {
        char a[UNITS_MAX];
        page_addf(p, COLOUR_QUIET, "  and %s other site%s\n", units_count(a, changed - shown),
                  changed - shown == 1 ? "" : "s");
    }
    table_release(&t);
}

void section_diff_json(struct json *j, const struct section_diff *s)
{
    const struct metrics *x = &s->compare->before, *y = &s->compare->after;
    size_t changed = compare_sort(s->compare, s->traces, s->measure);
    size_t shown = s->limit == 0 || changed < s->limit ? changed : s->limit;
    json_open_object(j, measure_name(s->measure));
    json_add_number(j, "before_bytes", measure_bytes(x, s->measure));
    json_add_number(j, "after_bytes", measure_bytes(y, s->measure));
    json_add_number(j, "before_blocks", measure_blocks(x, s->measure));
    json_add_number(j, "after_blocks", measure_blocks(y, s->measure));
    json_add_number(j, "site_count", changed);
    json_open_array(j, "sites");
    for (size_t i = 0; i < shown; i++) {
        const struct compare_row *r = &s->compare->list.data[i];
        json_open_object(j, NULL);
        json_add_signed(j, "change_bytes", compare_bytes(r, s->measure));
        json_add_signed(j, "change_blocks", compare_blocks(r, s->measure));
        json_add_number(j, "before_bytes", measure_bytes(&r->before, s->measure));
        json_add_number(j, "after_bytes", measure_bytes(&r->after, s->measure));
        json_add_number(j, "before_blocks", measure_blocks(&r->before, s->measure));
        json_add_number(j, "after_blocks", measure_blocks(&r->after, s->measure));
        frames_json_trace(j, "frames", s->traces, r->trace);
        json_close_object(j);
    }
    json_close_array(j);
    json_close_object(j);
}
