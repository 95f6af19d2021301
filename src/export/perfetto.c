/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * perfetto: the JSON of Chrome's tracing, which Perfetto's page opens: counters
 * over time for each process, and marks as moments.
 *
 *     {"traceEvents": [
 *      {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "app"}},
 *      {"ph": "C", "name": "heap", "pid": 7, "ts": 12.5, "args": {"bytes": 4096}},
 *      {"ph": "i", "s": "p", "name": "loaded", "pid": 7, "tid": 7, "ts": 14.0}, ...]}
 *
 *   heap, live        bytes and blocks that match: the most in each of 2000 stretches of the window
 *   allocated         bytes asked for in each stretch
 *   resident          every sample of the resident set
 *   heap of thread N  of processes with 2 to 200 threads: live blocks that it made
 *
 * Times are microseconds since the recording began.  A counter that does not change
 * is not repeated.  Perfetto shows a counter by its name and its unit: "live blocks".
 */
#include "export/perfetto.h"

/* Begins an event, up to where its own members go. */
static void perfetto_begin(struct perfetto *p, const char *kind, uint32_t pid, const char *name)
{
    struct out *o = p->job->out;
    out_f(o, "%s {\"ph\": \"%s\", \"pid\": %u, \"name\": ", p->first ? "" : ",\n", kind, pid);
    export_add_string(o, name);
    p->first = false;
}

