/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report: the answers.  Without options one screen: the figures, the heap over
 * time, and the sites that held most at the peak, leaked most, were called most
 * and churned most.  With options one of these in depth, as a list, in groups or
 * as a tree.
 *
 * Several recordings are taken together: sites of all their processes add up,
 * and the peak is that of the process with the highest.
 */
#include "analysis/merge_display_rows.h"
#include "cmd/command.h"
#include "cmd/nothing_fits.h"
#include "cmd/report_blocks.h"
#include "cmd/report_data.h"
#include "cmd/report_findings.h"
#include "cmd/report_options.h"
#include "cmd/screen.h"
#include "cmd/wrapper_check.h"
#include "present/labels.h"
#include "present/memtrail.h"
#include "present/section_groups.h"
#include "present/section_head.h"
#include "present/section_histogram.h"
#include "present/section_moment_diff.h"
#include "present/section_pools.h"
#include "present/section_sites.h"
#include "present/section_timeline.h"
#include "present/section_tree.h"
#include "present/units.h"
#include "session/site_verdicts.h"
#include "store/reader.h"

#include <string.h>

enum {
    REPORT_BRIEF_SITES = 3, /* in each list of the default screen */
    REPORT_SITES_SHOWN = 10,
    REPORT_GROUPS_SHOWN = 20,
    REPORT_JSON_SHOWN = 1000,
};

static const enum measure report_default[] = {MEASURE_PEAK, MEASURE_LEAKED, MEASURE_CALLS, MEASURE_TEMPORARY};

struct report {
    const struct report_options *options;
    struct report_data data;
    struct strbuf head,
        out; /* the head is written last: what is wrong with a recording shows as it is read */
    struct page page;
    struct json json;
    bool is_cut; /* memtrail's form left out frames */
};

/* The measures to show, in the order of the screen. */
static size_t report_measures(const struct report_options *o, enum measure *list)
{
    size_t count = 0;
    if (o->measures == 0 && o->shape == REPORT_SITES) {
        memcpy(list, report_default, sizeof report_default);
        return sizeof report_default / sizeof *report_default;
    }
    for (enum measure m = 0; m < MEASURE_COUNT; m++) {
        if ((o->measures >> m & 1) != 0)
            list[count++] = m;
    }
    if (count == 0)
        list[count++] = MEASURE_PEAK;
    return count;
}

static size_t report_limit(const struct report_options *o, size_t usual)
{
    return o->has_limit ? o->limit : o->json ? REPORT_JSON_SHOWN : usual;
}

static bool report_is_judged(enum measure measure)
{
    return measure == MEASURE_PEAK || measure == MEASURE_LEAKED;
}

/* *shown: the sites in their order; on a page those that look the same are one, in `folded`, which is released by the
 * caller in any case. */
static int report_order(const struct report *r, struct sites *sites, enum measure measure,
                        struct sites *folded, struct sites **shown, struct err *err)
{
    sites_init(folded);
    *shown = r->options->json ? sites : folded;
    if (!r->options->json)
        return merge_display_rows_sites(folded, sites, &r->data.traces, measure, r->options->measures == 0,
                                        err);
    sites_sort(sites, &r->data.traces, measure);
    return 0;
}

/* The sites of a list: of leaks those of one program, where there are many processes of several. */
static struct sites *report_listed(const struct report *r, struct sites *all, struct programs *programs,
                                   enum measure measure, size_t limit)
{
    bool has_others = measure == MEASURE_LEAKED && !r->options->json && limit != 0 && programs->is_split;
    return has_others ? &programs->leading : all;
}

/* Verdicts of the sites that will be shown, by what they held at the peak or leaked. */
static int report_judge(struct report *r, struct sites *sites, struct programs *programs,
                        struct verdicts *verdicts, const enum measure *measures, size_t count,
                        struct err *err)
{
    const struct report_options *o = r->options;
    size_t limit = report_limit(o, o->measures == 0 ? REPORT_BRIEF_SITES : REPORT_SITES_SHOWN);
    VEC(uint32_t) traces = {0};
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        if (!report_is_judged(measures[i]))
            continue;
        struct sites folded, *shown;
        struct sites *listed = report_listed(r, sites, programs, measures[i], limit);
        code = report_order(r, listed, measures[i], &folded, &shown, err);
        for (size_t k = 0; code == 0 && k < shown->list.count && (limit == 0 || k < limit); k++) {
            if (measure_blocks(&shown->list.data[k].m, measures[i]) > 0 &&
                !vec_push(&traces, shown->list.data[k].trace))
                code = err_no_memory(err);
        }
        sites_release(&folded);
    }
    const struct judged judged = {r->data.session, &r->data.interactive.ask, &r->data.traces,
                                  &r->data.result};
    interactive_query_begin(&r->data.interactive);
    if (code == 0)
        code = site_verdicts_find(&judged, verdicts, traces.data, traces.count, o->verdicts, err);
    interactive_query_end(&r->data.interactive);
    vec_release(&traces);
    return code;
}

