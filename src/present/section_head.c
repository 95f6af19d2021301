/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_head: see section_head.h.
 *
 * What should not be is in the colour of alarm: leaks, and a recording that is
 * not whole.
 */
#include "present/section_head.h"

#include "present/caveat_text.h"
#include "present/safe.h"
#include "present/units.h"
#include "present/width.h"
#include "store/weight.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double section_head_rate(const struct section_head *h)
{
    return h->sum.runtime_ns == 0 ? 0 : (double)h->sum.allocations / ((double)h->sum.runtime_ns / 1e9);
}

static double section_head_percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

/* "2.9 million" for people; exact figures are in the JSON. */
static const char *section_head_round(char *text, double value)
{
    if (value >= 1e6)
        snprintf(text, UNITS_MAX, "%.1f million", value / 1e6);
    else
        units_count(text, (uint64_t)(value + 0.5));
    return text;
}

enum {
    HEAD_LABEL = 13, /* columns before a figure */
    HEAD_TEXT = 25,  /* and before what is said of it */
};

static void section_head_label(struct page *p, const char *label)
{
    page_addf(p, COLOUR_QUIET, "  %-10s ", label);
}

/* A line that goes on with what the one before it says. */
static void section_head_more(struct page *p, enum colour colour, const char *text)
{
    page_addf(p, colour, "%*s%s", HEAD_TEXT, "", text);
    page_end_line(p);
}

/* One caveat under its label, if there is any, and its text in as many lines as it has. */
static void section_head_caveat(struct page *p, const struct caveats *list, enum caveat_kind kind,
                                enum colour colour)
{
    const struct caveat *c = caveats_find(list, kind);
    struct caveat_row row;
    char *rest;
    if (c == NULL)
        return;
    caveat_text_fill(&row, c);
    char *line = strtok_r(row.text, "\n", &rest);
    if (row.label[0] != '\0') {
        section_head_label(p, row.label);
        page_addf(p, colour, "%10s  %s", row.figure, line);
        page_end_line(p);
        line = strtok_r(NULL, "\n", &rest);
    }
    for (; line != NULL; line = strtok_r(NULL, "\n", &rest))
        section_head_more(p, colour, line);
}

static void section_head_ran(struct page *p, const struct section_head *h)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    section_head_label(p, "ran");
    page_addf(p, COLOUR_PLAIN, "%10s  %s; ", units_time(a, h->sum.runtime_ns), h->sum.end);
    page_addf(p, COLOUR_PLAIN, "%s process%s, %s thread%s", units_count(a, h->sum.processes),
              h->sum.processes == 1 ? "" : "es", units_count(b, h->sum.threads),
              units_plural(h->sum.threads));
    if (h->sum.files > 1)
        page_addf(p, COLOUR_PLAIN, " in %s recordings", units_count(a, h->sum.files));
    page_end_line(p);
}

static void section_head_peak(struct page *p, const struct section_head *h)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    section_head_label(p, "peak");
    page_addf(p, COLOUR_PLAIN, "%10s  at %s", units_bytes(a, h->sum.peak_bytes),
              units_time(b, h->sum.peak_time_ns));
    if (h->sum.processes > 1)
        page_addf(p, COLOUR_PLAIN, " in process %u", h->sum.peak_pid);
    if (h->sum.peak_rss_bytes != 0)
        page_addf(p, COLOUR_PLAIN, "; resident at most %s", units_bytes(a, h->sum.peak_rss_bytes));
    page_end_line(p);
}

static void section_head_leaked(struct page *p, const struct section_head *h)
{
    char a[UNITS_MAX];
    bool is_known = h->sum.leaked_blocks == h->suppressed_blocks;
    section_head_label(p, "leaked");
    page_addf(p, is_known ? COLOUR_PLAIN : COLOUR_ALARM, "%10s", units_bytes(a, h->sum.leaked_bytes));
    page_addf(p, COLOUR_PLAIN, "  in %s block%s", units_count(a, h->sum.leaked_blocks),
              units_plural(h->sum.leaked_blocks));
    if (h->suppressed_blocks != 0)
        page_addf(p, COLOUR_PLAIN, "; %s of it suppressed",
                  is_known ? "all" : units_bytes(a, h->suppressed_bytes));
    page_end_line(p);
}

