/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_blocks: see report_blocks.h.
 *
 * The answer of the report says which stacks have leaks, without those that are suppressed or left out; the events
 * have the blocks.  Memory goes by the blocks that are shown.
 */
#include "cmd/report_blocks.h"

#include "present/section_blocks.h"

#include <stdlib.h>

enum { REPORT_BLOCKS_SPARE = 1000 }; /* kept beyond the limit before the smallest are dropped */

struct report_blocks {
    struct report_data *data;
    struct report_kept kept;
    size_t limit;
    uint32_t process; /* in the traces */
    VEC(struct section_block) list;
    VEC(uint64_t) walls;
    struct section_blocks section;
    struct err *err;
};

static int report_blocks_no_memory(struct err *err)
{
    return err_no_memory(err);
}

/* Largest first, then in the order of their births. */
static int report_blocks_compare(const void *left, const void *right)
{
    const struct section_block *a = left, *b = right;
    if (a->b.size != b->b.size)
        return a->b.size > b->b.size ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->b.number > b->b.number) - (a->b.number < b->b.number);
}

static void report_blocks_order(struct report_blocks *r)
{
    if (r->list.count > 1)
        qsort(r->list.data, r->list.count, sizeof *r->list.data, report_blocks_compare);
    if (r->limit != 0 && r->list.count > r->limit)
        r->list.count = r->limit;
}

static int report_blocks_begin(void *context, uint32_t process)
{
    struct report_blocks *r = context;
    r->process = r->kept.base + process;
    return 0;
}

static int report_blocks_alloc(void *context, struct follow_block *b, bool is_earlier)
{
    (void)context;
    b->tag = is_earlier; /* made before the window: no leak of it */
    return 0;
}

static int report_blocks_release(void *context, const struct follow_block *b, const struct follow_end *end)
{
    (void)context, (void)b, (void)end;
    return 0;
}

static int report_blocks_left(void *context, const struct follow_block *b)
{
    struct report_blocks *r = context;
    struct section_block block = {.b = *b, .process = r->process};
    if (!b->is_leaked || b->tag != 0)
        return 0;
    int code = traces_find(&r->data->traces, r->process, b->stack, &block.trace, r->err);
    if (code != 0)
        return code;
    r->section.found_count++;
    r->section.found_blocks += b->blocks;
    r->section.found_bytes += b->bytes;
    if (!vec_push(&r->list, block))
        return report_blocks_no_memory(r->err);
    if (r->limit != 0 && r->list.count >= 2 * r->limit + REPORT_BLOCKS_SPARE)
        report_blocks_order(r);
    return 0;
}

static int report_blocks_read(struct report_blocks *r, const struct report_options *o, size_t recording)
{
    static const struct follow_calls calls = {report_blocks_begin, report_blocks_alloc, report_blocks_release,
                                              report_blocks_left};
    struct wake_reader *reader = session_reader(r->data->session, recording);
    struct query q;
    for (size_t i = 0; i < wake_reader_process_count(reader); i++) {
        if (!vec_push(&r->walls, wake_reader_summary(reader)->wall_ns))
            return report_blocks_no_memory(r->err);
    }
    session_prepare(r->data->session, recording, &o->query, &r->data->interactive.ask, &q);
    q.filter.states |= STATE_LEAKED;
    q.keeps_stack = report_kept_has;
    q.keeps_context = &r->kept;
    int code = follow_run(&q, reader, FOLLOW_ALL, WAKE_EVERYTHING, &calls, r, r->err);
    r->kept.base += (uint32_t)wake_reader_process_count(reader);
    return code;
}

int report_blocks_add(struct report_data *d, const struct report_options *o, size_t limit, struct page *p,
                      struct json *j, struct err *err)
{
    struct report_blocks r = {.data = d, .limit = limit, .err = err};
    int code = report_kept_init(&r.kept, &d->result, true, err);
    interactive_query_begin(&d->interactive);
    for (size_t i = 0; i < session_count(d->session) && code == 0; i++)
        code = report_blocks_read(&r, o, i);
    interactive_query_end(&d->interactive);
    if (code == 0) {
        report_blocks_order(&r);
        for (size_t i = 0; i < r.list.count; i++) {
            r.section.shown_blocks += r.list.data[i].b.blocks;
            r.section.shown_bytes += r.list.data[i].b.bytes;
        }
        r.section.traces = &d->traces;
        r.section.list = r.list.data;
        r.section.count = r.list.count;
        r.section.wall_ns = r.walls.data;
        r.section.total_blocks = d->result.total.leaked_blocks;
        r.section.total_bytes = d->result.total.leaked_bytes;
        r.section.suppress = &d->suppress;
        if (o->json)
            section_blocks_json(j, &r.section);
        else
            section_blocks_text(p, &r.section);
    }
    report_kept_release(&r.kept);
    vec_release(&r.list);
    vec_release(&r.walls);
    return code;
}