static void perfetto_put_time(struct out *o, uint64_t ns)
{
    out_f(o, ", \"ts\": %llu.%03u", (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

void perfetto_put_counter(struct perfetto *p, uint32_t pid, const char *name, const char *unit, uint64_t ns,
                          uint64_t value)
{
    perfetto_begin(p, "C", pid, name);
    perfetto_put_time(p->job->out, ns);
    out_f(p->job->out, ", \"args\": {\"%s\": %llu}}", unit, (unsigned long long)value);
}

static void perfetto_put_meta(struct perfetto *p, uint32_t pid, uint32_t tid, const char *what,
                              const char *name)
{
    perfetto_begin(p, "M", pid, what);
    out_f(p->job->out, ", \"tid\": %u, \"args\": {\"name\": ", tid);
    export_add_string(p->job->out, name);
    out_text(p->job->out, "}}");
}

/* --------------------------------------------------------------------- heap */

static void perfetto_put_ticks(struct perfetto *p, uint32_t pid, uint64_t end_ns,
                               const struct query_result *r)
{
    const struct query_tick *before = NULL;
    for (size_t i = 0; i < r->timeline.count; i++) {
        const struct query_tick *t = &r->timeline.data[i];
        if (t->from_ns > end_ns)
            break;
        if (before == NULL || before->live_bytes != t->live_bytes)
            perfetto_put_counter(p, pid, "heap", "bytes", t->from_ns, t->live_bytes);
        if (before == NULL || before->live_blocks != t->live_blocks)
            perfetto_put_counter(p, pid, "live", "blocks", t->from_ns, t->live_blocks);
        if (before == NULL || before->allocated_bytes != t->allocated_bytes)
            perfetto_put_counter(p, pid, "allocated", "bytes", t->from_ns, t->allocated_bytes);
        before = t;
    }
}

/* Processes share no heap, so each has its own answer; its ticks count its blocks alone. */
static int perfetto_put_heap(struct perfetto *p, uint32_t pid, uint64_t end_ns, struct err *err)
{
    struct query q = *p->job->query; /* its lists and texts stay the job's */
    struct query_result r;
    query_result_init(&r);
    q.pids.data = &pid;
    q.pids.count = q.pids.capacity = 1;
    q.ticks = PERFETTO_TICKS;
    q.want = 0;
    int code = query_run(&q, p->job->reader, &r, err);
    if (code == 0)
        perfetto_put_ticks(p, pid, end_ns, &r);
    query_result_release(&r);
    return code;
}

/* ---------------------------------------------------------------- processes */

/* A process that became another program by exec comes again under its number. */
static bool perfetto_is_first(const struct export_job *job, size_t process)
{
    uint32_t pid = wake_reader_process(job->reader, process)->info.pid;
    for (size_t i = 0; i < process; i++) {
        if (wake_reader_process(job->reader, i)->info.pid == pid)
            return false;
    }
    return true;
}

static uint64_t perfetto_end(const struct export_job *job, uint32_t pid)
{
    uint64_t end = 0;
    for (size_t i = 0; i < wake_reader_process_count(job->reader); i++) {
        const struct wake_process *p = wake_reader_process(job->reader, i);
        end = p->info.pid == pid && p->end.end_ns > end ? p->end.end_ns : end;
    }
    return end;
}

static bool perfetto_put_names(struct perfetto *p, size_t process)
{
    const struct wake_process *w = wake_reader_process(p->job->reader, process);
    struct strbuf command;
    strbuf_init(&command);
    bool ok = export_add_command(p->job, process, &command);
    if (ok)
        perfetto_put_meta(p, w->info.pid, 0, "process_name", strbuf_get(&command));
    strbuf_release(&command);
    for (size_t i = 0; i < w->threads.count && ok; i++) {
        const char *name = anonymize_text(p->job->veil, ANONYMIZE_THREAD, w->threads.data[i].name);
        ok = name != NULL;
        if (ok && name[0] != '\0')
            perfetto_put_meta(p, w->info.pid, w->threads.data[i].tid, "thread_name", name);
    }
    return ok;
}

static bool perfetto_put_moments(struct perfetto *p, size_t process)
{
    const struct wake_process *w = wake_reader_process(p->job->reader, process);
    const struct query_range window = export_window(p->job);
    uint64_t before = UINT64_MAX;
    for (size_t i = 0; i < w->samples.count; i++) {
        const struct wake_sample *s = &w->samples.data[i];
        if (s->time_ns < window.min || s->time_ns > window.max || s->rss_bytes == before)
            continue;
        perfetto_put_counter(p, w->info.pid, "resident", "bytes", s->time_ns, s->rss_bytes);
        before = s->rss_bytes;
    }
    for (size_t i = 0; i < w->marks.count; i++) {
        const struct wake_mark *m = &w->marks.data[i];
        const struct wake_thread *t = wake_process_find_thread(w, m->thread);
        const char *name = m->name == NULL ? "" : anonymize_text(p->job->veil, ANONYMIZE_MARK, m->name);
        if (name == NULL)
            return false;
        if (m->name == NULL || m->time_ns < window.min || m->time_ns > window.max)
            continue;
        perfetto_begin(p, "i", w->info.pid, name);
        perfetto_put_time(p->job->out, m->time_ns);
        out_f(p->job->out, ", \"s\": \"p\", \"tid\": %u}", t == NULL ? 0 : t->tid);
    }
    return true;
}

int export_perfetto(const struct export_job *job, struct err *err)
{
    struct perfetto p = {.job = job, .first = true};
    int code = 0;
    out_text(job->out, "{\"otherData\": {\"heapwake\": \"" HEAPWAKE_VERSION "\"},\n\"traceEvents\": [\n");
    for (size_t i = 0; i < wake_reader_process_count(job->reader) && code == 0; i++) {
        uint32_t pid = wake_reader_process(job->reader, i)->info.pid;
        if (!export_has_process(job, i))
            continue;
        if (!perfetto_put_names(&p, i) || !perfetto_put_moments(&p, i))
            code = err_no_memory(err);
        else if (perfetto_is_first(job, i))
            code = perfetto_put_heap(&p, pid, perfetto_end(job, pid), err);
        if (code == 0)
            code = perfetto_put_threads(&p, (uint32_t)i, err);
    }
    out_text(job->out, "\n]}\n");
    return code;
}
