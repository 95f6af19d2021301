/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_check: see section_check.h.
 */
#include "present/section_check.h"

#include "present/frames.h"
#include "present/markup.h"
#include "present/safe.h"
#include "present/section_diff.h"
#include "present/section_sites.h"
#include "present/table.h"
#include "present/units.h"

#include <stdio.h>
#include <string.h>

enum { SECTION_CHECK_SITES = 5, SECTION_CHECK_WIDTH = 100 };

bool section_check_is_fine(const struct section_check *s)
{
    bool fine = s->program == NULL || s->program_is_fine;
    for (size_t i = 0; i < s->count; i++)
        fine = fine && s->outcomes[i].is_kept;
    return fine;
}

/* To the byte where what is seen and what is allowed would read the same otherwise. */
static const char *section_check_amount(char text[UNITS_MAX], const struct budget_outcome *o, uint64_t amount)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    if (!o->is_bytes)
        return units_count(text, amount);
    if (o->seen == o->allowed || strcmp(units_bytes(a, o->seen), units_bytes(b, o->allowed)) != 0)
        return units_bytes(text, amount);
    snprintf(text, UNITS_MAX, "%llu bytes", (unsigned long long)amount);
    return text;
}

/* "of at most 4.0 KiB", and where that comes from. */
static void section_check_allowed(char *text, size_t size, const struct section_check *s,
                                  const struct budget_outcome *o)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    if (o->limit >= BUDGET_GROWTH_PEAK)
        snprintf(text, size, "of at most %s; base: %s", section_check_amount(a, o, o->allowed),
                 section_check_amount(b, o, o->base));
    else if (o->limit == BUDGET_LEAK_PER_SITE && o->offenders > 0)
        snprintf(text, size, "of at most %s; %s site%s over", section_check_amount(a, o, o->allowed),
                 units_count(b, o->offenders), units_plural(o->offenders));
    else
        snprintf(text, size, "of at most %s", section_check_amount(a, o, o->allowed));
    size_t length = strlen(text);
    if (o->limit == BUDGET_LEAK && suppress_blocks(s->suppress) != 0)
        snprintf(text + length, size - length, "; without %s suppressed",
                 units_bytes(a, suppress_bytes(s->suppress)));
}

/* Those that the limit is about.  False: no memory. */
static bool section_check_choose(struct sites *to, const struct section_check *s, enum budget_limit limit)
{
    bool fine = true;
    sites_init(to);
    for (size_t i = 0; i < s->sites->list.count && fine; i++) {
        if (!budget_is_about(limit, s->verdicts, &s->sites->list.data[i]))
            continue;
        measure_add(&to->total, &s->sites->list.data[i].m);
        fine = vec_push(&to->list, s->sites->list.data[i]);
    }
    return fine;
}

/* The sites to blame, with their stacks. */
static void section_check_blame(struct page *p, const struct section_check *s, const struct budget_outcome *o)
{
    if (o->limit >= BUDGET_GROWTH_PEAK && s->compare != NULL) {
        struct section_diff d = {.traces = s->traces,
                                 .compare = s->compare,
                                 .measure = o->measure,
                                 .limit = SECTION_CHECK_SITES,
                                 .is_grown_only = true};
        section_diff_text(p, &d);
        return;
    }
    size_t limit = SECTION_CHECK_SITES;
    if (o->limit == BUDGET_LEAK_PER_SITE && o->offenders < limit)
        limit = o->offenders;
    struct sites chosen;
    bool has_verdict = o->limit == BUDGET_LEAK_GROWING || o->limit == BUDGET_LEAK_STOPPED;
    p->out->failed |= !section_check_choose(&chosen, s, o->limit);
    struct section_sites sites = {.traces = s->traces,
                                  .sites = &chosen,
                                  .measure = o->measure,
                                  .limit = limit,
                                  .verdicts = has_verdict ? s->verdicts : NULL,
                                  .explain = has_verdict};
    section_sites_text(p, &sites);
    sites_release(&chosen);
}

/* ----------------------------------------------------------------------- page */

