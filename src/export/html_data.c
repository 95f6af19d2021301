/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * html_data: see html_data.h.
 *
 * A page is read by people and sent by mail: it holds what they can look at, not
 * everything.  Totals are those of the whole answer nevertheless, and how much is
 * left out is said.  Functions that call themselves are one node.
 */
#include "export/html_data.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/rollup.h"
#include "present/frames.h"
#include "present/json.h"
#include "tool/memory.h"

enum {
    HTML_SITES = 600,     /* of each measure */
    HTML_FUNCTIONS = 400, /* of each measure */
    HTML_NODES = 100000,  /* of the tree of stacks */
    HTML_MEASURES_MAX = MEASURE_COUNT,
};

struct html_node {
    uint32_t parent, frame; /* frame: index in the page's list */
};

struct html_data {
    const struct export_job *job;
    enum measure measures[HTML_MEASURES_MAX];
    size_t measure_count;
    struct strbuf scratch;
    bool *chosen;    /* by trace: its site is in the page */
    uint32_t *nodes; /* by trace: its node; 0 = none */
    VEC(struct html_node) tree;
    VEC(uint32_t) path;
    struct map frame_slots; /* frame -> index in frames */
    VEC(uint32_t) frames;
    struct rollup functions;
    bool *chosen_functions; /* by symbol */
    size_t sites_left_out, functions_left_out;
    bool failed; /* no memory */
};

/* --------------------------------------------------------------------- output */

static void html_data_string(struct html_data *d, const char *text)
{
    struct json j;
    strbuf_clear(&d->scratch);
    json_init(&j, &d->scratch);
    json_add_text(&j, NULL, text, strlen(text));
    d->failed = d->failed || d->scratch.failed;
    for (const char *at = strbuf_get(&d->scratch); *at != '\0'; at++) {
        if (strchr("<>&", *at) != NULL)
            out_f(d->job->out, "\\u%04x", (unsigned)*at);
        else
            out_add(d->job->out, at, 1);
    }
}

static void html_data_pair(struct out *o, size_t i, uint64_t a, uint64_t b)
{
    out_f(o, "%s[%llu,%llu]", i == 0 ? "" : ",", (unsigned long long)a, (unsigned long long)b);
}

/* ------------------------------------------------------------------- choosing */

static void html_data_choose_measures(struct html_data *d)
{
    static const enum measure order[] = {MEASURE_PEAK,      MEASURE_LEAKED, MEASURE_LIVE,
                                         MEASURE_ALLOCATED, MEASURE_CALLS,  MEASURE_TEMPORARY};
    const struct query *q = d->job->query;
    /* At the end of the run what is live is what is leaked. */
    bool is_at_end = q->moment.when == WHEN_UNSET && q->to.when == WHEN_UNSET;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (order[i] != MEASURE_LIVE || !is_at_end)
            d->measures[d->measure_count++] = order[i];
    }
}

static void html_data_choose_sites(struct html_data *d)
{
    struct sites *sites = d->job->sites;
    for (size_t m = d->measure_count; m-- > 0;) { /* the first measure last: the list is then in its order */
        sites_sort(sites, d->job->traces, d->measures[m]);
        for (size_t i = 0; i < sites->list.count && i < HTML_SITES; i++) {
            if (measure_weight(&sites->list.data[i].m, d->measures[m]) != 0)
                d->chosen[sites->list.data[i].trace] = true;
        }
    }
}

static uint32_t html_data_symbol(const struct html_data *d, const struct rollup_group *g)
{
    return g->frame == 0 ? 0 : d->job->traces->frames.data[g->frame - 1].symbol;
}

static void html_data_choose_functions(struct html_data *d, struct err *err)
{
    const struct query_result *r = d->job->result;
    if (rollup_add(&d->functions, d->job->traces, r->rows.data, r->rows.count, err) != 0) {
        d->failed = true;
        return;
    }
    for (size_t m = d->measure_count; m-- > 0;) {
        rollup_sort(&d->functions, d->job->traces, d->measures[m]);
        for (size_t i = 0; i < d->functions.list.count && i < HTML_FUNCTIONS; i++)
            d->chosen_functions[html_data_symbol(d, &d->functions.list.data[i])] = true;
    }
}

/* -------------------------------------------------------------- frames, nodes */

