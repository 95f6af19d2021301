/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * folded: a line for each site: its frames from the outside in with semicolons
 * between, a space, and what it has of the measure (bytes, or blocks of calls and
 * temporary).  What would break a line (semicolons, ends of lines) is replaced.
 */
#include "export/export.h"

#include <stdio.h>

#include "query/measure.h"
#include "tool/vec.h"

static void folded_name(struct out *o, const struct frame *f)
{
    char address[32];
    const char *name = f->function;
    if (name[0] == '\0') {
        const char *module = frame_basename(f->module);
        out_text(o, module[0] == '\0' ? "[unknown]" : module);
        snprintf(address, sizeof address, "+0x%llx", (unsigned long long)f->address);
        name = address;
    }
    for (; *name != '\0'; name++) {
        char c = *name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name;
        out_add(o, &c, 1);
    }
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
                code = err_set(err, ERR_MEMORY, "There is no memory for the stacks.");
        }
        if (path.count == 0)
            out_text(job->out, "[no stack]");
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
