/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * info: what a recording holds, in a few lines or as JSON with stable keys.
 */
#include "cmd/command.h"
#include "cmd/recording_file.h"
#include "cmd/screen.h"
#include "collect/pace.h"
#include "present/caveat_text.h"
#include "present/json.h"
#include "present/notes.h"
#include "present/safe.h"
#include "present/units.h"
#include "present/width.h"
#include "session/caveats.h"
#include "session/summary.h"

#include <string.h>

/* Bytes that an event takes; names and binaries do not count. */
static double info_density(const struct summary *f, const struct wake_summary *s)
{
    return f->events == 0 ? 0 : (double)(s->file_size - s->added_size) / (double)f->events;
}

/* ---------------------------------------------------------------------- JSON */

static void info_json_command(struct json *j, const struct wake_process *p)
{
    json_open_array(j, "arguments");
    for (size_t at = 0; at < p->info.args_length;) {
        size_t n = strnlen(p->info.args + at, p->info.args_length - at);
        json_add_text(j, NULL, p->info.args + at, n);
        at += n + 1;
    }
    json_close_array(j);
    struct strbuf line;
    strbuf_init(&line);
    safe_add_command(&line, p->info.args, p->info.args_length);
    if (line.length == 0)
        safe_add_text(&line, p->info.exe);
    json_add_text(j, "command", strbuf_get(&line), line.length);
    strbuf_release(&line);
}

static void info_json_process(struct json *j, const struct wake_process *p)
{
    const struct wake_process_end *e = &p->end;
    char end[64];
    json_open_object(j, NULL);
    json_add_number(j, "pid", p->info.pid);
    json_add_number(j, "ppid", p->info.ppid);
    if (p->info.parent == 0)
        json_add_null(j, "parent");
    else
        json_add_number(j, "parent", p->info.parent - 1);
    json_add_bool(j, "forked", p->info.forked);
    json_add_text(j, "exe", p->info.exe, strlen(p->info.exe));
    info_json_command(j, p);
    json_add_number(j, "start_ns", p->info.start_ns);
    json_add_number(j, "end_ns", e->end_ns);
    summary_describe_end(p, end, sizeof end);
    json_add_text(j, "end", end, strlen(end));
    json_add_number(j, "threads", p->threads.count);
    json_add_number(j, "modules", p->modules.count);
    json_add_number(j, "events", p->events);
    json_add_number(j, "allocations", e->allocations);
    json_add_number(j, "frees", e->frees);
    json_add_number(j, "allocated_bytes", e->allocated_bytes);
    json_add_number(j, "peak_bytes", e->peak_bytes);
    json_add_number(j, "peak_blocks", e->peak_blocks);
    json_add_number(j, "peak_time_ns", e->peak_time_ns);
    json_add_number(j, "leaked_blocks", e->leaked_blocks);
    json_add_number(j, "leaked_bytes", e->leaked_bytes);
    json_add_number(j, "stacks", p->stacks.count == 0 ? 0 : p->stacks.count - 1);
    json_add_number(j, "cut_stacks", e->cut_stacks);
    json_add_number(j, "lost_events", e->lost_events + p->missing_events);
    json_add_number(j, "unknown_frees", e->unknown_frees);
    json_add_number(j, "inherited_frees", e->inherited_frees);
    json_add_number(j, "implied_frees", e->implied_frees);
    json_add_number(j, "peak_rss_bytes", e->peak_rss_bytes);
    json_add_bool(j, "complete", e->complete && p->ended);
    json_close_object(j);
}