static void section_head_temporary(struct page *p, const struct section_head *h)
{
    const struct caveat *unknown = caveats_find(&h->recording, CAVEAT_TEMPORARY);
    struct caveat_row row;
    section_head_label(p, "temporary");
    if (unknown != NULL) {
        caveat_text_fill(&row, unknown);
        page_addf(p, COLOUR_PLAIN, "%10s  %s", row.figure, row.text);
    } else {
        page_addf(p, COLOUR_PLAIN, "%8.1f %%  of the calls: freed before their thread's next one",
                  section_head_percent(h->sum.temporary_blocks, h->sum.allocations));
    }
    page_end_line(p);
}

/* Where it was imported from, and what its figures can not know. */
static void section_head_notes(struct page *p, const struct section_head *h)
{
    enum { HEAD_NOTES = 2 }; /* that there is room for */
    struct strbuf line;
    char count[UNITS_MAX];
    strbuf_init(&line);
    for (size_t i = 0; i < h->sum.notes.count && i < HEAD_NOTES; i++) {
        strbuf_clear(&line);
        safe_add_text(&line, h->sum.notes.data[i]);
        if (i + 1 == HEAD_NOTES && h->sum.notes.count > HEAD_NOTES)
            strbuf_addf(&line, " (%s more: heapwake info)",
                        units_count(count, h->sum.notes.count - HEAD_NOTES));
        page_add_labelled(p, COLOUR_QUIET, "  note", HEAD_LABEL, "%s", strbuf_get(&line));
    }
    p->out->failed |= line.failed;
    strbuf_release(&line);
}

static void section_head_losses(struct page *p, const struct section_head *h)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    const struct caveats *list = &h->recording;
    const struct caveat *lost = caveats_find(list, CAVEAT_LOST);
    bool is_whole = lost == NULL && caveats_find(list, CAVEAT_UNRECORDED) == NULL &&
                    caveats_find(list, CAVEAT_OFF) == NULL;
    struct caveat_row row = {.text = "nothing lost"};
    if (lost != NULL)
        caveat_text_fill(&row, lost);
    section_head_label(p, "recorded");
    page_addf(p, lost == NULL ? COLOUR_PLAIN : COLOUR_ALARM, "%10s  %s; ", is_whole ? "whole" : "in part",
              row.text);
    page_addf(p, COLOUR_PLAIN, "%s of %s stacks cut", units_count(a, h->sum.cut_stacks),
              units_count(b, h->sum.stacks));
    page_end_line(p);
    section_head_caveat(p, list, CAVEAT_OFF, COLOUR_ALARM);
    section_head_caveat(p, list, CAVEAT_UNRECORDED, COLOUR_ALARM);
}

enum { HEAD_NAMELESS = 2 }; /* files that are named */

/* What gives this file lines, and those before it that want the same. */
static void section_head_remedy(struct strbuf *line, const struct missing_debuginfo_module *m, bool several)
{
    if (missing_debuginfo_is_packaged(m))
        strbuf_addf(line, " (install %s, or heapwake symbolize --debuginfod)",
                    several ? "their debug packages" : "its debug package");
    else
        strbuf_addf(line, " (build %s with -g)", several ? "them" : "it");
}

/* The worst, each with its share where there are several, and what helps; how many there are beside them.  Nothing of
 * that kind helps where a file has gone. */
static void section_head_blame(struct strbuf *line, const struct section_head *h)
{
    const struct missing_debuginfo *n = h->nameless;
    char count[UNITS_MAX];
    bool several = false;
    strbuf_add_text(line, "of the bytes: ");
    for (size_t i = 0; i < HEAD_NAMELESS && i < n->modules.count; i++) {
        const struct missing_debuginfo_module *m = &n->modules.data[i];
        bool is_last = i + 1 == n->modules.count || i + 1 == HEAD_NAMELESS;
        bool goes_on = !is_last && missing_debuginfo_is_packaged(m) == missing_debuginfo_is_packaged(m + 1);
        strbuf_add_text(line, i == 0 ? "" : ", ");
        if (n->modules.count > 1)
            strbuf_addf(line, "%.0f %% ", section_head_percent(m->bytes, h->sum.allocated_bytes));
        safe_add_text(line, m->name);
        if (h->nameless_remark == NULL && !goes_on)
            section_head_remedy(line, m, several);
        several = goes_on;
    }
    if (n->modules.count > HEAD_NAMELESS)
        strbuf_addf(line, " and %s more", units_count(count, n->modules.count - HEAD_NAMELESS));
}

/* Why the program was aborted, perhaps. */
static void section_head_misuse(struct page *p, const struct section_head *h)
{
    char a[UNITS_MAX];
    if (h->sum.unknown_frees == 0)
        return;
    section_head_label(p, "misuse");
    page_addf(p, COLOUR_ALARM, "%10s", units_count(a, h->sum.unknown_frees));
    page_addf(p, COLOUR_PLAIN, "  %s of what was not live: see --misuse",
              h->sum.unknown_frees == 1 ? "release" : "releases");
    page_end_line(p);
}

