/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memlog: see memlog.h.
 */
#include "present/memlog.h"

#include "present/frames.h"
#include "present/safe.h"
#include "present/section_moment_diff.h"

#include <string.h>

static void memlog_frame(struct strbuf *out, const struct frame *f)
{
    strbuf_add_char(out, '\t');
    if (f->function[0] != '\0') {
        safe_add_text(out, f->function);
        strbuf_add_text(out, "\t(");
        safe_add_text(out, f->module[0] == '\0' ? "?" : f->module);
        strbuf_add_char(out, ')');
    } else {
        safe_add_text(out, f->module);
        strbuf_addf(out, "%s0x%llx", f->module[0] == '\0' ? "" : "+", (unsigned long long)f->address);
    }
    strbuf_add_char(out, '\n');
}

void memlog_text(struct strbuf *out, const struct memlog *m)
{
    strbuf_addf(out, "Outanding bytes: %llu (%+lld)\n", (unsigned long long)m->live_bytes,
                (long long)m->drift->bytes);
    for (size_t i = 0; i < m->drift->list.count; i++) {
        const struct drift_site *s = &m->drift->list.data[i];
        if (s->bytes == 0)
            continue;
        strbuf_addf(out, "%+lld\n", (long long)s->bytes);
        for (uint32_t at = s->trace; at != 0; at = traces_parent(m->traces, at))
            memlog_frame(out, traces_frame(m->traces, at));
    }
}

void memlog_json(struct json *j, const struct memlog *m)
{
    json_open_object(j, NULL);
    json_add_text(j, "heapwake", HEAPWAKE_VERSION, strlen(HEAPWAKE_VERSION));
    json_add_text(j, "program", m->program, strlen(m->program));
    json_add_number(j, "pid", m->pid);
    json_add_number(j, "sequence", m->sequence);
    json_add_text(j, "name", m->name, strlen(m->name));
    json_add_number(j, "live_bytes", m->live_bytes);
    json_add_number(j, "live_blocks", m->live_blocks);
    section_moment_diff_json(j, &(struct section_moment_diff){.traces = m->traces, .drift = m->drift});
    json_close_object(j);
}
