/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_options: see report_options.h.
 */
#include "cmd/report_options.h"

#include "analysis/moment_diff.h"
#include "cmd/command.h"
#include "cmd/duplicates.h"
#include "cmd/newest.h"
#include "engine/parse.h"
#include "engine/quantity.h"
#include "present/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int report_option_shape(struct report_options *o, enum report_shape shape, struct err *err)
{
    if (o->shape != REPORT_SITES)
        return err_set(
            err, ERR_USAGE,
            "--by, --tree, --top-down, --callers, --callees, --style and --blocks are mutually exclusive.");
    o->shape = shape;
    return 0;
}

static int report_option_by(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    o->by = rollup_by_find(value);
    if (o->by == ROLLUP_NONE)
        return err_set(err, ERR_USAGE,
                       "--by takes function, line, module, file, thread, kind or process, not '%s'.", value);
    o->query.each_peak = o->by == ROLLUP_PROCESS;
    o->query.split = o->by == ROLLUP_THREAD ? SPLIT_THREAD : o->by == ROLLUP_KIND ? SPLIT_KIND : SPLIT_NONE;
    return report_option_shape(o, REPORT_GROUPS, err);
}

static int report_option_tree(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    (void)value;
    o->way = TREE_CALLERS;
    return report_option_shape(o, REPORT_TREE, err);
}

static int report_option_blocks(void *to, const struct option *option, const char *value, struct err *err)
{
    (void)option;
    (void)value;
    return report_option_shape(to, REPORT_BLOCKS, err);
}

/* It is a tree; --tree may be given too. */
static int report_option_style(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    if (strcmp(value, "memtrail") != 0)
        return err_set(err, ERR_USAGE, "--style takes memtrail, not '%s'.", value);
    o->memtrail = true;
    return 0;
}

static int report_option_bytes(void *to, const struct option *option, const char *value, struct err *err)
{
    (void)to;
    (void)option;
    (void)value;
    (void)err;
    units_show_bytes();
    return 0;
}

static int report_option_top_down(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    (void)value;
    o->way = TREE_CALLEES;
    return report_option_shape(o, REPORT_TREE, err);
}

static int report_option_callers(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    o->root = value;
    return report_option_tree(o, option, value, err);
}

static int report_option_callees(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    o->root = value;
    return report_option_top_down(o, option, value, err);
}

static int report_option_limit(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    char *end;
    errno = 0;
    unsigned long limit = strtoul(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0)
        return err_set(err, ERR_USAGE, "-n takes a number (0 = all), not '%s'.", value);
    o->limit = limit;
    o->has_limit = true;
    return 0;
}

