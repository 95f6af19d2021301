/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * dot: the call graph of a measure for graphviz.
 *
 * The larger the share of a function, the larger and redder its box; the larger
 * the share of a call, the thicker its arrow and the straighter its way.  A legend
 * says what is drawn, of which run, how much it is in all, and what is left out.
 *
 * Texts are made safe twice: what a terminal must not see, and what dot would
 * take for an escape, an entity or the end of a string.
 */
#include "export/export.h"

#include <math.h>
#include <string.h>

#include "analysis/callgraph.h"
#include "present/safe.h"
#include "present/suppressed.h"
#include "present/units.h"
#include "present/width.h"

enum { DOT_NAME_COLUMNS = 60, DOT_NAME_MAX = 512 };

static const double dot_threshold = 0.01;
/* Arrows over what is left out are many and say little. */
static const double dot_least_dashed = 0.005;

/* Adds safe text inside a quoted string of dot. */
static void dot_add(struct out *o, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '&')
            out_text(o, "&amp;");
        else if (*text == '"' || *text == '\\')
            out_f(o, "\\%c", *text);
        else
            out_add(o, text, 1);
    }
}

typedef size_t dot_shorten(struct strbuf *out, const char *text, size_t columns, bool unicode);

/* Foreign text, in at most so many columns. */
static void dot_add_foreign(struct out *o, const char *text, dot_shorten *shorten, size_t columns)
{
    struct strbuf safe, shorter;
    strbuf_init(&safe);
    strbuf_init(&shorter);
    safe_add_text(&safe, text);
    shorten(&shorter, strbuf_get(&safe), columns, true);
    dot_add(o, strbuf_get(&shorter));
    if (safe.failed || shorter.failed)
        o->buffer.failed = true;
    strbuf_release(&safe);
    strbuf_release(&shorter);
}

static const char *dot_weight(char *text, enum measure measure, uint64_t weight)
{
    return measure_is_by_blocks(measure) ? units_count(text, weight) : units_bytes(text, weight);
}

static double dot_share(const struct callgraph *g, uint64_t weight)
{
    return g->total == 0 ? 0 : (double)weight / (double)g->total;
}

/* The qualified name of a function is enough to know it by. */
static void dot_add_name(struct out *o, const struct frame *f)
{
    char place[DOT_NAME_MAX], name[DOT_NAME_MAX];
    size_t length;
    const char *whole = export_frame_name(f, place, sizeof place);
    const char *short_name = frame_find_name(whole, &length);
    if (length == 0 || length >= sizeof name) {
        dot_add_foreign(o, whole, width_add_name, DOT_NAME_COLUMNS);
        return;
    }
    memcpy(name, short_name, length);
    name[length] = '\0';
    dot_add_foreign(o, name, width_add_name, DOT_NAME_COLUMNS);
}

static void dot_put_node(struct out *o, const struct callgraph *g, const struct traces *c, size_t i)
{
    const struct callgraph_node *n = &g->nodes.data[i];
    const struct frame *f = &c->frames.data[n->frame];
    char all[UNITS_MAX], self[UNITS_MAX];
    double share = dot_share(g, n->all), heat = sqrt(dot_share(g, n->self));
    out_f(o, "  N%zu [label=\"", i);
    dot_add_name(o, f);
    out_text(o, "\\n");
    if (f->file[0] != '\0' && !n->lines_differ) {
        dot_add_foreign(o, frame_basename(f->file), width_add, DOT_NAME_COLUMNS);
        out_f(o, ":%u\\n", f->line);
    } else if (f->function[0] != '\0') {
        dot_add_foreign(o, frame_basename(f->module), width_add, DOT_NAME_COLUMNS);
        out_text(o, "\\n");
    }
    out_f(o, "%s (%.1f %%)", dot_weight(all, g->measure, n->all), 100 * share);
    if (n->self != 0 && n->self != n->all)
        out_f(o, "\\nself %s (%.1f %%)", dot_weight(self, g->measure, n->self), 100 * dot_share(g, n->self));
    out_f(o, "\", fontsize=%.1f, fillcolor=\"#%02x%02x%02x\", color=\"#%02x%02x%02x\", tooltip=\"",
          8 + 16 * pow(share, 0.35), (unsigned)(250 - 8 * heat), (unsigned)(247 - 105 * heat),
          (unsigned)(242 - 132 * heat), (unsigned)(150 + 30 * heat), (unsigned)(145 - 90 * heat),
          (unsigned)(140 - 100 * heat));
    char place[DOT_NAME_MAX];
    dot_add_foreign(o, export_frame_name(f, place, sizeof place), width_add, 8 * DOT_NAME_COLUMNS);
    out_text(o, "\"];\n");
}