/* Why a list by this measure is not known; NULL: it is. */
static const struct caveat *report_unknown(const struct report *r, enum measure measure)
{
    return measure == MEASURE_TEMPORARY ? caveats_find(&r->data.head.answer, CAVEAT_TEMPORARY)
           : measure == MEASURE_LEAKED  ? caveats_find(&r->data.head.answer, CAVEAT_LEAKED)
                                        : NULL;
}

static int report_sites_by(struct report *r, struct sites *sites, struct programs *programs,
                           enum measure measure, const struct verdicts *verdicts, struct err *err)
{
    const struct report_options *o = r->options;
    bool brief = o->measures == 0;
    struct sites folded;
    struct section_sites s = {
        .traces = &r->data.traces,
        .measure = measure,
        .moment_ns = r->data.recordings == 1 ? r->data.result.moment_ns : UINT64_MAX,
        .limit = report_limit(o, brief ? REPORT_BRIEF_SITES : REPORT_SITES_SHOWN),
        .threshold = o->has_threshold                     ? o->threshold
                     : brief && !o->json && !o->has_limit ? 0.01
                                                          : 0,
        .keeps_first = !o->has_threshold,
        .brief = brief,
        .is_of_each = r->data.recordings > 1,
        .suppress = &r->data.suppress,
        .verdicts = report_is_judged(measure) ? verdicts : NULL,
        .explain = o->verdicts,
        .details = o->details,
        .sample_rate = r->data.head.sum.sample_rate,
        .unknown = report_unknown(r, measure),
    };
    struct sites *listed = report_listed(r, sites, programs, measure, s.limit);
    s.programs = listed == sites ? NULL : programs;
    int code = report_order(r, listed, measure, &folded, &s.sites, err);
    if (code == 0 && o->json) {
        section_sites_json(&r->json, &s);
    } else if (code == 0) {
        page_end_line(&r->page);
        section_sites_text(&r->page, &s);
    }
    sites_release(&folded);
    return code;
}

static int report_sites(struct report *r, const enum measure *measures, size_t count, struct err *err)
{
    struct sites sites;
    struct verdicts verdicts;
    struct programs programs;
    sites_init(&sites);
    verdicts_init(&verdicts);
    programs_init(&programs);
    int code = sites_add(&sites, &r->data.traces, r->data.result.rows.data, r->data.result.rows.count, err);
    if (code == 0)
        code = programs_split(&programs, &r->data.traces, &r->data.result, &sites, err);
    if (code == 0)
        code = report_judge(r, &sites, &programs, &verdicts, measures, count, err);
    for (size_t i = 0; i < count && code == 0; i++)
        code = report_sites_by(r, &sites, &programs, measures[i], &verdicts, err);
    programs_release(&programs);
    verdicts_release(&verdicts);
    sites_release(&sites);
    return code;
}

static int report_groups(struct report *r, const enum measure *measures, size_t count, struct err *err)
{
    const struct report_options *o = r->options;
    struct rollup groups;
    rollup_init(&groups, o->by);
    int code = rollup_add(&groups, &r->data.traces, r->data.result.rows.data, r->data.result.rows.count, err);
    for (size_t i = 0; i < count && code == 0; i++) {
        struct section_groups s = {&r->data.traces,
                                   &groups,
                                   measures[i],
                                   report_limit(o, REPORT_GROUPS_SHOWN),
                                   o->threshold,
                                   labels_kind,
                                   &r->data.result,
                                   &r->data.suppress,
                                   report_unknown(r, measures[i])};
        if (o->json) {
            section_groups_json(&r->json, &s);
        } else {
            page_end_line(&r->page);
            section_groups_text(&r->page, &s);
        }
    }
    rollup_release(&groups);
    return code;
}

