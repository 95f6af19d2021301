/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_options: see report_options.h.  One table names all options.
 */
#include "cmd/report_options.h"

#include "cmd/command.h"
#include "cmd/duplicates.h"
#include "cmd/guess.h"
#include "cmd/newest.h"
#include "cmd/where.h"
#include "query/drift.h"
#include "query/parse.h"
#include "query/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef int report_option_fn(struct report_options *o, const char *value, struct err *err);

static int report_option_shape(struct report_options *o, enum report_shape shape, struct err *err)
{
    if (o->shape != REPORT_SITES)
        return err_set(err, ERR_USAGE,
                       "Only one of --by, --tree, --top-down, --callers and --callees can be.");
    o->shape = shape;
    return 0;
}

static int report_option_by(struct report_options *o, const char *value, struct err *err)
{
    o->by = rollup_by_find(value);
    if (o->by == ROLLUP_NONE)
        return err_set(err, ERR_USAGE,
                       "--by takes function, line, module, file, thread, kind or process, not '%s'.", value);
    o->query.each_peak = o->by == ROLLUP_PROCESS;
    o->query.split = o->by == ROLLUP_THREAD ? SPLIT_THREAD : o->by == ROLLUP_KIND ? SPLIT_KIND : SPLIT_NONE;
    return report_option_shape(o, REPORT_GROUPS, err);
}

static int report_option_tree(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    o->way = TREE_CALLERS;
    return report_option_shape(o, REPORT_TREE, err);
}

static int report_option_top_down(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    o->way = TREE_CALLEES;
    return report_option_shape(o, REPORT_TREE, err);
}

static int report_option_callers(struct report_options *o, const char *value, struct err *err)
{
    o->root = value;
    return report_option_tree(o, value, err);
}

static int report_option_callees(struct report_options *o, const char *value, struct err *err)
{
    o->root = value;
    return report_option_top_down(o, value, err);
}

static int report_option_limit(struct report_options *o, const char *value, struct err *err)
{
    char *end;
    errno = 0;
    unsigned long limit = strtoul(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0)
        return err_set(err, ERR_USAGE, "-n takes a number (0 = all), not '%s'.", value);
    o->limit = limit;
    o->has_limit = true;
    return 0;
}

static int report_option_threshold(struct report_options *o, const char *value, struct err *err)
{
    double percent;
    if (!quantity_share(value, &percent) || percent > 100)
        return err_set(err, ERR_USAGE, "--threshold takes a percentage from 0 to 100, not '%s'.", value);
    o->threshold = percent / 100;
    o->has_threshold = true;
    return 0;
}

/* The moment of the lists of blocks, which mappings may stand beside. */
static int report_option_moment(struct report_options *o, const char *value, struct err *err)
{
    const char *before = o->query.key_of_blocks;
    int code = where_set(&o->query, "at", value, err);
    o->query.key_of_blocks = before;
    return code;
}

static int report_option_at(struct report_options *o, const char *value, struct err *err)
{
    o->measures |= 1u << MEASURE_LIVE;
    return report_option_moment(o, value, err);
}

static int report_option_since(struct report_options *o, const char *value, struct err *err)
{
    struct query q = o->query; /* for the words that a moment is given in */
    q.moment = (struct query_time){0};
    memset(q.given, 0, sizeof q.given);
    int code = query_parse(&q, "at", value, err);
    o->query.arena = q.arena;
    o->since = q.moment;
    o->since_text = value;
    o->changes = true;
    return code;
}

static int report_option_until(struct report_options *o, const char *value, struct err *err)
{
    o->until_text = value;
    o->changes = true;
    return report_option_moment(o, value, err);
}

static int report_option_depth(struct report_options *o, const char *value, struct err *err)
{
    char *end;
    unsigned long depth = strtoul(value, &end, 10);
    if (value[0] < '1' || value[0] > '9' || *end != '\0' || depth > DRIFT_DEPTH_MAX)
        return err_set(err, ERR_USAGE, "--depth takes a number from 1 to %d, not '%s'.", DRIFT_DEPTH_MAX,
                       value);
    o->depth = (uint32_t)depth;
    return 0;
}

static int report_option_histogram(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->histograms = true;
    o->query.want |= WANT_HISTOGRAMS;
    return 0;
}

static int report_option_verdict(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->verdicts = true;
    return 0;
}

static int report_option_details(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->details = true;
    o->query.want |= WANT_DETAIL | WANT_MEDIAN;
    return 0;
}

static int report_option_misuse(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->misuse = true;
    return 0;
}

static int report_option_advice(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->advice = true;
    return 0;
}

