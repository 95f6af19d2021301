/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * holding: see holding.h.
 */
#include "export/holding.h"

#include <string.h>

static int holding_no_memory(struct err *err)
{
    return err_no_memory(err);
}

int holding_init(struct holding *h, const struct export_job *job, const struct subject *s, struct err *err)
{
    size_t stacks = s->process->stacks.count + 1;
    *h = (struct holding){.job = job, .subject = s, .peak_ns = s->from_ns};
    map_init(&h->by_trace);
    if (!vec_reserve(&h->by_stack, stacks))
        return holding_no_memory(err);
    memset(h->by_stack.data, 0, stacks * sizeof *h->by_stack.data);
    h->by_stack.count = stacks;
    return 0;
}

void holding_release(struct holding *h)
{
    vec_release(&h->traces);
    vec_release(&h->by_stack);
    map_release(&h->by_trace);
}

/* A stack that was not seen yet: it may look the same as one that was. */
static int holding_find(struct holding *h, uint32_t stack, struct err *err)
{
    uint32_t trace;
    int code = traces_find(h->job->traces, h->subject->index, stack, &trace, err);
    if (code != 0)
        return code;
    const uint64_t *known = map_find(&h->by_trace, trace);
    if (known == NULL && (!vec_push(&h->traces, (struct holding_trace){.trace = trace}) ||
                          !map_set(&h->by_trace, trace, h->traces.count)))
        return holding_no_memory(err);
    h->by_stack.data[stack] = known != NULL ? (uint32_t)*known : (uint32_t)h->traces.count;
    return 0;
}

static void holding_note_peak(struct holding *h, uint64_t time_ns)
{
    h->had_peak = true;
    h->peak_ns = time_ns > h->subject->from_ns ? time_ns : h->subject->from_ns;
    for (size_t i = 0; i < h->traces.count; i++) {
        h->traces.data[i].peak_blocks = h->traces.data[i].blocks;
        h->traces.data[i].peak_bytes = h->traces.data[i].bytes;
    }
}

static uint64_t holding_usable(const struct follow_block *b)
{
    return b->bytes + (b->usable > b->size ? (b->usable - b->size) * b->blocks : 0);
}

int holding_add(struct holding *h, const struct follow_block *b, bool *is_peak, struct err *err)
{
    int code = h->by_stack.data[b->stack] == 0 ? holding_find(h, b->stack, err) : 0;
    if (code != 0)
        return code;
    struct holding_trace *t = &h->traces.data[h->by_stack.data[b->stack] - 1];
    bool is_first = t->made_blocks == 0;
    t->blocks += b->blocks;
    t->bytes += b->bytes;
    t->made_blocks += b->blocks;
    t->made_bytes += b->bytes;
    if (t->bytes > t->highest_bytes || is_first) {
        t->highest_bytes = t->bytes;
        t->highest_blocks = t->blocks;
    }
    h->bytes += b->bytes;
    h->usable += holding_usable(b);
    *is_peak = !h->had_peak && h->bytes == h->subject->total.peak_bytes;
    if (*is_peak)
        holding_note_peak(h, b->born_ns);
    return 0;
}

void holding_remove(struct holding *h, const struct follow_block *b, const struct follow_end *end)
{
    struct holding_trace *t = &h->traces.data[h->by_stack.data[b->stack] - 1];
    t->blocks -= b->blocks;
    t->bytes -= b->bytes;
    t->lifetimes_ns += (end->time_ns - b->born_ns) * b->blocks;
    h->bytes -= b->bytes;
    h->usable -= holding_usable(b);
}
