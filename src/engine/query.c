/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * query: the plan of an answer, and the sum of its parts.
 *
 *     totals -> rows                                              nothing has to be read
 *     chunks -> filter at birth -> [fate pass] -> scan -> rows    everything else
 *
 * For each process, what the collector wrote at the end answers where nothing more is asked for: no filter, or
 * conditions on stacks alone and no peak, the whole run, nothing that totals do not have.  They are used only where they
 * agree with what the chunk headers say about the events in the file.
 *
 * Otherwise the events are scanned once (engine/scan.h).  Conditions that are known only at a block's end cost one fate pass
 * before that, which leaves one bit an allocation (engine/fate_pass.h).  Conditions on the stack of a release
 * (engine/released_from.h) and on mappings that blocks lie in (engine/in_mapping.h) are resolved ahead of both.
 *
 * Where a recording stays open for many questions, a ledger of all events answers those that it knows (engine/ledger.h).
 */
#include "engine/query.h"

#include <stdlib.h>
#include <string.h>

#include "engine/block_list.h"
#include "engine/entry_filter.h"
#include "engine/entry_scan.h"
#include "engine/fate_pass.h"
#include "engine/filter.h"
#include "engine/in_mapping.h"
#include "engine/is_mmapped.h"
#include "engine/ledger.h"
#include "engine/measure.h"
#include "engine/omitted.h"
#include "engine/overlap.h"
#include "engine/released_from.h"
#include "engine/scan.h"
#include "engine/stack_group.h"
#include "engine/timeline.h"
#include "engine/watch.h"
#include "engine/when.h"
#include "tool/memory.h"

static const struct query_range whole = {0, UINT64_MAX};

void query_init(struct query *q)
{
    *q = (struct query){.temporary_allocations = 1};
    q->filter = (struct query_filter){
        .size = whole,
        .usable = whole,
        .slack = whole,
        .address = whole,
        .lifetime = whole,
        .depth = whole,
        .chain_length = whole,
        .chain_position = whole,
        .chain_first_size = whole,
        .chain_last_size = whole,
        .chain_lifetime = whole,
        .group_allocations = whole,
        .peak_rss = whole,
    };
    arena_init(&q->arena);
}

void query_release(struct query *q)
{
    vec_release(&q->pids);
    vec_release(&q->filter.stacks);
    vec_release(&q->filter.threads);
    vec_release(&q->filter.freeing_threads);
    vec_release(&q->filter.patterns);
    vec_release(&q->filter.mappings);
    vec_release(&q->filter.not_stacks);
    vec_release(&q->filter.freeing_stacks);
    vec_release(&q->filter.not_freeing_stacks);
    vec_release(&q->filter.freeing_patterns);
    block_list_free(q->filter.blocks);
    arena_release(&q->arena);
}

int query_suits_blocks(const struct query *q, struct err *err)
{
    if (q->filter.blocks_from != NULL && q->filter.blocks == NULL)
        return err_set(err, ERR_USAGE, "The list of blocks '%s' has not been read.", q->filter.blocks_from);
    if (q->key_of_mappings == NULL)
        return 0;
    return err_set(err, ERR_USAGE,
                   "%s is about mappings, not about blocks: it goes with 'heapwake report --maps' and no "
                   "other list.",
                   q->key_of_mappings);
}

int query_suits_mappings(const struct query *q, struct err *err)
{
    unsigned states = q->filter.states & (STATE_CHAIN_LEAKED | STATE_GROUP_LEAKED);
    const char *key = q->key_of_blocks != NULL             ? q->key_of_blocks
                      : (states & STATE_CHAIN_LEAKED) != 0 ? "state=chain-leaked"
                      : states != 0                        ? "state=group-leaked"
                                                           : NULL;
    return key == NULL
               ? 0
               : err_set(err, ERR_USAGE, "%s is about blocks; of mappings (--maps) it makes no sense.", key);
}

