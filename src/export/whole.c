/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * whole: all that a recording holds as one JSON object; docs/json.md is its law.
 *
 *     frames, traces    once for all processes
 *     processes         each with its threads, modules, stacks, samples, marks,
 *                       mappings, and then its blocks, a list of numbers each
 *
 * Blocks are written when they are freed, and at the end those that are left:
 * nothing is kept but what is live.
 */
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "engine/follow.h"
#include "present/json.h"
#include "present/labels.h"
#include "store/reader.h"
#include "wire/record.h"

struct whole {
    const struct export_job *job;
    struct err *err;
    struct json json;
    struct strbuf row;
    bool has_process; /* one is open */
};

/* Room for a row of numbers and labels. */
enum { WHOLE_ROW = 20 * (DIGITS_MAX + 1) };

static void whole_text(struct whole *w, const char *key, const char *text)
{
    json_add_text(&w->json, key, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

static void whole_address(struct whole *w, const char *key, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    whole_text(w, key, text);
}

/* A list of numbers on a line of its own: `[` and the first. */
static void whole_open_row(struct whole *w, uint64_t first)
{
    strbuf_clear(&w->row);
    strbuf_addf(&w->row, "[%llu", (unsigned long long)first);
}

static void whole_number(struct whole *w, uint64_t number)
{
    strbuf_addf(&w->row, ",%llu", (unsigned long long)number);
}

static void whole_close_row(struct whole *w)
{
    strbuf_add_char(&w->row, ']');
    json_add_written(&w->json, NULL, &w->row);
    out_settle(w->job->out);
}

/* --------------------------------------------------------------------- stacks */

/* Every stack of the chosen processes, so that the traces are complete. */
static int whole_find_traces(struct whole *w, uint32_t process)
{
    const struct wake_process *p = wake_reader_process(w->job->reader, process);
    int code = 0;
    for (uint32_t i = 0; i < p->stacks.count && code == 0; i++) {
        uint32_t trace;
        code = traces_find(w->job->traces, process, i, &trace, w->err);
    }
    return code;
}

static void whole_write_frame(struct whole *w, const struct frame *f)
{
    json_open_object(&w->json, NULL);
    whole_text(w, "function", f->function);
    whole_text(w, "linkage", f->linkage);
    whole_text(w, "file", f->file);
    json_add_number(&w->json, "line", f->line);
    whole_text(w, "module", f->module);
    whole_address(w, "address", f->address);
    json_add_bool(&w->json, "inlined", f->inlined);
    json_close_object(&w->json);
    out_settle(w->job->out);
}

static int whole_write_traces(struct whole *w)
{
    const struct traces *c = w->job->traces;
    int code = 0;
    for (uint32_t i = 0; i < wake_reader_process_count(w->job->reader) && code == 0; i++)
        code = whole_find_traces(w, i);
    json_open_array(&w->json, "frames");
    for (size_t i = 0; i < c->frames.count; i++)
        whole_write_frame(w, &c->frames.data[i]);
    json_close_array(&w->json);
    json_open_array(&w->json, "traces");
    json_add_null(&w->json, NULL);
    for (size_t i = 1; i < c->traces.count; i++) {
        whole_open_row(w, c->traces.data[i].parent);
        whole_number(w, c->traces.data[i].frame);
        whole_close_row(w);
    }
    json_close_array(&w->json);
    return code;
}

/* A name that comes from the reader. */
static void whole_name(struct whole *w, const char *key, enum anonymize_what what, const char *text)
{
    const char *shown = anonymize_text(w->job->veil, what, text == NULL ? "" : text);
    whole_text(w, key, shown == NULL ? "" : shown);
}

/* ------------------------------------------------------------------ a process */

static void whole_write_threads(struct whole *w, const struct wake_process *p)
{
    json_open_array(&w->json, "threads");
    for (size_t i = 0; i < p->threads.count; i++) {
        const struct wake_thread *t = &p->threads.data[i];
        json_open_object(&w->json, NULL);
        json_add_number(&w->json, "thread", t->number);
        json_add_number(&w->json, "tid", t->tid);
        whole_name(w, "name", ANONYMIZE_THREAD, t->name);
        json_add_number(&w->json, "start_ns", t->start_ns);
        json_close_object(&w->json);
        out_settle(w->job->out);
    }
    json_close_array(&w->json);
}

static void whole_write_modules(struct whole *w, const struct wake_process *p)
{
    json_open_array(&w->json, "modules");
    for (size_t i = 0; i < p->modules.count; i++) {
        const struct wake_module *m = &p->modules.data[i];
        json_open_object(&w->json, NULL);
        whole_name(w, "path", ANONYMIZE_MODULE, wake_process_module_path(p, m));
        strbuf_clear(&w->row);
        for (size_t k = 0; k < m->build_id_length && w->job->veil->level != ANONYMIZE_FULL; k++)
            strbuf_addf(&w->row, "%02x", m->build_id[k]);
        whole_text(w, "build_id", strbuf_get(&w->row));
        whole_address(w, "start", m->start);
        whole_address(w, "end", m->end);
        whole_address(w, "bias", m->bias);
        json_close_object(&w->json);
        out_settle(w->job->out);
    }
    json_close_array(&w->json);
}

static int whole_write_stacks(struct whole *w, uint32_t process, const struct wake_process *p)
{
    int code = 0;
    json_open_array(&w->json, "stacks");
    for (uint32_t i = 0; i < p->stacks.count && code == 0; i++) {
        uint32_t trace;
        code = traces_find(w->job->traces, process, i, &trace, w->err);
        json_add_number(&w->json, NULL, trace);
        out_settle(w->job->out);
    }
    json_close_array(&w->json);
    return code;
}

static void whole_write_samples(struct whole *w, const struct wake_process *p)
{
    json_open_array(&w->json, "samples");
    for (size_t i = 0; i < p->samples.count; i++) {
        whole_open_row(w, p->samples.data[i].time_ns);
        whole_number(w, p->samples.data[i].rss_bytes);
        whole_close_row(w);
    }
    json_close_array(&w->json);
    json_open_array(&w->json, "marks");
    for (size_t i = 0; i < p->marks.count; i++) {
        json_open_object(&w->json, NULL);
        json_add_number(&w->json, "time_ns", p->marks.data[i].time_ns);
        json_add_number(&w->json, "thread", p->marks.data[i].thread);
        whole_name(w, "name", ANONYMIZE_MARK, p->marks.data[i].name);
        json_close_object(&w->json);
        out_settle(w->job->out);
    }
    json_close_array(&w->json);
}

static int whole_mappings(const struct wake_block *b, void *context)
{
    struct whole *w = context;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] != WAKE_MAP && b->event[i] != WAKE_UNMAP && b->event[i] != WAKE_BRK)
            continue;
        whole_open_row(w, b->time_ns[i]);
        whole_number(w, b->thread[i]);
        strbuf_addf(&w->row, ",\"%s\",\"0x%llx\"", labels_event(b->event[i]),
                    (unsigned long long)b->address[i]);
        if (b->event[i] == WAKE_BRK) /* which may move back */
            strbuf_addf(&w->row, ",%lld", (long long)(b->usable[i] - b->address[i]));
        else
            whole_number(w, b->size[i]);
        whole_number(w, b->stack[i]);
        whole_close_row(w);
    }
    const volatile sig_atomic_t *interrupt = w->job->query->interrupt;
    bool goes_on = w->job->out->error == 0 && (interrupt == NULL || *interrupt == 0);
    return goes_on ? 0 : OUT_STOP;
}