static void dot_put_edge(struct out *o, const struct callgraph *g, size_t i)
{
    const struct callgraph_edge *e = &g->edges.data[i];
    char weight[UNITS_MAX];
    double share = dot_share(g, e->weight);
    if (e->passes_over && share < dot_least_dashed)
        return;
    out_f(o, "  N%u -> N%u [label=\" %s\", weight=%u, penwidth=%.2f, fontsize=%.1f, arrowsize=%.2f%s];\n",
          e->from, e->to, dot_weight(weight, g->measure, e->weight), 1 + (unsigned)(100 * sqrt(share)),
          0.5 + 6 * sqrt(share), 8 + 6 * pow(share, 0.35), 0.5 + 0.5 * share,
          e->passes_over ? ", style=dashed" : "");
}

static void dot_put_legend(const struct export_job *job, const struct callgraph *g, struct err *err,
                           int *code)
{
    struct out *o = job->out;
    const struct query_range window = export_window(job);
    char text[UNITS_MAX], time[UNITS_MAX];
    struct strbuf command;
    strbuf_init(&command);
    if (!export_add_title(job, &command))
        *code = err_no_memory(err);
    out_text(o, "  legend [shape=note, fillcolor=\"#ffffff\", color=\"#888888\", fontsize=14, label=\"");
    struct strbuf shorter;
    strbuf_init(&shorter);
    width_add_begin(&shorter, strbuf_get(&command), 2 * DOT_NAME_COLUMNS, true);
    dot_add(o, strbuf_get(&shorter));
    strbuf_release(&shorter);
    strbuf_release(&command);
    out_f(o, "\\l%s: %s", measure_title(g->measure), dot_weight(text, g->measure, g->total));
    suppressed_note(&o->buffer, g->measure, job->suppress);
    if (g->measure == MEASURE_PEAK)
        out_f(o, " after %s", units_time(time, job->result->peak_time_ns - window.min));
    else if (g->measure == MEASURE_LIVE)
        out_f(o, " at %s", units_time(time, job->result->moment_ns));
    uint64_t rss = export_peak_rss(job);
    if (rss != 0)
        out_f(o, "\\lresident at most: %s", units_bytes(text, rss));
    out_f(o, "\\lran: %s", units_time(time, window.max - window.min));
    if (g->left_out != 0)
        out_f(o, "\\lleft out: %zu functions below %.0f %%", g->left_out, 100 * g->threshold);
    out_text(o, "\\l\"];\n");
}

int export_dot(const struct export_job *job, struct err *err)
{
    struct callgraph g;
    struct out *o = job->out;
    callgraph_init(&g, job->measure, dot_threshold);
    int code = callgraph_build(&g, job->traces, job->sites, err);
    if (code == 0) {
        out_text(
            o, "digraph heapwake {\n"
               "  graph [rankdir=TB, nodesep=0.25, ranksep=0.4, fontname=\"Helvetica\"];\n"
               "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", margin=\"0.15,0.08\"];\n"
               "  edge [fontname=\"Helvetica\", color=\"#6b5f58\", fontcolor=\"#6b5f58\"];\n");
        dot_put_legend(job, &g, err, &code);
        for (size_t i = 0; i < g.nodes.count; i++)
            dot_put_node(o, &g, job->traces, i);
        for (size_t i = 0; i < g.edges.count; i++)
            dot_put_edge(o, &g, i);
        out_text(o, "}\n");
    }
    callgraph_release(&g);
    return code;
}