static void info_json_totals(struct json *j, const struct summary *f, const struct wake_summary *s)
{
    json_add_number(j, "processes", f->processes);
    json_add_number(j, "threads", f->threads);
    json_add_number(j, "runtime_ns", f->runtime_ns);
    json_add_number(j, "events", f->events);
    json_add_number(j, "allocations", f->allocations);
    json_add_number(j, "frees", f->frees);
    json_add_number(j, "allocated_bytes", f->allocated_bytes);
    json_add_number(j, "peak_bytes", f->peak_bytes);
    json_add_number(j, "peak_blocks", f->peak_blocks);
    json_add_number(j, "peak_time_ns", f->peak_time_ns);
    json_add_number(j, "leaked_blocks", f->leaked_blocks);
    json_add_number(j, "leaked_bytes", f->leaked_bytes);
    json_add_number(j, "stacks", f->stacks);
    json_add_number(j, "cut_stacks", f->cut_stacks);
    json_add_number(j, "lost_events", f->lost_events);
    json_add_number(j, "unrecorded_processes", f->unrecorded_processes);
    json_add_number(j, "off_ns", f->off_ns);
    json_add_number(j, "unknown_frees", f->unknown_frees);
    json_add_number(j, "inherited_frees", f->inherited_frees);
    json_add_number(j, "implied_frees", f->implied_frees);
    json_add_number(j, "peak_rss_bytes", f->peak_rss_bytes);
    json_add_number(j, "sample_rate", f->sample_rate);
    json_add_number(j, "samples", f->samples);
    json_add_number(j, "cull_threshold_ns", f->cull_threshold_ns);
    json_add_number(j, "culled_blocks", f->culled_blocks);
    json_add_number(j, "culled_bytes", f->culled_bytes);
    json_add_number(j, "limit_ns", f->limit_ns);
    json_add_number(j, "limited_events", f->limited_events);
    json_add_bool(j, "complete", summary_is_whole(f));
    json_add_number(j, "file_bytes", s->file_size);
    json_add_real(j, "bytes_per_event", info_density(f, s));
    json_add_number(j, "collector_cpu_ns", s->collector_cpu_ns);
    json_add_number(j, "wall_ns", s->wall_ns);
}

static void info_json_names(struct json *j, const struct summary_names *n)
{
    json_open_object(j, "symbols");
    json_add_number(j, "files", n->images);
    json_add_number(j, "missing_files", n->missing);
    json_add_number(j, "places", n->places);
    json_close_object(j);
    json_open_object(j, "binaries");
    json_add_number(j, "files", n->binaries);
    json_add_number(j, "bytes", n->binary_bytes);
    json_close_object(j);
}

static void info_json(struct strbuf *out, const struct wake_reader *r, const struct summary *f,
                      const struct summary_names *n)
{
    struct json j;
    json_init(&j, out);
    json_open_object(&j, NULL);
    if (f->processes > 0) {
        const struct wake_process *first = wake_reader_process(r, 0);
        info_json_command(&j, first);
        json_add_number(&j, "pid", first->info.pid);
    }
    info_json_totals(&j, f, wake_reader_summary(r));
    info_json_names(&j, n);
    json_open_array(&j, "processes_list");
    for (size_t i = 0; i < f->processes; i++)
        info_json_process(&j, wake_reader_process(r, i));
    json_close_array(&j);
    notes_add_json(&j, r);
    json_open_array(&j, "damages");
    for (size_t i = 0; i < wake_reader_damage_count(r); i++) {
        const char *text = wake_reader_damage(r, i)->text;
        json_add_text(&j, NULL, text, strlen(text));
    }
    json_close_array(&j);
    json_close_object(&j);
}

/* ---------------------------------------------------------------------- text */

enum { INFO_LABEL = 15 };

#define info_line(p, label, ...) page_add_labelled(p, COLOUR_PLAIN, label, INFO_LABEL, __VA_ARGS__)

static void info_text_omissions(struct page *p, const struct summary *f, const struct caveats *c)
{
    static const enum caveat_kind shown[] = {CAVEAT_SAMPLED, CAVEAT_CULLED, CAVEAT_LIMITED};
    char a[UNITS_MAX];
    if (f->unknown_frees != 0)
        info_line(p, "unknown frees", "%s", units_count(a, f->unknown_frees));
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const struct caveat *one = caveats_find(c, shown[i]);
        struct caveat_row row;
        struct strbuf text;
        if (one == NULL)
            continue;
        strbuf_init(&text);
        caveat_text_fill(&row, one);
        caveat_text_add_short(&text, one);
        info_line(p, row.label, "%s", strbuf_get(&text));
        p->out->failed |= text.failed;
        strbuf_release(&text);
    }
}

