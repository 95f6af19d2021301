/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * export: the table of formats, and what several of them need.
 */
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#include "engine/omitted.h"
#include "engine/when.h"
#include "present/caveat_text.h"
#include "present/json.h"
#include "present/safe.h"
#include "present/suppressed.h"
#include "present/units.h"

enum { EXPORT_TICKS = 500 }; /* more than a screen can show apart */

#define EXPORT_GRAPH_LACKS "A call graph shows one measure, and of it the functions that have 1 % or more."

const struct export_format export_list[] = {
    {"folded", "folded", "stacks on a line each, for flamegraph.pl and its kin",
     "folded has one number a stack: no times, threads and lifetimes.", EXPORT_MEASURE, 0, 0, export_folded},
    {"heaptrack", "heaptrack", "heaptrack_print and heaptrack_gui",
     "heaptrack's format has no threads, addresses and kinds, and lifetimes only for each size and stack.",
     EXPORT_EVENTS | EXPORT_BLOCKS | EXPORT_ONE, 0, 0, export_heaptrack},
    {"flamegraph", "svg", "any browser: one picture with zoom and search",
     "flamegraph shows one measure: no times, threads and lifetimes.", EXPORT_MEASURE, 0, 0,
     export_flamegraph},
    {"speedscope", "speedscope.json", "speedscope.app; a profile for each measure",
     "speedscope has sums for each stack: no times, threads and lifetimes.", EXPORT_LEAKS, 0, 0,
     export_speedscope},
    {"massif", "massif", "ms_print and massif-visualizer",
     "massif has snapshots of what is live: no counts, threads and lifetimes.", EXPORT_EVENTS | EXPORT_ONE, 0,
     0, export_massif},
    {"dhat", "dhat.json", "dh_view.html of Valgrind, the Firefox Profiler",
     "dhat has sums for each stack, and no threads; accesses to blocks are not recorded.",
     EXPORT_EVENTS | EXPORT_ONE, 0, 0, export_dhat},
    {"callgrind", "callgrind", "callgrind_annotate and KCachegrind",
     "callgrind has sums for each function and call: no times, threads and lifetimes.", EXPORT_LEAKS, 0, 0,
     export_callgrind},
    {"json", "json", "programs of your own: everything; docs/json.md", NULL,
     EXPORT_EVENTS | EXPORT_BLOCKS | EXPORT_MOMENT | EXPORT_LEAKS, 0, 0, export_json},
    {"csv", "csv", "spreadsheets and data frames: a row for each block",
     "csv has blocks with one line of their stacks; json has all of it.", EXPORT_EVENTS | EXPORT_BLOCKS, 0, 0,
     export_csv},
    {"pprof", "pb.gz", "go tool pprof, Perfetto, speedscope",
     "pprof has sums for each stack: no times, threads and lifetimes.",
     EXPORT_BINARY | EXPORT_MOMENT | EXPORT_LEAKS, 0, 0, export_pprof},
    {"dot", "dot", "graphviz: the call graph", EXPORT_GRAPH_LACKS, EXPORT_MEASURE, 0, 0, export_dot},
    {"svg", "svg", "the call graph, drawn by graphviz", EXPORT_GRAPH_LACKS, EXPORT_MEASURE | EXPORT_DRAWN, 0,
     0, export_dot},
    {"pdf", "pdf", "the same for a page", EXPORT_GRAPH_LACKS, EXPORT_MEASURE | EXPORT_DRAWN | EXPORT_BINARY,
     0, 0, export_dot},
    {"ps", "ps", "the same for a printer", EXPORT_GRAPH_LACKS, EXPORT_MEASURE | EXPORT_DRAWN, 0, 0,
     export_dot},
    {"gprof2dot", "json", "gprof2dot -f json",
     "gprof2dot shows one measure: no times, threads and lifetimes.", EXPORT_MEASURE, 0, 0, export_gprof2dot},
    {"html", "html", "any browser: a page with timeline, flame graph and tables",
     "html has the largest sites and functions of every measure; the page says how many it leaves out.",
     EXPORT_MOMENT | EXPORT_LEAKS, 0, EXPORT_TICKS, export_html},
    {"perfetto", "json", "ui.perfetto.dev and chrome://tracing: counters over time",
     "perfetto has the course of the heap and no stacks.", EXPORT_EVENTS, 0, 0, export_perfetto},
    {"sqlite", "db", "sqlite3: tables of blocks, stacks, sites; docs/sqlite.md", NULL,
     EXPORT_EVENTS | EXPORT_BLOCKS | EXPORT_FILE | EXPORT_MOMENT | EXPORT_LEAKS, WANT_DETAIL, EXPORT_TICKS,
     export_sqlite},
    {0},
};

