/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * folded: a line for each site: its frames from the outside in with semicolons
 * between, a space, and the bytes or blocks that it has of the measure.  A semicolon in a name
 * becomes a colon.
 */
#include "export/export.h"

#include "engine/measure.h"
#include "export/caption.h"
#include "tool/vec.h"

static void folded_name(struct out *o, const struct frame *f)
{
    size_t begin = o->buffer.length;
    caption_add(&o->buffer, f);
    for (size_t i = begin; i < o->buffer.length; i++)
        if (o->buffer.text[i] == ';')
            o->buffer.text[i] = ':';
    out_settle(o);
}

int export_folded(const struct export_job *job, struct err *err)
{
    VEC(uint32_t) path = {0};
    int code = 0;
    sites_sort(job->sites, job->traces, job->measure);
    for (size_t i = 0; i < job->sites->list.count && code == 0; i++) {
        const struct site *s = &job->sites->list.data[i];
        uint64_t weight = measure_weight(&s->m, job->measure);
        if (weight == 0)
            continue;
        path.count = 0;
        for (uint32_t t = s->trace; t != 0 && code == 0; t = traces_parent(job->traces, t)) {
            if (!vec_push(&path, t))
                code = err_no_memory(err);
        }
        if (path.count == 0)
            out_text(job->out, CAPTION_NO_STACK);
        for (size_t k = path.count; k-- > 0;) {
            folded_name(job->out, traces_frame(job->traces, path.data[k]));
            if (k != 0)
                out_text(job->out, ";");
        }
        out_f(job->out, " %llu\n", (unsigned long long)weight);
    }
    vec_release(&path);
    return code;
}