static void info_text_losses(struct page *p, const struct wake_reader *r, const struct summary *f,
                             const struct caveats *c)
{
    static const enum caveat_kind shown[] = {CAVEAT_UNRECORDED, CAVEAT_LOST, CAVEAT_OFF};
    char a[UNITS_MAX];
    const struct wake_summary *s = wake_reader_summary(r);
    struct strbuf out;
    strbuf_init(&out);
    strbuf_addf(&out, "%s", summary_is_whole(f) ? "yes" : "no");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const struct caveat *one = caveats_find(c, shown[i]);
        if (one == NULL || (one->kind == CAVEAT_LOST && one->is_unknown))
            continue;
        strbuf_add_text(&out, ", ");
        caveat_text_add_short(&out, one);
    }
    if (!s->closed)
        strbuf_addf(&out, ", the recorder did not close the file: the last %s before its end may be missing",
                    units_time(a, pace_flush_ns(f->runtime_ns)));
    if (s->write_error != 0)
        strbuf_addf(&out, ", writing stopped: %s", strerror(s->write_error));
    if (f->complete) /* damage among the events is not known here */
        strbuf_add_text(&out, "; the events themselves are checked by 'heapwake verify'");
    info_line(p, "complete", "%s", strbuf_get(&out));
    p->out->failed |= out.failed;
    strbuf_release(&out);
}

/* Text that others have written. */
static void info_foreign(struct page *p, const char *label, const char *text)
{
    struct strbuf safe;
    strbuf_init(&safe);
    safe_add_text(&safe, text);
    info_line(p, label, "%s", strbuf_get(&safe));
    p->out->failed |= safe.failed;
    strbuf_release(&safe);
}

/* Its figures, and how it ended and what it was: on one line if there is room. */
static void info_text_process(struct page *p, const struct wake_process *process)
{
    enum { INFO_PROCESS = 10 };
    char a[UNITS_MAX], b[UNITS_MAX], end[64];
    const struct wake_process_end *e = &process->end;
    struct strbuf out;
    strbuf_init(&out);
    strbuf_addf(&out, "  %-8u%12s %-12s peak %10s, ", process->info.pid, units_count(a, e->allocations),
                e->allocations == 1 ? "allocation," : "allocations,", units_bytes(b, e->peak_bytes));
    strbuf_addf(&out, "leaked %10s,", units_bytes(a, e->leaked_bytes));
    page_add(p, COLOUR_PLAIN, strbuf_get(&out));
    size_t used = width_of(strbuf_get(&out)) + 1;
    strbuf_clear(&out);
    summary_describe_end(process, end, sizeof end);
    strbuf_addf(&out, "%s: ", end);
    safe_add_command(&out, process->info.args, process->info.args_length);
    bool fits = used + width_of(strbuf_get(&out)) <= p->width;
    page_addf(p, COLOUR_PLAIN, "%s%*s", fits ? "" : "\n", fits ? 1 : INFO_PROCESS, "");
    page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&out), fits ? used : INFO_PROCESS, INFO_PROCESS);
    page_end_line(p);
    p->out->failed |= out.failed;
    strbuf_release(&out);
}

static void info_text_names(struct page *p, const struct summary_names *n)
{
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];
    if (n->images == 0)
        info_line(p, "names", "none; 'heapwake symbolize' looks them up");
    else
        info_line(p, "names", "%s addresses in %s file%s%s%s%s", units_count(a, n->places),
                  units_count(b, n->images), units_plural(n->images), n->missing == 0 ? "" : ", ",
                  n->missing == 0 ? "" : units_count(c, n->missing),
                  n->missing == 0 ? "" : " of them not found");
    if (n->binaries != 0)
        info_line(p, "binaries", "%s of %s", units_count(a, n->binaries), units_bytes(b, n->binary_bytes));
}