static uint32_t html_data_frame(struct html_data *d, uint32_t frame)
{
    const uint64_t *known = map_find(&d->frame_slots, frame);
    if (known != NULL)
        return (uint32_t)*known;
    if (!map_set(&d->frame_slots, frame, d->frames.count) || !vec_push(&d->frames, frame)) {
        d->failed = true;
        return 0;
    }
    return (uint32_t)(d->frames.count - 1);
}

/* Gives a trace and its callers nodes.  False: the page has enough of them, or no memory. */
static bool html_data_add_trace(struct html_data *d, uint32_t trace)
{
    const struct traces *c = d->job->traces;
    uint32_t at = trace;
    d->path.count = 0;
    for (; at != 0 && d->nodes[at] == 0; at = traces_parent(c, at)) {
        if (d->path.count + d->tree.count >= HTML_NODES || !vec_push(&d->path, at))
            return false;
    }
    for (size_t i = d->path.count; i-- > 0;) {
        uint32_t parent = traces_parent(c, d->path.data[i]), own = d->path.data[i];
        if (parent != 0 && traces_frame(c, parent)->symbol == traces_frame(c, own)->symbol) {
            d->nodes[own] = d->nodes[parent];
            continue;
        }
        struct html_node node = {parent == 0 ? 0 : d->nodes[parent],
                                 html_data_frame(d, c->traces.data[own].frame)};
        if (d->failed || !vec_push(&d->tree, node))
            return false;
        d->nodes[own] = (uint32_t)(d->tree.count - 1);
    }
    return true;
}

static void html_data_add_traces(struct html_data *d)
{
    const struct sites *sites = d->job->sites;
    d->failed = d->failed || !vec_push(&d->tree, (struct html_node){0});
    for (size_t i = 0; i < sites->list.count && !d->failed; i++) {
        uint32_t trace = sites->list.data[i].trace;
        if (d->chosen[trace] && !html_data_add_trace(d, trace))
            d->chosen[trace] = false;
        d->sites_left_out += !d->chosen[trace];
    }
}

/* ---------------------------------------------------------------------- parts */

static void html_data_put_measures(struct html_data *d)
{
    struct out *o = d->job->out;
    out_text(o, "\"measures\":[");
    for (size_t i = 0; i < d->measure_count; i++) {
        enum measure m = d->measures[i];
        out_f(o, "%s{\"key\":\"%s\",\"title\":", i == 0 ? "" : ",", measure_name(m));
        html_data_string(d, measure_title(m));
        out_f(o, ",\"unit\":\"%s\",\"total\":", measure_is_by_blocks(m) ? "blocks" : "bytes");
        html_data_pair(o, 0, measure_bytes(&d->job->result->total, m),
                       measure_blocks(&d->job->result->total, m));
        out_text(o, "}");
    }
    out_text(o, "],\n");
}

static void html_data_put_timeline(struct html_data *d)
{
    struct out *o = d->job->out;
    const struct query_result *r = d->job->result;
    out_text(o, "\"timeline\":[");
    for (size_t i = 0; i < r->timeline.count; i++) {
        const struct query_tick *t = &r->timeline.data[i];
        out_f(o, "%s[%llu,%llu,%llu,%llu]", i == 0 ? "" : ",", (unsigned long long)t->from_ns,
              (unsigned long long)t->live_bytes, (unsigned long long)t->rss_bytes,
              (unsigned long long)t->allocations);
    }
    out_text(o, "],\n");
}

static void html_data_put_frames(struct html_data *d)
{
    struct out *o = d->job->out;
    struct strbuf brief;
    char name[512];
    strbuf_init(&brief);
    out_text(o, "\"frames\":[");
    for (size_t i = 0; i < d->frames.count; i++) {
        const struct frame *f = &d->job->traces->frames.data[d->frames.data[i]];
        out_text(o, i == 0 ? "[" : ",\n[");
        html_data_string(d, export_frame_name(f, name, sizeof name));
        out_text(o, ",");
        html_data_string(d, f->file);
        out_f(o, ",%u,", f->line);
        html_data_string(d, f->module);
        out_f(o, ",%d,", f->role == FRAME_OWN);
        strbuf_clear(&brief);
        frames_add_name(&brief, f);
        d->failed = d->failed || brief.failed;
        html_data_string(d, strbuf_get(&brief));
        out_text(o, "]");
    }
    strbuf_release(&brief);
    out_text(o, "],\n\"nodes\":[");
    for (size_t i = 0; i < d->tree.count; i++)
        html_data_pair(o, i, d->tree.data[i].parent, d->tree.data[i].frame);
    out_text(o, "],\n");
}