/* An answer in the making. */
struct answer {
    const struct query *query;
    struct wake_reader *reader;
    struct query_result *result;
    struct when when;
    struct watch watch;
    uint64_t peak_bytes; /* of the process with the highest peak so far */
    bool has_peak;
    uint64_t *medians; /* counts of all processes, when asked for */
    struct overlap overlap;
    struct omitted_need need; /* of the process at hand */
    /* Likewise: it has not ended before the moment of live_*, nor before the window. */
    bool lives_at_moment, lives_in_window;
};

/* Totals have all the rows that are asked for. */
static bool answer_is_whole(const struct answer *a, const struct filter *f)
{
    const struct query *q = a->query;
    bool suits = f->checks == 0 || (f->checks == CHECK_STACK && q->sums_only);
    return suits && q->split == SPLIT_NONE && q->want == 0 && q->temporary_allocations == 1 &&
           q->temporary_ns == 0 && a->when.window.min == 0 && a->when.window.max >= a->when.run_to &&
           a->when.moment >= a->when.run_to;
}

static bool answer_is_sampled(const struct answer *a, uint32_t process)
{
    return wake_reader_process(a->reader, process)->omitted.sample_rate != 0;
}

/* Totals and, if a timeline is wanted, the headers of chunks, which are about all blocks, have what is asked
 * of a process. */
static bool answer_is_plain(const struct answer *a, const struct filter *f, uint32_t process)
{
    bool has_ticks = a->query->rough_ticks && f->checks == 0 && !answer_is_sampled(a, process) &&
                     timeline_has_fine_spans(a->result, a->reader, process);
    return answer_is_whole(a, f) && (a->query->ticks == 0 || has_ticks) &&
           wake_reader_totals_agree(a->reader, process);
}

/* ------------------------------------------------------------------ results */

/* Counts are added here; peaks when all processes are known. */
static bool answer_is_empty(const struct metrics *m)
{
    return m->allocated_blocks == 0 && m->freed_blocks == 0 && m->peak_blocks == 0 && m->live_blocks == 0;
}

static int answer_add_row(struct answer *a, const struct query_row *from, struct err *err)
{
    struct query_row row = *from;
    if (!a->lives_at_moment)
        row.m.live_blocks = row.m.live_bytes = 0;
    if (!a->lives_in_window)
        row.m.peak_blocks = row.m.peak_bytes = 0;
    if (answer_is_empty(&row.m))
        return 0;
    /* Some ways to the answer know more than was asked for. */
    if ((a->query->want & (WANT_DETAIL | WANT_MEDIAN)) == 0)
        row.m.first_ns = row.m.last_ns = row.m.lifetime_min_ns = row.m.lifetime_max_ns = 0;
    if ((a->query->want & WANT_DETAIL) == 0)
        row.m.slack_bytes = 0;
    if (!vec_push(&a->result->rows, row))
        return err_no_memory(err);
    measure_add(&a->result->total, &row.m);
    return 0;
}

static int answer_add_peak(struct answer *a, uint32_t process, uint64_t bytes, uint64_t time_ns,
                           struct err *err)
{
    if (!a->lives_in_window)
        bytes = time_ns = 0;
    const struct query_peak peak = {process, time_ns};
    if (a->query->each_peak && !vec_push(&a->result->peaks, peak))
        return err_no_memory(err);
    if (a->has_peak && bytes <= a->peak_bytes)
        return 0;
    a->has_peak = true;
    a->peak_bytes = bytes;
    a->result->peak_process = process;
    a->result->peak_time_ns = time_ns;
    return 0;
}

