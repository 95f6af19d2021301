/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * subject: see subject.h.
 */
#include "export/subject.h"

#include "engine/measure.h"

void subject_init(struct subject *s, const struct export_job *job)
{
    const struct query_result *r = job->result;
    bool has_others = false;
    *s = (struct subject){.index = r->peak_process,
                          .process = wake_reader_process(job->reader, r->peak_process)};
    for (size_t i = 0; i < r->rows.count; i++) {
        if (r->rows.data[i].process == s->index)
            measure_add(&s->total, &r->rows.data[i].m);
        else
            has_others = true;
    }
    const struct wake_process *p = s->process;
    s->from_ns = r->from_ns > p->info.start_ns ? r->from_ns : p->info.start_ns;
    s->to_ns = r->to_ns < p->end.end_ns ? r->to_ns : p->end.end_ns;
    if (s->to_ns < s->from_ns)
        s->to_ns = s->from_ns;
    if (has_others)
        strbuf_addf(job->remarks,
                    "This is process %u, which had the highest peak; --pid chooses another. The format "
                    "holds one process.",
                    p->info.pid);
}
