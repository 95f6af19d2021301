/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * gprof2dot: the JSON that gprof2dot reads with -f json:
 *
 *     {"version": 0,
 *      "costs": [{"description": "Held at the peak", "unit": "bytes"}],
 *      "functions": [{"name": "main", "module": "app"}, ...],
 *      "events": [{"callchain": [2, 1, 0], "cost": [144000]}, ...]}
 *
 * Call chains begin with the innermost function.  A function that calls itself is
 * in a chain once in a row: gprof2dot would count the call each time.
 */
#include "export/export.h"

#include "tool/map.h"
#include "tool/vec.h"

struct gprof2dot {
    const struct export_job *job;
    struct map numbers;   /* symbol -> index in functions */
    VEC(uint32_t) frames; /* of each function, one */
};

/* Gives the functions of a site their numbers.  False: no memory. */
static bool gprof2dot_number(struct gprof2dot *g, const struct site *s)
{
    const struct traces *c = g->job->traces;
    for (uint32_t t = s->trace; t != 0; t = traces_parent(c, t)) {
        uint64_t symbol = traces_frame(c, t)->symbol;
        if (map_find(&g->numbers, symbol) != NULL)
            continue;
        if (!map_set(&g->numbers, symbol, g->frames.count) || !vec_push(&g->frames, c->traces.data[t].frame))
            return false;
    }
    return true;
}

static void gprof2dot_put_functions(struct gprof2dot *g)
{
    struct out *o = g->job->out;
    char name[512];
    for (size_t i = 0; i < g->frames.count; i++) {
        const struct frame *f = &g->job->traces->frames.data[g->frames.data[i]];
        out_text(o, "  {\"name\": ");
        export_add_string(o, export_frame_name(f, name, sizeof name));
        out_text(o, ", \"module\": ");
        export_add_string(o, frame_basename(f->module));
        out_text(o, "},\n");
    }
    out_text(o, "  {\"name\": \"[no stack]\"}\n");
}

static void gprof2dot_put_event(struct gprof2dot *g, const struct site *s, uint64_t weight)
{
    const struct traces *c = g->job->traces;
    struct out *o = g->job->out;
    uint64_t before = UINT64_MAX;
    out_text(o, "  {\"callchain\": [");
    for (uint32_t t = s->trace; t != 0; t = traces_parent(c, t)) {
        uint64_t number = *map_find(&g->numbers, traces_frame(c, t)->symbol);
        if (number != before)
            out_f(o, "%s%llu", before == UINT64_MAX ? "" : ", ", (unsigned long long)number);
        before = number;
    }
    if (s->trace == 0)
        out_f(o, "%zu", g->frames.count);
    out_f(o, "], \"cost\": [%llu]}", (unsigned long long)weight);
}

int export_gprof2dot(const struct export_job *job, struct err *err)
{
    struct gprof2dot g = {.job = job};
    const struct sites *sites = job->sites;
    struct out *o = job->out;
    bool ok = true, first = true;
    map_init(&g.numbers);
    sites_sort(job->sites, job->traces, job->measure);
    for (size_t i = 0; i < sites->list.count && ok; i++)
        ok = measure_weight(&sites->list.data[i].m, job->measure) == 0 ||
             gprof2dot_number(&g, &sites->list.data[i]);
    if (ok) {
        out_text(o, "{\"version\": 0,\n \"costs\": [{\"description\": \"");
        export_add_measure(job, job->measure, &o->buffer);
        out_f(o, "\", \"unit\": \"%s\"}],\n", measure_is_by_blocks(job->measure) ? "blocks" : "bytes");
        out_text(o, " \"functions\": [\n");
        gprof2dot_put_functions(&g);
        out_text(o, " ],\n \"events\": [\n");
        for (size_t i = 0; i < sites->list.count; i++) {
            uint64_t weight = measure_weight(&sites->list.data[i].m, job->measure);
            if (weight == 0)
                continue;
            out_text(o, first ? "" : ",\n");
            gprof2dot_put_event(&g, &sites->list.data[i], weight);
            first = false;
        }
        out_text(o, "\n ]}\n");
    }
    map_release(&g.numbers);
    vec_release(&g.frames);
    return ok ? 0 : err_no_memory(err);
}
