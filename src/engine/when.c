/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * when: see when.h.
 */
#include "engine/when.h"

#include <stdio.h>
#include <string.h>

enum { WHEN_LIST_MAX = 300 };

bool when_chooses(const struct query *q, const struct wake_process *p)
{
    bool is = q->pids.count == 0;
    for (size_t i = 0; i < q->pids.count && !is; i++)
        is = q->pids.data[i] == p->info.pid;
    return is;
}

static int when_choose(struct when *w, const struct query *q, const struct wake_reader *reader,
                       struct err *err)
{
    size_t count = wake_reader_process_count(reader);
    for (uint32_t i = 0; i < count; i++) {
        const struct wake_process *p = wake_reader_process(reader, i);
        w->end = p->end.end_ns > w->end ? p->end.end_ns : w->end;
        if (!when_chooses(q, p))
            continue;
        if (!vec_push(&w->processes, i))
            return err_no_memory(err);
        w->run_from = p->info.start_ns < w->run_from ? p->info.start_ns : w->run_from;
        w->run_to = p->end.end_ns > w->run_to ? p->end.end_ns : w->run_to;
    }
    if (w->run_from > w->run_to)
        w->run_from = w->run_to;
    for (size_t i = 0; i < q->pids.count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < count && !found; k++)
            found = wake_reader_process(reader, k)->info.pid == q->pids.data[i];
        if (!found)
            return err_set(err, ERR_ABSENT, "The recording has no process %u.", q->pids.data[i]);
    }
    return 0;
}

static uint64_t when_share(const struct when *w, double percent)
{
    double ns = percent / 100 * (double)(w->run_to - w->run_from);
    return ns <= 0 ? 0 : ns >= 0x1p63 ? UINT64_MAX / 2 : (uint64_t)ns;
}

/* Names those that there are, each once, as many as a sentence can hold. */
static int when_no_mark(const struct when *w, const struct wake_reader *reader, const char *wanted,
                        struct err *err)
{
    char list[WHEN_LIST_MAX] = "";
    size_t length = 0;
    for (size_t i = 0; i < w->processes.count; i++) {
        const struct wake_process *p = wake_reader_process(reader, w->processes.data[i]);
        for (size_t k = 0; k < p->marks.count; k++) {
            char item[WHEN_LIST_MAX];
            const char *name = p->marks.data[k].name;
            int room = snprintf(item, sizeof item, "\"%s\"", name == NULL ? "" : name);
            if (name == NULL || name[0] == '\0' || room >= (int)sizeof item || strstr(list, item) != NULL)
                continue;
            if (length + (size_t)room + 8 > sizeof list) {
                snprintf(list + length, sizeof list - length, ", ...");
                goto out;
            }
            length +=
                (size_t)snprintf(list + length, sizeof list - length, "%s%s", length == 0 ? "" : ", ", item);
        }
    }
out:
    if (length == 0)
        return err_set(err, ERR_ABSENT, "The recording has no mark called \"%s\", nor any other.", wanted);
    return err_set(err, ERR_ABSENT, "The recording has no mark called \"%s\"; there are %s.", wanted, list);
}

static int when_get_date(const struct wake_reader *reader, uint64_t date_ns, uint64_t *ns, struct err *err)
{
    uint64_t began_ns = wake_reader_summary(reader)->wall_ns;
    if (began_ns == 0)
        return err_set(err, ERR_ABSENT, "The recording does not say on which day it began.");
    *ns = date_ns > began_ns ? date_ns - began_ns : 0;
    return 0;
}

/* The moment when the resident set was first as large as it got. */
static void when_find_rss(struct when *w, const struct wake_reader *reader)
{
    for (size_t i = 0; i < w->processes.count; i++) {
        const struct wake_process *p = wake_reader_process(reader, w->processes.data[i]);
        for (size_t k = 0; k < p->samples.count; k++) {
            const struct wake_sample *s = &p->samples.data[k];
            if (s->time_ns < w->window.min || s->time_ns > w->window.max || s->rss_bytes < w->rss_bytes ||
                (s->rss_bytes == w->rss_bytes && (w->rss_bytes == 0 || s->time_ns >= w->rss_ns)))
                continue;
            w->rss_bytes = s->rss_bytes;
            w->rss_ns = s->time_ns;
        }
    }
}

/* Needs the window. */
static int when_get_rss(struct when *w, const struct wake_reader *reader, uint64_t *ns, struct err *err)
{
    when_find_rss(w, reader);
    if (w->rss_bytes == 0)
        return err_set(err, ERR_ABSENT, "The recording has no sample of the resident set in this window.");
    *ns = w->rss_ns;
    return 0;
}