static int report_tree(struct report *r, const enum measure *measures, size_t count, struct err *err)
{
    const struct report_options *o = r->options;
    struct sites sites;
    sites_init(&sites);
    int code = sites_add(&sites, &r->data.traces, r->data.result.rows.data, r->data.result.rows.count, err);
    for (size_t i = 0; i < count && code == 0; i++) {
        struct tree tree;
        struct section_tree s = {&r->data.traces, &tree, o->root, &r->data.suppress,
                                 report_unknown(r, measures[i])};
        tree_init(&tree, o->way, measures[i], o->has_threshold ? o->threshold : 0.01);
        code = tree_build(&tree, &r->data.traces, &sites, o->root, err);
        if (code == 0 && o->memtrail) {
            r->is_cut |= !memtrail_add(&r->out, &r->data.traces, &tree);
        } else if (code == 0 && o->json) {
            section_tree_json(&r->json, &s);
        } else if (code == 0) {
            page_end_line(&r->page);
            section_tree_text(&r->page, &s);
        }
        tree_release(&tree);
    }
    sites_release(&sites);
    return code;
}

/* How what is live has changed from one moment to another. */
static int report_changes(struct report *r, struct err *err)
{
    const struct report_options *o = r->options;
    struct report_data *data = &r->data;
    struct drift drift;
    drift_init(&drift, o->depth);
    int code = drift_add_rows(&drift, &data->traces, &data->result, 1, err);
    if (code == 0)
        code = drift_add_rows(&drift, &data->traces, &data->since, -1, err);
    if (code == 0) {
        drift_sort(&drift);
        struct strbuf title;
        strbuf_init(&title);
        strbuf_addf(&title, "from %s to %s", o->since_text == NULL ? "the start" : o->since_text,
                    o->until_text != NULL            ? o->until_text
                    : o->query.to.when != WHEN_UNSET ? "the end of the window"
                                                     : "the end");
        struct section_moment_diff section = {&data->traces, &drift, strbuf_get(&title),
                                              report_limit(o, REPORT_SITES_SHOWN), o->threshold};
        if (o->json) {
            section_moment_diff_json(&r->json, &section);
        } else {
            page_end_line(&r->page);
            section_moment_diff_text(&r->page, &section);
        }
        strbuf_release(&title);
    }
    drift_release(&drift);
    return code;
}

static int report_pools(struct report *r, bool brief, struct err *err)
{
    struct section_pools s = {&r->data.traces, &r->data.accounts,
                              report_limit(r->options, REPORT_SITES_SHOWN), brief};
    for (size_t i = 0; i < session_count(r->data.session); i++)
        interactive_query_tell_begin(&r->data.interactive, session_reader(r->data.session, i),
                                     "put into pools");
    if (r->options->json)
        return section_pools_json(&r->json, &s, err);
    page_end_line(&r->page);
    return section_pools_text(&r->page, &s, err);
}

static void report_histograms(struct report *r)
{
    const struct query_histogram *both[] = {&r->data.result.sizes, &r->data.result.lifetimes};
    static const enum section_histogram which[] = {HISTOGRAM_SIZES, HISTOGRAM_LIFETIMES};
    for (size_t i = 0; i < 2; i++) {
        if (r->options->json) {
            section_histogram_json(&r->json, which[i], both[i]);
        } else {
            page_end_line(&r->page);
            section_histogram_text(&r->page, which[i], both[i]);
        }
    }
}

static int report_sections(struct report *r, struct err *err)
{
    bool lists_too = r->options->measures != 0 || r->options->shape != REPORT_SITES;
    if (r->options->changes)
        return report_changes(r, err);
    if (report_findings_are_wanted(r->options)) {
        int code = report_findings_add(&r->data, r->options, &r->page, &r->json, err);
        if (code != 0 || (!lists_too && !r->options->histograms && !r->options->pools))
            return code;
    }
    if (r->options->pools) {
        int code = report_pools(r, false, err);
        if (code != 0 || (!lists_too && !r->options->histograms))
            return code;
    }
    if (r->options->histograms) {
        report_histograms(r);
        if (!lists_too)
            return 0;
    }
    enum measure measures[MEASURE_COUNT];
    size_t count = report_measures(r->options, measures);
    switch (r->options->shape) {
    case REPORT_GROUPS:
        return report_groups(r, measures, count, err);
    case REPORT_TREE:
        return report_tree(r, measures, count, err);
    case REPORT_BLOCKS:
        if (!r->options->json)
            page_end_line(&r->page);
        return report_blocks_add(&r->data, r->options, report_limit(r->options, REPORT_GROUPS_SHOWN),
                                 &r->page, &r->json, err);
    default:
        break;
    }
    int code = report_sites(r, measures, count, err);
    if (code == 0 && r->options->measures == 0 && r->data.accounts.list.count != 0)
        code = report_pools(r, true, err);
    return code;
}

