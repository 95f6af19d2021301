/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * check: holds a recording, or a program that it runs, against limits.
 *
 * Exit status: 0 every limit was kept, 1 one was not (or the program failed), 2 nothing
 * can be said: used wrongly, or the recording cannot be read to its end.
 */
#include "analysis/budget.h"
#include "analysis/merge_display_rows.h"
#include "cmd/check_run.h"
#include "cmd/command.h"
#include "cmd/interactive_query.h"
#include "cmd/program.h"
#include "cmd/screen.h"
#include "cmd/whole_file.h"
#include "present/caveat_text.h"
#include "present/section_check.h"
#include "present/units.h"
#include "session/caveats.h"
#include "session/diff_input.h"
#include "session/site_verdicts.h"
#include "session/summary.h"
#include "symbol/bundled_allocators.h"
#include "tool/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char check_config[] = ".heapwake.toml";

/* A limit as the command line has it: the file of limits is read before they count. */
struct check_setting {
    const char *name, *value;
};

struct check_options {
    struct budget budget;
    VEC(struct check_setting) settings;
    const char *config, *file, *output, *junit, *markdown;
    char **program; /* NULL: a recording is checked */
    bool awaits_percent, json, no_built_in;
};

/* -------------------------------------------------------------------- options */

static int check_push(struct check_options *o, const char *name, const char *value, struct err *err)
{
    if (!vec_push(&o->settings, ((struct check_setting){name, value})))
        return err_no_memory(err);
    return 0;
}

/* --max-growth-vs BASE PERCENT: the percentage is taken as an operand. */
static int check_set_growth(void *to, const struct option *option, const char *base, struct err *err)
{
    struct check_options *o = to;
    (void)option;
    o->awaits_percent = true;
    return check_push(o, "base", base, err);
}

static int check_set_limit(void *to, const struct option *option, const char *value, struct err *err)
{
    return check_push(to, option->names + 2, value, err);
}

static int check_take(void *options, char *word, struct err *err)
{
    struct check_options *o = options;
    if (o->awaits_percent) {
        o->awaits_percent = false;
        return check_push(o, "max-growth", word, err);
    }
    if (o->file != NULL)
        return err_set(err, ERR_USAGE, "One recording is checked; a program stands behind --.");
    o->file = word;
    return 0;
}

static int check_agree(const struct check_options *o, struct err *err)
{
    if (o->awaits_percent)
        return err_set(err, ERR_USAGE, "--max-growth-vs takes a recording and a percentage.");
    bool runs = o->program != NULL && o->program[0] != NULL;
    if (runs == (o->file != NULL))
        return err_set(err, ERR_USAGE,
                       "A recording or a program is checked: heapwake check [OPTION...] FILE | -- PROGRAM");
    if (!runs && program_is_one(o->file))
        return err_set(err, ERR_USAGE,
                       "%s is a program and not a recording; to run it: heapwake check --max-leak 0 -- %s%s",
                       o->file, program_prefix(o->file), o->file);
    if (o->output != NULL && !runs)
        return err_set(err, ERR_USAGE, "-o is for a program that is run; this is a recording.");
    int code = command_spare(o->file, o->junit, err);
    return code != 0 ? code : command_spare(o->file, o->markdown, err);
}

enum { CHECK_CONFIG_MAX = 1 << 20 }; /* bytes of a file of limits */

/* The file of limits first, then what the command line says. */
static int check_settle(struct check_options *o, struct err *err)
{
    int code = 0;
    if (o->config != NULL || access(check_config, F_OK) == 0) {
        const char *path = o->config != NULL ? o->config : check_config;
        char *text;
        size_t length;
        code = file_read_text(&text, &length, path, CHECK_CONFIG_MAX, err);
        if (code == 0)
            code = budget_read(&o->budget, path, text, length, err);
        free(text);
    }
    for (size_t i = 0; i < o->settings.count && code == 0; i++)
        code = budget_set(&o->budget, o->settings.data[i].name, o->settings.data[i].value, err);
    if (code != 0)
        return code;
    if (o->budget.has_growth && o->budget.base == NULL)
        return err_set(err, ERR_USAGE, "max-growth needs a base, a recording to compare with.");
    if (!budget_has_any(&o->budget))
        return err_set(err, ERR_USAGE, "No limit is given, neither as an option nor in %s.", check_config);
    return 0;
}

