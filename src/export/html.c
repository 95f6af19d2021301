/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * html: one page that shows a recording to somebody who has nothing but a
 * browser: figures, the heap over time, a flame graph, tables.
 *
 * Everything is in the page.  Its policy forbids the browser to load anything
 * and to run any script but ours, which is named by its hash; so even a name that
 * got through as markup could do nothing.  Names are data (html_data.h) that
 * the script shows as text.
 */
#include "export/export.h"

#include <errno.h>
#include <page_assets.h>
#include <stdio.h>

#include "export/html_data.h"
#include "present/caveat_text.h"
#include "present/safe.h"
#include "present/suppressed.h"
#include "present/units.h"

static void html_add(struct out *o, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            out_text(o, "&lt;");
            break;
        case '>':
            out_text(o, "&gt;");
            break;
        case '&':
            out_text(o, "&amp;");
            break;
        case '"':
            out_text(o, "&quot;");
            break;
        default:
            out_add(o, text, 1);
        }
    }
}

static void html_put_head(struct out *o, const char *command)
{
    out_text(o, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out_f(o,
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '%s'; "
          "style-src '%s'; base-uri 'none'; form-action 'none'\">\n",
          page_js_hash, page_css_hash);
    out_text(o, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"generator\" content=\"heapwake " HEAPWAKE_VERSION "\">\n<title>");
    html_add(o, command);
    out_text(o, "</title>\n<style>");
    out_add(o, page_css, sizeof page_css - 1);
    out_text(o, "</style>\n</head>\n");
}

static void html_put_card(struct out *o, const char *value, const char *what)
{
    out_text(o, "<div class=\"card\"><b>");
    html_add(o, value);
    out_text(o, "</b><span>");
    html_add(o, what);
    out_text(o, "</span></div>\n");
}

static void html_put_leaked(const struct export_job *job)
{
    const struct metrics *t = &job->result->total;
    char text[UNITS_MAX];
    struct strbuf what;
    strbuf_init(&what);
    strbuf_addf(&what, "leaked in %s block%s", units_count(text, t->leaked_blocks),
                units_plural(t->leaked_blocks));
    suppressed_note(&what, MEASURE_LEAKED, job->suppress);
    html_put_card(job->out, units_bytes(text, t->leaked_bytes), strbuf_get(&what));
    strbuf_release(&what);
}

static void html_put_cards(const struct export_job *job, const struct caveats *lacks)
{
    const struct metrics *t = &job->result->total;
    const struct query_range window = export_window(job);
    struct out *o = job->out;
    char text[UNITS_MAX], more[UNITS_MAX], what[UNITS_MAX + 64];
    out_text(o, "<div class=\"cards\">\n");
    snprintf(what, sizeof what, "peak heap, at %s", units_time(more, job->result->peak_time_ns));
    html_put_card(o, units_bytes(text, t->peak_bytes), what);
    html_put_leaked(job);
    snprintf(what, sizeof what, "allocated in %s call%s", units_count(more, t->allocated_blocks),
             t->allocated_blocks == 1 ? "" : "s");
    html_put_card(o, units_bytes(text, t->allocated_bytes), what);
    double share =
        t->allocated_blocks == 0 ? 0 : 100 * (double)t->temporary_blocks / (double)t->allocated_blocks;
    snprintf(text, sizeof text, "%.1f %%", share);
    if (caveats_find(lacks, CAVEAT_TEMPORARY) == NULL || t->temporary_blocks != 0)
        html_put_card(o, text, "of the calls are temporary");
    if (export_peak_rss(job) != 0)
        html_put_card(o, units_bytes(text, export_peak_rss(job)), "resident at most");
    html_put_card(o, units_time(text, window.max - window.min), "run time");
    out_text(o, "</div>\n");
}

/* What the page is not about. */
static void html_put_limits(const struct export_job *job, const struct caveats *lacks)
{
    static const enum caveat_kind shown[] = {CAVEAT_LOST, CAVEAT_UNRECORDED, CAVEAT_SAMPLED, CAVEAT_OFF,
                                             CAVEAT_OMITTED};
    struct strbuf sentence;
    strbuf_init(&sentence);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const struct caveat *c = caveats_find(lacks, shown[i]);
        const char *subject = shown[i] != CAVEAT_OMITTED         ? "the recording"
                              : job->result->omitted_blocks != 0 ? "this page"
                                                                 : "what it shows over time";
        if (c == NULL)
            continue;
        strbuf_clear(&sentence);
        caveat_text_add(&sentence, c, subject);
        out_f(job->out, "; %s", strbuf_get(&sentence));
        if (sentence.failed && job->out->error == 0)
            job->out->error = ENOMEM;
    }
    strbuf_release(&sentence);
    if (job->conditions->length != 0 && job->veil->level != ANONYMIZE_NONE) {
        out_text(job->out, "; only what meets some conditions"); /* they have the true names */
    } else if (job->conditions->length != 0) {
        struct strbuf line;
        strbuf_init(&line);
        safe_add_command(&line, strbuf_get(job->conditions), job->conditions->length);
        out_text(job->out, "; only what meets ");
        html_add(job->out, strbuf_get(&line));
        strbuf_release(&line);
    }
}

