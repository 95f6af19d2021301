/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_data: see report_data.h.
 */
#include "cmd/report_data.h"

#include "cmd/facts.h"
#include "cmd/parts.h"
#include "query/combine.h"
#include "tool/file.h"

#include <stdlib.h>
#include <string.h>

enum {
    REPORT_SUPPRESSIONS_MAX = 16 << 20, /* bytes of one file */
    REPORT_TICKS = 200,                 /* of the timeline */
    REPORT_FEW_EVENTS = 4000000,        /* that are read in a moment: the timeline may be exact */
};

void report_data_init(struct report_data *d)
{
    memset(d, 0, sizeof *d);
    traces_init(&d->traces);
    query_result_init(&d->result);
    suppress_init(&d->suppress);
}

void report_data_release(struct report_data *d)
{
    suppress_release(&d->suppress);
    query_result_release(&d->result);
    traces_release(&d->traces);
    for (size_t i = 0; i < d->readers.count; i++)
        wake_reader_close(d->readers.data[i]);
    vec_release(&d->readers);
}

/* ----------------------------------------------------------------------- head */

static void report_data_add_facts(struct report_data *d, const struct wake_reader *r)
{
    struct section_head *h = &d->head;
    struct facts f;
    facts_gather(&f, r);
    if (h->files++ == 0) {
        h->complete = true;
        h->end = "ended";
    }
    if (h->args == NULL && f.processes > 0) {
        const struct wake_process *first = wake_reader_process(r, 0);
        h->args = first->info.args;
        h->args_length = first->info.args_length;
        facts_describe_end(first, d->end, sizeof d->end);
        h->end = d->end;
    }
    if (f.processes > 0 && (h->files == 1 || f.peak_bytes > h->peak_bytes)) {
        h->peak_bytes = f.peak_bytes;
        h->peak_blocks = f.peak_blocks;
        h->peak_time_ns = f.peak_time_ns;
        h->peak_pid = wake_reader_process(r, f.peak_process)->info.pid;
    }
    h->processes += f.processes;
    h->threads += f.threads;
    h->runtime_ns = f.runtime_ns > h->runtime_ns ? f.runtime_ns : h->runtime_ns;
    h->allocations += f.allocations;
    h->frees += f.frees;
    h->allocated_bytes += f.allocated_bytes;
    h->leaked_bytes += f.leaked_bytes;
    h->leaked_blocks += f.leaked_blocks;
    h->temporary_blocks += f.temporary_blocks;
    h->peak_rss_bytes = f.peak_rss_bytes > h->peak_rss_bytes ? f.peak_rss_bytes : h->peak_rss_bytes;
    h->lost_events += f.lost_events;
    h->stacks += f.stacks;
    h->cut_stacks += f.cut_stacks;
    if (f.cull_threshold_ns > h->cull_threshold_ns)
        h->cull_threshold_ns = f.cull_threshold_ns;
    if (f.sample_rate > h->sample_rate)
        h->sample_rate = f.sample_rate;
    h->samples += f.samples;
    h->culled_blocks += f.culled_blocks;
    h->culled_bytes += f.culled_bytes;
    if (f.limit_ns != 0 && (h->limit_ns == 0 || f.limit_ns < h->limit_ns))
        h->limit_ns = f.limit_ns;
    h->limited_events += f.limited_events;
    h->complete &= f.complete;
}

/* --------------------------------------------------------------- suppressions */

static int report_data_read_suppressions(struct report_data *d, const char *path, struct err *err)
{
    int fd;
    uint64_t size;
    size_t got = 0;
    int code = file_open(&fd, &size, path, err);
    if (code != 0)
        return code;
    char *text = size > REPORT_SUPPRESSIONS_MAX ? NULL : malloc((size_t)size + 1);
    if (size > REPORT_SUPPRESSIONS_MAX)
        code = err_set(err, ERR_LIMIT, "%s is too large for a list of suppressions.", path);
    else if (text == NULL)
        code = err_set(err, ERR_MEMORY, "There is no memory to read %s.", path);
    else if (file_read_at(fd, text, (size_t)size, 0, &got) != 0)
        code = err_set(err, ERR_IO, "%s cannot be read.", path);
    else
        code = suppress_add_text(&d->suppress, path, text, got, err);
    free(text);
    file_close(fd);
    return code;
}

static int report_data_suppress(struct report_data *d, const struct report_options *o, struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < o->suppressions.count && code == 0; i++)
        code = report_data_read_suppressions(d, o->suppressions.data[i], err);
    if (code == 0 && o->built_in)
        code = suppress_add_built_in(&d->suppress, err);
    if (code == 0)
        code = suppress_apply(&d->suppress, &d->traces, &d->result, err);
    for (size_t i = 0; i < d->suppress.rules.count; i++) {
        d->head.suppressed_bytes += d->suppress.rules.data[i].bytes;
        d->head.suppressed_blocks += d->suppress.rules.data[i].blocks;
    }
    return code;
}

/* -------------------------------------------------------------------- reading */

static int report_data_ask(struct report_data *d, const struct report_options *o, struct wake_reader *r,
                           struct query_result *answer, struct err *err)
{
    struct query q = o->query; /* its lists and texts stay the options' */
    if (o->shape == REPORT_SITES && o->measures == 0 && d->recordings == 1) {
        q.ticks = REPORT_TICKS;
        q.rough_ticks = wake_reader_summary(r)->events > REPORT_FEW_EVENTS;
    }
    return asking_run(&d->asking, &q, r, answer, err);
}

/* One recording, in one file or several. */
static int report_data_add(struct report_data *d, const struct report_options *o, const char *const *paths,
                           size_t count, struct err *err)
{
    struct wake_reader *r = asking_open_series(&d->asking, paths, count, err);
    struct query_result answer;
    uint32_t base;
    if (r == NULL)
        return ERR_INPUT;
    if (!vec_push(&d->readers, r)) {
        wake_reader_close(r);
        return err_set(err, ERR_MEMORY, "There is no memory for the recordings.");
    }
    query_result_init(&answer);
    int code = traces_add_reader(&d->traces, r, &base, err);
    if (code == 0)
        code = report_data_ask(d, o, r, &answer, err);
    if (code == 0)
        code = combine_add(&d->result, &answer, base, err);
    query_result_release(&answer);
    if (code == 0)
        report_data_add_facts(d, r);
    return code;
}

int report_data_read(struct report_data *d, const struct report_options *o, struct err *err)
{
    int code = 0;
    if (o->worst != WORST_NONE)
        code = worst_pick(o->worst, o->files.data, o->files.count, &d->chosen, &d->chosen_value, err);
    const char *const *files = o->files.data;
    struct parts parts = {0};
    if (code == 0)
        code = parts_init(&parts, o->worst == WORST_NONE ? files : files + d->chosen,
                          o->worst == WORST_NONE ? o->files.count : 1, err);
    d->recordings = parts.first.count;
    asking_begin(&d->asking);
    for (size_t i = 0; i < parts.first.count && code == 0; i++)
        code = report_data_add(d, o, parts.paths.data + parts.first.data[i], parts_count(&parts, i), err);
    asking_end(&d->asking);
    parts_release(&parts);
    d->head.omitted_blocks = d->result.omitted_blocks;
    if (code == 0)
        code = sieve_apply(&o->sieve, &d->traces, &d->result, err);
    if (code == 0)
        code = report_data_suppress(d, o, err);
    return code;
}