/* ------------------------------------------------------------------- checking */

struct check {
    struct check_options *options;
    struct interactive_query interactive;
    struct traces traces;
    struct diff_input now, base;
    struct sites sites;       /* of now, those that reports show as one row together */
    struct verdicts verdicts; /* on these, where a limit asks for them */
    struct compare compare;
    struct budget_outcome outcomes[BUDGET_COUNT];
    struct section_check section;
    struct err doubt;                       /* why its figures are not sure, if they are not */
    struct err remark;                      /* that a part of the run was not recorded */
    char folder[64], path[96], program[40]; /* of a recording that is not kept; how its program ended */
};

static bool check_is_untouched(const struct stat *before, const struct stat *after)
{
    return before->st_dev == after->st_dev && before->st_ino == after->st_ino &&
           before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == after->st_mtim.tv_nsec;
}

static int check_record(struct check *c, struct err *err)
{
    struct check_options *o = c->options;
    int status = 0;
    o->file = o->output;
    if (o->file == NULL) {
        const char *tmp = getenv("TMPDIR");
        int length = snprintf(c->folder, sizeof c->folder, "%s/heapwake-XXXXXX", tmp != NULL ? tmp : "/tmp");
        bool fits = length > 0 && (size_t)length < sizeof c->folder;
        if (!fits)
            strcpy(c->folder, "/tmp/heapwake-XXXXXX");
        if (mkdtemp(c->folder) == NULL) {
            c->folder[0] = '\0';
            return err_set(err, ERR_IO,
                           "No temporary folder can be made for the recording; -o names a file.");
        }
        snprintf(c->path, sizeof c->path, "%s/check.wake", c->folder);
        o->file = c->path;
    }
    struct stat before = {0}, after;
    (void)stat(o->file, &before);
    int code = check_run(o->program, o->file, &status, err);
    if (code == 0 && (stat(o->file, &after) != 0 || check_is_untouched(&before, &after)))
        return ERR_ABSENT; /* the recorder has said why there is nothing */
    c->section.program = check_run_describe(status, c->program, sizeof c->program);
    c->section.program_is_fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    c->section.subject = o->program[0];
    return code;
}

static int check_read_input(struct check *c, struct diff_input *input, const struct query *q,
                            const char *path, struct err *err)
{
    struct session *session;
    int code = interactive_query_open(&c->interactive, &session, &path, 1, err);
    if (code != 0)
        return code;
    diff_input_set_session(input, session);
    return diff_input_read(input, &c->interactive.ask, &c->traces, q, err);
}

static int check_compare(struct check *c, const struct query *q, struct err *err)
{
    const struct budget *b = &c->options->budget;
    int code = diff_input_suppress(&c->base, b->suppressions.data, b->suppressions.count,
                                   !c->options->no_built_in, err);
    if (code == 0)
        code = check_read_input(c, &c->base, q, b->base, err);
    if (code != 0)
        return code;
    bool same = compare_is_same_code(c->base.reader, c->now.reader);
    return compare_build(&c->compare, &c->traces, &c->base.sites, &c->now.sites, same, err);
}

static bool check_has_lives(const struct wake_reader *r)
{
    bool all = true;
    for (size_t i = 0; i < wake_reader_process_count(r); i++)
        all = all && site_verdicts_have_lives(wake_reader_process(r, i));
    return all;
}