static void html_put_notes(const struct export_job *job)
{
    char made_up[WAKE_VEILED_NOTE];
    const char *note;
    struct strbuf line;
    strbuf_init(&line);
    for (size_t i = 0; (note = export_note(job, i, made_up)) != NULL; i++) {
        strbuf_clear(&line);
        safe_add_text(&line, note);
        if (line.failed && job->out->error == 0)
            job->out->error = ENOMEM;
        out_text(job->out, "<p class=\"note\">");
        html_add(job->out, strbuf_get(&line));
        out_text(job->out, "</p>\n");
    }
    strbuf_release(&line);
}

static void html_put_body(struct out *o)
{
    out_text(o,
             "<section id=\"timeline\"><div class=\"bar\"><h2>Over time</h2>"
             "<span class=\"key h\"><i></i>heap</span><span class=\"key r\"><i></i>resident</span>"
             "<span class=\"readout push\" id=\"moment\"></span></div><div id=\"plot\"></div></section>\n");
    out_text(o, "<div class=\"bar sticky\"><span class=\"choice\" id=\"measures\"></span>"
                "<input id=\"search\" class=\"push\" type=\"search\" "
                "placeholder=\"Search functions, files, modules\" aria-label=\"Search\"></div>\n");
    out_text(o,
             "<section><div class=\"bar\"><h2 id=\"what\"></h2><span class=\"readout\" id=\"found\"></span>"
             "<button type=\"button\" id=\"out\" class=\"push\" hidden>Zoom out</button></div>"
             "<div class=\"flame\"><canvas id=\"flame\"></canvas></div>"
             "<div class=\"readout\" id=\"hint\"></div></section>\n");
    out_text(o, "<section><div class=\"bar\"><span class=\"choice\">"
                "<button type=\"button\" id=\"sites\">Sites</button>"
                "<button type=\"button\" id=\"functions\">Functions</button></span></div>"
                "<table id=\"table\"></table><button type=\"button\" id=\"more\" hidden></button>"
                "<div class=\"more\" id=\"left\"></div></section>\n");
}

int export_html(const struct export_job *job, struct err *err)
{
    struct out *o = job->out;
    size_t processes = 0;
    struct strbuf command;
    for (size_t i = 0; i < wake_reader_process_count(job->reader); i++)
        processes += export_has_process(job, i);
    strbuf_init(&command);
    if (!export_add_title(job, &command)) {
        strbuf_release(&command);
        return err_no_memory(err);
    }
    html_put_head(o, strbuf_get(&command));
    out_text(o, "<body>\n<main>\n<h1>");
    html_add(o, strbuf_get(&command));
    strbuf_release(&command);
    out_f(o, "</h1>\n<p class=\"sub\">%zu process%s", processes, processes == 1 ? "" : "es");
    struct caveats lacks;
    export_find_caveats(job, &lacks);
    html_put_limits(job, &lacks);
    out_text(o, "</p>\n");
    html_put_notes(job);
    html_put_cards(job, &lacks);
    out_text(o, "<noscript><p>The graphs and tables of this page need JavaScript, all of which is in the "
                "page itself.</p></noscript>\n");
    html_put_body(o);
    out_text(
        o, "<footer>Made by heapwake " HEAPWAKE_VERSION ". Sizes are what the program asked for. This page "
           "loads nothing from anywhere.</footer>\n</main>\n<script type=\"application/json\" id=\"data\">");
    int code = html_data_put(job, err);
    out_text(o, "</script>\n<script>");
    out_add(o, page_js, sizeof page_js - 1);
    out_text(o, "</script>\n</body>\n</html>\n");
    return code;
}