void section_check_text(struct page *p, const struct section_check *s)
{
    struct table t;
    char a[UNITS_MAX], allowed[6 * UNITS_MAX];
    table_init(&t, 4);
    for (size_t i = 0; i < s->count; i++) {
        const struct budget_outcome *o = &s->outcomes[i];
        section_check_allowed(allowed, sizeof allowed, s, o);
        table_add(&t, o->is_kept ? "ok" : "over");
        table_add(&t, budget_name(o->limit));
        table_add(&t, section_check_amount(a, o, o->seen));
        table_add(&t, allowed);
    }
    if (s->program != NULL) {
        table_add(&t, s->program_is_fine ? "ok" : "failed");
        table_add(&t, "program");
        table_add(&t, "");
        table_add(&t, s->program);
    }
    for (size_t i = 0; !t.failed && i < t.cells.count / t.columns; i++) {
        bool is_fine = strcmp(t.cells.data[i * t.columns], "ok") == 0;
        size_t indent = table_indent(&t);
        table_print_row(&t, p, i);
        page_add_wrapped(p, is_fine ? COLOUR_PLAIN : COLOUR_ALARM, t.cells.data[i * t.columns + 3], indent,
                         indent);
        page_end_line(p);
    }
    p->out->failed |= t.failed;
    table_release(&t);
    for (size_t i = 0; i < s->count; i++) {
        if (s->outcomes[i].is_kept)
            continue;
        page_end_line(p);
        page_addf(p, COLOUR_ALARM, "%s\n", budget_name(s->outcomes[i].limit));
        section_check_blame(p, s, &s->outcomes[i]);
    }
}

/* ----------------------------------------------------------------------- JSON */

static void section_check_json_sites(struct json *j, const struct section_check *s,
                                     const struct budget_outcome *o)
{
    json_open_array(j, "sites");
    if (!o->is_kept && o->limit >= BUDGET_GROWTH_PEAK && s->compare != NULL) {
        size_t grown = compare_sort_grown(s->compare, s->traces, o->measure);
        for (size_t i = 0; i < grown && i < SECTION_CHECK_SITES; i++) {
            const struct compare_row *r = &s->compare->list.data[i];
            json_open_object(j, NULL);
            json_add_signed(j, "change_bytes", compare_bytes(r, o->measure));
            json_add_signed(j, "change_blocks", compare_blocks(r, o->measure));
            frames_json_trace(j, "frames", s->traces, r->trace);
            json_close_object(j);
        }
    } else if (!o->is_kept) {
        struct sites chosen;
        j->out->failed |= !section_check_choose(&chosen, s, o->limit);
        sites_sort(&chosen, s->traces, o->measure);
        for (size_t i = 0; i < chosen.list.count && i < SECTION_CHECK_SITES; i++) {
            const struct site *site = &chosen.list.data[i];
            bool is_guilty = o->limit != BUDGET_LEAK_PER_SITE || i < o->offenders;
            if (measure_blocks(&site->m, o->measure) == 0 || !is_guilty)
                break;
            json_open_object(j, NULL);
            json_add_number(j, "bytes", measure_bytes(&site->m, o->measure));
            json_add_number(j, "blocks", measure_blocks(&site->m, o->measure));
            frames_json_trace(j, "frames", s->traces, site->trace);
            json_close_object(j);
        }
        sites_release(&chosen);
    }
    json_close_array(j);
}

void section_check_json(struct json *j, const struct section_check *s)
{
    json_add_bool(j, "kept", section_check_is_fine(s));
    json_add_bool(j, "sure", s->doubt == NULL);
    json_add_number(j, "off_ns", s->off_ns);
    if (s->program != NULL)
        json_add_text(j, "program", s->program, strlen(s->program));
    json_add_number(j, "suppressed_bytes", suppress_bytes(s->suppress));
    json_open_array(j, "limits");
    for (size_t i = 0; i < s->count; i++) {
        const struct budget_outcome *o = &s->outcomes[i];
        json_open_object(j, NULL);
        json_add_text(j, "limit", budget_name(o->limit), strlen(budget_name(o->limit)));
        json_add_bool(j, "kept", o->is_kept);
        json_add_number(j, "allowed", o->allowed);
        json_add_number(j, "seen", o->seen);
        if (o->limit >= BUDGET_GROWTH_PEAK)
            json_add_number(j, "base", o->base);
        section_check_json_sites(j, s, o);
        json_close_object(j);
    }
    json_close_array(j);
}

/* ----------------------------------------------------------- JUnit and Markdown */

/* The blame as plain text. */
static void section_check_plain(struct strbuf *out, const struct section_check *s,
                                const struct budget_outcome *o)
{
    struct page page = {out, SECTION_CHECK_WIDTH, false, true};
    section_check_blame(&page, s, o);
}

/* Names of files may have anything in them. */
static void section_check_add_foreign(struct strbuf *out, const char *text,
                                      void (*add)(struct strbuf *out, const char *text))
{
    struct strbuf safe;
    strbuf_init(&safe);
    safe_add_text(&safe, text);
    add(out, strbuf_get(&safe));
    out->failed |= safe.failed;
    strbuf_release(&safe);
}

