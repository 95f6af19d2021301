/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * export: a recording in the format of another tool, to a file or standard
 * output.  A file gets its name when it is whole.
 */
#include "export/export.h"
#include "analysis/interpreter.h"
#include "cmd/command.h"
#include "cmd/drawing.h"
#include "cmd/interactive_query.h"
#include "cmd/nothing_fits.h"
#include "cmd/unfinished.h"
#include "cmd/where.h"
#include "session/known_leaks.h"
#include "session/summary.h"
#include "tool/file.h"
#include "tool/memory.h"
#include "tool/vec.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

struct export_request {
    const struct export_format *format;
    const char *input, *output; /* output NULL: standard output */
    enum measure measure;
    unsigned measures;              /* that were given; bit n for enum measure n */
    VEC(const char *) suppressions; /* files */
    bool no_built_in;
    struct metrics total; /* of what was written */
    enum anonymize_level veil;
    struct query query;
    struct strbuf remarks; /* of the exporter */
    struct strbuf conditions;
    struct where where;
};

/* Where an export goes: a new file or standard output, perhaps by way of graphviz. */
struct export_target {
    struct file_new file; /* fd -1: standard output */
    struct drawing drawing;
    struct out out;
    bool is_unheard; /* whoever read has seen enough and gone */
    bool is_guarded; /* the file goes when a signal ends the command */
};

static int export_set_format(void *to, const struct option *o, const char *name, struct err *err)
{
    const struct export_format **format = to;
    struct strbuf names;
    (void)o;
    *format = export_find(name);
    if (*format != NULL)
        return 0;
    strbuf_init(&names);
    for (const struct export_format *f = export_list; f->name != NULL; f++)
        strbuf_addf(&names, "%s%s", f == export_list ? "" : ", ", f->name);
    int code = err_set(err, ERR_USAGE, "There is no format '%.60s'; there are %s.", name, strbuf_get(&names));
    strbuf_release(&names);
    return code;
}

/* Takes suppressed leaks out of the answer.  Rules mean the true names, whatever is shown of them. */
static int export_suppress(const struct export_request *q, struct wake_reader *r, struct suppress *s,
                           struct traces *shown, struct query_result *result, struct err *err)
{
    struct traces plain;
    uint32_t base;
    int code = known_leaks_read(s, q->suppressions.data, q->suppressions.count, !q->no_built_in, err);
    if (code != 0 || q->veil == ANONYMIZE_NONE)
        return code == 0 ? suppress_apply(s, shown, result, err) : code;
    traces_init(&plain);
    code = traces_add_reader(&plain, r, &base, err);
    if (code == 0)
        code = suppress_apply(s, &plain, result, err);
    traces_release(&plain);
    return code;
}

/* Answers the query and lets the exporter write. */
static int export_write(struct export_request *q, struct interactive_query *a, struct session *s,
                        struct export_target *t, struct err *err)
{
    struct wake_reader *r = session_reader(s, 0);
    struct anonymize veil;
    struct traces traces;
    struct query_result result;
    struct suppress suppress;
    struct sites sites;
    uint32_t base;
    anonymize_init(&veil, q->veil, anonymize_salt(r));
    traces_init(&traces);
    traces.veil = &veil;
    query_result_init(&result);
    suppress_init(&suppress);
    sites_init(&sites);
    struct query query;
    session_prepare(s, 0, &q->query, &a->ask, &query);
    query.want |= export_want(q->format, &query, r);
    query.ticks = q->format->ticks;
    int code = 0;
    /* All that is left of a recording may be its header. */
    if (wake_reader_process_count(r) == 0)
        code = err_set(err, ERR_ABSENT, "%s holds no process: there is nothing to export.", q->input);
    if (code == 0)
        code = traces_add_reader(&traces, r, &base, err);
    if (code == 0)
        code = query_run(&query, r, &result, err);
    if (code == 0)
        interactive_query_tell_moments(a, &q->query, r, &result);
    q->total = result.total;
    if (code == 0)
        code = export_suppress(q, r, &suppress, &traces, &result, err);
    if (code == 0)
        code = sites_add(&sites, &traces, result.rows.data, result.rows.count, err);
    const char *interpreter = NULL;
    if (code == 0 && veil.level == ANONYMIZE_NONE)
        code = interpreter_find(&traces, &result, &interpreter, err);
    const struct export_job job = {r,       &query,         &result,     &traces,    &sites,
                                   &t->out, &q->conditions, &q->remarks, q->measure, &suppress,
                                   &veil,   t->file.temp,   q->output,   interpreter};
    if (code == 0)
        code = q->format->run(&job, err);
    if (code == 0)
        export_note_omissions(&job, q->format);
    if (code == 0)
        export_note_suppressed(&job, q->format);
    if (code == 0 && interactive_query_is_interrupted())
        code = err_set(err, ERR_IO, "Interrupted; nothing was written.");
    sites_release(&sites);
    suppress_release(&suppress);
    query_result_release(&result);
    traces_release(&traces);
    anonymize_release(&veil);
    return code;
}

