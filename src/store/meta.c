/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * meta: see meta.h.  All numbers are varints; docs/format.md draws each record.
 *
 * Stacks are stored against the one before in the chunk: how many outermost
 * frames they share, then the others, from the outside in.  A frame is its
 * module and the difference to the address last seen in that module.
 */
#include "store/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "store/format.h"
#include "tool/memory.h"
#include "wire/record.h"

void meta_init(struct meta *m)
{
    *m = (struct meta){0};
}

void meta_release(struct meta *m)
{
    strbuf_release(&m->threads);
    strbuf_release(&m->modules);
    strbuf_release(&m->stacks);
    strbuf_release(&m->samples);
    strbuf_release(&m->marks);
    strbuf_release(&m->pools);
    strbuf_release(&m->usage);
    strbuf_release(&m->gaps);
    strbuf_release(&m->scratch);
    free(m->last);
    m->last = NULL;
    m->last_count = m->last_capacity = 0;
}

void meta_restart(struct meta *m)
{
    strbuf_clear(&m->threads);
    strbuf_clear(&m->modules);
    strbuf_clear(&m->stacks);
    strbuf_clear(&m->samples);
    strbuf_clear(&m->marks);
    strbuf_clear(&m->pools);
    strbuf_clear(&m->usage);
    strbuf_clear(&m->gaps);
}

bool meta_is_full(const struct meta *m)
{
    return m->stacks.length > META_ENOUGH || m->threads.length > META_ENOUGH ||
           m->modules.length > META_ENOUGH || m->marks.length > META_ENOUGH ||
           m->usage.length > META_ENOUGH || m->gaps.length > META_ENOUGH;
}

static size_t meta_cut(size_t length, size_t max)
{
    return length < max ? length : max;
}

static void meta_add_text(struct strbuf *to, const void *text, size_t length)
{
    strbuf_add_varint(to, length);
    strbuf_add(to, text, length);
}

/* The record in scratch; one that is not whole spoils the chunk, which says so. */
static void meta_add_record(struct meta *m, struct strbuf *to)
{
    meta_add_text(to, m->scratch.text, m->scratch.length);
    to->failed |= m->scratch.failed;
}

void meta_add_thread(struct meta *m, uint32_t thread, uint32_t tid, uint64_t time_ns)
{
    strbuf_clear(&m->scratch);
    strbuf_add_varint(&m->scratch, THREAD_BEGINS);
    strbuf_add_varint(&m->scratch, thread);
    strbuf_add_varint(&m->scratch, time_ns);
    strbuf_add_varint(&m->scratch, tid);
    meta_add_record(m, &m->threads);
}

void meta_name_thread(struct meta *m, uint32_t thread, const char *name, size_t length, uint64_t time_ns)
{
    strbuf_clear(&m->scratch);
    strbuf_add_varint(&m->scratch, THREAD_NAMED);
    strbuf_add_varint(&m->scratch, thread);
    strbuf_add_varint(&m->scratch, time_ns);
    meta_add_text(&m->scratch, name, meta_cut(length, META_TEXT_MAX));
    meta_add_record(m, &m->threads);
}

uint32_t meta_add_module(struct meta *m, const struct wake_module_info *info)
{
    m->module_count++;
    if (m->modules.length == 0)
        strbuf_add_varint(&m->modules, m->module_count);
    strbuf_clear(&m->scratch);
    strbuf_add_varint(&m->scratch, info->start);
    strbuf_add_varint(&m->scratch, info->end - info->start);
    strbuf_add_varint(&m->scratch, info->bias);
    meta_add_text(&m->scratch, info->build_id, meta_cut(info->build_id_length, META_TEXT_MAX));
    meta_add_text(&m->scratch, info->path, meta_cut(info->path_length, META_TEXT_MAX));
    meta_add_record(m, &m->modules);
    return m->module_count;
}

static bool meta_reserve_frames(struct meta *m, uint32_t count)
{
    if (count <= m->last_capacity)
        return true;
    uint32_t wanted = count < 64 ? 64 : count + count / 4;
    struct wake_frame *moved = memory_resize(m->last, wanted * sizeof *moved);
    if (moved == NULL)
        return false;
    m->last = moved;
    m->last_capacity = wanted;
    return true;
}

static void meta_add_frame(struct meta *m, const struct wake_frame *frame)
{
    uint64_t *last = &m->last_address[frame->module % META_MODULE_SLOTS];
    uint64_t address = frame->address & ~RECORD_FRAME_EXACT;
    bool exact = (frame->address & RECORD_FRAME_EXACT) != 0;
    uint8_t *to = (uint8_t *)strbuf_reserve(&m->stacks, 2 * (size_t)VARINT_MAX);
    if (to == NULL)
        return;
    uint8_t *end = varint_put(to, (uint64_t)frame->module * 2 + exact);
    end = varint_put(end, varint_zigzag(address - *last));
    strbuf_grown(&m->stacks, (size_t)(end - to));
    *last = address;
}