static int answer_from_totals(struct answer *a, const struct filter *f, uint32_t process, struct err *err)
{
    const struct wake_process *p = f->process;
    bool is_all = f->checks == 0;
    int code = 0;
    for (uint32_t i = 0; i < p->totals.count && code == 0; i++) {
        const struct wake_stack_totals *t = &p->totals.data[i];
        if (!is_all && !f->stacks[filter_stack(f, i)])
            continue;
        uint64_t blocks = t->allocations - t->freed, bytes = t->allocated_bytes - t->freed_bytes;
        const struct query_row row = {.process = process,
                                      .stack = i,
                                      .m = {
                                          .allocated_blocks = t->allocations,
                                          .allocated_bytes = t->allocated_bytes,
                                          .freed_blocks = t->freed,
                                          .freed_bytes = t->freed_bytes,
                                          .peak_blocks = is_all ? t->peak_blocks : 0,
                                          .peak_bytes = is_all ? t->peak_bytes : 0,
                                          .live_blocks = blocks,
                                          .live_bytes = bytes,
                                          .leaked_blocks = blocks,
                                          .leaked_bytes = bytes,
                                          .temporary_blocks = t->temporary,
                                          .temporary_bytes = t->temporary_bytes,
                                      }};
        code = answer_add_row(a, &row, err);
    }
    if (is_all && code == 0)
        code = answer_add_peak(a, process, p->end.peak_bytes, p->end.peak_time_ns, err);
    a->result->from_totals = true;
    return code;
}

static bool answer_settle_medians(struct answer *a, struct tally *t, struct medians *m)
{
    if (a->medians == NULL || t->rows.count == 0)
        return true;
    uint64_t *medians = memory_new_zeroed(t->rows.count, sizeof *medians);
    bool fine = medians != NULL && medians_settle(m, medians, t->rows.count, a->medians);
    for (size_t i = 0; i < t->rows.count && fine; i++) {
        struct tally_row *row = &t->rows.data[i];
        uint64_t median = medians[i] < row->lifetime_min_ns ? row->lifetime_min_ns : medians[i];
        row->lifetime_median_ns = median > row->lifetime_max_ns ? row->lifetime_max_ns : median;
    }
    free(medians);
    return fine;
}

/* What a reading has counted, up to the event at seen_ns. */
static int answer_from_tally(struct answer *a, struct tally *tally, struct medians *medians, uint64_t seen_ns,
                             uint32_t process, struct err *err)
{
    int code = 0;
    if (!answer_settle_medians(a, tally, medians))
        return err_no_memory(err);
    for (size_t i = 0; i < tally->rows.count && code == 0; i++) {
        const struct tally_row *t = &tally->rows.data[i];
        code = answer_add_row(a,
                              &(struct query_row){.process = process,
                                                  .stack = t->stack,
                                                  .thread = tally->split == SPLIT_THREAD ? t->part : 0,
                                                  .kind = tally->split == SPLIT_KIND ? t->part : 0,
                                                  .m = tally_get(t)},
                              err);
    }
    if (code == 0)
        code = answer_add_peak(a, process, tally->level.peak_bytes, tally->level.peak_time_ns, err);
    if (a->watch.interrupted)
        a->result->read_until_ns = seen_ns;
    return code;
}

/* ---------------------------------------------------------------- processes */

/* chosen: see struct scan.  has_rows: the rows come from the totals, and the events have the rest. */
static int answer_scan(struct answer *a, struct filter *f, struct bitset *chosen, bool has_rows,
                       uint32_t process, struct err *err)
{
    struct scan *s = memory_new_zeroed(1, sizeof *s);
    if (s == NULL)
        return err_no_memory(err);
    int code = scan_run(s, a->query, &a->when, f, chosen, &a->watch, a->reader, process, a->result, err);
    if (code == 0 && has_rows) {
        code = answer_from_totals(a, f, process, err);
    } else if (code == 0) {
        code = answer_from_tally(a, &s->tally, &s->medians, s->seen_ns, process, err);
        omitted_note(a->result, f->process, &a->need);
    }
    scan_release(s);
    free(s);
    return code;
}

enum { ANSWER_NOT = 2 /* what a way to an answer gives that does not know what is asked */ };