/* On all that leak. */
static int check_judge(struct check *c, struct err *err)
{
    const struct judged judged = {c->now.session, &c->interactive.ask, &c->traces, &c->now.result};
    VEC(uint32_t) traces = {0};
    int code = 0;
    if (!check_has_lives(c->now.reader))
        return err_set(err, ERR_INPUT,
                       "%s was imported without the time of each call: whether leaks grow is not known.",
                       c->options->file);
    for (size_t i = 0; i < c->sites.list.count && code == 0; i++) {
        const struct site *site = &c->sites.list.data[i];
        if (site->m.leaked_blocks != 0 && !vec_push(&traces, site->trace))
            code = err_no_memory(err);
    }
    if (code == 0)
        code = site_verdicts_find(&judged, &c->verdicts, traces.data, traces.count, true, err);
    vec_release(&traces);
    return code;
}

static int check_read(struct check *c, struct err *err)
{
    const struct budget *b = &c->options->budget;
    struct query q;
    query_init(&q);
    interactive_query_begin(&c->interactive);
    int code = diff_input_suppress(&c->now, b->suppressions.data, b->suppressions.count,
                                   !c->options->no_built_in, err);
    if (code == 0)
        code = check_read_input(c, &c->now, &q, c->options->file, err);
    if (code == 0 && b->has_growth)
        code = check_compare(c, &q, err);
    if (code == 0)
        code = merge_display_rows_sites(&c->sites, &c->now.sites, &c->traces, MEASURE_LEAKED, false, err);
    if (code == 0 && budget_has_verdicts(b))
        code = check_judge(c, err);
    interactive_query_end(&c->interactive);
    query_release(&q);
    if (code == 0 && interactive_query_is_interrupted())
        code = err_set(err, ERR_IO, "Interrupted: limits are held against what has been read to its end.");
    if (code != 0)
        return code;
    struct section_check *s = &c->section;
    s->traces = &c->traces;
    s->sites = &c->sites;
    s->suppress = &c->now.suppress;
    s->compare = b->has_growth ? &c->compare : NULL;
    s->verdicts = budget_has_verdicts(b) ? &c->verdicts : NULL;
    s->outcomes = c->outcomes;
    s->count =
        budget_check(b, &c->sites, b->has_growth ? &c->base.sites.total : NULL, s->verdicts, c->outcomes);
    if (s->subject == NULL)
        s->subject = c->options->file;
    return 0;
}

/* ------------------------------------------------------------------ what it says */

static int check_write(struct check *c, struct err *err)
{
    const struct check_options *o = c->options;
    struct strbuf text;
    int code = 0;
    strbuf_init(&text);
    if (o->junit != NULL) {
        section_check_junit(&text, &c->section);
        code = whole_file_write(o->junit, &text, err);
    }
    strbuf_clear(&text);
    if (code == 0 && o->markdown != NULL) {
        section_check_markdown(&text, &c->section);
        code = whole_file_write(o->markdown, &text, err);
    }
    strbuf_release(&text);
    return code;
}

static bool check_print(struct check *c)
{
    struct strbuf out;
    struct page page;
    struct json j;
    strbuf_init(&out);
    if (c->options->json) {
        json_init(&j, &out);
        json_open_object(&j, NULL);
        json_add_text(&j, "heapwake", HEAPWAKE_VERSION, strlen(HEAPWAKE_VERSION));
        section_check_json(&j, &c->section);
        json_close_object(&j);
    } else {
        screen_init(&page, &out);
        section_check_text(&page, &c->section);
    }
    bool fine = command_print(&out);
    strbuf_release(&out);
    return fine;
}

/* What a recording can be trusted with. */
enum check_trust {
    CHECK_WHOLE,
    CHECK_PART,    /* of all there was: sums and peaks are that high at least */
    CHECK_NOTHING, /* it was switched off */
    CHECK_SAMPLES, /* figures are estimates */
};

static const char *const check_doubts[] = {
    [CHECK_PART] = "is not complete: what was kept is not sure. 'heapwake verify' says more.",
    [CHECK_NOTHING] =
        "was switched off and has no blocks: there is nothing that a limit could be held against.",
    [CHECK_SAMPLES] = "has samples only: its figures are estimates, which no limit can be held against. "
                      "Record without --sample.",
};

