/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_data: see report_data.h.
 */
#include "cmd/report_data.h"

#include "analysis/interpreter.h"
#include "cmd/report_findings.h"
#include "engine/combine.h"
#include "engine/when.h"
#include "present/safe.h"
#include "session/known_leaks.h"
#include "session/series_files.h"
#include "session/summary.h"

#include <string.h>

enum {
    REPORT_TICKS = 200,    /* of the timeline */
    REPORT_TICKS_MIN = 48, /* that are worth a plot */
};

void report_data_init(struct report_data *d)
{
    memset(d, 0, sizeof *d);
    traces_init(&d->traces);
    query_result_init(&d->whole);
    query_result_init(&d->result);
    query_result_init(&d->since);
    suppress_init(&d->suppress);
    pool_totals_init(&d->accounts);
    summary_init(&d->head.sum);
}

void report_data_release(struct report_data *d)
{
    suppress_release(&d->suppress);
    missing_debuginfo_release(&d->nameless);
    pool_totals_release(&d->accounts);
    query_result_release(&d->whole);
    query_result_release(&d->result);
    query_result_release(&d->since);
    traces_release(&d->traces);
    summary_release(&d->head.sum);
    session_close(d->session);
}

/* --------------------------------------------------------------- suppressions */

/* Takes suppressed leaks out of an answer, and keeps account of them. */
static int report_data_suppress(struct report_data *d, const struct report_options *o, struct suppress *s,
                                struct query_result *answer, struct err *err)
{
    int code = known_leaks_read(s, o->suppressions.data, o->suppressions.count, o->built_in, err);
    return code == 0 ? suppress_apply(s, &d->traces, answer, err) : code;
}

static int report_data_suppress_head(struct report_data *d, const struct report_options *o, struct err *err)
{
    struct suppress s;
    suppress_init(&s);
    int code = report_data_suppress(d, o, &s, &d->whole, err);
    d->head.suppressed_bytes += suppress_bytes(&s);
    d->head.suppressed_blocks += suppress_blocks(&s);
    suppress_release(&s);
    return code;
}

/* ---------------------------------------------------------------------- names */

/* Why there is no file for a module: it has gone, or another one stands in its place; NULL = there is one. */
static const char *report_data_find_refusal(const struct report_data *d, const char *module)
{
    for (size_t i = 0; i < session_count(d->session); i++) {
        const struct names *names = wake_reader_names(session_reader(d->session, i));
        for (uint32_t k = 1; names != NULL && k <= names_image_count(names); k++) {
            const struct name_image *image = names_get_image(names, k);
            if (image->source == NAME_SOURCE_MISSING && strcmp(image->path, module) == 0)
                return image->remark;
        }
    }
    return NULL;
}

/* How much was allocated by own code whose lines are not known. */
static int report_data_find_nameless(struct report_data *d, struct err *err)
{
    int code = missing_debuginfo_find(&d->nameless, &d->traces, &d->whole, err);
    for (size_t i = 0; i < d->nameless.modules.count && d->head.nameless_remark == NULL; i++)
        d->head.nameless_remark = report_data_find_refusal(d, d->nameless.modules.data[i].path);
    d->head.nameless = &d->nameless;
    return code;
}

/* The first of the notes, since all stacks that follow are read with it in mind. */
static int report_data_find_interpreter(struct report_data *d, struct err *err)
{
    struct section_head *h = &d->head;
    const char *sentence;
    int code = interpreter_find(&d->traces, &d->whole, &sentence, err);
    if (code != 0 || sentence == NULL)
        return code;
    if (!vec_push(&h->sum.notes, sentence))
        return err_no_memory(err);
    memmove(h->sum.notes.data + 1, h->sum.notes.data, (h->sum.notes.count - 1) * sizeof *h->sum.notes.data);
    h->sum.notes.data[0] = sentence;
    return 0;
}

/* -------------------------------------------------------------------- reading */

/* Chunks of events of the process that has most. */
static size_t report_data_count_spans(struct wake_reader *r)
{
    size_t most = 0;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        size_t spans = wake_reader_span_count(r, i);
        most = spans > most ? spans : most;
    }
    return most;
}

/* moment: NULL = that of the query. */
static int report_data_ask(struct report_data *d, const struct report_options *o, size_t recording,
                           const struct query_time *moment, struct query_result *answer, struct err *err)
{
    struct query q = o->query; /* its lists and texts stay the options' */
    bool is_screen = o->shape == REPORT_SITES && o->measures == 0 && !o->histograms && !o->changes &&
                     !o->pools && !report_findings_are_wanted(o);
    if (moment != NULL) {
        q.moment = *moment;
    } else if (is_screen && session_count(d->session) == 1) {
        /* A large process has enough chunks for a plot from their headers alone; the events of a
         * small one are read in a moment. */
        size_t rough = report_data_count_spans(session_reader(d->session, recording)) / 2;
        q.rough_ticks = rough >= REPORT_TICKS_MIN;
        q.ticks = q.rough_ticks && rough < REPORT_TICKS ? (uint32_t)rough : REPORT_TICKS;
    }
    q.sums_only = o->measures != 0 && (o->measures & 1u << MEASURE_PEAK) == 0;
    return interactive_query_run(&d->interactive, d->session, recording, &q, answer, err);
}