/* Only where it matters: a report without lines is half a report. */
static void section_head_names(struct page *p, const struct section_head *h)
{
    enum { MATTERS_PERCENT = 5 };
    double percent =
        h->nameless == NULL ? 0 : section_head_percent(h->nameless->bytes, h->sum.allocated_bytes);
    if (percent < MATTERS_PERCENT)
        return;
    section_head_label(p, "no lines");
    page_addf(p, COLOUR_PLAIN, "%8.1f %%  ", percent);
    struct strbuf line;
    strbuf_init(&line);
    section_head_blame(&line, h);
    page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&line), HEAD_TEXT, HEAD_TEXT);
    page_end_line(p);
    if (h->nameless_remark != NULL) {
        strbuf_clear(&line);
        safe_add_text(&line, h->nameless_remark);
        page_add_labelled(p, COLOUR_PLAIN, "", HEAD_LABEL, "%s",
                          strbuf_get(&line)); /* most paths have room */
    }
    strbuf_release(&line);
}

static void section_head_estimates(struct page *p, const struct section_head *h)
{
    char text[3 * UNITS_MAX];
    uint64_t rate = h->sum.sample_rate;
    if (rate == 0)
        return;
    snprintf(text, sizeof text, "allocated within %.1f %%, peak %.1f %%, leaked %.1f %%,",
             section_head_percent(weight_error(rate, h->sum.allocated_bytes), h->sum.allocated_bytes),
             section_head_percent(weight_error(rate, h->sum.peak_bytes), h->sum.peak_bytes),
             section_head_percent(weight_error(rate, h->sum.leaked_bytes), h->sum.leaked_bytes));
    section_head_more(p, COLOUR_PLAIN, text);
    section_head_more(p, COLOUR_PLAIN, "19 of 20 times; counts of small blocks vary more");
}

/* What is known by count only. */
static void section_head_omissions(struct page *p, const struct section_head *h)
{
    section_head_caveat(p, &h->recording, CAVEAT_CULLED, COLOUR_PLAIN);
    section_head_caveat(p, &h->recording, CAVEAT_SAMPLED, COLOUR_PLAIN);
    section_head_estimates(p, h);
    section_head_caveat(p, &h->recording, CAVEAT_LIMITED, COLOUR_ALARM);
    section_head_caveat(p, &h->answer, CAVEAT_OMITTED, COLOUR_ALARM);
    section_head_caveat(p, &h->answer, CAVEAT_RELEASES, COLOUR_ALARM);
}

static void section_head_conditions(struct page *p, const struct section_head *h)
{
    struct strbuf line;
    if (h->conditions_length == 0)
        return;
    strbuf_init(&line);
    strbuf_add_text(&line, "below: only what meets ");
    safe_add_command(&line, h->conditions, h->conditions_length);
    page_add_labelled(p, COLOUR_QUIET, "  shown", HEAD_LABEL, "%s", strbuf_get(&line));
    strbuf_release(&line);
}

/* Of a long command line the folders of the program give way, then the last of its arguments. */
static void section_head_command(struct page *p, const struct section_head *h)
{
    struct strbuf line, title;
    strbuf_init(&line);
    strbuf_init(&title);
    safe_add_command(&line, h->sum.args, h->sum.args_length);
    if (width_of(strbuf_get(&line)) > p->width) {
        size_t folders = 0;
        for (size_t i = 0; i + 1 < h->sum.args_length && h->sum.args[i] != '\0'; i++)
            folders = h->sum.args[i] == '/' && h->sum.args[i + 1] != '\0' ? i + 1 : folders;
        strbuf_clear(&line);
        safe_add_command(&line, h->sum.args + folders, h->sum.args_length - folders);
    }
    width_add_begin(&title, strbuf_get(&line), p->width, p->unicode);
    page_add(p, COLOUR_TITLE, strbuf_get(&title));
    page_end_line(p);
    p->out->failed |= line.failed || title.failed;
    strbuf_release(&title);
    strbuf_release(&line);
}