static int report_option_without(struct report_options *o, const char *value, struct err *err)
{
    return what_if_add(&o->what_if, value, err);
}

static int report_option_earlier(struct report_options *o, const char *value, struct err *err)
{
    o->what_if.has_earlier = true;
    if (!quantity_duration(value, &o->what_if.earlier_ns))
        return err_set(err, ERR_USAGE, "--earlier takes a time such as 5s, not '%s'.", value);
    return 0;
}

static int report_option_maps(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->maps = true;
    return 0;
}

static int report_option_sort(struct report_options *o, const char *value, struct err *err)
{
    o->has_sort = true;
    for (o->sort = 0; o->sort < MAPS_SORTS; o->sort++) {
        if (strcmp(value, maps_sort_name(o->sort)) == 0)
            return 0;
    }
    return err_set(err, ERR_USAGE, "--sort takes peak-rss, size, time or address, not '%s'.", value);
}

static int report_option_reverse(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->is_reverse = true;
    return 0;
}

static int report_option_pools(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->pools = true;
    return 0;
}

static int report_option_include(struct report_options *o, const char *value, struct err *err)
{
    strbuf_add(&o->conditions, "--include", sizeof "--include");
    strbuf_add(&o->conditions, value, strlen(value) + 1);
    return sieve_add(&o->sieve, value, false, err);
}

static int report_option_exclude(struct report_options *o, const char *value, struct err *err)
{
    strbuf_add(&o->conditions, "--exclude", sizeof "--exclude");
    strbuf_add(&o->conditions, value, strlen(value) + 1);
    return sieve_add(&o->sieve, value, true, err);
}

static int report_option_suppressions(struct report_options *o, const char *value, struct err *err)
{
    if (!vec_push(&o->suppressions, value))
        return err_set(err, ERR_MEMORY, "There is no memory for the options.");
    return 0;
}

static int report_option_wrapper(struct report_options *o, const char *value, struct err *err)
{
    if (!vec_push(&o->wrappers, value))
        return err_set(err, ERR_MEMORY, "There is no memory for the options.");
    return 0;
}

static int report_option_no_built_in(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->built_in = false;
    return 0;
}

static int report_option_worst(struct report_options *o, const char *value, struct err *err)
{
    o->worst = worst_find(value);
    if (o->worst == WORST_NONE)
        return err_set(err, ERR_USAGE, "--worst takes rss, peak or leaked, not '%s'.", value);
    return 0;
}

static int report_option_json(struct report_options *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    o->json = true;
    return 0;
}

static const struct {
    const char *name;
    enum { REPORT_SWITCH, REPORT_ONE, REPORT_LIST } takes; /* no value, one, or one each time */
    report_option_fn *set;
    enum measure measure; /* that is asked for, where there is no function */
} report_option_list[] = {
    {"--json", REPORT_SWITCH, report_option_json, 0},
    {"--worst", REPORT_ONE, report_option_worst, 0},
    {"--leaks", REPORT_SWITCH, NULL, MEASURE_LEAKED},
    {"--peak", REPORT_SWITCH, NULL, MEASURE_PEAK},
    {"--allocated", REPORT_SWITCH, NULL, MEASURE_ALLOCATED},
    {"--calls", REPORT_SWITCH, NULL, MEASURE_CALLS},
    {"--temporary", REPORT_SWITCH, NULL, MEASURE_TEMPORARY},
    {"--at", REPORT_ONE, report_option_at, 0},
    {"--since", REPORT_ONE, report_option_since, 0},
    {"--until", REPORT_ONE, report_option_until, 0},
    {"--depth", REPORT_ONE, report_option_depth, 0},
    {"--histogram", REPORT_SWITCH, report_option_histogram, 0},
    {"--verdict", REPORT_SWITCH, report_option_verdict, 0},
    {"--details", REPORT_SWITCH, report_option_details, 0},
    {"--misuse", REPORT_SWITCH, report_option_misuse, 0},
    {"--advice", REPORT_SWITCH, report_option_advice, 0},
    {"--without", REPORT_LIST, report_option_without, 0},
    {"--earlier", REPORT_ONE, report_option_earlier, 0},
    {"--maps", REPORT_SWITCH, report_option_maps, 0},
    {"--sort", REPORT_ONE, report_option_sort, 0},
    {"--reverse", REPORT_SWITCH, report_option_reverse, 0},
    {"--pools", REPORT_SWITCH, report_option_pools, 0},
    {"--by", REPORT_ONE, report_option_by, 0},
    {"--tree", REPORT_SWITCH, report_option_tree, 0},
    {"--top-down", REPORT_SWITCH, report_option_top_down, 0},
    {"--callers", REPORT_ONE, report_option_callers, 0},
    {"--callees", REPORT_ONE, report_option_callees, 0},
    {"-n", REPORT_ONE, report_option_limit, 0},
    {"--threshold", REPORT_ONE, report_option_threshold, 0},
    {"--include", REPORT_LIST, report_option_include, 0},
    {"--exclude", REPORT_LIST, report_option_exclude, 0},
    {"--suppressions", REPORT_LIST, report_option_suppressions, 0},
    {"--wrapper", REPORT_LIST, report_option_wrapper, 0},
    {"--no-built-in-suppressions", REPORT_SWITCH, report_option_no_built_in, 0},
};