static int export_begin(const struct export_request *q, struct export_target *t, struct err *err)
{
    *t = (struct export_target){.file = {.fd = -1}, .drawing = {.in = -1}};
    out_init(&t->out, STDOUT_FILENO);
    if (q->output != NULL) {
        int code = file_new_open_readable(&t->file, q->output, err);
        if (code != 0)
            return code;
        t->out.fd = t->file.fd;
        unfinished_guard(t->file.temp);
        t->is_guarded = true;
    }
    if ((q->format->options & EXPORT_DRAWN) != 0) {
        int code = drawing_begin(&t->drawing, q->format->name, t->out.fd, err);
        if (code != 0)
            return code;
        t->out.fd = t->drawing.in;
    }
    return 0;
}

/* code: how the writing went.  A file appears when everything went well. */
static int export_end(const struct export_request *q, struct export_target *t, int code, struct err *err)
{
    const char *name = q->output == NULL ? "standard output" : q->output;
    if (code == 0)
        code = out_flush(&t->out, name, err);
    if (code == 0 && memory_has_failed())
        code = err_no_memory(err);
    bool is_closed = out_is_closed(&t->out), is_drawn = t->drawing.pid != 0;
    int drawn = drawing_end(&t->drawing, code == 0 || is_closed ? err : NULL);
    t->is_unheard = is_drawn ? t->drawing.is_unheard : is_closed && q->output == NULL;
    if (t->is_unheard)
        code = 0;
    else if (is_drawn && drawn != 0 && (code == 0 || is_closed))
        code = drawn;
    if (t->is_guarded)
        unfinished_settle();
    if (code == 0 && q->output != NULL)
        code = file_new_publish(&t->file, err);
    out_release(&t->out);
    int closed = file_new_close(&t->file, code == 0 ? err : NULL);
    if (t->is_guarded)
        unfinished_leave();
    return code == 0 ? closed : code;
}

static int export_to(struct export_request *q, struct interactive_query *a, struct session *s,
                     bool *is_unheard, struct err *err)
{
    struct export_target t;
    int code = export_begin(q, &t, err);
    if (code == 0)
        code = export_write(q, a, s, &t, err);
    code = export_end(q, &t, code, err);
    *is_unheard = t.is_unheard;
    return code;
}

/* Formats that standard output is nothing for. */
static int export_refuse(const struct export_request *q)
{
    if (q->output != NULL)
        return EXIT_DONE;
    if ((q->format->options & EXPORT_FILE) != 0)
        return command_misused("%s is a file that is written here and there; -o names it.", q->format->name);
    if ((q->format->options & EXPORT_BINARY) != 0 && isatty(STDOUT_FILENO) == 1)
        return command_misused("%s is not for a terminal; -o names a file for it.", q->format->name);
    return EXIT_DONE;
}

static void export_say_more(const struct export_request *q, struct wake_reader *r)
{
    struct summary facts;
    interactive_query_warn(r, q->input);
    summary_gather(&facts, r);
    if (q->conditions.length > 0)
        nothing_fits_say(&q->total, facts.allocations);
}