/* Reads all of it for that: totals are read without the events that they are of. */
static enum check_trust check_trust(struct wake_reader *r, const struct summary *facts, struct caveats *lacks)
{
    struct err err;
    err_init(&err);
    bool is_sound = wake_reader_verify(r, &err) == 0;
    caveats_of_reader(lacks, r);
    caveats_of_summary(lacks, facts);
    if (caveats_find(lacks, CAVEAT_SAMPLED) != NULL)
        return CHECK_SAMPLES;
    if (!is_sound || caveats_find(lacks, CAVEAT_DAMAGED) != NULL ||
        caveats_find(lacks, CAVEAT_LOST) != NULL || caveats_find(lacks, CAVEAT_UNRECORDED) != NULL ||
        wake_reader_summary(r)->goes_on)
        return CHECK_PART;
    return caveats_find(lacks, CAVEAT_OFF) != NULL && facts->allocations == 0 ? CHECK_NOTHING : CHECK_WHOLE;
}

/* Recording was switched off by somebody's wish: that part of the run is not to be judged. */
static void check_remark(struct check *c, const struct caveat *off, const char *path)
{
    struct strbuf text;
    strbuf_init(&text);
    caveat_text_add_short(&text, off);
    (void)err_set(&c->remark, ERR_INPUT, "%s was %s: limits are held against what was recorded.", path,
                  strbuf_get(&text));
    strbuf_release(&text);
    command_say("%s", c->remark.text);
}

static enum check_trust check_side(struct check *c, struct diff_input *side, const char *path)
{
    struct summary facts;
    struct caveats lacks = {0};
    if (side->reader == NULL)
        return CHECK_WHOLE;
    summary_gather(&facts, side->reader);
    enum check_trust trust = check_trust(side->reader, &facts, &lacks);
    const struct caveat *off = caveats_find(&lacks, CAVEAT_OFF);
    if (trust != CHECK_WHOLE) {
        (void)err_set(&c->doubt, ERR_INPUT, "%s %s", path, check_doubts[trust]);
        command_say("%s", c->doubt.text);
    } else if (off != NULL) {
        check_remark(c, off, path);
    }
    for (size_t i = 0; i < wake_reader_note_count(side->reader); i++) {
        const char *note = wake_reader_note(side->reader, i);
        if (side != &c->now || c->options->program == NULL || !bundled_allocators_is_note(side->reader, note))
            command_say("%s: %s", path, note);
    }
    c->section.off_ns = facts.off_ns > c->section.off_ns ? facts.off_ns : c->section.off_ns;
    c->section.remark = c->remark.text[0] != '\0' ? c->remark.text : NULL;
    c->section.doubt = c->doubt.text[0] != '\0' ? c->doubt.text : NULL;
    return trust;
}

/* A limit that a part goes beyond the whole goes beyond too. */
static bool check_is_broken(const struct check *c)
{
    for (size_t i = 0; i < c->section.count; i++) {
        enum budget_limit limit = c->outcomes[i].limit;
        if (!c->outcomes[i].is_kept && (limit == BUDGET_PEAK || limit == BUDGET_ALLOCATIONS))
            return true;
    }
    return false;
}

static int check_conclude(struct check *c, struct err *err)
{
    enum check_trust now = check_side(c, &c->now, c->section.subject);
    enum check_trust base = check_side(c, &c->base, c->options->budget.base);
    int code = check_write(c, err);
    if (code != 0)
        return EXIT_USAGE;
    if (!check_print(c))
        return EXIT_USAGE;
    if (now == CHECK_WHOLE && base == CHECK_WHOLE)
        return section_check_is_fine(&c->section) ? EXIT_DONE : EXIT_FAILED;
    bool has_failed = c->section.program != NULL && !c->section.program_is_fine;
    return has_failed || (now != CHECK_SAMPLES && check_is_broken(c)) ? EXIT_FAILED : EXIT_USAGE;
}

static void check_release(struct check *c)
{
    compare_release(&c->compare);
    sites_release(&c->sites);
    verdicts_release(&c->verdicts);
    diff_input_release(&c->now);
    diff_input_release(&c->base);
    traces_release(&c->traces);
    if (c->folder[0] != '\0') {
        unlink(c->path);
        rmdir(c->folder);
    }
    vec_release(&c->options->settings);
    budget_release(&c->options->budget);
}