void section_head_text(struct page *p, const struct section_head *h)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    section_head_command(p, h);
    section_head_ran(p, h);
    section_head_label(p, "allocated");
    page_addf(p, COLOUR_PLAIN, "%10s  in %s call%s, ", units_bytes(a, h->sum.allocated_bytes),
              units_count(b, h->sum.allocations), units_plural(h->sum.allocations));
    page_addf(p, COLOUR_PLAIN, "%s a second", section_head_round(a, section_head_rate(h)));
    page_end_line(p);
    section_head_peak(p, h);
    section_head_leaked(p, h);
    section_head_temporary(p, h);
    section_head_losses(p, h);
    section_head_misuse(p, h);
    section_head_names(p, h);
    section_head_omissions(p, h);
    section_head_notes(p, h);
    section_head_conditions(p, h);
}

void section_head_json(struct json *j, const struct section_head *h)
{
    struct strbuf line;
    strbuf_init(&line);
    safe_add_command(&line, h->sum.args, h->sum.args_length);
    json_open_object(j, "summary");
    json_add_text(j, "command", strbuf_get(&line), line.length);
    json_add_text(j, "end", h->sum.end, strlen(h->sum.end));
    json_add_number(j, "files", h->sum.files);
    json_add_number(j, "processes", h->sum.processes);
    json_add_number(j, "threads", h->sum.threads);
    json_add_number(j, "runtime_ns", h->sum.runtime_ns);
    json_add_number(j, "allocations", h->sum.allocations);
    json_add_number(j, "frees", h->sum.frees);
    json_add_number(j, "allocated_bytes", h->sum.allocated_bytes);
    json_add_real(j, "allocations_per_second", section_head_rate(h));
    json_add_number(j, "peak_bytes", h->sum.peak_bytes);
    json_add_number(j, "peak_blocks", h->sum.peak_blocks);
    json_add_number(j, "peak_time_ns", h->sum.peak_time_ns);
    json_add_number(j, "peak_pid", h->sum.peak_pid);
    json_add_number(j, "leaked_bytes", h->sum.leaked_bytes);
    json_add_number(j, "leaked_blocks", h->sum.leaked_blocks);
    json_add_number(j, "suppressed_bytes", h->suppressed_bytes);
    json_add_number(j, "suppressed_blocks", h->suppressed_blocks);
    json_add_number(j, "temporary_blocks", h->sum.temporary_blocks);
    json_add_real(j, "temporary_percent", section_head_percent(h->sum.temporary_blocks, h->sum.allocations));
    json_add_number(j, "peak_rss_bytes", h->sum.peak_rss_bytes);
    json_add_number(j, "lost_events", h->sum.lost_events);
    json_add_number(j, "unrecorded_processes", h->sum.unrecorded_processes);
    json_add_number(j, "unknown_frees", h->sum.unknown_frees);
    json_add_number(j, "off_ns", h->sum.off_ns);
    json_add_number(j, "stacks", h->sum.stacks);
    json_add_number(j, "cut_stacks", h->sum.cut_stacks);
    json_add_number(j, "sample_rate", h->sum.sample_rate);
    json_add_number(j, "samples", h->sum.samples);
    json_add_number(j, "allocated_error_bytes", weight_error(h->sum.sample_rate, h->sum.allocated_bytes));
    json_add_number(j, "peak_error_bytes", weight_error(h->sum.sample_rate, h->sum.peak_bytes));
    json_add_number(j, "leaked_error_bytes", weight_error(h->sum.sample_rate, h->sum.leaked_bytes));
    json_add_number(j, "cull_threshold_ns", h->sum.cull_threshold_ns);
    json_add_number(j, "culled_blocks", h->sum.culled_blocks);
    json_add_number(j, "culled_bytes", h->sum.culled_bytes);
    json_add_number(j, "limit_ns", h->sum.limit_ns);
    json_add_number(j, "limited_events", h->sum.limited_events);
    json_add_number(j, "omitted_blocks", caveats_count(&h->answer, CAVEAT_OMITTED));
    json_add_number(j, "timeline_omitted_blocks", caveats_count(&h->answer, CAVEAT_TIMELINE));
    json_add_number(j, "releases_without_stack", caveats_count(&h->answer, CAVEAT_RELEASES));
    json_add_bool(j, "complete", summary_is_whole(&h->sum));
    json_add_bool(j, "made_up", h->sum.made_up);
    json_open_array(j, "notes");
    for (size_t i = 0; i < h->sum.notes.count; i++)
        json_add_text(j, NULL, h->sum.notes.data[i], strlen(h->sum.notes.data[i]));
    json_close_array(j);
    json_close_object(j);
    strbuf_release(&line);
}

void section_head_caveats_json(struct json *j, const struct section_head *h)
{
    struct caveats all = h->recording;
    caveats_join(&all, &h->answer);
    caveat_text_json(j, &all);
}