static void section_check_junit_case(struct strbuf *out, const struct section_check *s,
                                     const struct budget_outcome *o)
{
    char seen[UNITS_MAX], allowed[6 * UNITS_MAX];
    strbuf_addf(out, "    <testcase classname=\"heapwake\" name=\"%s\"", budget_name(o->limit));
    if (o->is_kept) {
        strbuf_add_text(out, "/>\n");
        return;
    }
    struct strbuf blame;
    strbuf_init(&blame);
    section_check_plain(&blame, s, o);
    section_check_allowed(allowed, sizeof allowed, s, o);
    strbuf_addf(out, ">\n      <failure message=\"%s %s\">", section_check_amount(seen, o, o->seen), allowed);
    markup_add_xml(out, strbuf_get(&blame));
    strbuf_add_text(out, "</failure>\n    </testcase>\n");
    out->failed |= blame.failed;
    strbuf_release(&blame);
}

void section_check_junit(struct strbuf *out, const struct section_check *s)
{
    size_t failures = s->program != NULL && !s->program_is_fine, errors = s->doubt != NULL;
    size_t tests = s->count + (s->program != NULL) + errors;
    for (size_t i = 0; i < s->count; i++)
        failures += !s->outcomes[i].is_kept;
    strbuf_add_text(
        out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"heapwake: ");
    section_check_add_foreign(out, s->subject, markup_add_xml);
    strbuf_addf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\">\n", tests, failures,
                errors);
    for (size_t i = 0; i < s->count; i++)
        section_check_junit_case(out, s, &s->outcomes[i]);
    if (s->program != NULL && s->program_is_fine)
        strbuf_add_text(out, "    <testcase classname=\"heapwake\" name=\"program\"/>\n");
    else if (s->program != NULL)
        strbuf_addf(
            out,
            "    <testcase classname=\"heapwake\" name=\"program\">\n      <failure message=\"%s\"/>\n"
            "    </testcase>\n",
            s->program);
    if (s->doubt != NULL) {
        strbuf_add_text(out,
                        "    <testcase classname=\"heapwake\" name=\"recording\">\n      <error message=\"");
        section_check_add_foreign(out, s->doubt, markup_add_xml);
        strbuf_add_text(out, "\"/>\n    </testcase>\n");
    }
    if (s->remark != NULL) {
        strbuf_add_text(out, "    <system-out>");
        section_check_add_foreign(out, s->remark, markup_add_xml);
        strbuf_add_text(out, "</system-out>\n");
    }
    strbuf_add_text(out, "  </testsuite>\n</testsuites>\n");
}

/* A row about the recording, where there is something to say. */
static void section_check_add_row(struct strbuf *out, const char *word, const char *sentence)
{
    if (sentence == NULL)
        return;
    strbuf_addf(out, "| %s | recording | | `", word);
    section_check_add_foreign(out, sentence, markup_add_code);
    strbuf_add_text(out, "` |\n");
}

void section_check_markdown(struct strbuf *out, const struct section_check *s)
{
    char seen[UNITS_MAX], allowed[6 * UNITS_MAX];
    struct strbuf text;
    strbuf_init(&text);
    strbuf_add_text(out, "## Heap of `");
    section_check_add_foreign(out, s->subject, markup_add_code);
    strbuf_add_text(out, "`\n\n| | limit | seen | |\n|---|---|---:|---|\n");
    for (size_t i = 0; i < s->count; i++) {
        const struct budget_outcome *o = &s->outcomes[i];
        section_check_allowed(allowed, sizeof allowed, s, o);
        strbuf_addf(out, "| %s | %s | %s | %s |\n", o->is_kept ? "ok" : "**over**", budget_name(o->limit),
                    section_check_amount(seen, o, o->seen), allowed);
    }
    if (s->program != NULL)
        strbuf_addf(out, "| %s | program | | %s |\n", s->program_is_fine ? "ok" : "**failed**", s->program);
    section_check_add_row(out, "**not sure**", s->doubt);
    section_check_add_row(out, "in part", s->remark);
    for (size_t i = 0; i < s->count; i++) {
        if (s->outcomes[i].is_kept)
            continue;
        strbuf_clear(&text);
        section_check_plain(&text, s, &s->outcomes[i]);
        /* Four quotes: what stands inside has no line that begins with so many. */
        strbuf_addf(out, "\n### %s\n\n````text\n%s````\n", budget_name(s->outcomes[i].limit),
                    strbuf_get(&text));
        out->failed |= text.failed;
    }
    strbuf_release(&text);
}
