/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_sites: see section_sites.h.
 */
#include "present/section_sites.h"

#include "present/callers.h"
#include "present/details.h"
#include "present/frames.h"
#include "present/safe.h"
#include "present/suppressed.h"
#include "present/table.h"
#include "present/units.h"
#include "present/unknown.h"
#include "present/verdicts.h"
#include "store/weight.h"

#include <stdio.h>
#include <string.h>

enum { SECTION_SITES_MANY = 20, SECTION_SITES_PROGRAMS = 3 };

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
        if (fits && ((count == 0 && s->keeps_first) || (double)measure_weight(m, s->measure) >= least))
            (*shown)++;
        count++;
    }
    return count;
}

static void section_sites_title(struct page *p, const struct section_sites *s)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    struct strbuf line;
    const struct metrics *m = &s->sites->total;
    uint64_t blocks = measure_blocks(m, s->measure);
    strbuf_init(&line);
    strbuf_add_text(&line, measure_title(s->measure));
    if (s->measure == MEASURE_LIVE && s->moment_ns != UINT64_MAX)
        strbuf_addf(&line, " at %s", units_time(a, s->moment_ns));
    else if (s->measure == MEASURE_LIVE && s->is_of_each)
        strbuf_add_text(&line, " at that time of each recording");
    page_add(p, COLOUR_TITLE, strbuf_get(&line));
    size_t used = line.length;
    strbuf_clear(&line);
    if (blocks == 0) {
        strbuf_add_text(&line, ": nothing");
    } else if (measure_is_by_blocks(s->measure)) {
        strbuf_addf(&line, ": %s", units_count(a, blocks));
        if (s->measure == MEASURE_TEMPORARY)
            strbuf_addf(&line, " of %s calls", units_count(b, m->allocated_blocks));
    } else {
        strbuf_addf(&line, ": %s in %s block%s", units_bytes(a, measure_bytes(m, s->measure)),
                    units_count(b, blocks), units_plural(blocks));
    }
    suppressed_note(&line, s->measure, s->suppress);
    page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&line), used, 2);
    page_end_line(p);
    strbuf_release(&line);
}

static void section_sites_numbers(struct table *t, const struct section_sites *s, const struct metrics *m)
{
    char a[UNITS_MAX], share[UNITS_MAX], cell[UNITS_MAX + 16];
    uint64_t whole = measure_weight(&s->sites->total, s->measure);
    bool by_blocks = measure_is_by_blocks(s->measure), of_calls = s->measure == MEASURE_TEMPORARY;
    if (by_blocks)
        table_add(t, units_count(a, measure_blocks(m, s->measure)));
    else
        table_add(t, units_bytes(a, measure_bytes(m, s->measure)));
    /* Of temporaries: beside the calls of the site it could be taken for a share of those. */
    snprintf(share, sizeof share, "%.1f %%%s",
             whole == 0 ? 0 : 100.0 * (double)measure_weight(m, s->measure) / (double)whole,
             of_calls ? " of all" : "");
    if (of_calls)
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
    table_add(t, of_calls ? cell : share);
    table_add(t, of_calls ? share : cell);
    table_add(t, "");
}

static const struct verdict *section_sites_verdict(const struct section_sites *s, uint32_t trace)
{
    return s->verdicts == NULL ? NULL : verdicts_find(s->verdicts, trace);
}

static void section_sites_one(struct page *p, const struct section_sites *s, const struct table *t,
                              size_t row)
{
    uint32_t trace = s->sites->list.data[row].trace;
    const struct verdict *v = section_sites_verdict(s, trace);
    size_t indent = table_indent(t), left = p->width > indent + 10 ? p->width - indent : 10;
    bool has_word = v != NULL && !s->explain && left > VERDICTS_WORD_WIDTH + 10;
    table_print_row(t, p, row);
    left -= has_word ? VERDICTS_WORD_WIDTH : 0;
    if (s->brief)
        callers_print_named_lead(p, s->traces, trace, left);
    else
        callers_print_lead(p, s->traces, trace, left);
    if (has_word)
        verdicts_print_word(p, v);
    page_end_line(p);
    if (v != NULL && s->explain)
        verdicts_print_line(p, v, indent);
    /* Names of a few columns would say nothing: rather begin further left. */
    if (s->brief)
        callers_print_line(p, s->traces, trace, indent > 12 ? 12 : indent, true);
    else
        callers_print_below(p, s->traces, trace, indent, CALLERS_SHOWN);
    if (s->details)
        details_print(p, &s->sites->list.data[row].m, indent);
}