static int check_main(const struct command *self, int argc, char **argv)
{
    struct check_options o = {0};
    struct check c = {.options = &o};
    struct err err;
    err_init(&err);
    budget_init(&o.budget);
    traces_init(&c.traces);
    sites_init(&c.sites);
    verdicts_init(&c.verdicts);
    diff_input_init(&c.now);
    diff_input_init(&c.base);
    compare_init(&c.compare);
    int end, code = options_parse(self, &o, argc, argv, &end, &err);
    o.program = strcmp(argv[end - 1], "--") == 0 ? argv + end : NULL;
    if (code == 0)
        code = check_agree(&o, &err);
    if (code == 0)
        code = check_settle(&o, &err);
    if (code == 0 && o.file == NULL)
        code = check_record(&c, &err);
    if (code == 0)
        code = check_read(&c, &err);
    int status = code == 0 ? check_conclude(&c, &err) : EXIT_USAGE;
    if (err.text[0] != '\0')
        command_say("%s", err.text);
    check_release(&c);
    return status;
}

#define CHECK(member) offsetof(struct check_options, member)

static const struct option check_options[] = {
    {.names = "--max-peak",
     .argument = "SIZE",
     .help = "most bytes that a process may hold at once",
     .set = check_set_limit},
    {.names = "--max-leak",
     .argument = "SIZE",
     .help = "most bytes that may be left at the end, in all",
     .set = check_set_limit},
    {.names = "--max-leak-per-site",
     .argument = "SIZE",
     .help = "the same for one site",
     .set = check_set_limit},
    {.names = "--max-leak-growing",
     .argument = "SIZE",
     .help = "the same for all sites that grow (report --verdict)",
     .set = check_set_limit},
    {.names = "--max-leak-stopped",
     .argument = "SIZE",
     .help = "the same for all sites that grew until their calls ended",
     .set = check_set_limit},
    {.names = "--max-allocations", .argument = "N", .help = "most calls", .set = check_set_limit},
    {.names = "--max-growth-vs",
     .argument = "BASE PERCENT",
     .help = "peak, leaks and calls may be so much more than in this recording",
     .set = check_set_growth},
    {.names = "--config",
     .argument = "FILE",
     .help = "limits from a file (default: .heapwake.toml, where it is there)",
     .set = options_set_text,
     .at = CHECK(config)},
    {.names = "--suppressions",
     .argument = "FILE",
     .help = "leaks that are known, in LeakSanitizer's syntax",
     .set = check_set_limit,
     .is_list = true},
    {.names = "--no-built-in-suppressions",
     .help = "what libc, the loader and libstdc++ keep are leaks too",
     .set = options_set_flag,
     .at = CHECK(no_built_in)},
    {.names = "--junit",
     .argument = "FILE",
     .help = "the outcome as JUnit's XML too",
     .set = options_set_text,
     .at = CHECK(junit)},
    {.names = "--markdown",
     .argument = "FILE",
     .help = "the outcome as Markdown too",
     .set = options_set_text,
     .at = CHECK(markdown)},
    {.names = "-o, --output",
     .argument = "FILE",
     .help = "keep the recording of the program",
     .set = options_set_text,
     .at = CHECK(output)},
    {.names = "--json", .help = "the outcome as JSON", .set = options_set_flag, .at = CHECK(json)},
    {0},
};

const struct command command_check = {
    .name = "check",
    .summary = "hold a recording or a program against limits, for continuous integration",
    .usage = "[OPTION...] FILE\n[OPTION...] -- PROGRAM [ARGUMENT...]",
    .options = check_options,
    .notes =
        "Exit status: 0 every limit was kept, 1 one was not or the program failed, 2 nothing can be said.",
    .operands = OPERANDS_RECORDING_OR_PROGRAM,
    .run = check_main,
    .take = check_take,
};