/* From the entries of a ledger, where there is one.  ANSWER_NOT: they do not know. */
static int answer_from_entries(struct answer *a, struct filter *f, struct ledger *l, uint32_t process,
                               struct err *err)
{
    const struct entries *e = &l->processes[process].entries;
    uint64_t until_ns = a->when.window.max > a->when.moment ? a->when.window.max : a->when.moment;
    if (!entry_filter_suits(a->query, f, f->process) || !entry_filter_knows(e, f, until_ns))
        return ANSWER_NOT;
    struct scan *s = memory_new_zeroed(1, sizeof *s);
    if (s == NULL)
        return scan_no_memory(err);
    entry_filter_relax(f, e);
    int code = entry_scan_run(s, e, &l->limits, a->query, &a->when, f, &a->watch, f->process, a->result, err);
    if (code == 0) {
        code = answer_from_tally(a, &s->tally, &s->medians, s->seen_ns, process, err);
        omitted_note(a->result, f->process, &a->need);
    }
    scan_release(s);
    free(s);
    return code;
}

/* From events: a fate pass where it is needed, and a scan.  has_rows: see answer_scan. */
static int answer_from_events(struct answer *a, struct filter *f, bool has_rows, uint32_t process,
                              struct err *err)
{
    struct bitset chosen;
    int code = 0;
    bitset_init(&chosen);
    if (fate_pass_is_needed(f))
        code = fate_pass_run(f, &chosen, &a->watch, a->reader, process, err);
    if (code == 0)
        code = answer_scan(a, f, (f->checks & CHECK_AT_DEATH) != 0 ? &chosen : NULL, has_rows, process, err);
    bitset_release(&chosen);
    return code;
}

/* With a ledger: from its entries, or from events behind one of its checkpoints. */
static int answer_with_ledger(struct answer *a, struct filter *f, struct ledger *l, uint32_t process,
                              struct err *err)
{
    struct ledger_process *p = &l->processes[process];
    struct checkpoint start;
    pthread_rwlock_rdlock(&p->lock);
    int code = answer_from_entries(a, f, l, process, err);
    bool has_start = code == ANSWER_NOT && checkpoints_find(&p->checkpoints, f, &start);
    if (has_start) {
        f->start = &start;
        code = answer_from_events(a, f, false, process, err);
        f->start = NULL;
    }
    pthread_rwlock_unlock(&p->lock);
    return code == ANSWER_NOT ? answer_from_events(a, f, false, process, err) : code;
}

/* Reads the events.  Where some were left out on purpose and the totals have the rows, the rows come
 * from there. */
static int answer_read(struct answer *a, struct filter *f, uint32_t process, struct err *err)
{
    bool agrees = wake_reader_totals_agree(a->reader, process);
    if (agrees)
        stack_group_count(f);
    const struct wake_omissions *o = &wake_reader_process(a->reader, process)->omitted;
    bool is_partial =
        o->culled_blocks + o->allocations + o->elsewhere_allocations != 0 || o->sample_rate != 0;
    bool has_rows = agrees && answer_is_whole(a, f) && is_partial;
    struct ledger *ledger = ledger_of(a->reader);
    return has_rows || ledger == NULL ? answer_from_events(a, f, has_rows, process, err)
                                      : answer_with_ledger(a, f, ledger, process, err);
}