static void info_text_totals(struct page *p, const struct summary *f)
{
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];
    info_line(p, "processes", "%s, %s thread%s, ran %s", units_count(a, f->processes),
              units_count(b, f->threads), units_plural(f->threads), units_time(c, f->runtime_ns));
    info_line(p, "allocations", "%s of %s, freed %s", units_count(a, f->allocations),
              units_bytes(b, f->allocated_bytes), units_count(c, f->frees));
    info_line(p, "peak", "%s in %s block%s at %s", units_bytes(a, f->peak_bytes),
              units_count(b, f->peak_blocks), units_plural(f->peak_blocks), units_time(c, f->peak_time_ns));
    info_line(p, "leaked", "%s in %s block%s", units_bytes(a, f->leaked_bytes),
              units_count(b, f->leaked_blocks), units_plural(f->leaked_blocks));
    info_line(p, "stacks", "%s, %s of them cut", units_count(a, f->stacks), units_count(b, f->cut_stacks));
}

static void info_text_file(struct page *p, const struct wake_summary *s, const struct summary *f)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    if (f->peak_rss_bytes != 0)
        info_line(p, "peak resident", "%s", units_bytes(a, f->peak_rss_bytes));
    info_line(p, "file", "%s, %s event%s, %.2f bytes each", units_bytes(a, s->file_size),
              units_count(b, f->events), units_plural(f->events), info_density(f, s));
    if (f->events != 0 && s->collector_cpu_ns != 0)
        info_line(p, "collector CPU", "%s, %.0f ns an event", units_time(a, s->collector_cpu_ns),
                  (double)s->collector_cpu_ns / (double)f->events);
}

static void info_text_command(struct page *p, const struct wake_reader *r)
{
    const struct wake_process *first = wake_reader_process(r, 0);
    char end[64];
    struct strbuf command;
    strbuf_init(&command);
    summary_describe_end(summary_last_image(r), end, sizeof end);
    safe_add_command(&command, first->info.args, first->info.args_length);
    info_line(p, "command", "%s", strbuf_get(&command));
    info_line(p, "pid", "%u, %s", first->info.pid, end);
    p->out->failed |= command.failed;
    strbuf_release(&command);
}

static void info_text(struct page *p, const struct wake_reader *r, const struct summary *f,
                      const struct summary_names *n)
{
    if (f->processes > 0)
        info_text_command(p, r);
    info_text_totals(p, f);
    info_text_names(p, n);
    info_text_file(p, wake_reader_summary(r), f);
    for (size_t i = 0; i < wake_reader_note_count(r); i++)
        info_foreign(p, "note", wake_reader_note(r, i));
    struct caveats lacks = {0};
    caveats_of_summary(&lacks, f);
    info_text_omissions(p, f, &lacks);
    info_text_losses(p, r, f, &lacks);
    for (size_t i = 0; i < wake_reader_damage_count(r); i++)
        info_foreign(p, "damage", wake_reader_damage(r, i)->text);
    for (size_t i = 0; f->processes > 1 && i < f->processes; i++)
        info_text_process(p, wake_reader_process(r, i));
}

struct info_options {
    const char *file;
    bool as_json;
};

static int info_take(void *options, char *word, struct err *err)
{
    struct info_options *o = options;
    return command_take_recording(&command_info, &o->file, word, err);
}

static int info_run(const struct command *self, int argc, char **argv)
{
    struct info_options o = {0};
    struct err err;
    err_init(&err);
    if (options_parse(self, &o, argc, argv, NULL, &err) != 0 ||
        command_needs_recording(self, o.file, &err) != 0)
        return command_misused("%s", err.text);
    struct wake_reader *r = recording_file_open(o.file);
    if (r == NULL)
        return EXIT_FAILED;
    struct summary f;
    struct summary_names n;
    struct strbuf out;
    struct page page;
    strbuf_init(&out);
    screen_init(&page, &out);
    summary_count_names(&n, r);
    summary_gather(&f, r);
    if (o.as_json)
        info_json(&out, r, &f, &n);
    else
        info_text(&page, r, &f, &n);
    bool done = command_print(&out);
    strbuf_release(&out);
    wake_reader_close(r);
    return done ? EXIT_DONE : EXIT_FAILED;
}

static const struct option info_options[] = {
    {.names = "--json",
     .help = "the same as JSON",
     .set = options_set_flag,
     .at = offsetof(struct info_options, as_json)},
    {0},
};

const struct command command_info = {
    .name = "info",
    .summary = "say what a recording holds",
    .usage = "[--json] FILE",
    .options = info_options,
    .run = info_run,
    .take = info_take,
};