static void whole_write_about(struct whole *w, const struct wake_process *p)
{
    json_add_number(&w->json, "pid", p->info.pid);
    json_add_number(&w->json, "ppid", p->info.ppid);
    if (p->info.parent != 0)
        json_add_number(&w->json, "parent", p->info.parent - 1);
    else
        json_add_null(&w->json, "parent");
    json_add_bool(&w->json, "forked", p->info.forked);
    whole_name(w, "exe", ANONYMIZE_PROGRAM, p->info.exe);
    json_open_array(&w->json, "arguments");
    for (size_t at = 0; at < p->info.args_length && w->job->veil->level == ANONYMIZE_NONE;) {
        size_t n = strnlen(p->info.args + at, p->info.args_length - at);
        json_add_text(&w->json, NULL, p->info.args + at, n);
        at += n + 1;
    }
    json_close_array(&w->json);
    json_add_number(&w->json, "start_ns", p->info.start_ns);
    json_add_number(&w->json, "end_ns", p->end.end_ns);
}

static void whole_end_process(struct whole *w)
{
    if (w->has_process) {
        json_close_array(&w->json);
        json_close_object(&w->json);
    }
    w->has_process = false;
}

static int whole_begin(void *context, uint32_t process)
{
    static const char *const columns[] = {"number",   "thread",       "kind",     "address",        "size",
                                          "usable",   "allocated_ns", "freed_ns", "freeing_thread", "how",
                                          "previous", "leaked",       "stack",    "blocks",         "bytes"};
    struct whole *w = context;
    const struct wake_process *p = wake_reader_process(w->job->reader, process);
    const struct query_result *r = w->job->result;
    whole_end_process(w);
    json_open_object(&w->json, NULL);
    json_add_number(&w->json, "process", process);
    whole_write_about(w, p);
    whole_write_threads(w, p);
    whole_write_modules(w, p);
    whole_write_samples(w, p);
    int code = whole_write_stacks(w, process, p);
    json_open_array(&w->json, "mappings");
    if (code == 0)
        code = wake_reader_visit(w->job->reader, process, r->from_ns, r->to_ns, whole_mappings, w, w->err);
    json_close_array(&w->json);
    json_open_array(&w->json, "block_columns");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        whole_text(w, NULL, columns[i]);
    json_close_array(&w->json);
    json_open_array(&w->json, "blocks");
    w->has_process = true;
    return code;
}

/* --------------------------------------------------------------------- blocks */

static char *whole_put(char *to, uint64_t number)
{
    *to++ = ',';
    return digits_put(to, number);
}

/* A label of ours: a word without quotes in it. */
static char *whole_put_label(char *to, const char *label)
{
    return stpcpy(stpcpy(stpcpy(to, ",\""), label), "\"");
}