/* Frame i of `count` from the outside, of which `kept` stay. */
static const struct wake_frame *meta_frame(const struct wake_frame *frames, uint32_t count, uint32_t kept,
                                           uint32_t i)
{
    return i < kept / 2 ? &frames[count - 1 - i] : &frames[kept - 1 - i];
}

uint32_t meta_add_stack(struct meta *m, const struct wake_frame *frames, uint32_t count, uint32_t omitted,
                        unsigned cut)
{
    m->stack_count++;
    if (m->stacks.length == 0) {
        strbuf_add_varint(&m->stacks, m->stack_count);
        memset(m->last_address, 0, sizeof m->last_address);
        m->last_count = 0;
    }
    uint32_t kept = count < META_FRAMES_MAX ? count : META_FRAMES_MAX;
    if (!meta_reserve_frames(m, kept)) {
        /* The stack stays, without its frames. */
        omitted += count;
        count = kept = 0;
    }
    uint32_t shared = 0;
    while (shared < kept && shared < m->last_count) {
        const struct wake_frame *frame = meta_frame(frames, count, kept, shared);
        if (frame->address != m->last[shared].address || frame->module != m->last[shared].module)
            break;
        shared++;
    }
    strbuf_add_varint(&m->stacks, cut);
    strbuf_add_varint(&m->stacks, (uint64_t)omitted + (count - kept));
    strbuf_add_varint(&m->stacks, shared);
    strbuf_add_varint(&m->stacks, kept - shared);
    for (uint32_t i = shared; i < kept; i++) {
        m->last[i] = *meta_frame(frames, count, kept, i);
        meta_add_frame(m, &m->last[i]);
    }
    m->last_count = kept;
    return m->stack_count;
}

void meta_add_sample(struct meta *m, uint64_t time_ns, uint64_t rss_bytes)
{
    if (m->samples.length == 0)
        m->sample_ns = m->sample_rss = 0;
    strbuf_add_varint(&m->samples, varint_zigzag(time_ns - m->sample_ns));
    strbuf_add_varint(&m->samples, varint_zigzag(rss_bytes - m->sample_rss));
    m->sample_ns = time_ns;
    m->sample_rss = rss_bytes;
}

static uint64_t meta_kib(uint64_t bytes)
{
    return bytes / 1024;
}

void meta_add_usage(struct meta *m, uint64_t time_ns, uint64_t took_ns, bool anew,
                    const struct wake_usage *ranges, size_t count)
{
    uint64_t last = 0;
    strbuf_clear(&m->scratch);
    strbuf_add_varint(&m->scratch, time_ns);
    strbuf_add_varint(&m->scratch, took_ns);
    strbuf_add_varint(&m->scratch, anew ? USAGE_ANEW : 0);
    for (const struct wake_usage *u = ranges; u < ranges + count; u++) {
        strbuf_add_varint(&m->scratch, varint_zigzag(u->start - last));
        strbuf_add_varint(&m->scratch, u->end - u->start);
        strbuf_add_varint(&m->scratch, u->is_gone ? USAGE_GONE : u->rights);
        last = u->end;
        if (u->is_gone)
            continue;
        strbuf_add_varint(&m->scratch, meta_kib(u->rss_bytes));
        strbuf_add_varint(&m->scratch, meta_kib(u->anonymous_bytes));
        strbuf_add_varint(&m->scratch, meta_kib(u->swap_bytes));
        meta_add_text(&m->scratch, u->name, meta_cut(strlen(u->name), META_TEXT_MAX));
    }
    meta_add_record(m, &m->usage);
}

void meta_add_pool(struct meta *m, uint32_t pool, const char *name, const char *unit)
{
    strbuf_clear(&m->scratch);
    strbuf_add_varint(&m->scratch, pool);
    meta_add_text(&m->scratch, name, meta_cut(strlen(name), META_TEXT_MAX));
    meta_add_text(&m->scratch, unit, meta_cut(strlen(unit), META_TEXT_MAX));
    meta_add_text(&m->pools, m->scratch.text, m->scratch.length);
}

void meta_add_mark(struct meta *m, uint64_t time_ns, uint32_t thread, const char *name, size_t length)
{
    if (m->marks.length == 0)
        strbuf_add_varint(&m->marks, m->mark_count);
    m->mark_count++;
    strbuf_clear(&m->scratch);
    strbuf_add_varint(&m->scratch, time_ns);
    strbuf_add_varint(&m->scratch, thread);
    meta_add_text(&m->scratch, name, meta_cut(length, META_TEXT_MAX));
    meta_add_record(m, &m->marks);
}

