/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_sites: see section_sites.h.
 */
#include "present/section_sites.h"

#include "present/frames.h"
#include "present/safe.h"
#include "present/table.h"
#include "present/units.h"
#include "store/weight.h"

#include <stdio.h>
#include <string.h>

enum { SECTION_SITES_CALLERS = 12, SECTION_SITES_RULES = 20 };

/* Sites that have something of the measure, and how many of them are shown. */
static size_t section_sites_count(const struct section_sites *s, size_t *shown)
{
    size_t count = 0;
    double least = s->threshold * (double)measure_weight(&s->sites->total, s->measure);
    *shown = 0;
    while (count < s->sites->list.count) {
        const struct metrics *m = &s->sites->list.data[count].m;
        if (measure_blocks(m, s->measure) == 0)
            break;
        bool fits = s->limit == 0 || count < s->limit;
        if (fits && (count == 0 || (double)measure_weight(m, s->measure) >= least))
            (*shown)++;
        count++;
    }
    return count;
}

static void section_sites_title(struct page *p, const struct section_sites *s)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    const struct metrics *m = &s->sites->total;
    uint64_t blocks = measure_blocks(m, s->measure);
    page_add(p, COLOUR_TITLE, measure_title(s->measure));
    if (blocks == 0) {
        page_add(p, COLOUR_PLAIN, ": nothing");
    } else if (measure_is_by_blocks(s->measure)) {
        page_addf(p, COLOUR_PLAIN, ": %s", units_count(a, blocks));
        if (s->measure == MEASURE_TEMPORARY)
            page_addf(p, COLOUR_PLAIN, " of %s calls", units_count(b, m->allocated_blocks));
    } else {
        page_addf(p, COLOUR_PLAIN, ": %s in %s block%s", units_bytes(a, measure_bytes(m, s->measure)),
                  units_count(b, blocks), blocks == 1 ? "" : "s");
    }
    page_end_line(p);
}

static void section_sites_numbers(struct table *t, const struct section_sites *s, const struct metrics *m)
{
    char a[UNITS_MAX], cell[UNITS_MAX + 16];
    uint64_t whole = measure_weight(&s->sites->total, s->measure);
    double share = whole == 0 ? 0 : 100.0 * (double)measure_weight(m, s->measure) / (double)whole;
    bool by_blocks = measure_is_by_blocks(s->measure);
    if (by_blocks)
        table_add(t, units_count(a, measure_blocks(m, s->measure)));
    else
        table_add(t, units_bytes(a, measure_bytes(m, s->measure)));
    snprintf(cell, sizeof cell, "%.1f %%", share);
    table_add(t, cell);
    if (s->measure == MEASURE_TEMPORARY)
        snprintf(cell, sizeof cell, "of %s", units_count(a, m->allocated_blocks));
    else if (by_blocks)
        snprintf(cell, sizeof cell, "%s", units_bytes(a, measure_bytes(m, s->measure)));
    else
        snprintf(cell, sizeof cell, "%sx", units_count(a, measure_blocks(m, s->measure)));
    if (s->sample_rate != 0 && measure_bytes(m, s->measure) != 0) {
        double bytes = (double)measure_bytes(m, s->measure);
        size_t length = strlen(cell);
        snprintf(cell + length, sizeof cell - length, " within %.0f %%",
                 100 * (double)weight_error(s->sample_rate, (uint64_t)bytes) / bytes);
    }
    table_add(t, cell);
    table_add(t, "");
}

/* The library call that own code made: the outermost frame below it; 0 = none. */
static uint32_t section_sites_via(const struct traces *c, uint32_t trace, uint32_t own)
{
    uint32_t via = 0;
    for (uint32_t at = trace; at != own; at = traces_parent(c, at)) {
        if (traces_frame(c, at)->role == FRAME_LIBRARY)
            via = at;
    }
    return via;
}

static void section_sites_callers(struct page *p, const struct section_sites *s, uint32_t own, size_t indent)
{
    size_t left = p->width - indent;
    uint32_t at = traces_parent(s->traces, own);
    if (s->brief) {
        struct page line = *p;
        struct strbuf text;
        strbuf_init(&text);
        line.out = &text;
        if (frames_print_callers(&line, s->traces, at, left) != 0)
            page_addf(p, COLOUR_PLAIN, "%*s%s\n", (int)indent, "", strbuf_get(&text));
        strbuf_release(&text);
        return;
    }
    size_t shown = 0;
    for (; at != 0 && shown < SECTION_SITES_CALLERS; at = traces_parent(s->traces, at)) {
        const struct frame *f = traces_frame(s->traces, at);
        if (f->role != FRAME_OWN && f->role != FRAME_GAP)
            continue;
        page_addf(p, COLOUR_QUIET, "%*s< ", (int)indent, "");
        frames_print(p, f, left - 2, false);
        page_end_line(p);
        shown++;
    }
}

