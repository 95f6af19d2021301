/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_verdicts: see report_verdicts.h.
 */
#include "cmd/report_verdicts.h"

#include "query/lifeline.h"
#include "tool/map.h"
#include "tool/memory.h"

#include <stdlib.h>

/* So large that nobody should wait for a reading that was not asked for. */
enum { REPORT_VERDICTS_EVENTS = 20000000 };

/* A trace and the row that stands for it. */
struct report_verdict {
    uint32_t trace, process, stack;
    uint64_t leaked, held;
    bool found;
};

struct report_verdict_list {
    VEC(struct report_verdict) list;
    struct map by_trace; /* -> index */
};

static bool report_verdicts_are_slow(const struct judged *d)
{
    uint64_t events = 0;
    for (size_t i = 0; i < d->count; i++)
        events += wake_reader_summary(d->readers[i])->events;
    return events > REPORT_VERDICTS_EVENTS;
}

static int report_verdicts_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "There is no memory for the verdicts.");
}

/* For each trace, the row that leaks most, or else held most: calls in one line may have several. */
static int report_verdicts_choose(const struct judged *d, struct report_verdict_list *w, struct err *err)
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
        struct report_verdict *one = &w->list.data[*at];
        const struct report_verdict this = {
            trace, row->process, row->stack, row->m.leaked_bytes, row->m.peak_bytes, true};
        bool holds_more = this.leaked == one->leaked && this.held > one->held;
        if (!one->found || this.leaked > one->leaked || holds_more)
            *one = this;
    }
    return 0;
}

/* All rows of one process, which is number `process` of the reader. */
static int report_verdicts_judge(const struct judged *d, struct verdicts *v,
                                 const struct report_verdict_list *w, struct wake_reader *r, uint32_t process,
                                 uint32_t base, bool may_read, struct err *err)
{
    VEC(uint32_t) stacks = {0};
    VEC(uint32_t) traces = {0};
    struct query q, ready;
    bool fine = true;
    for (size_t i = 0; i < w->list.count && fine; i++) {
        const struct report_verdict *one = &w->list.data[i];
        if (one->found && one->process == base + process)
            fine = vec_push(&stacks, one->stack) && vec_push(&traces, one->trace);
    }
    query_init(&q);
    asking_prepare(d->asking, &ready, &q, r);
    struct verdict *found = memory_new_zeroed(stacks.count + 1, sizeof *found);
    int code = !fine || found == NULL ? report_verdicts_memory(err)
               : stacks.count == 0
                   ? 0
                   : lifeline_judge(found, &ready, r, process, stacks.data, stacks.count, may_read, err);
    for (size_t i = 0; i < stacks.count && code == 0; i++) {
        if (found[i].kind != VERDICT_NONE && !verdicts_add(v, traces.data[i], found[i]))
            code = report_verdicts_memory(err);
    }
    query_release(&q);
    free(found);
    vec_release(&stacks);
    vec_release(&traces);
    return code == ERR_ABSENT ? 0 : code; /* interrupted: no verdicts */
}

bool report_verdicts_have_lives(const struct wake_process *p)
{
    return !p->end.made_up && !p->end.no_clock;
}

int report_verdicts_find(const struct judged *d, struct verdicts *v, const uint32_t *traces, size_t count,
                         bool is_asked_for, struct err *err)
{
    bool may_read = is_asked_for || !report_verdicts_are_slow(d);
    struct report_verdict_list w = {0};
    int code = 0;
    map_init(&w.by_trace);
    for (size_t i = 0; i < count && code == 0; i++) {
        if (map_find(&w.by_trace, traces[i]) == NULL &&
            (!map_set(&w.by_trace, traces[i], w.list.count) ||
             !vec_push(&w.list, (struct report_verdict){.trace = traces[i]})))
            code = report_verdicts_memory(err);
    }
    if (code == 0)
        code = report_verdicts_choose(d, &w, err);
    asking_begin(d->asking);
    uint32_t base = 0;
    for (size_t i = 0; i < d->count && code == 0; i++) {
        uint32_t processes = (uint32_t)wake_reader_process_count(d->readers[i]);
        for (uint32_t k = 0; k < processes && code == 0; k++) {
            if (!report_verdicts_have_lives(wake_reader_process(d->readers[i], k)))
                continue; /* nothing is known of the life of its blocks */
            code = report_verdicts_judge(d, v, &w, d->readers[i], k, base, may_read, err);
        }
        base += processes;
    }
    asking_end(d->asking);
    vec_release(&w.list);
    map_release(&w.by_trace);
    return code;
}