/* There are as many as allocations, so they are written by hand, without printf. */
static char *whole_put_block(char *to, const struct follow_block *b, const struct follow_end *end)
{
    *to++ = '[';
    to = digits_put(to, b->number);
    to = whole_put(to, b->thread);
    to = whole_put_label(to, labels_kind(b->kind));
    to = digits_put_hex(stpcpy(to, ",\"0x"), b->address);
    *to++ = '"';
    to = whole_put(to, b->size);
    to = whole_put(to, b->usable);
    to = whole_put(to, b->born_ns);
    if (end != NULL) {
        to = whole_put(to, end->time_ns);
        to = whole_put(to, end->thread);
        to = whole_put_label(to, labels_detail(WAKE_FREE, end->how));
    } else {
        to = stpcpy(to, ",null,null,null");
    }
    if (b->kind == KIND_REALLOC && b->previous != 0)
        to = whole_put(to, b->previous - 1);
    else
        to = stpcpy(to, ",null");
    to = stpcpy(to, b->is_leaked ? ",true" : ",false");
    to = whole_put(to, b->stack);
    to = whole_put(to, b->blocks);
    to = whole_put(to, b->bytes);
    *to++ = ']';
    return to;
}

static int whole_write_block(struct whole *w, const struct follow_block *b, const struct follow_end *end)
{
    strbuf_clear(&w->row);
    char *row = strbuf_reserve(&w->row, WHOLE_ROW);
    if (row == NULL)
        return err_no_memory(w->err);
    strbuf_grown(&w->row, (size_t)(whole_put_block(row, b, end) - row));
    json_add_written(&w->json, NULL, &w->row);
    out_settle(w->job->out);
    return w->job->out->error == 0 ? 0 : OUT_STOP;
}

static int whole_alloc(void *context, struct follow_block *b, bool is_earlier)
{
    (void)context, (void)b, (void)is_earlier; /* it is told when it ends */
    return 0;
}

static int whole_release(void *context, const struct follow_block *b, const struct follow_end *end)
{
    return whole_write_block(context, b, end);
}

static int whole_left(void *context, const struct follow_block *b)
{
    return whole_write_block(context, b, NULL);
}

/* ----------------------------------------------------------------------- file */

static void whole_write_notes(struct whole *w)
{
    char made_up[WAKE_VEILED_NOTE];
    const char *note;
    json_open_array(&w->json, "notes");
    for (size_t i = 0; (note = export_note(w->job, i, made_up)) != NULL; i++)
        whole_text(w, NULL, note);
    json_close_array(&w->json);
}

static void whole_write_head(struct whole *w)
{
    const struct query_result *r = w->job->result;
    const struct metrics *m = &r->total;
    const struct {
        const char *key;
        uint64_t value;
    } totals[] = {
        {"allocated_blocks", m->allocated_blocks},
        {"allocated_bytes", m->allocated_bytes},
        {"freed_blocks", m->freed_blocks},
        {"freed_bytes", m->freed_bytes},
        {"peak_blocks", m->peak_blocks},
        {"peak_bytes", m->peak_bytes},
        {"live_blocks", m->live_blocks},
        {"live_bytes", m->live_bytes},
        {"leaked_blocks", m->leaked_blocks},
        {"leaked_bytes", m->leaked_bytes},
        {"suppressed_blocks", suppress_blocks(w->job->suppress)},
        {"suppressed_bytes", suppress_bytes(w->job->suppress)},
        {"temporary_blocks", m->temporary_blocks},
        {"peak_time_ns", r->peak_time_ns},
        {"peak_process", r->peak_process},
    };
    whole_text(w, "heapwake", HEAPWAKE_VERSION);
    json_add_number(&w->json, "schema", 1);
    json_add_number(&w->json, "wall_ns", wake_reader_summary(w->job->reader)->wall_ns);
    const struct wake_summary *s = wake_reader_summary(w->job->reader);
    json_add_bool(&w->json, "complete", s->complete && s->unrecorded == 0);
    json_add_number(&w->json, "unrecorded_processes", s->unrecorded);
    whole_write_notes(w);
    json_open_object(&w->json, "total");
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        json_add_number(&w->json, totals[i].key, totals[i].value);
    json_close_object(&w->json);
}

int export_json(const struct export_job *job, struct err *err)
{
    static const struct follow_calls calls = {whole_begin, whole_alloc, whole_release, whole_left};
    struct whole w = {.job = job, .err = err};
    json_init(&w.json, &job->out->buffer);
    strbuf_init(&w.row);
    json_open_object(&w.json, NULL);
    whole_write_head(&w);
    int code = whole_write_traces(&w);
    json_open_array(&w.json, "processes");
    if (code == 0)
        code = follow_run(job->query, job->reader, FOLLOW_ALL, WAKE_EVERYTHING, &calls, &w, err);
    whole_end_process(&w);
    json_close_array(&w.json);
    json_close_object(&w.json);
    if (code == 0 && w.row.failed)
        code = err_no_memory(err);
    strbuf_release(&w.row);
    return code == OUT_STOP ? 0 : code;
}