static void section_sites_rest(struct page *p, const struct section_sites *s, size_t shown, size_t count)
{
    struct metrics rest = {0};
    char a[UNITS_MAX], b[UNITS_MAX];
    for (size_t i = shown; i < count; i++)
        measure_add(&rest, &s->sites->list.data[i].m);
    if (shown == count)
        return;
    /* Many small ones are what compilers and interpreters have: no list of sites tells where that comes from. */
    bool is_scattered = s->brief && count - shown >= SECTION_SITES_MANY &&
                        measure_weight(&rest, s->measure) > measure_weight(&s->sites->total, s->measure) / 2;
    page_addf(p, COLOUR_QUIET, "  and %s from %s other site%s%s\n",
              measure_is_by_blocks(s->measure) ? units_count(a, measure_blocks(&rest, s->measure))
                                               : units_bytes(a, measure_bytes(&rest, s->measure)),
              units_count(b, count - shown), count - shown == 1 ? "" : "s",
              is_scattered ? "; --by function adds them up" : "");
}

static void section_sites_program(struct page *p, const struct program *o, size_t programs, bool is_last)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    struct strbuf name;
    strbuf_init(&name);
    if (programs == 1)
        safe_add_text(&name, frame_basename(o->path));
    else
        strbuf_addf(&name, "%s more programs", units_count(a, programs));
    page_addf(p, COLOUR_QUIET, "  and %s from %s process%s of %s%s\n", units_bytes(a, o->bytes),
              units_count(b, o->processes), o->processes == 1 ? "" : "es", strbuf_get(&name),
              is_last ? "; -n 0 lists all sites" : "");
    p->out->failed |= name.failed;
    strbuf_release(&name);
}

/* A line each for the worst, and one for the others. */
static void section_sites_programs(struct page *p, const struct programs *all)
{
    size_t count = all->others.count,
           shown = count <= SECTION_SITES_PROGRAMS ? count : SECTION_SITES_PROGRAMS - 1;
    struct program rest = {0};
    for (size_t i = 0; i < count; i++) {
        const struct program *o = &all->others.data[i];
        if (i < shown) {
            section_sites_program(p, o, 1, i + 1 == count);
        } else {
            rest.bytes += o->bytes;
            rest.processes += o->processes;
        }
    }
    if (shown < count)
        section_sites_program(p, &rest, count - shown, true);
}

void section_sites_text(struct page *p, const struct section_sites *s)
{
    struct table t;
    size_t shown;
    if (unknown_print(p, s->measure, s->unknown, measure_blocks(&s->sites->total, s->measure)))
        return;
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
    if (s->programs != NULL)
        section_sites_programs(p, s->programs);
    if (s->measure == MEASURE_LEAKED && !s->brief)
        suppressed_print(p, s->suppress);
    table_release(&t);
}

/* ---------------------------------------------------------------------- JSON */

void section_sites_json(struct json *j, const struct section_sites *s)
{
    size_t shown;
    sites_sort(s->sites, s->traces, s->measure);
    size_t count = section_sites_count(s, &shown);
    json_open_object(j, measure_name(s->measure));
    json_add_number(j, "total_bytes", measure_bytes(&s->sites->total, s->measure));
    json_add_number(j, "total_blocks", measure_blocks(&s->sites->total, s->measure));
    if (s->measure == MEASURE_LIVE && s->moment_ns != UINT64_MAX)
        json_add_number(j, "time_ns", s->moment_ns);
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
        if (section_sites_verdict(s, site->trace) != NULL)
            verdicts_json(j, section_sites_verdict(s, site->trace));
        if (s->details)
            details_json(j, &site->m);
        json_close_object(j);
    }
    json_close_array(j);
    suppressed_json(j, s->measure, s->suppress);
    json_close_object(j);
}
