/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * diff: what changed between two recordings, or two moments of one.
 */
#include "cmd/command.h"
#include "cmd/interactive_query.h"
#include "cmd/nothing_fits.h"
#include "cmd/screen.h"
#include "cmd/where.h"
#include "cmd/whole_file.h"
#include "cmd/wrapper_check.h"
#include "engine/parse.h"
#include "engine/quantity.h"
#include "present/flame_svg.h"
#include "present/section_diff.h"
#include "session/diff_input.h"
#include "session/summary.h"

#include <string.h>
#include <unistd.h>

enum { DIFF_SITES_SHOWN = 10, DIFF_JSON_SHOWN = 1000 };

struct diff_options {
    char *files[2]; /* before, after; cut where the moment begins */
    const char *moments[2];
    struct query queries[2];
    size_t count;
    unsigned measures; /* bit n: enum measure n */
    VEC(const char *) suppressions;
    VEC(const char *) wrappers;
    const char *svg;
    uint64_t limit;
    struct where where;
    bool has_limit, json, built_in;
};

/* ------------------------------------------------------------------- options */

static int diff_set_limit(void *to, const struct option *option, const char *value, struct err *err)
{
    struct diff_options *o = to;
    (void)option;
    o->has_limit = true;
    return quantity_count(value, &o->limit)
               ? 0
               : err_set(err, ERR_USAGE, "-n takes a number (0 = all), not '%s'.", value);
}

/* FILE, or FILE@MOMENT where no file has the whole name. */
static int diff_take(void *options, char *word, struct err *err)
{
    struct diff_options *o = options;
    if (o->count == 2)
        return err_set(err, ERR_USAGE, "Two recordings are compared, not more: '%s'.", word);
    size_t which = o->count++;
    char *at = access(word, F_OK) == 0 ? NULL : strrchr(word, '@');
    o->files[which] = word;
    if (at == NULL)
        return 0;
    *at = '\0';
    o->moments[which] = at + 1;
    return query_parse(&o->queries[which], "at", at + 1, err);
}

/* Conditions hold for both sides. */
static int diff_agree_on_conditions(const struct query *q, bool has_moment, struct err *err)
{
    if (q->filter.blocks != NULL)
        return err_set(err, ERR_USAGE,
                       "--where blocks lists the blocks of one recording; diff compares two.");
    if (!has_moment && query_has_key(q, "at"))
        return err_set(err, ERR_USAGE, "diff takes a moment behind the name of each recording: FILE@TIME.");
    return 0;
}

static int diff_agree(struct diff_options *o, struct err *err)
{
    if (o->count != 2)
        return err_set(err, ERR_USAGE, "Two recordings are compared: heapwake diff [OPTION...] BEFORE AFTER");
    bool has_moment = o->moments[0] != NULL || o->moments[1] != NULL;
    int code = 0;
    for (size_t i = 0; i < 2 && code == 0; i++)
        code = diff_agree_on_conditions(&o->queries[i], o->moments[i] != NULL, err);
    if (code == 0 && has_moment && o->measures != 0)
        return err_set(err, ERR_USAGE, "At a moment only live blocks can be compared.");
    if (o->measures == 0)
        o->measures = has_moment ? 1u << MEASURE_LIVE : 1u << MEASURE_PEAK | 1u << MEASURE_LEAKED;
    for (unsigned i = 0; i < 2 && code == 0 && has_moment; i++)
        code = o->moments[i] == NULL && o->queries[i].to.when == WHEN_UNSET
                   ? query_parse(&o->queries[i], "at", "end", err)
                   : 0;
    /* They differ in their moments alone, of which one may lie in the window. */
    const struct query *of_rss = &o->queries[o->queries[1].moment.when == WHEN_PEAK_RSS ? 1 : 0];
    if (code == 0 && has_moment)
        code = where_suits_moment(of_rss, o->moments[0] == NULL || o->moments[1] == NULL, err);
    if (code == 0)
        code = where_suits_temporaries(&o->queries[0], (o->measures & 1u << MEASURE_TEMPORARY) != 0, err);
    for (unsigned i = 0; i < 2 && code == 0; i++)
        code = command_spare(o->files[i], o->svg, err);
    return code;
}

/* ------------------------------------------------------------------ what it says */

struct diff {
    const struct diff_options *options;
    struct interactive_query interactive;
    struct traces traces;
    struct diff_input sides[2];
    bool is_one_file; /* asked twice */
    struct compare compare;
    struct strbuf out;
};

static int diff_read_side(struct diff *d, size_t which, struct err *err)
{
    const struct diff_options *o = d->options;
    struct diff_input *side = &d->sides[which];
    const char *path = o->files[which];
    const struct session_options options = {.remembers = d->is_one_file};
    struct session *session;
    int code = side->session != NULL
                   ? 0
                   : interactive_query_open_with(&d->interactive, &session, &path, 1, options, err);
    if (code == 0 && side->session == NULL)
        diff_input_set_session(side, session);
    if (code == 0)
        code = diff_input_read(side, &d->interactive.ask, &d->traces, &o->queries[which], err);
    if (code == 0)
        interactive_query_tell_moments(&d->interactive, &o->queries[which], side->reader, &side->result);
    return code;
}

