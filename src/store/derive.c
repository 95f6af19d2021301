/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * derive: what the collector would have written at the end of a process, from
 * its events, for recordings that have no end.  Of one that grows it goes on where it stood.
 *
 * The peak in one pass: each stack keeps its live bytes, those at the latest
 * peak, and the epoch of that note.  A new maximum only advances the epoch; a
 * stack notes its bytes as "at the peak" when it is next touched in a later
 * epoch, just before it changes.
 */
#include "store/event_source.h"
#include "store/live.h"
#include "store/recording.h"
#include "store/weight.h"
#include "tool/map.h"
#include "tool/memory.h"

#include <stdlib.h>

struct derive_row {
    struct wake_stack_totals totals;
    uint64_t live_blocks, live_bytes;
    uint64_t epoch;
};

struct derive {
    struct wake_reader *reader;
    struct wake_live live;
    struct map latest; /* thread -> number of its latest allocation */
    VEC(struct derive_row) rows;
    struct wake_process_end end;
    uint64_t live_blocks, live_bytes, epoch;
    struct weight_rule rule;
    bool knows_order;
    bool failed;  /* no memory */
    size_t spans; /* chunks of events that have been read */
};

/* The row of a stack.  A number beyond all stacks that the file knows goes to
 * row 0, "no stack". */
static struct derive_row *derive_row(struct derive *d, uint32_t stack)
{
    struct derive_row *row = &d->rows.data[stack < d->rows.count ? stack : 0];
    if (row->epoch != d->epoch) {
        row->totals.peak_blocks = row->live_blocks;
        row->totals.peak_bytes = row->live_bytes;
        row->epoch = d->epoch;
    }
    return row;
}

static void derive_add_alloc(struct derive *d, const struct wake_block *b, uint32_t i)
{
    struct derive_row *row = derive_row(d, b->stack[i]);
    struct weight weight = weight_of(&d->rule, b->number[i], b->size[i]);
    row->totals.allocations += weight.blocks;
    row->totals.allocated_bytes += weight.bytes;
    row->live_blocks += weight.blocks;
    row->live_bytes += weight.bytes;
    d->end.allocations += weight.blocks;
    d->end.allocated_bytes += weight.bytes;
    d->live_blocks += weight.blocks;
    d->live_bytes += weight.bytes;
    if (!wake_live_add(&d->live, b, i) || !map_set(&d->latest, b->thread[i], b->number[i]))
        d->failed = true;
    if (d->live_bytes > d->end.peak_bytes) {
        d->end.peak_bytes = d->live_bytes;
        d->end.peak_blocks = d->live_blocks;
        d->end.peak_time_ns = b->time_ns[i];
        d->end.peak_event = b->first_event + i;
        d->epoch++;
    }
}

static void derive_add_free(struct derive *d, const struct wake_block *b, uint32_t i)
{
    struct wake_live_block was;
    /* Its allocation was in a part that is lost. */
    if (!wake_live_take(&d->live, b->number[i], &was)) {
        d->end.frees++;
        return;
    }
    struct derive_row *row = derive_row(d, was.stack);
    struct weight weight = weight_of(&d->rule, b->number[i], was.size);
    const uint64_t *latest = map_find(&d->latest, b->thread[i]);
    if (latest != NULL && *latest == b->number[i] && d->knows_order) {
        row->totals.temporary++;
        row->totals.temporary_bytes += was.size;
    }
    d->end.frees += weight.blocks;
    row->totals.freed += weight.blocks;
    row->totals.freed_bytes += weight.bytes;
    row->live_blocks -= weight.blocks;
    row->live_bytes -= weight.bytes;
    d->live_blocks -= weight.blocks;
    d->live_bytes -= weight.bytes;
}

static int derive_block(const struct wake_block *b, void *context)
{
    struct derive *d = context;
    for (uint32_t i = 0; i < b->count && !d->failed; i++) {
        if (b->event[i] == WAKE_ALLOC)
            derive_add_alloc(d, b, i);
        else if (b->event[i] == WAKE_FREE)
            derive_add_free(d, b, i);
        else if (b->event[i] == WAKE_FREE_UNKNOWN)
            d->end.unknown_frees++;
        else if (b->event[i] == WAKE_LOST)
            d->end.lost_events += b->size[i];
    }
    if (b->count > 0)
        d->end.end_ns = b->time_ns[b->count - 1];
    return d->failed ? ERR_MEMORY : 0;
}

/* Moves the results into the process. */
static bool derive_settle(struct derive *d, struct wake_process *p)
{
    struct wake_process_end end = d->end;
    struct wake_live_block block;
    p->totals.count = p->live.count = 0;
    for (uint32_t i = 0; i < d->rows.count; i++)
        if (!vec_push(&p->totals, derive_row(d, i)->totals))
            return false;
    for (struct numbered_walk at = {0}; wake_live_next(&d->live, &at, &block);)
        if (!vec_push(&p->live, block))
            return false;
    p->derived = true;
    if (p->ended)
        return true;
    end.leaked_blocks = d->live_blocks;
    end.leaked_bytes = d->live_bytes;
    end.wait_status = -1;
    end.threads = p->threads.count;
    for (size_t i = 0; i < p->stacks.count; i++)
        end.cut_stacks += p->stacks.data[i].cut != 0;
    for (size_t i = 0; i < p->samples.count; i++)
        if (p->samples.data[i].rss_bytes > end.peak_rss_bytes)
            end.peak_rss_bytes = p->samples.data[i].rss_bytes;
    if (end.end_ns < p->info.start_ns)
        end.end_ns = p->info.start_ns;
    p->end = end;
    return true;
}

/* NULL: no memory. */
static struct derive *derive_new(void)
{
    struct derive *d = memory_new_zeroed(1, sizeof *d);
    if (d != NULL) {
        wake_live_init(&d->live);
        map_init(&d->latest);
    }
    return d;
}

void derive_free(struct derive *d)
{
    if (d == NULL)
        return;
    wake_live_release(&d->live);
    map_release(&d->latest);
    vec_release(&d->rows);
    free(d);
}

/* The events that were not read yet; the first time what earlier files have made, too. */
static int derive_read(struct derive *d, struct wake_reader *r, size_t process, struct err *err)
{
    struct event_request request = event_request_all(r, process, 0, UINT64_MAX, WAKE_EVERYTHING);
    if (d->spans > 0)
        request.earlier = NULL;
    request.first = d->spans;
    d->spans = request.end;
    return event_request_visit(&request, r, derive_block, d, err);
}

int derive_process(struct wake_reader *r, size_t process, struct err *err)
{
    struct meta_decoder *shelf = r->shelves.data[process];
    struct wake_process *p = &shelf->process;
    struct derive *d = shelf->derive != NULL ? shelf->derive : derive_new();
    shelf->derive = d;
    if (d == NULL)
        return err_no_memory(err);
    d->reader = r;
    d->rule = p->rule;
    d->knows_order = wake_process_knows_order(p);
    int code = 0;
    while (d->rows.count < p->stacks.count && code == 0)
        code = vec_push(&d->rows, (struct derive_row){0}) ? 0 : ERR_MEMORY;
    if (code == 0)
        code = derive_read(d, r, process, err);
    if (code == 0 && !derive_settle(d, p))
        code = ERR_MEMORY;
    if (code == ERR_MEMORY)
        err_no_memory(err);
    if (code != 0 || !r->may_grow || r->summary.closed) {
        derive_free(d);
        shelf->derive = NULL;
    }
    return code;
}