const struct export_format *export_find(const char *name)
{
    for (const struct export_format *f = export_list; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}

unsigned export_want(const struct export_format *format, const struct query *q, const struct wake_reader *r)
{
    unsigned want = format->want;
    for (size_t i = 0; i < wake_reader_process_count(r) && (format->options & EXPORT_ONE) != 0; i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        if (when_chooses(q, p) && wake_process_omitted(p) != 0)
            want |= WANT_DETAIL; /* which the totals do not have */
    }
    return want;
}

/* Blocks, or samples, that were left out of the events on purpose.  is_one: of the process with the peak alone. */
static uint64_t export_count_omitted(const struct export_job *job, bool is_one)
{
    uint64_t blocks = 0, until_ns = job->result->fates_end ? UINT64_MAX : job->result->to_ns;
    for (size_t i = 0; i < wake_reader_process_count(job->reader); i++) {
        if (is_one ? i != job->result->peak_process : !export_has_process(job, i))
            continue;
        const struct omitted o = omitted_find(wake_reader_process(job->reader, i), until_ns);
        blocks += o.culled + o.elsewhere + o.limited;
    }
    return blocks;
}

static void export_find_caveats_of(const struct export_job *job, bool is_one, struct caveats *c)
{
    struct summary facts;
    summary_gather_chosen(&facts, job->reader, job->query);
    *c = (struct caveats){0};
    caveats_of_summary(c, &facts);
    caveats_add_omitted(c, c, export_count_omitted(job, is_one));
}

void export_find_caveats(const struct export_job *job, struct caveats *c)
{
    struct caveats answer = {0};
    export_find_caveats_of(job, false, c);
    caveats_of_answer(&answer, c, job->result, false);
    caveats_join(c, &answer);
}

/* Sums are made of the totals, which have every block, unless the question needs events. */
void export_note_omissions(const struct export_job *job, const struct export_format *format)
{
    struct caveats c;
    export_find_caveats_of(job, (format->options & EXPORT_ONE) != 0, &c);
    const struct caveat *omitted = caveats_find(&c, CAVEAT_OMITTED);
    bool is_sampled = caveats_find(&c, CAVEAT_SAMPLED) != NULL;
    bool is_of_events = (format->options & EXPORT_EVENTS) != 0 || job->result->omitted_blocks != 0;
    if (omitted != NULL && (is_of_events || format->ticks != 0)) {
        char subject[80];
        snprintf(subject, sizeof subject, "%s%s", is_of_events ? "" : "The timeline of ", format->name);
        strbuf_add_text(job->remarks, job->remarks->length > 0 ? " " : "");
        caveat_text_add(job->remarks, omitted, subject);
        strbuf_add_char(job->remarks, '.');
    }
    if (is_sampled && (format->options & EXPORT_BLOCKS) != 0)
        strbuf_addf(job->remarks, "%sThe recording is sampled: %s lists the samples, %s.",
                    job->remarks->length > 0 ? " " : "", format->name,
                    format->run == export_heaptrack ? "each as one call for all bytes that it stands for"
                                                    : "with the blocks and bytes that each stands for");
}

bool export_has_leaks(const struct export_format *format, enum measure measure)
{
    bool shows_one = (format->options & EXPORT_MEASURE) != 0;
    return (format->options & EXPORT_LEAKS) != 0 || (shows_one && measure == MEASURE_LEAKED);
}

void export_add_measure(const struct export_job *job, enum measure measure, struct strbuf *text)
{
    strbuf_add_text(text, measure_title(measure));
    suppressed_note(text, measure, job->suppress);
}

void export_note_suppressed(const struct export_job *job, const struct export_format *format)
{
    char bytes[UNITS_MAX], blocks[UNITS_MAX];
    uint64_t count = suppress_blocks(job->suppress);
    bool has_built_in = false;
    if (count == 0 || !export_has_leaks(format, job->measure))
        return;
    for (size_t i = 0; i < job->suppress->rules.count; i++)
        has_built_in |= job->suppress->rules.data[i].built_in && job->suppress->rules.data[i].blocks != 0;
    strbuf_addf(job->remarks, "%sLeaks are without %s in %s block%s suppressed, as in the report%s.",
                job->remarks->length > 0 ? " " : "", units_bytes(bytes, suppress_bytes(job->suppress)),
                units_count(blocks, count), units_plural(count),
                has_built_in ? "; --no-built-in-suppressions shows all" : "");
}

bool export_has_process(const struct export_job *job, size_t process)
{
    return when_chooses(job->query, wake_reader_process(job->reader, process));
}

bool export_add_command(const struct export_job *job, size_t process, struct strbuf *text)
{
    const struct wake_process_info *info = &wake_reader_process(job->reader, process)->info;
    if (job->veil->level == ANONYMIZE_NONE) {
        safe_add_command(text, info->args, info->args_length);
        return !text->failed;
    }
    const char *program = info->exe != NULL && info->exe[0] != '\0' ? info->exe : info->args;
    const char *shown = program == NULL ? "" : anonymize_text(job->veil, ANONYMIZE_PROGRAM, program);
    if (shown != NULL)
        safe_add_text(text, shown);
    return shown != NULL && !text->failed;
}

bool export_add_title(const struct export_job *job, struct strbuf *text)
{
    size_t i = 0, count = wake_reader_process_count(job->reader);
    while (i < count && !export_has_process(job, i))
        i++;
    return i == count || export_add_command(job, i, text);
}

const char *export_note(const struct export_job *job, size_t i, char text[WAKE_VEILED_NOTE])
{
    size_t count = wake_reader_note_count(job->reader);
    if (job->veil->level == ANONYMIZE_NONE)
        return i < count ? wake_reader_note(job->reader, i) : i == count ? job->interpreter : NULL;
    return i == 0 && count != 0 ? wake_reader_veiled_note(job->reader, text) : NULL;
}

void export_add_string(struct out *out, const char *text)
{
    struct json j;
    json_init(&j, &out->buffer);
    json_add_text(&j, NULL, text, strlen(text));
    out_settle(out);
}

const char *export_frame_name(const struct frame *f, char *text, size_t size)
{
    if (f->function[0] != '\0')
        return f->function;
    const char *module = frame_basename(f->module);
    snprintf(text, size, "%s+0x%llx", module[0] == '\0' ? "[unknown]" : module,
             (unsigned long long)f->address);
    return text;
}

struct query_range export_window(const struct export_job *job)
{
    struct query_range run = {UINT64_MAX, 0};
    for (size_t i = 0; i < wake_reader_process_count(job->reader); i++) {
        const struct wake_process *p = wake_reader_process(job->reader, i);
        if (!export_has_process(job, i))
            continue;
        run.min = p->info.start_ns < run.min ? p->info.start_ns : run.min;
        run.max = p->end.end_ns > run.max ? p->end.end_ns : run.max;
    }
    run.min = job->result->from_ns > run.min ? job->result->from_ns : run.min;
    run.max = job->result->to_ns < run.max ? job->result->to_ns : run.max;
    return run.min <= run.max ? run : (struct query_range){run.max, run.max};
}

uint64_t export_peak_rss(const struct export_job *job)
{
    uint64_t rss = job->result->peak_rss_bytes;
    bool is_whole = job->query->from.when == WHEN_UNSET && job->query->to.when == WHEN_UNSET &&
                    job->query->pids.count == 0;
    /* The system's own figure knows what was between the samples. */
    for (size_t i = 0; is_whole && i < wake_reader_process_count(job->reader); i++) {
        uint64_t highest = wake_reader_process(job->reader, i)->end.peak_rss_bytes;
        rss = highest > rss ? highest : rss;
    }
    return rss;
}