static int answer_process(struct answer *a, uint32_t process, struct err *err)
{
    struct filter filter;
    const struct wake_process *p = wake_reader_process(a->reader, process);
    a->lives_in_window = !when_is_gone(&a->when, p, a->when.window.min);
    a->lives_at_moment =
        a->when.moment == UINT64_MAX ? a->lives_in_window : !when_is_gone(&a->when, p, a->when.moment);
    uint64_t omitted = a->result->omitted_blocks;
    int code = filter_init(&filter, a->query, &a->when, a->reader, process, err);
    a->need = omitted_understand(&a->when, &filter); /* before anybody finds an easier question */
    if (a->query->ticks != 0)
        timeline_add_samples(a->result, &a->when, p);
    if (code == 0)
        code = is_mmapped_check(&filter, &a->watch, a->reader, process, err);
    if (code == 0)
        code = released_from_run(&filter, &a->watch, a->reader, process, err);
    if (code == 0)
        code = in_mapping_run(&filter, &a->watch, a->reader, process, err);
    a->result->releases_without_stack += filter.releases_without_stack;
    if (code == 0 && answer_is_plain(a, &filter, process)) {
        if (a->query->ticks != 0) {
            timeline_add_spans(a->result, a->reader, process);
            omitted_note_timeline(a->result, p, &a->need, true);
        }
        a->result->timeline_is_rough |= a->query->ticks != 0;
        code = answer_from_totals(a, &filter, process, err);
    } else if (code == 0) {
        code = answer_read(a, &filter, process, err);
        if (a->query->ticks != 0)
            omitted_note_timeline(a->result, p, &a->need, false);
    }
    bool is_of_events = p->derived || a->result->omitted_blocks != omitted;
    a->result->lacks_temporaries |= is_of_events && !filter.knows_order && a->query->temporary_ns == 0;
    filter_release(&filter);
    if (code >= 0 && a->when.processes.count > 1 && !overlap_take(&a->overlap, a->result, p))
        code = err_no_memory(err);
    return code;
}

/* Only the process with the highest peak keeps its values, unless all are to. */
static void answer_finish(struct answer *a)
{
    struct query_result *r = a->result;
    r->total.peak_blocks = r->total.peak_bytes = r->total.lifetime_median_ns = 0;
    for (size_t i = 0; i < r->rows.count; i++) {
        struct metrics *m = &r->rows.data[i].m;
        if (r->rows.data[i].process == r->peak_process) {
            r->total.peak_blocks += m->peak_blocks;
            r->total.peak_bytes += m->peak_bytes;
        } else if (!r->each_peak) {
            m->peak_blocks = m->peak_bytes = 0;
        }
    }
    if (a->medians != NULL && r->total.freed_blocks > 0) {
        uint64_t median = medians_of(a->medians);
        median = median < r->total.lifetime_min_ns ? r->total.lifetime_min_ns : median;
        r->total.lifetime_median_ns = median > r->total.lifetime_max_ns ? r->total.lifetime_max_ns : median;
    }
    r->peak_rss_bytes = a->when.rss_bytes;
    r->peak_rss_time_ns = a->when.rss_ns;
    r->events = a->watch.done;
    r->interrupted = a->watch.interrupted;
}

static void answer_begin(struct answer *a)
{
    struct query_result *r = a->result;
    query_result_release(r);
    r->processes = (uint32_t)a->when.processes.count;
    r->each_peak = a->query->each_peak;
    r->from_ns = a->when.window.min;
    r->to_ns = a->when.window.max;
    r->moment_ns = a->when.moment;
    r->later_ns = a->when.has_later ? a->when.end : 0;
    for (size_t i = 0; i < a->when.processes.count; i++)
        a->watch.total += wake_reader_process(a->reader, a->when.processes.data[i])->events;
}

int query_run(const struct query *q, struct wake_reader *reader, struct query_result *result, struct err *err)
{
    struct answer a = {.query = q, .reader = reader, .result = result, .watch = {.query = q}};
    int code = query_suits_blocks(q, err);
    if (code == 0)
        code = when_resolve(&a.when, q, reader, err);
    if (code == 0 && (q->want & WANT_MEDIAN) != 0 &&
        (a.medians = memory_new_zeroed(MEDIAN_BUCKETS, sizeof *a.medians)) == NULL)
        code = err_no_memory(err);
    if (code == 0) {
        answer_begin(&a);
        if (q->ticks != 0 && !timeline_init(result, q, &a.when))
            code = err_no_memory(err);
    }
    for (size_t i = 0; i < a.when.processes.count && code == 0 && !a.watch.interrupted; i++)
        code = answer_process(&a, a.when.processes.data[i], err);
    if (code >= 0) {
        overlap_give(&a.overlap, result);
        answer_finish(&a);
        code = 0;
    }
    overlap_release(&a.overlap);
    when_release(&a.when);
    free(a.medians);
    return code;
}
