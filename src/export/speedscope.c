/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * speedscope: the JSON of speedscope.app: the frames once, then a profile for
 * each measure whose samples are the sites, outermost frame first, and whose
 * weights are their bytes or blocks.
 *
 * The viewer first shows samples in the order of the file, and draws what neighbours
 * share as one.  So they stand as in a flame graph: what has one caller together, the
 * heavier callee first.
 */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#include "engine/measure.h"
#include "export/caption.h"
#include "present/json.h"
#include "tool/memory.h"
#include "tool/vec.h"

struct speedscope_order {
    const struct traces *traces;
    uint64_t *weights; /* by trace: of it and all that it called */
};

static int speedscope_compare(const void *a, const void *b, void *context)
{
    const struct speedscope_order *o = context;
    const struct trace *t = o->traces->traces.data;
    uint32_t x = ((const struct site *)a)->trace, y = ((const struct site *)b)->trace;
    int deeper = (t[x].depth > t[y].depth) - (t[x].depth < t[y].depth);
    while (t[x].depth > t[y].depth)
        x = t[x].parent;
    while (t[y].depth > t[x].depth)
        y = t[y].parent;
    if (x == y)
        return deeper;
    while (t[x].parent != t[y].parent) {
        x = t[x].parent;
        y = t[y].parent;
    }
    if (o->weights[x] != o->weights[y])
        return o->weights[x] > o->weights[y] ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Puts the sites in the order of a flame graph of the measure. */
static int speedscope_sort(const struct export_job *job, enum measure measure, struct err *err)
{
    const struct trace *t = job->traces->traces.data;
    size_t count = job->traces->traces.count, sites = job->sites->list.count;
    struct speedscope_order o = {job->traces, memory_new_zeroed(count, sizeof *o.weights)};
    if (o.weights == NULL)
        return err_no_memory(err);
    for (size_t i = 0; i < sites; i++)
        o.weights[job->sites->list.data[i].trace] += measure_weight(&job->sites->list.data[i].m, measure);
    for (size_t i = count; i-- > 1;) /* a caller comes before what it called */
        o.weights[t[i].parent] += o.weights[i];
    if (sites > 1)
        qsort_r(job->sites->list.data, sites, sizeof *job->sites->list.data, speedscope_compare, &o);
    free(o.weights);
    return 0;
}

/* Sites without a stack have one frame, behind the others. */
static void speedscope_write_frames(const struct export_job *job, struct json *j, struct strbuf *text)
{
    const struct traces *c = job->traces;
    json_open_object(j, "shared");
    json_open_array(j, "frames");
    for (size_t i = 0; i <= c->frames.count; i++) {
        const struct frame *f = i < c->frames.count ? &c->frames.data[i] : NULL;
        strbuf_clear(text);
        json_open_object(j, NULL);
        if (f != NULL)
            caption_add(text, f);
        else
            strbuf_add_text(text, CAPTION_NO_STACK);
        json_add_text(j, "name", strbuf_get(text), text->length);
        if (f != NULL && f->file[0] != '\0')
            json_add_text(j, "file", f->file, strlen(f->file));
        else if (f != NULL && f->module[0] != '\0')
            json_add_text(j, "file", f->module, strlen(f->module));
        if (f != NULL && f->line != 0)
            json_add_number(j, "line", f->line);
        json_close_object(j);
        out_settle(job->out);
    }
    json_close_array(j);
    json_close_object(j);
}

static uint64_t speedscope_weight(const struct site *s, enum measure measure)
{
    return measure_weight(&s->m, measure);
}

static int speedscope_write_samples(const struct export_job *job, struct json *j, enum measure measure,
                                    struct strbuf *text, struct err *err)
{
    VEC(uint32_t) path = {0};
    int code = 0;
    json_open_array(j, "samples");
    for (size_t i = 0; i < job->sites->list.count && code == 0 && job->out->error == 0; i++) {
        const struct site *s = &job->sites->list.data[i];
        if (speedscope_weight(s, measure) == 0)
            continue;
        path.count = 0;
        for (uint32_t t = s->trace; t != 0 && code == 0; t = traces_parent(job->traces, t))
            if (!vec_push(&path, job->traces->traces.data[t].frame))
                code = err_no_memory(err);
        strbuf_clear(text);
        if (path.count == 0)
            strbuf_addf(text, "[%zu", job->traces->frames.count);
        for (size_t k = path.count; k-- > 0;)
            strbuf_addf(text, "%c%u", k + 1 == path.count ? '[' : ',', path.data[k]);
        strbuf_add_char(text, ']');
        json_add_written(j, NULL, text);
        out_settle(job->out);
    }
    json_close_array(j);
    vec_release(&path);
    return code;
}

static int speedscope_write_profile(const struct export_job *job, struct json *j, enum measure measure,
                                    struct strbuf *text, struct err *err)
{
    bool by_blocks = measure_is_by_blocks(measure);
    int code = speedscope_sort(job, measure, err);
    if (code != 0)
        return code;
    json_open_object(j, NULL);
    json_add_text(j, "type", "sampled", 7);
    strbuf_clear(text);
    export_add_measure(job, measure, text);
    json_add_text(j, "name", strbuf_get(text), text->length);
    json_add_text(j, "unit", by_blocks ? "none" : "bytes", by_blocks ? 4 : 5);
    json_add_number(j, "startValue", 0);
    json_add_number(j, "endValue", measure_weight(&job->sites->total, measure));
    code = speedscope_write_samples(job, j, measure, text, err);
    json_open_array(j, "weights");
    for (size_t i = 0; i < job->sites->list.count; i++) {
        uint64_t weight = speedscope_weight(&job->sites->list.data[i], measure);
        if (weight != 0)
            json_add_number(j, NULL, weight);
        out_settle(job->out);
    }
    json_close_array(j);
    json_close_object(j);
    return code;
}

int export_speedscope(const struct export_job *job, struct err *err)
{
    static const char schema[] = "https://www.speedscope.app/file-format-schema.json";
    static const enum measure measures[] = {MEASURE_PEAK, MEASURE_LEAKED, MEASURE_ALLOCATED, MEASURE_CALLS,
                                            MEASURE_TEMPORARY};
    struct json j;
    struct strbuf text;
    int code = 0;
    json_init(&j, &job->out->buffer);
    strbuf_init(&text);
    json_open_object(&j, NULL);
    json_add_text(&j, "$schema", schema, sizeof schema - 1);
    json_add_text(&j, "exporter", "heapwake " HEAPWAKE_VERSION, strlen("heapwake " HEAPWAKE_VERSION));
    caption_add_command(&text, job->veil, wake_reader_process(job->reader, job->result->peak_process));
    json_add_text(&j, "name", strbuf_get(&text), text.length);
    json_add_number(&j, "activeProfileIndex", 0);
    speedscope_write_frames(job, &j, &text);
    json_open_array(&j, "profiles");
    for (size_t i = 0; i < sizeof measures / sizeof *measures && code == 0; i++) {
        /* The viewer shows the first; it may be empty, others need not be there. */
        if (i == 0 || measure_weight(&job->sites->total, measures[i]) != 0)
            code = speedscope_write_profile(job, &j, measures[i], &text, err);
    }
    json_close_array(&j);
    json_close_object(&j);
    out_settle(job->out);
    strbuf_release(&text);
    return code;
}
