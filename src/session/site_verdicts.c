/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * site_verdicts: see site_verdicts.h.
 */
#include "session/site_verdicts.h"

#include "analysis/site_trend.h"
#include "tool/map.h"
#include "tool/memory.h"

#include <stdlib.h>

/* So large that nobody should wait for a reading that was not asked for. */
enum { REPORT_VERDICTS_EVENTS = 20000000 };

/* A trace and the row that stands for it. */
struct site_verdict {
    uint32_t trace, process, stack;
    uint64_t leaked, held;
    bool found;
};

struct site_verdict_list {
    VEC(struct site_verdict) list;
    struct map by_trace; /* -> index */
};

static bool site_verdicts_are_slow(const struct judged *d)
{
    uint64_t events = 0;
    for (size_t i = 0; i < session_count(d->session); i++)
        events += wake_reader_summary(session_reader(d->session, i))->events;
    return events > REPORT_VERDICTS_EVENTS;
}

static int site_verdicts_memory(struct err *err)
{
    return err_no_memory(err);
}

/* For each trace, the row that leaks most, or else held most: calls in one line may have several. */
static int site_verdicts_choose(const struct judged *d, struct site_verdict_list *w, struct err *err)
{
    for (size_t i = 0; i < d->result->rows.count; i++) {
        const struct query_row *row = &d->result->rows.data[i];
        uint32_t trace;
        int code = traces_find(d->traces, row->process, row->stack, &trace, err);
        const uint64_t *at = code != 0 ? NULL : map_find(&w->by_trace, trace);
        if (code != 0)
            return code;
        if (at == NULL)
            continue;
        struct site_verdict *one = &w->list.data[*at];
        const struct site_verdict this = {
            trace, row->process, row->stack, row->m.leaked_bytes, row->m.peak_bytes, true};
        bool holds_more = this.leaked == one->leaked && this.held > one->held;
        if (!one->found || this.leaked > one->leaked || holds_more)
            *one = this;
    }
    return 0;
}

/* All rows of one process, which is number `process` of the reader. */
static int site_verdicts_judge(const struct judged *d, struct verdicts *v, const struct site_verdict_list *w,
                               size_t recording, uint32_t process, bool may_read, struct err *err)
{
    struct wake_reader *r = session_reader(d->session, recording);
    uint32_t base = session_base(d->session, recording);
    VEC(uint32_t) stacks = {0};
    VEC(uint32_t) traces = {0};
    struct query q, ready;
    bool fine = true;
    for (size_t i = 0; i < w->list.count && fine; i++) {
        const struct site_verdict *one = &w->list.data[i];
        if (one->found && one->process == base + process)
            fine = vec_push(&stacks, one->stack) && vec_push(&traces, one->trace);
    }
    query_init(&q);
    session_prepare(d->session, recording, &q, d->ask, &ready);
    struct verdict *found = memory_new_zeroed(stacks.count + 1, sizeof *found);
    int code = !fine || found == NULL ? site_verdicts_memory(err)
               : stacks.count == 0
                   ? 0
                   : site_trend_judge(found, &ready, r, process, stacks.data, stacks.count, may_read, err);
    for (size_t i = 0; i < stacks.count && code == 0; i++) {
        if (found[i].kind != VERDICT_NONE && !verdicts_add(v, traces.data[i], found[i]))
            code = site_verdicts_memory(err);
    }
    query_release(&q);
    free(found);
    vec_release(&stacks);
    vec_release(&traces);
    return code == ERR_ABSENT ? 0 : code; /* interrupted: no verdicts */
}

bool site_verdicts_have_lives(const struct wake_process *p)
{
    return !p->end.made_up && !p->end.no_clock;
}

int site_verdicts_find(const struct judged *d, struct verdicts *v, const uint32_t *traces, size_t count,
                       bool is_asked_for, struct err *err)
{
    bool may_read = is_asked_for || !site_verdicts_are_slow(d);
    struct site_verdict_list w = {0};
    int code = 0;
    map_init(&w.by_trace);
    for (size_t i = 0; i < count && code == 0; i++) {
        if (map_find(&w.by_trace, traces[i]) == NULL &&
            (!map_set(&w.by_trace, traces[i], w.list.count) ||
             !vec_push(&w.list, (struct site_verdict){.trace = traces[i]})))
            code = site_verdicts_memory(err);
    }
    if (code == 0)
        code = site_verdicts_choose(d, &w, err);
    for (size_t i = 0; i < session_count(d->session) && code == 0; i++) {
        const struct wake_reader *r = session_reader(d->session, i);
        for (uint32_t k = 0; k < wake_reader_process_count(r) && code == 0; k++) {
            if (!site_verdicts_have_lives(wake_reader_process(r, k)))
                continue; /* nothing is known of the life of its blocks */
            code = site_verdicts_judge(d, v, &w, i, k, may_read, err);
        }
    }
    vec_release(&w.list);
    map_release(&w.by_trace);
    return code;
}
