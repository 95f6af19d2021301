/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * visit: walks the events of a process, chunk by chunk, block by block.
 *
 * Time never decreases within a process, so the chunks of a window are
 * neighbours, and a block is trimmed at its two ends only.
 */
#include <stdlib.h>

#include "store/recording.h"
#include "tool/memory.h"

/* First index in block whose time is >= ns (or > ns). */
static uint32_t visit_find(const struct wake_block *block, uint64_t ns, bool above)
{
    uint32_t low = 0, high = block->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (block->time_ns[middle] < ns || (above && block->time_ns[middle] == ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Keeps the indices first..end-1 of a list, counted from `first`.  How many these are. */
static uint32_t visit_trim_list(uint16_t *list, uint32_t count, uint32_t first, uint32_t end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i] >= first && list[i] < end)
            list[kept++] = (uint16_t)(list[i] - first);
    return kept;
}

/* The lists are shortened where they stand: nobody looks at the rest again. */
static struct wake_block visit_trim(const struct replay *r, uint64_t from_ns, uint64_t to_ns)
{
    const struct wake_block *block = &r->block;
    struct wake_block part = *block;
    uint32_t first = visit_find(block, from_ns, false);
    uint32_t end = visit_find(block, to_ns, true);
    if (first == 0 && end == block->count)
        return part;
    part.count = end > first ? end - first : 0;
    part.alloc_count = visit_trim_list(r->arrays->alloc_at, block->alloc_count, first, end);
    part.free_count = visit_trim_list(r->arrays->free_at, block->free_count, first, end);
    part.first_event += first;
    part.event += first;
    part.detail += first;
    part.time_ns += first;
    part.thread += first;
    part.stack += first;
    part.address += first;
    part.size += first;
    part.usable += first;
    part.number += first;
    part.previous += first;
    part.arena += first;
    return part;
}

struct visit {
    uint64_t from_ns, to_ns;
    unsigned wanted;
    wake_block_fn *call;
    void *context;
};

static int visit_chunk(struct wake_reader *r, const struct index_entry *e, const struct visit *v)
{
    struct payload payload;
    bool is_whole = e->events.first_ns >= v->from_ns && e->events.last_ns <= v->to_ns;
    unsigned wanted = is_whole ? v->wanted : v->wanted | WAKE_TIME;
    int code = recording_read(r, e, &payload);
    if (code == 0)
        code = replay_open(&r->replay, &r->codec, e->process, wanted, payload.bytes, payload.length);
    if (code == ERR_MEMORY)
        return code;
    if (code == 0 && r->replay.prelude.first_event != e->events.first_event)
        code = ERR_INPUT;
    int stop = 0;
    while (code == 0 && stop == 0 && replay_next(&r->replay)) {
        struct wake_block part = is_whole ? r->replay.block : visit_trim(&r->replay, v->from_ns, v->to_ns);
        if (part.count > 0)
            stop = v->call(&part, v->context);
    }
    if (code != 0 || (stop == 0 && r->replay.bad))
        recording_damage(r, e->offset,
                         "The events chunk at byte %llu contradicts itself; part of it is left out.",
                         (unsigned long long)e->offset);
    return stop;
}

/* Columns of the blocks that earlier files have made. */
struct visit_columns {
    uint8_t event[WAKE_BLOCK_MAX], detail[WAKE_BLOCK_MAX], arena[WAKE_BLOCK_MAX];
    uint32_t thread[WAKE_BLOCK_MAX], stack[WAKE_BLOCK_MAX];
    uint64_t time_ns[WAKE_BLOCK_MAX], address[WAKE_BLOCK_MAX], size[WAKE_BLOCK_MAX];
    uint64_t usable[WAKE_BLOCK_MAX], number[WAKE_BLOCK_MAX], previous[WAKE_BLOCK_MAX];
    uint16_t alloc_at[WAKE_BLOCK_MAX];
};

/* They come first, as allocations of no known kind at the time when the file began. */
static int visit_carried(const struct shelf *shelf, size_t process, const struct visit *v)
{
    const struct wake_process *p = &shelf->process;
    struct visit_columns *c = memory_new_zeroed(1, sizeof *c);
    int stop = c == NULL ? ERR_MEMORY : 0;
    for (size_t at = 0; at < p->carried.count && stop == 0;) {
        struct wake_block block = {.process = (uint32_t)process,
                                   .is_carried = true,
                                   .event = c->event,
                                   .detail = c->detail,
                                   .time_ns = c->time_ns,
                                   .thread = c->thread,
                                   .stack = c->stack,
                                   .address = c->address,
                                   .size = c->size,
                                   .usable = c->usable,
                                   .number = c->number,
                                   .previous = c->previous,
                                   .arena = c->arena,
                                   .alloc_at = c->alloc_at,
                                   .free_at = c->alloc_at};
        for (; at < p->carried.count && block.count < WAKE_BLOCK_MAX; at++, block.count++) {
            const struct wake_live_block *b = &p->carried.data[at];
            uint32_t i = block.count;
            c->event[i] = WAKE_ALLOC;
            c->time_ns[i] = p->carried_ns;
            c->stack[i] = b->stack;
            c->address[i] = b->address;
            c->size[i] = c->usable[i] = b->size;
            c->number[i] = b->allocation;
            c->alloc_at[i] = (uint16_t)i;
        }
        block.alloc_count = block.count;
        stop = v->call(&block, v->context);
    }
    free(c);
    return stop;
}

static int visit_spans(struct wake_reader *r, const struct shelf *shelf, size_t first, size_t end,
                       const struct visit *v, struct err *err)
{
    for (size_t i = first; i < end; i++) {
        const struct index_entry *e = &r->index.entries.data[shelf->spans.data[i]];
        if (e->events.last_ns < v->from_ns || e->events.first_ns > v->to_ns)
            continue;
        int code = visit_chunk(r, e, v);
        if (code == ERR_MEMORY)
            return err_set(err, ERR_MEMORY, "There is no memory to read the events of %s.", r->path);
        if (code != 0)
            return code;
    }
    return 0;
}

int wake_reader_visit(struct wake_reader *r, size_t process, uint64_t from_ns, uint64_t to_ns,
                      wake_block_fn *visit, void *context, struct err *err)
{
    return wake_reader_visit_columns(r, process, from_ns, to_ns, WAKE_EVERYTHING, visit, context, err);
}

int wake_reader_visit_columns(struct wake_reader *r, size_t process, uint64_t from_ns, uint64_t to_ns,
                              unsigned columns, wake_block_fn *visit, void *context, struct err *err)
{
    if (process >= r->shelves.count)
        return err_set(err, ERR_ABSENT, "%s has no process number %zu.", r->path, process);
    const struct shelf *shelf = r->shelves.data[process];
    const struct visit v = {
        .from_ns = from_ns, .to_ns = to_ns, .wanted = columns, .call = visit, .context = context};
    if (shelf->process.carried.count > 0 && from_ns <= shelf->process.carried_ns) {
        int code = visit_carried(shelf, process, &v);
        if (code == ERR_MEMORY)
            return err_set(err, ERR_MEMORY, "There is no memory to read the events of %s.", r->path);
        if (code != 0)
            return code;
    }
    return visit_spans(r, shelf, 0, shelf->spans.count, &v, err);
}

int wake_reader_visit_spans(struct wake_reader *r, size_t process, size_t first, size_t end, uint64_t to_ns,
                            unsigned columns, wake_block_fn *visit, void *context, struct err *err)
{
    const struct visit v = {.to_ns = to_ns, .wanted = columns, .call = visit, .context = context};
    const struct shelf *shelf = r->shelves.data[process];
    return visit_spans(r, shelf, first, end, &v, err);
}

size_t wake_reader_span_count(const struct wake_reader *r, size_t process)
{
    return process < r->shelves.count ? r->shelves.data[process]->spans.count : 0;
}

bool wake_reader_span(const struct wake_reader *r, size_t process, size_t i, struct wake_span *span)
{
    if (i >= wake_reader_span_count(r, process))
        return false;
    size_t at = r->shelves.data[process]->spans.data[i];
    const struct events_prelude *p = &r->index.entries.data[at].events;
    *span = (struct wake_span){
        .first_ns = p->first_ns,
        .last_ns = p->last_ns,
        .first_event = p->first_event,
        .events = p->events,
        .allocations = p->allocations,
        .frees = p->frees,
        .live_bytes_first = p->live_bytes_first,
        .live_bytes_last = p->live_bytes_last,
        .live_bytes_max = p->live_bytes_max,
        .live_blocks_first = p->live_blocks_first,
        .live_blocks_last = p->live_blocks_last,
    };
    return true;
}