/* Takes the option at argv[*at].  0, or why not. */
static int report_options_take(struct report_options *o, char **argv, int *at, struct err *err)
{
    for (size_t i = 0; i < sizeof report_option_list / sizeof *report_option_list; i++) {
        const char *value = NULL, *name = report_option_list[i].name;
        if (!command_option(argv, at, name, report_option_list[i].takes == REPORT_SWITCH ? NULL : &value))
            continue;
        if (report_option_list[i].takes == REPORT_ONE && once_note(&o->once, name, err) != 0)
            return err->code;
        if (value != NULL && value[0] == '\0')
            return err_set(err, ERR_USAGE, "%s needs a value; 'heapwake help report' says which.", name);
        if (report_option_list[i].set != NULL)
            return report_option_list[i].set(o, value, err);
        o->measures |= 1u << report_option_list[i].measure;
        return 0;
    }
    bool has_moment = o->query.moment.when != WHEN_UNSET;
    if (where_take(&o->query, argv, at, &o->conditions, err)) {
        if (!has_moment && o->query.moment.when != WHEN_UNSET) /* at=TIME is --at TIME */
            o->measures |= 1u << MEASURE_LIVE;
        return err->code;
    }
    return guess_option("report", argv[*at], err);
}

/* A recording, or a pattern that the shell has left alone. */
static int report_options_add_file(struct report_options *o, const char *name, struct err *err)
{
    struct stat st;
    size_t before = o->globbed.gl_pathc;
    if (strpbrk(name, "*?[") == NULL || lstat(name, &st) == 0) {
        if (!vec_push(&o->files, name))
            return err_set(err, ERR_MEMORY, "There is no memory for the options.");
        return 0;
    }
    int code = glob(name, before == 0 ? 0 : GLOB_APPEND, NULL, &o->globbed);
    if (code == GLOB_NOMATCH)
        return err_set(err, ERR_ABSENT, "No file is named like '%s'.", name);
    if (code != 0)
        return err_set(err, ERR_IO, "The files named like '%s' cannot be listed.", name);
    for (size_t i = before; i < o->globbed.gl_pathc; i++)
        if (!vec_push(&o->files, o->globbed.gl_pathv[i]))
            return err_set(err, ERR_MEMORY, "There is no memory for the options.");
    return 0;
}

static int report_options_ask_for_file(struct err *err)
{
    struct strbuf newest;
    strbuf_init(&newest);
    bool found = newest_find(&newest);
    int code = err_set(err, ERR_USAGE, "No recording given: heapwake report [OPTION...] FILE...%s%s%s",
                       found ? "; the newest here is " : "", strbuf_get(&newest), found ? "." : "");
    strbuf_release(&newest);
    return code;
}

bool report_options_list_blocks(const struct report_options *o)
{
    return !o->maps || o->measures != 0 || o->shape != REPORT_SITES || o->histograms || o->changes;
}

/* How much is shown goes with what is shown. */
static int report_options_agree_on_length(const struct report_options *o, bool has_more, struct err *err)
{
    bool has_lists = o->changes || o->measures != 0 || o->shape != REPORT_SITES || !has_more;
    bool has_rows = has_lists && o->shape != REPORT_TREE;
    if (o->has_threshold && !has_lists)
        return err_set(err, ERR_USAGE, "--threshold is about sites, groups and trees; none are asked for.");
    bool leaves_out = o->has_limit && (o->limit != 0 || o->shape == REPORT_TREE);
    if (leaves_out && !has_rows && !o->advice && !o->maps && !o->pools)
        return err_set(err, ERR_USAGE, "-n is about lists; %s.",
                       o->shape == REPORT_TREE ? "of a tree --threshold says how much is shown"
                                               : "none is asked for");
    return 0;
}