static void html_data_put_sites(struct html_data *d)
{
    struct out *o = d->job->out;
    bool first = true;
    out_text(o, "\"sites\":[");
    for (size_t i = 0; i < d->job->sites->list.count; i++) {
        const struct site *s = &d->job->sites->list.data[i];
        if (!d->chosen[s->trace])
            continue;
        out_f(o, "%s[%u,[", first ? "" : ",\n", d->nodes[s->trace]);
        for (size_t m = 0; m < d->measure_count; m++)
            html_data_pair(o, m, measure_bytes(&s->m, d->measures[m]), measure_blocks(&s->m, d->measures[m]));
        out_text(o, "]]");
        first = false;
    }
    out_f(o, "],\n\"sites_left_out\":%zu,\n", d->sites_left_out);
}

static void html_data_put_functions(struct html_data *d)
{
    struct out *o = d->job->out;
    bool first = true;
    out_text(o, "\"functions\":[");
    for (size_t i = 0; i < d->functions.list.count; i++) {
        const struct rollup_group *g = &d->functions.list.data[i];
        if (g->frame == 0 || !d->chosen_functions[html_data_symbol(d, g)])
            continue;
        out_f(o, "%s[%u,[", first ? "" : ",\n", html_data_frame(d, g->frame - 1));
        for (size_t m = 0; m < d->measure_count; m++)
            html_data_pair(o, m, measure_weight(&g->self, d->measures[m]),
                           measure_weight(&g->inclusive, d->measures[m]));
        out_text(o, "]]");
        first = false;
    }
    out_f(o, "],\n\"functions_left_out\":%zu,\n", d->functions_left_out);
}

/* Frames of functions that are in no stack of the page must be in its list too. */
static void html_data_add_functions(struct html_data *d)
{
    for (size_t i = 0; i < d->functions.list.count && !d->failed; i++) {
        const struct rollup_group *g = &d->functions.list.data[i];
        if (g->frame != 0 && d->chosen_functions[html_data_symbol(d, g)])
            html_data_frame(d, g->frame - 1);
        else
            d->functions_left_out++;
    }
}

static void html_data_put_all(struct html_data *d)
{
    const struct query_range window = export_window(d->job);
    out_text(d->job->out, "{");
    html_data_put_measures(d);
    html_data_put_timeline(d);
    html_data_put_frames(d);
    html_data_put_sites(d);
    html_data_put_functions(d);
    out_f(d->job->out, "\"end\":%llu,\"peak\":%llu}", (unsigned long long)window.max,
          (unsigned long long)d->job->result->peak_time_ns);
}

int html_data_put(const struct export_job *job, struct err *err)
{
    struct html_data d = {.job = job};
    size_t traces = job->traces->traces.count + 1;
    strbuf_init(&d.scratch);
    map_init(&d.frame_slots);
    rollup_init(&d.functions, ROLLUP_FUNCTION);
    d.chosen = memory_new_zeroed(traces, sizeof *d.chosen);
    d.nodes = memory_new_zeroed(traces, sizeof *d.nodes);
    d.chosen_functions = memory_new_zeroed((size_t)job->traces->symbols + 1, sizeof *d.chosen_functions);
    d.failed = d.chosen == NULL || d.nodes == NULL || d.chosen_functions == NULL;
    if (!d.failed) {
        html_data_choose_measures(&d);
        html_data_choose_sites(&d);
        html_data_choose_functions(&d, err);
        html_data_add_traces(&d);
        html_data_add_functions(&d);
    }
    if (!d.failed)
        html_data_put_all(&d);
    free(d.chosen);
    free(d.nodes);
    free(d.chosen_functions);
    rollup_release(&d.functions);
    map_release(&d.frame_slots);
    vec_release(&d.tree);
    vec_release(&d.path);
    vec_release(&d.frames);
    strbuf_release(&d.scratch);
    return d.failed ? err_no_memory(err) : 0;
}