static int report_option_threshold(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
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

static int report_option_at(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    return report_option_moment(o, value, err);
}

static int report_option_since(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
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

static int report_option_until(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    o->until_text = value;
    o->changes = true;
    return report_option_moment(o, value, err);
}

static int report_option_depth(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    char *end;
    unsigned long depth = strtoul(value, &end, 10);
    if (value[0] < '1' || value[0] > '9' || *end != '\0' || depth > DRIFT_DEPTH_MAX)
        return err_set(err, ERR_USAGE, "--depth takes a number from 1 to %d, not '%s'.", DRIFT_DEPTH_MAX,
                       value);
    o->depth = (uint32_t)depth;
    return 0;
}

static int report_option_histogram(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    (void)value;
    (void)err;
    o->histograms = true;
    o->query.want |= WANT_HISTOGRAMS;
    return 0;
}

static int report_option_details(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    (void)value;
    (void)err;
    o->details = true;
    o->query.want |= WANT_DETAIL | WANT_MEDIAN;
    return 0;
}

static int report_option_without(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    return what_if_add(&o->what_if, value, err);
}

static int report_option_earlier(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    o->what_if.has_earlier = true;
    if (!quantity_duration(value, &o->what_if.earlier_ns))
        return err_set(err, ERR_USAGE, "--earlier takes a time such as 5s, not '%s'.", value);
    return 0;
}

static int report_option_sort(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    o->has_sort = true;
    for (o->sort = 0; o->sort < MAPS_SORTS; o->sort++) {
        if (strcmp(value, maps_sort_name(o->sort)) == 0)
            return 0;
    }
    return err_set(err, ERR_USAGE, "--sort takes peak-rss, size, time or address, not '%s'.", value);
}

static int report_option_include(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    strbuf_add(&o->conditions, "--include", sizeof "--include");
    strbuf_add(&o->conditions, value, strlen(value) + 1);
    return stack_filter_add(&o->sieve, value, false, err);
}

static int report_option_exclude(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    strbuf_add(&o->conditions, "--exclude", sizeof "--exclude");
    strbuf_add(&o->conditions, value, strlen(value) + 1);
    return stack_filter_add(&o->sieve, value, true, err);
}

static int report_option_worst(void *to, const struct option *option, const char *value, struct err *err)
{
    struct report_options *o = to;
    (void)option;
    o->worst = worst_find(value);
    if (o->worst == WORST_NONE)
        return err_set(err, ERR_USAGE, "--worst takes rss, peak or leaked, not '%s'.", value);
    return 0;
}

static void report_add_fields(struct strbuf *words)
{
    strbuf_add_text(words, "function~\nsource~\nmodule~\n");
}

#define REPORT(member) offsetof(struct report_options, member)

const struct option report_options_table[] = {
    {.help = "In depth, one or more of:"},
    {.shared = where_measures, .at = REPORT(measures)},
    {.names = "--at",
     .argument = "TIME",
     .help = "what was live then: 1.5s, 30%, peak-rss or the name of a mark",
     .set = report_option_at},
    {.names = "--since",
     .argument = "TIME",
     .help = "how what is live has changed since then, by site and signed",
     .set = report_option_since},
    {.names = "--until",
     .argument = "TIME",
     .help = "how what is live has changed until then",
     .set = report_option_until},
    {.names = "--depth",
     .argument = "N",
     .help = "with --since or --until: tell sites apart by their N innermost frames alone",
     .set = report_option_depth},
    {.names = "--verdict",
     .help = "whether they grow without bound, grew until their calls ended, are bounded, freed only at "
             "exit, made once",
     .set = options_set_flag,
     .at = REPORT(verdicts)},
    {.names = "--details",
     .help = "how long blocks lived, how much larger they are than asked for, calls a second",
     .set = report_option_details},
    {.names = "--misuse",
     .help = "double frees, frees of what was never allocated, new with free",
     .set = options_set_flag,
     .at = REPORT(misuse)},
    {.names = "--advice",
     .help = "what could be saved: growth by realloc, temporaries, tiny blocks ...",
     .set = options_set_flag,
     .at = REPORT(advice)},
    {.names = "--without",
     .argument = "FIELD~REGEX",
     .help = "the peak if these had not been allocated; FIELD: function, source, module",
     .set = report_option_without,
     .is_list = true,
     .add_words = report_add_fields},
    {.names = "--earlier",
     .argument = "TIME",
     .help = "with --without: if they had been freed so much earlier",
     .set = report_option_earlier},
    {.names = "--histogram",
     .help = "how large blocks are and how long they live",
     .set = report_option_histogram},
    {.names = "--maps",
     .help = "mappings: who made, cut and removed them, what is left; what of them was in memory, if "
             "recorded with "
             "--map-usage; filters are then about mappings",
     .set = options_set_flag,
     .at = REPORT(maps)},
    {.names = "--sort",
     .argument = "peak-rss|size|time|address",
     .help = "the order of mappings",
     .set = report_option_sort},
    {.names = "--reverse",
     .help = "mappings the other way round",
     .set = options_set_flag,
     .at = REPORT(is_reverse)},
    {.names = "--pools",
     .help = "what pools of the program's own hold (heapwake.h)",
     .set = options_set_flag,
     .at = REPORT(pools)},
    {.help = "as a list of sites, or"},
    {.names = "--by",
     .argument = "function|line|module|file|thread|kind|process",
     .help = "in groups",
     .set = report_option_by},
    {.names = "--tree", .help = "callers below the functions that allocate", .set = report_option_tree},
    {.names = "--top-down",
     .help = "callees below the functions that call them",
     .set = report_option_top_down},
    {.names = "--callers",
     .argument = "F",
     .help = "the callers of one function",
     .set = report_option_callers},
    {.names = "--callees",
     .argument = "F",
     .help = "the callees of one function",
     .set = report_option_callees},
    {.names = "--style",
     .argument = "memtrail",
     .help = "the tree as memtrail prints it",
     .set = report_option_style},
    {.names = "--blocks",
     .help = "leaked blocks one by one: address, time, thread, whole stack",
     .set = report_option_blocks},
    {.help = "Of what, and how much of it:"},
    {.names = "--worst",
     .argument = "rss|peak|leaked",
     .help = "of several recordings only the one with the most of it",
     .set = report_option_worst},
    {.names = "-n",
     .argument = "N",
     .help = "how many sites, groups or blocks (0 = all)",
     .set = report_option_limit},
    {.names = "--threshold",
     .argument = "PERCENT",
     .help = "leave out what is less than this share of the total",
     .set = report_option_threshold},
    {.shared = where_options, .at = REPORT(where)},
    {.names = "--include",
     .argument = "REGEX",
     .help = "only stacks in which a function, file or module matches",
     .set = report_option_include,
     .is_list = true},
    {.names = "--exclude",
     .argument = "REGEX",
     .help = "no stacks in which one does",
     .set = report_option_exclude,
     .is_list = true},
    {.names = "--wrapper",
     .argument = "FUNCTION",
     .help = "it passes malloc on, as xmalloc does: its callers are to blame",
     .set = options_add_text,
     .at = REPORT(wrappers),
     .is_list = true},
    {.names = "--suppressions",
     .argument = "FILE",
     .help = "leaks that are known, in LeakSanitizer's syntax",
     .set = options_add_text,
     .at = REPORT(suppressions),
     .is_list = true},
    {.names = "--no-built-in-suppressions",
     .help = "show what libc, the loader and libstdc++ keep as leaks too",
     .set = options_clear_flag,
     .at = REPORT(built_in)},
    {.names = "--bytes", .help = "exact bytes, not KiB, MiB and so on", .set = report_option_bytes},
    {.names = "--json", .help = "the same as JSON", .set = options_set_flag, .at = REPORT(json)},
    {0},
};

/* A recording, or a pattern that the shell has left alone. */
int report_options_take(void *to, char *name, struct err *err)
{
    struct report_options *o = to;
    struct stat st;
    size_t before = o->globbed.gl_pathc;
    if (strpbrk(name, "*?[") == NULL || lstat(name, &st) == 0) {
        if (!vec_push(&o->files, name))
            return err_no_memory(err);
        return 0;
    }
    int code = glob(name, before == 0 ? 0 : GLOB_APPEND, NULL, &o->globbed);
    if (code == GLOB_NOMATCH)
        return err_set(err, ERR_ABSENT, "No file is named like '%s'.", name);
    if (code != 0)
        return err_set(err, ERR_IO, "The files named like '%s' cannot be listed.", name);
    for (size_t i = before; i < o->globbed.gl_pathc; i++)
        if (!vec_push(&o->files, o->globbed.gl_pathv[i]))
            return err_no_memory(err);
    return 0;
}

static int report_options_take_newest(struct report_options *o, struct err *err)
{
    if (!newest_find(&o->newest))
        return err_set(err, ERR_USAGE, "No recording given: heapwake report [OPTION...] FILE...");
    if (!vec_push(&o->files, strbuf_get(&o->newest)))
        return err_no_memory(err);
    return 0;
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
    if (o->has_threshold && o->shape == REPORT_BLOCKS)
        return err_set(err, ERR_USAGE,
                       "--threshold is about sites, groups and trees, not --blocks; -n says how many.");
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

/* Forms that not everything can be shown in. */
static int report_options_agree_on_form(const struct report_options *o, bool has_more, struct err *err)
{
    unsigned by_blocks = 1u << MEASURE_CALLS | 1u << MEASURE_TEMPORARY;
    bool is_alone = !has_more && !o->changes && !o->verdicts && !o->details;
    if (o->shape == REPORT_BLOCKS && (o->measures != 1u << MEASURE_LEAKED || !is_alone))
        return err_set(err, ERR_USAGE, "--blocks lists leaked blocks and goes with --leaks alone.");
    if (o->memtrail && (o->shape != REPORT_TREE || !is_alone || o->json))
        return err_set(err, ERR_USAGE,
                       "--style memtrail is a text tree and goes with no other form of report.");
    if (o->memtrail && (o->measures & by_blocks) != 0)
        return err_set(err, ERR_USAGE, "--style memtrail shows bytes, not --calls and --temporary.");
    return 0;
}

/* Whether the options go with each other. */
static int report_options_agree(const struct report_options *o, struct err *err)
{
    if (o->what_if.has_earlier && o->what_if.without.count == 0)
        return err_set(err, ERR_USAGE, "--earlier needs --without, which says what would be freed earlier.");
    bool has_more =
        o->histograms || o->misuse || o->advice || o->maps || o->pools || o->what_if.without.count > 0;
    if (report_options_agree_on_form(o, has_more, err) != 0)
        return ERR_USAGE;
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

int report_options_init(struct report_options *o, const struct command *self, int argc, char **argv,
                        struct err *err)
{
    memset(o, 0, sizeof *o);
    stack_filter_init(&o->sieve);
    what_if_init(&o->what_if);
    query_init(&o->query);
    strbuf_init(&o->conditions);
    strbuf_init(&o->newest);
    o->where = (struct where){.query = &o->query, .said = &o->conditions};
    o->built_in = true;
    int code = options_parse(self, o, argc, argv, NULL, err);
    if (code != 0)
        return code;
    if (o->until_text == NULL && o->query.moment.when != WHEN_UNSET) /* --at TIME, --where at=TIME */
        o->measures |= 1u << MEASURE_LIVE;
    if (o->files.count == 0 && report_options_take_newest(o, err) != 0)
        return err->code;
    o->files.count = duplicates_drop(o->files.data, o->files.count);
    if (o->verdicts && o->measures == 0)
        o->measures = 1u << MEASURE_PEAK | 1u << MEASURE_LEAKED;
    if (o->details && o->measures == 0)
        o->measures = 1u << MEASURE_ALLOCATED;
    if (o->shape == REPORT_BLOCKS && o->measures == 0)
        o->measures = 1u << MEASURE_LEAKED;
    if (o->memtrail && o->shape == REPORT_SITES)
        o->shape = REPORT_TREE; /* callers below, as o->way is */
    if (o->memtrail && o->measures == 0)
        o->measures = 1u << MEASURE_PEAK | 1u << MEASURE_LEAKED;
    code = report_options_agree(o, err);
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
    strbuf_release(&o->newest);
    stack_filter_release(&o->sieve);
    what_if_release(&o->what_if);
    query_release(&o->query);
}