/* A window goes with what it changes. */
static int report_options_agree_on_window(const struct report_options *o, struct err *err)
{
    bool is_of_moments = o->changes || o->measures == 1u << MEASURE_LIVE;
    bool has_more = o->histograms || o->maps || o->details;
    if (!is_of_moments || has_more || o->since.when == WHEN_PEAK_RSS)
        return 0;
    return where_suits_moment(&o->query, o->query.moment.when == WHEN_UNSET, err);
}

static int report_options_agree_on_temporaries(const struct report_options *o, bool has_more, struct err *err)
{
    bool is_screen = o->measures == 0 && o->shape == REPORT_SITES && !o->changes && !has_more;
    return where_suits_temporaries(&o->query, is_screen || (o->measures & 1u << MEASURE_TEMPORARY) != 0, err);
}

/* Whether the options go with each other. */
static int report_options_agree(const struct report_options *o, struct err *err)
{
    if (o->what_if.has_earlier && o->what_if.without.count == 0)
        return err_set(err, ERR_USAGE, "--earlier needs --without, which says what would be freed earlier.");
    bool has_more =
        o->histograms || o->misuse || o->advice || o->maps || o->pools || o->what_if.without.count > 0;
    if (o->changes && (o->measures != 0 || o->shape != REPORT_SITES || has_more))
        return err_set(err, ERR_USAGE,
                       "--since and --until make a list of their own; no other can be with it.");
    const char *condition =
        o->sieve.rules.count != 0 ? "--include and --exclude" : query_find_condition(&o->query);
    if (condition != NULL && (o->misuse || o->advice || o->pools || o->what_if.without.count > 0))
        return err_set(err, ERR_USAGE,
                       "%s is about all blocks of a process: it does not go with %s; --pid does.",
                       o->misuse   ? "--misuse"
                       : o->advice ? "--advice"
                       : o->pools  ? "--pools"
                                   : "--without",
                       condition);
    if (o->verdicts && o->shape != REPORT_SITES)
        return err_set(err, ERR_USAGE, "--verdict is about sites; groups and trees have none.");
    if (o->verdicts && (o->measures & (1u << MEASURE_PEAK | 1u << MEASURE_LEAKED)) == 0)
        return err_set(err, ERR_USAGE,
                       "--verdict is about what is held at the peak or leaked: --peak, --leaks.");
    if (o->details && o->shape != REPORT_SITES)
        return err_set(err, ERR_USAGE, "--details is about sites; groups and trees have none.");
    if (o->depth != 0 && !o->changes)
        return err_set(err, ERR_USAGE, "--depth goes with --since or --until.");
    if ((o->has_sort || o->is_reverse) && !o->maps)
        return err_set(err, ERR_USAGE, "--sort and --reverse go with --maps.");
    if (report_options_agree_on_length(o, has_more, err) != 0 ||
        report_options_agree_on_window(o, err) != 0 ||
        report_options_agree_on_temporaries(o, has_more, err) != 0)
        return ERR_USAGE;
    int code = o->maps ? query_suits_mappings(&o->query, err) : 0;
    return code == 0 && report_options_list_blocks(o) ? query_suits_blocks(&o->query, err) : code;
}

int report_options_init(struct report_options *o, int argc, char **argv, struct err *err)
{
    bool options_end = false;
    memset(o, 0, sizeof *o);
    sieve_init(&o->sieve);
    what_if_init(&o->what_if);
    query_init(&o->query);
    strbuf_init(&o->conditions);
    o->built_in = true;
    for (int i = 1; i < argc; i++) {
        int code = 0;
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = true;
        else if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0')
            code = report_options_take(o, argv, &i, err);
        else
            code = report_options_add_file(o, argv[i], err);
        if (code != 0)
            return code;
    }
    if (o->files.count == 0)
        return report_options_ask_for_file(err);
    o->files.count = duplicates_drop(o->files.data, o->files.count);
    if (o->verdicts && o->measures == 0)
        o->measures = 1u << MEASURE_PEAK | 1u << MEASURE_LEAKED;
    if (o->details && o->measures == 0)
        o->measures = 1u << MEASURE_ALLOCATED;
    int code = report_options_agree(o, err);
    bool is_open = o->query.moment.when == WHEN_UNSET && o->query.to.when == WHEN_UNSET;
    return code == 0 && o->changes && is_open ? report_option_moment(o, "end", err) : code;
}

void report_options_release(struct report_options *o)
{
    vec_release(&o->files);
    if (o->globbed.gl_pathc != 0)
        globfree(&o->globbed);
    vec_release(&o->suppressions);
    vec_release(&o->wrappers);
    strbuf_release(&o->conditions);
    sieve_release(&o->sieve);
    what_if_release(&o->what_if);
    query_release(&o->query);
}