static int diff_read(struct diff *d, struct err *err)
{
    const struct diff_options *o = d->options;
    int code = 0;
    interactive_query_begin(&d->interactive);
    d->is_one_file = strcmp(o->files[0], o->files[1]) == 0;
    for (size_t i = 0; i < 2 && code == 0; i++) {
        if (i == 1 && d->is_one_file)
            diff_input_borrow(&d->sides[1], &d->sides[0]);
        code =
            diff_input_suppress(&d->sides[i], o->suppressions.data, o->suppressions.count, o->built_in, err);
        if (code == 0)
            code = diff_read_side(d, i, err);
    }
    interactive_query_end(&d->interactive);
    if (code == 0 && interactive_query_is_interrupted())
        code = err_set(err, ERR_IO, "Interrupted: recordings are compared when both have been read.");
    if (code != 0)
        return code;
    for (size_t i = 0; i < (d->is_one_file ? 1 : 2); i++)
        interactive_query_warn(d->sides[i].reader, o->files[i]);
    bool same = compare_is_same_code(d->sides[0].reader, d->sides[1].reader);
    return compare_build(&d->compare, &d->traces, &d->sides[0].sites, &d->sides[1].sites, same, err);
}

/* When the last process had ended. */
static uint64_t diff_find_end(const struct wake_reader *r)
{
    uint64_t end_ns = 0;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        end_ns = p->end.end_ns > end_ns ? p->end.end_ns : end_ns;
    }
    return end_ns;
}

/* What a side lacks, and what was said of its moments. */
static void diff_find_caveats(const struct diff *d, size_t which, struct section_diff_side *side)
{
    const struct diff_options *o = d->options;
    const struct query_result *r = &d->sides[which].result;
    struct caveats *c = &side->caveats;
    caveats_of_reader(c, side->reader);
    caveats_of_summary(c, &side->sum);
    caveats_of_answer(c, c, r, (o->measures >> MEASURE_LIVE & 1) != 0);
    caveats_of_moments(c, &o->queries[which], r, side->reader);
}

static struct section_diff_side diff_describe(const struct diff *d, size_t which)
{
    const struct diff_options *o = d->options;
    const struct query_result *r = &d->sides[which].result;
    bool by_moment = (o->measures >> MEASURE_LIVE & 1) != 0;
    uint64_t end_ns = diff_find_end(d->sides[which].reader);
    if (o->moments[which] == NULL)
        end_ns = r->to_ns < end_ns ? r->to_ns : end_ns;
    struct section_diff_side side = {
        .file = o->files[which],
        .moment = by_moment && o->moments[which] == NULL ? "end" : o->moments[which],
        .moment_ns = r->moment_ns < end_ns ? r->moment_ns : end_ns,
        .total = r->total,
        .peak_time_ns = r->peak_time_ns,
        .suppressed_bytes = suppress_bytes(&d->sides[which].suppress),
        .reader = d->sides[which].reader,
    };
    summary_gather(&side.sum, side.reader);
    diff_find_caveats(d, which, &side);
    return side;
}

static void diff_text(struct diff *d)
{
    struct page page;
    const struct section_diff_side before = diff_describe(d, 0), after = diff_describe(d, 1);
    screen_init(&page, &d->out);
    section_diff_head_text(&page, &before, &after);
    for (enum measure m = 0; m < MEASURE_COUNT; m++) {
        struct section_diff s = {.traces = &d->traces,
                                 .compare = &d->compare,
                                 .measure = m,
                                 .limit = d->options->has_limit ? d->options->limit : DIFF_SITES_SHOWN,
                                 .suppressed_before = before.suppressed_bytes,
                                 .suppressed_after = after.suppressed_bytes};
        if ((d->options->measures >> m & 1) == 0)
            continue;
        page_end_line(&page);
        section_diff_text(&page, &s);
    }
}

static void diff_json(struct diff *d)
{
    struct json j;
    const struct section_diff_side before = diff_describe(d, 0), after = diff_describe(d, 1);
    json_init(&j, &d->out);
    json_open_object(&j, NULL);
    json_add_text(&j, "heapwake", HEAPWAKE_VERSION, strlen(HEAPWAKE_VERSION));
    section_diff_head_json(&j, "before", &before);
    section_diff_head_json(&j, "after", &after);
    for (enum measure m = 0; m < MEASURE_COUNT; m++) {
        struct section_diff s = {.traces = &d->traces,
                                 .compare = &d->compare,
                                 .measure = m,
                                 .limit = d->options->has_limit ? d->options->limit : DIFF_JSON_SHOWN};
        if ((d->options->measures >> m & 1) != 0)
            section_diff_json(&j, &s);
    }
    json_close_object(&j);
}