/* What the other form has no place for. */
static void report_say_beside_memtrail(const struct report *r)
{
    char text[UNITS_MAX];
    bool has_leaks = (r->options->measures & 1u << MEASURE_LEAKED) != 0;
    if (has_leaks && suppress_blocks(&r->data.suppress) != 0)
        command_say("Leaks are without %s suppressed; --no-built-in-suppressions shows all.",
                    units_bytes(text, suppress_bytes(&r->data.suppress)));
    if (r->is_cut)
        command_say("Of stacks with more than %d frames the outer ones are not in the trees.",
                    MEMTRAIL_DEPTH);
    if (caveats_find(&r->data.head.recording, CAVEAT_LOST) != NULL ||
        caveats_find(&r->data.head.answer, CAVEAT_OMITTED) != NULL)
        command_say("The recording is not whole: 'heapwake report' says what is missing.");
}

static int report_text(struct report *r, struct err *err)
{
    screen_init(&r->page, &r->out);
    int code = report_sections(r, err);
    report_data_settle(&r->data);
    if (r->options->memtrail) {
        report_say_beside_memtrail(r);
        return code;
    }
    page_fit(&r->page);
    screen_init(&r->page, &r->head);
    if (r->options->worst != WORST_NONE) {
        char a[UNITS_MAX], b[UNITS_MAX];
        page_addf(&r->page, COLOUR_PLAIN, "%s has %s of %s recording%s: %s",
                  r->options->files.data[r->data.chosen], worst_describe(r->options->worst),
                  units_count(a, r->options->files.count), units_plural(r->options->files.count),
                  units_bytes(b, r->data.chosen_value));
        page_end_line(&r->page);
    }
    section_head_text(&r->page, &r->data.head);
    section_timeline_text(&r->page, &r->data.result, r->data.head.sum.runtime_ns, &r->data.head.answer);
    page_fit(&r->page);
    return code;
}

static int report_json(struct report *r, struct err *err)
{
    const struct report_options *o = r->options;
    r->json = (struct json){.out = &r->out, .depth = 1}; /* behind the head, in its object */
    int code = report_sections(r, err);
    json_close_object(&r->json);
    report_data_settle(&r->data);
    json_init(&r->json, &r->head);
    json_open_object(&r->json, NULL);
    json_add_text(&r->json, "heapwake", HEAPWAKE_VERSION, strlen(HEAPWAKE_VERSION));
    json_open_array(&r->json, "files");
    for (size_t i = 0; i < o->files.count; i++) {
        if (o->worst == WORST_NONE || i == r->data.chosen)
            json_add_text(&r->json, NULL, o->files.data[i], strlen(o->files.data[i]));
    }
    json_close_array(&r->json);
    section_head_json(&r->json, &r->data.head);
    section_head_caveats_json(&r->json, &r->data.head);
    json_add_bool(&r->json, "interrupted", interactive_query_is_interrupted());
    if (r->data.result.timeline.count > 0)
        section_timeline_json(&r->json, &r->data.result);
    return code;
}

static int report_run(const struct command *self, int argc, char **argv)
{
    struct report_options options;
    struct report r = {.options = &options};
    struct err err;
    err_init(&err);
    int status = EXIT_FAILED;
    strbuf_init(&r.head);
    strbuf_init(&r.out);
    report_data_init(&r.data);
    int code = report_options_init(&options, self, argc, argv, &err);
    if (code == 0 && options.newest.length > 0)
        command_say("No recording given: this is %s, the newest one here.", strbuf_get(&options.newest));
    if (code == 0)
        code = report_data_read(&r.data, &options, &err);
    if (code == 0)
        code = options.json ? report_json(&r, &err) : report_text(&r, &err);
    const struct caveat interruption = caveats_interruption(&r.data.result);
    if (code == 0 && interactive_query_is_interrupted())
        interactive_query_say_caveat(&interruption, "");
    else if (code == 0 && options.conditions.length > 0 && report_options_list_blocks(&options))
        nothing_fits_say(&r.data.result.total, r.data.head.sum.allocations);
    if (code == 0)
        wrapper_check_warn(&r.data.traces);
    if (code == 0 && command_print(&r.head) && command_print(&r.out))
        status = EXIT_DONE;
    else if (code == ERR_USAGE)
        status = EXIT_USAGE;
    if (code != 0 && err.text[0] != '\0')
        command_say("%s", err.text);
    report_data_release(&r.data);
    report_options_release(&options);
    strbuf_release(&r.head);
    strbuf_release(&r.out);
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "say what leaks, what makes the peak, what churns, and who is to blame",
    .usage = "[OPTION...] [FILE...]",
    .about = "Without FILE the newest recording of the folder.  Without options one screen; several "
             "recordings are taken together.",
    .options = report_options_table,
    .run = report_run,
    .take = report_options_take,
};
