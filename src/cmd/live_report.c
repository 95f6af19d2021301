/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * live_report: see live_report.h.
 */
#include "cmd/live_report.h"

#include "analysis/moment_diff.h"
#include "present/memlog.h"
#include "symbol/symbolizer.h"
#include "tool/file.h"
#include "wire/record.h"

#include <errno.h>
#include <string.h>

void live_report_release(struct live_report *l)
{
    symbolizer_free(l->symbolizer);
    l->symbolizer = NULL;
}

/* One view of the report: told apart by lines, or by the names of functions alone. */
struct live_report_view {
    struct traces traces;
    struct drift drift;
    bool by_name;
};

/* The frames at an address, below trace.  0: no memory. */
static uint32_t live_report_frame(struct live_report *l, const struct collector_report *r,
                                  struct live_report_view *v, uint32_t trace, const struct wake_frame *frame)
{
    const struct wake_module_info *m = definitions_module(r->book, frame->module);
    const struct binary_frame *found = NULL;
    struct binary *binary;
    struct frame f = {.function = "",
                      .linkage = "",
                      .file = "",
                      .module = "",
                      .address = frame->address & ~RECORD_FRAME_EXACT};
    size_t count = 0;
    if (m != NULL) {
        f.address -= m->bias;
        f.module = m->path[0] == '\0' ? r->exe : m->path;
        if (symbolizer_open(l->symbolizer, &binary, f.module, m->build_id, m->build_id_length, NULL) == 0)
            count = binary_resolve(binary, f.address, (frame->address & RECORD_FRAME_EXACT) != 0, &found);
    }
    if (count == 0)
        return traces_add(&v->traces, trace, &f);
    for (size_t i = count; i-- > 0;) {
        f.function = found[i].function;
        f.linkage = found[i].linkage;
        f.file = v->by_name ? "" : found[i].file;
        f.line = v->by_name ? 0 : found[i].line;
        f.address = v->by_name ? 0 : f.address;
        f.inlined = found[i].inlined && !v->by_name;
        trace = traces_add(&v->traces, trace, &f);
        if (trace == 0)
            return 0;
    }
    return trace;
}

static int live_report_gather(struct live_report *l, const struct collector_report *r,
                              struct live_report_view *v, struct err *err)
{
    const struct stackbook *stacks = &r->book->stacks;
    for (size_t i = 0; i < r->changes->list.count; i++) {
        const struct change *change = &r->changes->list.data[i];
        uint32_t trace = 0;
        const struct stackbook_stack *s = change->stack == 0 || change->stack > stacks->stacks.count
                                              ? NULL
                                              : &stacks->stacks.data[change->stack - 1];
        for (uint32_t k = s == NULL ? 0 : s->count; k-- > 0;) {
            trace = live_report_frame(l, r, v, trace, &stacks->frames.data[s->frames[k]]);
            if (trace == 0)
                return err_no_memory(err);
        }
        int code = drift_add(&v->drift, &v->traces, trace, change->bytes, change->blocks, err);
        if (code != 0)
            return code;
    }
    drift_sort(&v->drift);
    return 0;
}

static int live_report_save(const char *path, const struct strbuf *text, struct err *err)
{
    struct file_new file;
    int code = file_new_open_readable(&file, path, err);
    if (code == 0) {
        int error = text->failed ? -ENOMEM : file_write_all(file.fd, text->text, text->length, NULL);
        if (error != 0)
            code = err_set(err, file_code(-error), "The report '%s' cannot be written: %s.", path,
                           strerror(-error));
        else
            code = file_new_publish(&file, err);
    }
    int closed = file_new_close(&file, code == 0 ? err : NULL);
    return code != 0 ? code : closed;
}

/* The folder of the recording, then PROGRAM-PID-SEQUENCE. */
static void live_report_name(struct strbuf *path, const struct collector_report *r)
{
    const char *slash = strrchr(r->recording, '/');
    strbuf_add(path, r->recording, slash == NULL ? 0 : (size_t)(slash - r->recording) + 1);
    const char *base = strrchr(r->exe, '/');
    base = base == NULL ? r->exe : base + 1;
    for (const char *c = base; *c != '\0'; c++)
        strbuf_add_char(path, (unsigned char)*c < ' ' || *c == 0x7f ? '_' : *c);
    strbuf_addf(path, "-%u-%u", r->pid, r->sequence);
}

/* Gathers one view of the report and writes it.  The text has no lines, so it merges what differs in them alone. */
static int live_report_write_view(struct live_report *l, const struct collector_report *r, bool is_json,
                                  struct strbuf *where, struct err *err)
{
    struct live_report_view v = {.by_name = !is_json};
    struct strbuf text;
    struct json json;
    strbuf_init(&text);
    traces_init(&v.traces);
    drift_init(&v.drift, r->depth);
    int code = live_report_gather(l, r, &v, err);
    struct memlog m = {.traces = &v.traces,
                       .drift = &v.drift,
                       .program = r->exe,
                       .name = r->name,
                       .pid = r->pid,
                       .sequence = r->sequence,
                       .live_bytes = r->changes->live_bytes,
                       .live_blocks = r->changes->live_blocks};
    if (code == 0) {
        json_init(&json, &text);
        if (is_json)
            memlog_json(&json, &m);
        else
            memlog_text(&text, &m);
        strbuf_clear(where);
        if (r->path != NULL) {
            strbuf_add_text(where, r->path);
        } else {
            live_report_name(where, r);
            strbuf_add_text(where, is_json ? ".json" : ".memlog");
        }
        code = live_report_save(strbuf_get(where), &text, err);
    }
    drift_release(&v.drift);
    traces_release(&v.traces);
    strbuf_release(&text);
    return code;
}

int live_report_write(void *of, const struct collector_report *r, struct strbuf *where, struct err *err)
{
    struct live_report *l = of;
    size_t length = r->path == NULL ? 0 : strlen(r->path);
    bool is_json = length > 5 && strcmp(r->path + length - 5, ".json") == 0;
    int code = 0;
    if (l->symbolizer == NULL)
        l->symbolizer = symbolizer_new(&(struct symbolizer_options){0});
    if (l->symbolizer == NULL)
        return err_no_memory(err);
    if (r->path == NULL || is_json)
        code = live_report_write_view(l, r, true, where, err);
    if (code == 0 && !is_json)
        code = live_report_write_view(l, r, false, where, err);
    return code;
}