void meta_add_gap(struct meta *m, uint64_t number, uint64_t skipped)
{
    if (m->gaps.length == 0)
        m->gap = (struct weight_gap){0};
    else if (number <= m->gap.number)
        return;
    strbuf_add_varint(&m->gaps, number - m->gap.number);
    strbuf_add_varint(&m->gaps, skipped - m->gap.skipped);
    m->gap = (struct weight_gap){number, skipped};
}

void meta_encode_process(struct strbuf *to, const struct wake_process_info *info)
{
    strbuf_add_varint(to, info->pid);
    strbuf_add_varint(to, info->ppid);
    strbuf_add_varint(to, info->parent);
    strbuf_add_varint(to, (info->forked ? PROCESS_FORKED : 0u) | (info->has_arenas ? PROCESS_ARENAS : 0u));
    strbuf_add_varint(to, info->start_ns);
    const char *exe = info->exe == NULL ? "" : info->exe;
    meta_add_text(to, exe, meta_cut(strlen(exe), META_TEXT_MAX));
    meta_add_text(to, info->args, meta_cut(info->args_length, META_ARGS_MAX));
}

void meta_encode_end(struct strbuf *to, const struct wake_process_end *end)
{
    const uint64_t values[] = {
        end->end_ns,
        varint_zigzag((uint64_t)(int64_t)end->wait_status),
        (end->complete ? END_COMPLETE : 0u) | (end->execed ? END_EXECED : 0u) |
            (end->goes_on ? END_GOES_ON : 0u) | (end->made_up ? END_MADE_UP : 0u) |
            (end->no_clock ? END_NO_CLOCK : 0u),
        end->allocations,
        end->frees,
        end->allocated_bytes,
        end->peak_bytes,
        end->peak_blocks,
        end->peak_time_ns,
        end->peak_event,
        end->leaked_blocks,
        end->leaked_bytes,
        end->unknown_frees,
        end->inherited_frees,
        end->implied_frees,
        end->lost_events,
        end->cut_stacks,
        end->peak_rss_bytes,
        end->threads,
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        strbuf_add_varint(to, values[i]);
}

void meta_encode_totals(struct strbuf *to, const struct wake_stack_totals *totals, uint32_t first,
                        uint32_t count)
{
    strbuf_add_varint(to, first);
    strbuf_add_varint(to, count);
    for (const struct wake_stack_totals *t = totals + first; t < totals + first + count; t++) {
        strbuf_add_varint(to, t->allocations);
        strbuf_add_varint(to, t->allocated_bytes);
        strbuf_add_varint(to, t->freed);
        strbuf_add_varint(to, t->freed_bytes);
        strbuf_add_varint(to, t->peak_blocks);
        strbuf_add_varint(to, t->peak_bytes);
        strbuf_add_varint(to, t->temporary);
        strbuf_add_varint(to, t->temporary_bytes);
    }
}

void meta_encode_omissions(struct strbuf *to, const struct wake_omissions *o,
                           const struct wake_culled_stack *rows, size_t first, size_t count)
{
    const uint64_t values[] = {
        (o->is_culled ? OMISSIONS_CULLED : 0u) | (o->is_limited ? OMISSIONS_LIMITED : 0u) |
            (o->sample_rate != 0 ? OMISSIONS_SAMPLED : 0u) | (o->has_gaps ? OMISSIONS_GAPS : 0u),
        o->threshold_ns,
        o->culled_blocks,
        o->culled_bytes,
        o->limit_ns,
        o->allocations,
        o->frees,
        o->others,
        o->sample_rate,
        o->samples,
        o->freed_samples,
    };
    uint8_t record[sizeof values / sizeof values[0] * VARINT_MAX], *end = record;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        end = varint_put(end, values[i]);
    meta_add_text(to, record, (size_t)(end - record));
    size_t last = 0;
    for (size_t i = first; i < first + count; i++) {
        if (rows[i].blocks == 0)
            continue;
        strbuf_add_varint(to, i - last);
        strbuf_add_varint(to, rows[i].blocks);
        strbuf_add_varint(to, rows[i].bytes);
        strbuf_add_varint(to, rows[i].smallest);
        strbuf_add_varint(to, rows[i].largest - rows[i].smallest);
        last = i;
    }
}

void meta_encode_live(struct strbuf *to, const struct wake_live_block *live, size_t count)
{
    struct wake_live_block last = {0};
    strbuf_add_varint(to, count);
    for (const struct wake_live_block *b = live; b < live + count; b++) {
        strbuf_add_varint(to, varint_zigzag(b->allocation - last.allocation));
        strbuf_add_varint(to, varint_zigzag(b->address - last.address));
        strbuf_add_varint(to, b->size);
        strbuf_add_varint(to, b->stack);
        last = *b;
    }
}