/* Nearly always told by the totals at the file's end. */
static int report_data_ask_whole(struct report_data *d, size_t recording, struct query_result *answer,
                                 struct err *err)
{
    struct query q;
    query_init(&q);
    int code = interactive_query_run(&d->interactive, d->session, recording, &q, answer, err);
    query_release(&q);
    return code;
}

/* One recording, in one file or several. */
static int report_data_add(struct report_data *d, const struct report_options *o, size_t recording,
                           struct err *err)
{
    struct wake_reader *r = session_reader(d->session, recording);
    struct query_result answer;
    uint32_t base;
    query_result_init(&answer);
    int code = traces_add_reader(&d->traces, r, &base, err);
    if (code == 0)
        code = report_data_ask_whole(d, recording, &answer, err);
    if (code == 0)
        code = combine_add(&d->whole, &answer, base, err);
    if (code == 0 && report_options_list_blocks(o)) /* otherwise the filter is for mappings */
        code = report_data_ask(d, o, recording, NULL, &answer, err);
    if (code == 0)
        code = combine_add(&d->result, &answer, base, err);
    uint64_t until_ns = answer.moment_ns;
    query_result_release(&answer);
    query_result_init(&answer);
    if (code == 0 && o->since.when != WHEN_UNSET)
        code = report_data_ask(d, o, recording, &o->since, &answer, err);
    bool is_backward =
        answer.moment_ns > until_ns ||
        (o->since.when == WHEN_NS && o->query.moment.when == WHEN_NS && o->query.moment.ns < o->since.ns);
    bool is_open = o->until_text == NULL && o->query.to.when == WHEN_UNSET;
    if (code == 0 && o->since.when != WHEN_UNSET && is_backward && is_open) /* it was over by then */
        code = report_data_ask(d, o, recording, &o->query.moment, &answer, err);
    else if (code == 0 && o->since.when != WHEN_UNSET && is_backward)
        code = err_set(err, ERR_USAGE, "%s lies before --since.", o->until_text != NULL ? "--until" : "--to");
    if (code == 0)
        code = combine_add(&d->since, &answer, base, err);
    query_result_release(&answer);
    if (code == 0)
        code = pool_totals_read(&d->accounts, r, base, err);
    if (code == 0)
        code = summary_add(&d->head.sum, r, err);
    wake_reader_rest(r);
    return code;
}

int report_kept_init(struct report_kept *k, const struct query_result *r, bool leaking, struct err *err)
{
    bool fine = true;
    map_init(&k->pairs);
    k->base = 0;
    for (size_t i = 0; i < r->rows.count && fine; i++) {
        const struct query_row *row = &r->rows.data[i];
        if (!leaking || row->m.leaked_blocks != 0)
            fine = map_set(&k->pairs, (uint64_t)row->process << 32 | row->stack, 1);
    }
    return fine ? 0 : err_no_memory(err);
}

void report_kept_release(struct report_kept *k)
{
    map_release(&k->pairs);
}

bool report_kept_has(void *context, uint32_t process, uint32_t stack)
{
    struct report_kept *k = context;
    return map_find(&k->pairs, (uint64_t)(k->base + process) << 32 | stack) != NULL;
}

/* Histograms are no sum of rows: where the sieve has taken some away they are made anew. */
static int report_data_sieve_histograms(struct report_data *d, const struct report_options *o,
                                        struct err *err)
{
    struct report_kept kept;
    struct query_result sum, answer;
    if (!o->histograms || o->sieve.rules.count == 0)
        return 0;
    query_result_init(&sum);
    query_result_init(&answer);
    int code = report_kept_init(&kept, &d->result, false, err);
    interactive_query_begin(&d->interactive);
    for (size_t i = 0; i < session_count(d->session) && code == 0; i++) {
        struct query q = o->query; /* its lists and texts stay the options' */
        q.want |= WANT_HISTOGRAMS;
        q.sums_only = true;
        q.keeps_stack = report_kept_has;
        q.keeps_context = &kept;
        code = interactive_query_run(&d->interactive, d->session, i, &q, &answer, err);
        if (code == 0)
            code = combine_add(&sum, &answer, kept.base, err);
        kept.base += (uint32_t)wake_reader_process_count(session_reader(d->session, i));
    }
    interactive_query_end(&d->interactive);
    d->result.sizes = sum.sizes;
    d->result.lifetimes = sum.lifetimes;
    d->result.interrupted |= sum.interrupted;
    report_kept_release(&kept);
    query_result_release(&sum);
    query_result_release(&answer);
    return code;
}