static void section_sites_one(struct page *p, const struct section_sites *s, const struct table *t,
                              size_t row)
{
    const struct traces *c = s->traces;
    uint32_t trace = s->sites->list.data[row].trace;
    size_t indent = table_indent(t), left = p->width > indent + 10 ? p->width - indent : 10;
    table_print_row(t, p, row);
    if (trace == 0) {
        page_add(p, COLOUR_QUIET, "(no stack)\n");
        return;
    }
    uint32_t own = traces_find_own(c, trace), via = section_sites_via(c, trace, own);
    frames_print(p, traces_frame(c, own), left, true);
    page_end_line(p);
    /* Names of a few columns would say nothing: rather begin further left. */
    size_t below = s->brief && indent > 12 ? 12 : indent;
    if (via != 0 && !s->brief) {
        page_addf(p, COLOUR_QUIET, "%*sin ", (int)indent, "");
        frames_print(p, traces_frame(c, via), left - 3, false);
        page_end_line(p);
    }
    section_sites_callers(p, s, own, below);
}

static void section_sites_rest(struct page *p, const struct section_sites *s, size_t shown, size_t count)
{
    struct metrics rest = {0};
    char a[UNITS_MAX], b[UNITS_MAX];
    for (size_t i = shown; i < count; i++)
        measure_add(&rest, &s->sites->list.data[i].m);
    if (shown == count)
        return;
    page_addf(p, COLOUR_QUIET, "  and %s from %s other site%s\n",
              measure_is_by_blocks(s->measure) ? units_count(a, measure_blocks(&rest, s->measure))
                                               : units_bytes(a, measure_bytes(&rest, s->measure)),
              units_count(b, count - shown), count - shown == 1 ? "" : "s");
}

static void section_sites_suppressed(struct page *p, const struct section_sites *s)
{
    struct table t;
    char a[UNITS_MAX];
    table_init(&t, 3);
    for (size_t i = 0; s->suppress != NULL && i < s->suppress->rules.count; i++) {
        const struct suppress_rule *r = &s->suppress->rules.data[i];
        if (r->blocks == 0 || t.cells.count >= SECTION_SITES_RULES * 3)
            continue;
        if (t.cells.count == 0) {
            table_add(&t, "bytes");
            table_add(&t, "blocks");
            table_add(&t, "suppressed by");
        }
        struct strbuf name;
        strbuf_init(&name);
        safe_add_text(&name, r->pattern);
        if (r->built_in)
            strbuf_add_text(&name, " (built in)");
        table_add(&t, units_bytes(a, r->bytes));
        table_add(&t, units_count(a, r->blocks));
        table_add(&t, strbuf_get(&name));
        strbuf_release(&name);
    }
    table_print(&t, p);
    table_release(&t);
}

void section_sites_text(struct page *p, const struct section_sites *s)
{
    struct table t;
    size_t shown;
    sites_sort(s->sites, s->traces, s->measure);
    size_t count = section_sites_count(s, &shown);
    section_sites_title(p, s);
    table_init(&t, 4);
    for (size_t i = 0; i < shown; i++)
        section_sites_numbers(&t, s, &s->sites->list.data[i].m);
    for (size_t i = 0; i < shown && !t.failed; i++)
        section_sites_one(p, s, &t, i);
    p->out->failed |= t.failed;
    section_sites_rest(p, s, shown, count);
    if (s->measure == MEASURE_LEAKED && !s->brief)
        section_sites_suppressed(p, s);
    table_release(&t);
}

/* ---------------------------------------------------------------------- JSON */

static void section_sites_json_suppressed(struct json *j, const struct suppress *suppress)
{
    uint64_t bytes = 0, blocks = 0;
    for (size_t i = 0; i < suppress->rules.count; i++) {
        bytes += suppress->rules.data[i].bytes;
        blocks += suppress->rules.data[i].blocks;
    }
    json_open_object(j, "suppressed");
    json_add_number(j, "total_bytes", bytes);
    json_add_number(j, "total_blocks", blocks);
    json_open_array(j, "rules");
    for (size_t i = 0; i < suppress->rules.count; i++) {
        const struct suppress_rule *r = &suppress->rules.data[i];
        if (r->blocks == 0)
            continue;
        json_open_object(j, NULL);
        json_add_text(j, "pattern", r->pattern, strlen(r->pattern));
        json_add_bool(j, "built_in", r->built_in);
        json_add_number(j, "bytes", r->bytes);
        json_add_number(j, "blocks", r->blocks);
        json_close_object(j);
    }
    json_close_array(j);
    json_close_object(j);
}

void section_sites_json(struct json *j, const struct section_sites *s)
{
    size_t shown;
    sites_sort(s->sites, s->traces, s->measure);
    size_t count = section_sites_count(s, &shown);
    json_open_object(j, measure_name(s->measure));
    json_add_number(j, "total_bytes", measure_bytes(&s->sites->total, s->measure));
    json_add_number(j, "total_blocks", measure_blocks(&s->sites->total, s->measure));
    json_add_number(j, "site_count", count);
    json_open_array(j, "sites");
    for (size_t i = 0; i < shown; i++) {
        const struct site *site = &s->sites->list.data[i];
        json_open_object(j, NULL);
        json_add_number(j, "bytes", measure_bytes(&site->m, s->measure));
        json_add_number(j, "blocks", measure_blocks(&site->m, s->measure));
        if (s->sample_rate != 0)
            json_add_number(j, "error_bytes",
                            weight_error(s->sample_rate, measure_bytes(&site->m, s->measure)));
        frames_json_trace(j, "frames", s->traces, site->trace);
        json_close_object(j);
    }
    json_close_array(j);
    if (s->measure == MEASURE_LEAKED && s->suppress != NULL)
        section_sites_json_suppressed(j, s->suppress);
    json_close_object(j);
}