/* Leaves *ns alone when the moment is not set. */
static int when_get(struct when *w, const struct wake_reader *reader, const struct query_time *t,
                    uint64_t *ns, struct err *err)
{
    uint64_t best = UINT64_MAX;
    bool found = false;
    switch (t->when) {
    case WHEN_UNSET:
        return 0;
    case WHEN_NS:
        *ns = t->ns;
        return 0;
    case WHEN_PERCENT:
        *ns = w->run_from + when_share(w, t->percent);
        return 0;
    case WHEN_PEAK_RSS:
        return when_get_rss(w, reader, ns, err);
    case WHEN_DATE:
        return when_get_date(reader, t->ns, ns, err);
    case WHEN_MARK:
        break;
    }
    for (size_t i = 0; i < w->processes.count; i++) {
        const struct wake_process *p = wake_reader_process(reader, w->processes.data[i]);
        for (size_t k = 0; k < p->marks.count; k++) {
            if (p->marks.data[k].name == NULL || strcmp(p->marks.data[k].name, t->mark) != 0)
                continue;
            best = p->marks.data[k].time_ns < best ? p->marks.data[k].time_ns : best;
            found = true;
        }
    }
    if (!found)
        return when_no_mark(w, reader, t->mark, err);
    *ns = best;
    return 0;
}

/* A moment behind the end of the recording is its end, unless there is something behind that. */
static void when_end_moments(struct when *w, const struct query *q)
{
    uint64_t *const moments[] = {&w->moment, &w->alive_at[0], &w->alive_at[1]};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        if (*moments[i] == UINT64_MAX || *moments[i] <= w->end || w->has_afterwards)
            continue;
        *moments[i] = w->end;
        w->has_later |= i > 0 || q->moment.when != WHEN_UNSET; /* the end of a window may lie there */
    }
}

static uint64_t when_amount(const struct when *w, const struct query_amount *a, uint64_t unset)
{
    return !a->is_set ? unset : a->is_percent ? when_share(w, a->percent) : a->number;
}

int when_resolve(struct when *w, const struct query *q, const struct wake_reader *reader, struct err *err)
{
    const struct query_filter *f = &q->filter;
    *w = (struct when){
        .run_from = UINT64_MAX,
        .has_afterwards = q->has_afterwards,
        .window = {0, UINT64_MAX},
        .born = {0, UINT64_MAX},
        .died = {0, UINT64_MAX},
        .group_peak = {0, UINT64_MAX},
        .must_have_died = f->freed_from.when != WHEN_UNSET || f->freed_to.when != WHEN_UNSET,
        .has_alive_at = {f->alive_at.when != WHEN_UNSET, f->alive_at_2.when != WHEN_UNSET},
    };
    int code = when_choose(w, q, reader, err);
    const struct {
        const struct query_time *time;
        uint64_t *ns;
    } all[] = {
        {&q->from, &w->window.min}, /* the window first, in which the highest resident set is looked for */
        {&q->to, &w->window.max},
        {&f->allocated_from, &w->born.min},
        {&f->allocated_to, &w->born.max},
        {&f->freed_from, &w->died.min},
        {&f->freed_to, &w->died.max},
        {&f->kept_until, &w->kept_until},
        {&f->alive_at, &w->alive_at[0]},
        {&f->alive_at_2, &w->alive_at[1]},
        {&f->group_peak_from, &w->group_peak.min},
        {&f->group_peak_to, &w->group_peak.max},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all && code == 0; i++)
        code = when_get(w, reader, all[i].time, all[i].ns, err);
    if (code != 0)
        return code;
    if (w->window.min > w->window.max)
        return err_set(err, ERR_USAGE, "The window ends before it begins.");
    w->group_interval.min = when_amount(w, &f->group_interval_min, 0);
    w->group_interval.max = when_amount(w, &f->group_interval_max, UINT64_MAX);
    when_find_rss(w, reader);
    w->moment = w->window.max;
    code = when_get(w, reader, &q->moment, &w->moment, err);
    when_end_moments(w, q);
    return code;
}

bool when_is_gone(const struct when *w, const struct wake_process *p, uint64_t ns)
{
    bool has_ended = p->ended && !p->end.goes_on && ns > p->end.end_ns;
    return ns != UINT64_MAX && (has_ended || (w->has_afterwards && ns > w->end));
}

void when_release(struct when *w)
{
    vec_release(&w->processes);
}