static int export_run(struct export_request *q)
{
    struct interactive_query a = {0};
    struct err err;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (export_refuse(q) != EXIT_DONE)
        return EXIT_USAGE;
    err_init(&err);
    sigaction(SIGPIPE, &ignore, NULL);
    command_bear_limits();
    interactive_query_begin(&a);
    struct session *s;
    bool is_unheard = false;
    int code = interactive_query_open(&a, &s, &q->input, 1, &err);
    if (code == 0)
        code = export_to(q, &a, s, &is_unheard, &err);
    interactive_query_end(&a);
    if (code == 0)
        export_say_more(q, session_reader(s, 0));
    session_close(s);
    if (code != 0 && err.text[0] != '\0')
        command_say("%s", err.text);
    if (code == 0 && !is_unheard && q->format->cannot != NULL)
        command_say("%s", q->format->cannot);
    if (code == 0 && !is_unheard && q->remarks.length > 0)
        command_say("%s", strbuf_get(&q->remarks));
    return code == 0 ? EXIT_DONE : code == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

/* The one measure to show.  ERR_USAGE: there are two, or the format shows none alone. */
static int export_choose_measure(struct export_request *q, struct err *err)
{
    bool has_moment = q->query.moment.when != WHEN_UNSET && (q->format->options & EXPORT_MEASURE) != 0;
    unsigned given = q->measures | (has_moment ? 1u << MEASURE_LIVE : 0);
    if (given == 0)
        return 0;
    q->measure = 0;
    while ((given >> q->measure & 1) == 0)
        q->measure++;
    if ((q->format->options & EXPORT_MEASURE) == 0)
        return err_set(err, ERR_USAGE, "%s does not show one measure alone; --%s has no meaning for it.",
                       q->format->name, measure_name(q->measure));
    if (given >> q->measure != 1)
        return err_set(err, ERR_USAGE, "%s shows one measure; two are given.", q->format->name);
    return 0;
}

/* "export html x.wake": the format stands where recordings do. */
static int export_refuse_format(const char *format, const char *input, struct err *err)
{
    return err_set(err, ERR_USAGE, "The format stands behind -f: heapwake export -f %s %s", format, input);
}

static bool export_is_format(const char *word)
{
    return word != NULL && export_find(word) != NULL && access(word, F_OK) != 0;
}

static int export_check(struct export_request *q, struct err *err)
{
    bool has_moment = q->query.moment.when != WHEN_UNSET;
    if (q->format == NULL && export_is_format(q->input))
        return export_refuse_format(q->input, "FILE", err);
    if (q->input == NULL || q->format == NULL)
        return err_set(err, ERR_USAGE, "No %s given: heapwake export -f FORMAT [-o FILE] FILE",
                       q->input == NULL ? "recording" : "format");
    if (export_choose_measure(q, err) != 0)
        return err->code;
    bool has_rules = q->no_built_in || q->suppressions.count > 0;
    if (has_rules && !export_has_leaks(q->format, q->measure))
        return err_set(err, ERR_USAGE, "%s is about sums of leaks; %s has none%s.",
                       q->no_built_in ? "--no-built-in-suppressions" : "--suppressions", q->format->name,
                       (q->format->options & EXPORT_MEASURE) != 0 ? " without --leaks" : "");
    if (has_moment && (q->format->options & (EXPORT_MOMENT | EXPORT_MEASURE)) == 0)
        return err_set(err, ERR_USAGE,
                       "%s does not tell what is live at a moment; 'at' has no meaning for it. "
                       "'--where alive-at' leaves the blocks that are live then.",
                       q->format->name);
    if (has_moment && (q->format->options & EXPORT_MEASURE) != 0 &&
        where_suits_moment(&q->query, false, err) != 0)
        return err->code;
    bool has_temporaries = (q->format->options & EXPORT_MEASURE) == 0 || q->measure == MEASURE_TEMPORARY;
    int code = command_spare(q->input, q->output, err);
    if (code == 0)
        code = where_suits_temporaries(&q->query, has_temporaries, err);
    return code == 0 ? query_suits_blocks(&q->query, err) : code;
}

static int export_set_moment(void *to, const struct option *o, const char *value, struct err *err)
{
    (void)o;
    return where_set(to, "at", value, err);
}

static int export_set_output(void *to, const struct option *o, const char *value, struct err *err)
{
    (void)o;
    (void)err;
    *(const char **)to = strcmp(value, "-") == 0 ? NULL : value;
    return 0;
}

static int export_set_veil(void *to, const struct option *o, const char *value, struct err *err)
{
    unsigned index = 0;
    int code = options_set_choice(&index, o, value, err);
    *(enum anonymize_level *)to = index == 0 ? ANONYMIZE_PARTIAL : ANONYMIZE_FULL;
    return code;
}

static int export_take(void *options, char *name, struct err *err)
{
    struct export_request *q = options;
    if (q->input == NULL)
        q->input = name;
    else if (export_is_format(q->input))
        return export_refuse_format(q->input, name, err);
    else if (export_is_format(name))
        return export_refuse_format(name, q->input, err);
    else
        return err_set(err, ERR_USAGE,
                       "'heapwake export' takes one recording; a series of files is a pattern in quotes.");
    return 0;
}

static int export_main(const struct command *self, int argc, char **argv)
{
    struct export_request q = {0};
    struct err err;
    err_init(&err);
    query_init(&q.query);
    strbuf_init(&q.remarks);
    strbuf_init(&q.conditions);
    q.where = (struct where){.query = &q.query, .said = &q.conditions};
    int code = options_parse(self, &q, argc, argv, NULL, &err);
    if (code == 0)
        code = export_check(&q, &err);
    int status = code == 0 ? export_run(&q) : command_misused("%s", err.text);
    query_release(&q.query);
    strbuf_release(&q.remarks);
    strbuf_release(&q.conditions);
    vec_release(&q.suppressions);
    return status;
}

static void export_add_formats(struct strbuf *words)
{
    for (const struct export_format *f = export_list; f->name != NULL; f++)
        strbuf_addf(words, "%s\n", f->name);
}

#define EXPORT(member) offsetof(struct export_request, member)

static const struct option export_options[] = {
    {.names = "-f, --format",
     .argument = "FORMAT",
     .help = "callgrind csv dhat dot flamegraph folded gprof2dot heaptrack html json massif pdf perfetto "
             "pprof ps "
             "speedscope sqlite svg",
     .set = export_set_format,
     .at = EXPORT(format),
     .add_words = export_add_formats},
    {.names = "-o, --output",
     .argument = "FILE",
     .help = "default: standard output",
     .set = export_set_output,
     .at = EXPORT(output)},
    {.names = "--anonymize",
     .argument = "partial|full",
     .help = "tokens instead of the program's own names, or of all",
     .set = export_set_veil,
     .at = EXPORT(veil)},
    {.help = "What dot flamegraph folded gprof2dot pdf ps svg show; default: --peak"},
    {.shared = where_measures, .at = EXPORT(measures)},
    {.names = "--at",
     .argument = "TIME",
     .help = "what was live then: 1.5s, 30%, peak-rss or the name of a mark",
     .set = export_set_moment,
     .at = EXPORT(query),
     .is_list = true},
    {.names = "--suppressions",
     .argument = "FILE",
     .help = "leaks that are known, in LeakSanitizer's syntax",
     .set = options_add_text,
     .at = EXPORT(suppressions),
     .is_list = true},
    {.names = "--no-built-in-suppressions",
     .help = "what libc, the loader and libstdc++ keep are leaks too",
     .set = options_set_flag,
     .at = EXPORT(no_built_in)},
    {.help = "What to look at:"},
    {.shared = where_options, .at = EXPORT(where)},
    {0},
};

const struct command command_export = {
    .name = "export",
    .summary = "write a recording in the format of another tool",
    .usage = "-f FORMAT [-o FILE] [OPTION...] RECORDING",
    .options = export_options,
    .run = export_main,
    .take = export_take,
};