/* What its recordings lack, as far as they have been read. */
static void report_data_find_caveats(struct report_data *d)
{
    d->head.recording = (struct caveats){0};
    for (size_t i = 0; i < session_count(d->session); i++)
        caveats_of_reader(&d->head.recording, session_reader(d->session, i));
    caveats_of_summary(&d->head.recording, &d->head.sum);
}

/* All answers lack the same blocks, or some of them. */
static void report_data_find_answer_caveats(struct report_data *d, const struct report_options *o)
{
    struct caveats *answer = &d->head.answer;
    const struct caveats *recording = &d->head.recording;
    struct caveats since = {0};
    bool is_about_moments =
        (o->measures == 1u << MEASURE_LIVE || o->changes) && !o->details && !o->histograms;
    caveats_of_answer(answer, recording, &d->result, is_about_moments);
    caveats_of_answer(&since, recording, &d->since, is_about_moments);
    caveats_add_omitted(answer, recording, caveats_count(&since, CAVEAT_OMITTED));
    caveats_add_omitted(answer, recording, report_findings_omitted(d, o));
}

/* Of several recordings one may have the mark that a condition names; where none has, it is refused like a
 * moment that is called so. */
static int report_data_check_mark(const struct report_data *d, const struct report_options *o,
                                  struct err *err)
{
    const char *mark = o->query.filter.mark;
    int code = 0;
    for (size_t i = 0; i < session_count(d->session) && mark != NULL; i++) {
        struct query q = o->query; /* its lists and texts stay the options' */
        struct when when = {0};
        q.moment = (struct query_time){.when = WHEN_MARK, .mark = mark};
        err_init(err);
        code = when_resolve(&when, &q, session_reader(d->session, i), err);
        when_release(&when);
        if (code == 0)
            break;
    }
    return code;
}

int report_data_read(struct report_data *d, const struct report_options *o, struct err *err)
{
    int code = 0;
    d->head.conditions = strbuf_get(&o->conditions);
    d->head.conditions_length = o->conditions.length;
    d->traces.wrappers = o->wrappers.data;
    d->traces.wrapper_count = o->wrappers.count;
    if (o->worst != WORST_NONE)
        code = worst_pick(o->worst, o->files.data, o->files.count, &d->chosen, &d->chosen_value, err);
    const char *const *files = o->worst == WORST_NONE ? o->files.data : o->files.data + d->chosen;
    interactive_query_begin(&d->interactive);
    if (code == 0)
        code = interactive_query_open_with(
            &d->interactive, &d->session, files, o->worst == WORST_NONE ? o->files.count : 1,
            (struct session_options){.remembers = o->since.when != WHEN_UNSET}, err);
    d->recordings = session_count(d->session);
    if (code == 0 && o->misuse && d->recordings > 1)
        code = err_set(err, ERR_USAGE, "--misuse is about one recording.");
    if (code == 0 && d->recordings > 1 && o->query.filter.blocks != NULL)
        code = err_set(err, ERR_USAGE,
                       "--where blocks lists the blocks of one recording; name no more than one.");
    for (size_t i = 0; i < d->recordings && code == 0; i++)
        code = report_data_add(d, o, i, err);
    interactive_query_end(&d->interactive);
    if (code == 0 && o->changes && interactive_query_is_interrupted())
        code = err_set(err, ERR_IO, "Interrupted: two moments are compared when both have been read.");
    if (code == 0)
        code = report_data_check_mark(d, o, err);
    report_data_find_caveats(d);
    report_data_find_answer_caveats(d, o);
    if (code == 0)
        code = report_data_find_nameless(d, err);
    if (code == 0)
        code = report_data_find_interpreter(d, err);
    if (code == 0)
        code = report_data_suppress_head(d, o, err);
    if (code == 0)
        code = stack_filter_apply(&o->sieve, &d->traces, &d->result, err);
    if (code == 0)
        code = report_data_sieve_histograms(d, o, err);
    if (code == 0)
        code = stack_filter_apply(&o->sieve, &d->traces, &d->since, err);
    if (code == 0)
        code = report_data_suppress(d, o, &d->suppress, &d->result, err);
    return code;
}

void report_data_settle(struct report_data *d)
{
    for (size_t i = 0; i < session_count(d->session); i++) {
        interactive_query_warn(session_reader(d->session, i), session_path(d->session, i));
        d->head.sum.complete &= wake_reader_damage_count(session_reader(d->session, i)) == 0;
    }
    report_data_find_caveats(d);
    caveats_join(&d->head.answer, &d->interactive.told);
    if (interactive_query_is_interrupted())
        caveats_add(&d->head.answer, caveats_interruption(&d->result));
}