static int diff_write_svg(struct diff *d, struct err *err)
{
    struct strbuf svg;
    struct flame flame;
    enum measure measure = 0;
    while ((d->options->measures >> measure & 1) == 0)
        measure++;
    strbuf_init(&svg);
    flame_init(&flame);
    int code = flame_build(&flame, &d->traces, &d->compare, measure, 0.5 / FLAME_SVG_WIDTH, err);
    if (code == 0) {
        flame_svg_add(&svg, &d->traces, &flame, measure);
        code = whole_file_write(d->options->svg, &svg, err);
    }
    flame_release(&flame);
    strbuf_release(&svg);
    return code;
}

/* On one side alone it is what is to be seen. */
static void diff_say_nothing_fits(const struct diff *d)
{
    struct metrics total = {0};
    uint64_t allocations = 0;
    for (size_t i = 0; i < 2; i++) {
        struct summary facts;
        summary_gather(&facts, d->sides[i].reader);
        allocations += i == 0 && d->is_one_file ? 0 : facts.allocations;
        measure_add(&total, &d->sides[i].result.total);
    }
    nothing_fits_say(&total, allocations);
}

static int diff_run(const struct command *self, int argc, char **argv)
{
    struct diff_options o = {.built_in = true};
    struct diff d = {.options = &o};
    struct err err;
    int status = EXIT_FAILED;
    command_bear_limits();
    err_init(&err);
    query_init(&o.queries[0]);
    query_init(&o.queries[1]);
    traces_init(&d.traces);
    diff_input_init(&d.sides[0]);
    diff_input_init(&d.sides[1]);
    compare_init(&d.compare);
    strbuf_init(&d.out);
    o.where = (struct where){.query = &o.queries[0], .other = &o.queries[1]};
    int code = options_parse(self, &o, argc, argv, NULL, &err);
    if (code == 0)
        code = diff_agree(&o, &err);
    d.traces.wrappers = o.wrappers.data;
    d.traces.wrapper_count = o.wrappers.count;
    if (code == 0)
        code = diff_read(&d, &err);
    if (code == 0 && o.svg != NULL)
        code = diff_write_svg(&d, &err);
    if (code == 0 && o.json)
        diff_json(&d);
    else if (code == 0)
        diff_text(&d);
    if (code == 0)
        wrapper_check_warn(&d.traces);
    if (code == 0 && o.queries[0].conditions > 0)
        diff_say_nothing_fits(&d);
    if (code == 0 && command_print(&d.out))
        status = EXIT_DONE;
    else if (code == ERR_USAGE)
        status = EXIT_USAGE;
    if (code != 0 && err.text[0] != '\0')
        command_say("%s", err.text);
    strbuf_release(&d.out);
    compare_release(&d.compare);
    diff_input_release(&d.sides[0]);
    diff_input_release(&d.sides[1]);
    traces_release(&d.traces);
    vec_release(&o.suppressions);
    vec_release(&o.wrappers);
    query_release(&o.queries[0]);
    query_release(&o.queries[1]);
    return status;
}

#define DIFF(member) offsetof(struct diff_options, member)

static const struct option diff_options[] = {
    {.help = "Sites are compared by what they hold at the peak and what they leak; else by one or more of"},
    {.shared = where_measures, .at = DIFF(measures)},
    {.help = "Of what, and how much of it:"},
    {.names = "-n", .argument = "N", .help = "how many sites (0 = all)", .set = diff_set_limit},
    {.names = "--svg",
     .argument = "FILE",
     .help = "a flame graph too: red is more than before, green is less",
     .set = options_set_text,
     .at = DIFF(svg)},
    {.shared = where_options, .at = DIFF(where)},
    {.names = "--wrapper",
     .argument = "FUNCTION",
     .help = "it passes malloc on, as xmalloc does: its callers are to blame",
     .set = options_add_text,
     .at = DIFF(wrappers),
     .is_list = true},
    {.names = "--suppressions",
     .argument = "FILE",
     .help = "leaks that are known, in LeakSanitizer's syntax",
     .set = options_add_text,
     .at = DIFF(suppressions),
     .is_list = true},
    {.names = "--no-built-in-suppressions",
     .help = "compare what libc, the loader and libstdc++ keep too",
     .set = options_clear_flag,
     .at = DIFF(built_in)},
    {.names = "--json", .help = "the same as JSON", .set = options_set_flag, .at = DIFF(json)},
    {0},
};

const struct command command_diff = {
    .name = "diff",
    .summary = "say what changed between two recordings, or two moments of one",
    .usage = "[OPTION...] BEFORE AFTER",
    .about = "BEFORE and AFTER are recordings, or moments of one: FILE@1.5s, FILE@30%, FILE@NAME-OF-A-MARK.",
    .options = diff_options,
    .run = diff_run,
    .take = diff_take,
};
