/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * meta_decoder: puts the meta data of chunks where the public structs hold it; the
 * mirror of meta.c.
 *
 * Numbers in the file are believed only as far as they can be paid for: lists
 * have no more entries than bytes were read for them, except for gaps that a
 * damaged chunk has left, and those are bounded by the size of the file.  A
 * budget bounds all of it together, since a few compressed bytes may stand for
 * a great many.
 */
#include "store/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/varint.h"
#include "store/format.h"
#include "store/meta.h"
#include "tool/memory.h"
#include "wire/record.h"

_Static_assert((int)RECORDING_MODULE_SLOTS == (int)META_MODULE_SLOTS, "encoder and decoder agree");

bool meta_decoder_spend(struct wake_reader *r, uint64_t bytes)
{
    if (bytes > r->budget)
        return false;
    r->budget -= bytes;
    return true;
}

/* A number that may follow `count` known ones, some having been lost. */
static bool meta_decoder_gap_is_sane(const struct wake_reader *r, uint64_t number, size_t count)
{
    return number <= count || number - count <= r->size;
}

struct meta_decoder *meta_decoder_get(struct wake_reader *r, uint32_t process)
{
    if (process < r->shelves.count)
        return r->shelves.data[process];
    if (!meta_decoder_gap_is_sane(r, process, r->shelves.count))
        return NULL;
    while (r->shelves.count <= process) {
        struct meta_decoder *shelf =
            meta_decoder_spend(r, sizeof *shelf) ? memory_new_zeroed(1, sizeof *shelf) : NULL;
        if (shelf == NULL || !vec_push(&r->shelves, shelf)) {
            free(shelf);
            return NULL;
        }
        struct wake_process *p = &shelf->process;
        p->info.exe = p->info.args = "";
        if (!vec_push(&p->nodes, (struct wake_node){0}) ||
            !vec_push(&p->stacks, ((struct wake_stack){.known = true})))
            return NULL;
    }
    return r->shelves.data[process];
}

void meta_decoder_free(struct meta_decoder *shelf)
{
    struct wake_process *p = &shelf->process;
    vec_release(&p->threads);
    vec_release(&p->modules);
    vec_release(&p->stacks);
    vec_release(&p->nodes);
    vec_release(&p->samples);
    vec_release(&p->usage_samples);
    vec_release(&p->usage);
    vec_release(&p->marks);
    vec_release(&p->pools);
    vec_release(&p->totals);
    vec_release(&p->live);
    vec_release(&p->gaps);
    vec_release(&p->culled);
    vec_release(&p->carried);
    vec_release(&shelf->spans);
    vec_release(&shelf->path);
    map_release(&shelf->threads);
    free(shelf->images);
    derive_free(shelf->derive);
    free(shelf);
}

/* A text with its length before it; NULL: not there, or no memory. */
static const char *meta_decoder_text(struct wake_reader *r, struct cursor *c, size_t *length)
{
    uint64_t long_length = cursor_uleb(c);
    const uint8_t *bytes = long_length > FORMAT_PAYLOAD_MAX ? NULL : cursor_take(c, (size_t)long_length);
    if (bytes == NULL || !meta_decoder_spend(r, long_length + 1)) {
        c->bad = true;
        return NULL;
    }
    *length = (size_t)long_length;
    return arena_push_text(&r->arena, bytes, *length);
}

int meta_decoder_add_process(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process_info info = {0};
    size_t exe_length;
    info.pid = (uint32_t)cursor_uleb(c);
    info.ppid = (uint32_t)cursor_uleb(c);
    info.parent = (uint32_t)cursor_uleb(c);
    uint64_t flags = cursor_uleb(c);
    info.forked = (flags & PROCESS_FORKED) != 0;
    info.has_arenas = (flags & PROCESS_ARENAS) != 0;
    info.start_ns = cursor_uleb(c);
    info.exe = meta_decoder_text(r, c, &exe_length);
    info.args = meta_decoder_text(r, c, &info.args_length);
    if (cursor_is_bad(c))
        return ERR_INPUT;
    if (info.exe == NULL || info.args == NULL)
        return ERR_MEMORY;
    shelf->process.info = info;
    shelf->process.known = true;
    return 0;
}

static struct wake_thread *meta_decoder_thread(struct wake_reader *r, struct meta_decoder *shelf,
                                               uint32_t number)
{
    uint64_t *found = map_find(&shelf->threads, number);
    if (found != NULL)
        return &shelf->process.threads.data[*found];
    size_t at = shelf->process.threads.count;
    struct wake_thread thread = {.number = number, .name = ""};
    if (!meta_decoder_spend(r, 2 * sizeof thread) || !map_set(&shelf->threads, number, at) ||
        !vec_push(&shelf->process.threads, thread))
        return NULL;
    return &shelf->process.threads.data[at];
}

int meta_decoder_add_threads(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct cursor record;
    while (cursor_left(c) > 0 && cursor_take_record(c, &record)) {
        uint64_t type = cursor_uleb(&record), number = cursor_uleb(&record), time = cursor_uleb(&record);
        if (cursor_is_bad(&record) || number > UINT32_MAX)
            return ERR_INPUT;
        struct wake_thread *thread = meta_decoder_thread(r, shelf, (uint32_t)number);
        if (thread == NULL)
            return ERR_MEMORY;
        if (type == THREAD_BEGINS) {
            thread->tid = (uint32_t)cursor_uleb(&record);
            thread->start_ns = time;
        } else if (type == THREAD_NAMED) {
            size_t length;
            const char *name = meta_decoder_text(r, &record, &length);
            thread->name = name == NULL ? thread->name : name;
        }
        if (cursor_is_bad(&record))
            return ERR_INPUT;
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

int meta_decoder_add_modules(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    uint64_t number = cursor_uleb(c);
    struct cursor record;
    if (number == 0 || !meta_decoder_gap_is_sane(r, number, shelf->process.modules.count + 1))
        return ERR_INPUT;
    while (shelf->process.modules.count + 1 < number) {
        struct wake_module lost = {.path = ""};
        if (!meta_decoder_spend(r, sizeof lost) || !vec_push(&shelf->process.modules, lost))
            return ERR_MEMORY;
    }
    while (cursor_left(c) > 0 && cursor_take_record(c, &record)) {
        struct wake_module m = {0};
        size_t path_length;
        m.start = cursor_uleb(&record);
        m.end = m.start + cursor_uleb(&record);
        m.bias = cursor_uleb(&record);
        m.build_id = (const uint8_t *)meta_decoder_text(r, &record, &m.build_id_length);
        m.path = meta_decoder_text(r, &record, &path_length);
        if (cursor_is_bad(&record))
            return ERR_INPUT;
        if (m.path == NULL || !meta_decoder_spend(r, sizeof m) || !vec_push(&shelf->process.modules, m))
            return ERR_MEMORY;
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

/* The frames that a stack does not share with the one before; shelf->path holds
 * the shared ones and gets the others. */
static int meta_decoder_add_frames(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c,
                                   uint64_t count)
{
    struct wake_process *p = &shelf->process;
    if (count > cursor_left(c) / 2)
        return ERR_INPUT;
    if (!meta_decoder_spend(r, count * (sizeof(struct wake_node) + sizeof(uint32_t))) ||
        !vec_reserve(&p->nodes, p->nodes.count + count) ||
        !vec_reserve(&shelf->path, shelf->path.count + count))
        return ERR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t module = cursor_uleb(c);
        uint64_t *last = &shelf->last_address[(module >> 1) % RECORDING_MODULE_SLOTS];
        *last += varint_unzigzag(cursor_uleb(c));
        if (cursor_is_bad(c) || module >> 1 > UINT32_MAX || p->nodes.count >= UINT32_MAX)
            return ERR_INPUT;
        struct wake_node node = {
            .address = (*last & ~RECORD_FRAME_EXACT) | ((module & 1) != 0 ? RECORD_FRAME_EXACT : 0),
            .module = (uint32_t)(module >> 1),
            .parent = shelf->path.count == 0 ? 0 : shelf->path.data[shelf->path.count - 1],
        };
        (void)vec_push(&shelf->path, (uint32_t)p->nodes.count);
        (void)vec_push(&p->nodes, node);
    }
    return 0;
}

int meta_decoder_add_stacks(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process *p = &shelf->process;
    uint64_t number = cursor_uleb(c);
    if (number == 0 || !meta_decoder_gap_is_sane(r, number, p->stacks.count))
        return ERR_INPUT;
    while (p->stacks.count < number)
        if (!meta_decoder_spend(r, sizeof *p->stacks.data) || !vec_push(&p->stacks, (struct wake_stack){0}))
            return ERR_MEMORY;
    shelf->path.count = 0;
    memset(shelf->last_address, 0, sizeof shelf->last_address);
    while (cursor_left(c) > 0) {
        uint64_t cut = cursor_uleb(c), omitted = cursor_uleb(c), shared = cursor_uleb(c),
                 fresh = cursor_uleb(c);
        if (cursor_is_bad(c) || cut > UINT8_MAX || omitted > UINT32_MAX || shared > shelf->path.count)
            return ERR_INPUT;
        shelf->path.count = (size_t)shared;
        int code = meta_decoder_add_frames(r, shelf, c, fresh);
        if (code != 0)
            return code;
        struct wake_stack stack = {
            .leaf = shelf->path.count == 0 ? 0 : shelf->path.data[shelf->path.count - 1],
            .depth = (uint32_t)shelf->path.count,
            .omitted = (uint32_t)omitted,
            .cut = (uint8_t)cut,
            .known = true,
        };
        if (!meta_decoder_spend(r, sizeof stack) || !vec_push(&p->stacks, stack))
            return ERR_MEMORY;
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

int meta_decoder_add_samples(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_sample sample = {0};
    while (cursor_left(c) > 0) {
        sample.time_ns += varint_unzigzag(cursor_uleb(c));
        sample.rss_bytes += varint_unzigzag(cursor_uleb(c));
        if (cursor_is_bad(c))
            return ERR_INPUT;
        if (!meta_decoder_spend(r, sizeof sample) || !vec_push(&shelf->process.samples, sample))
            return ERR_MEMORY;
    }
    return 0;
}

/* One range of a usage record; *last: where the one before ended. */
static int meta_decoder_add_range(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c,
                                  uint64_t *last)
{
    struct wake_usage u = {.name = ""};
    size_t length;
    u.start = *last + varint_unzigzag(cursor_uleb(c));
    uint64_t size = cursor_uleb(c), state = cursor_uleb(c);
    if (size == 0 || size > UINT64_MAX - u.start || state > UINT8_MAX)
        return ERR_INPUT;
    *last = u.end = u.start + size;
    u.is_gone = (state & USAGE_GONE) != 0;
    u.rights = (uint8_t)(u.is_gone ? 0 : state & (USAGE_GONE - 1));
    if (!u.is_gone) {
        uint64_t rss = cursor_uleb(c), anonymous = cursor_uleb(c), swap = cursor_uleb(c);
        if (rss > UINT64_MAX / 1024 || anonymous > UINT64_MAX / 1024 || swap > UINT64_MAX / 1024)
            return ERR_INPUT;
        u.rss_bytes = rss * 1024;
        u.anonymous_bytes = anonymous * 1024;
        u.swap_bytes = swap * 1024;
        u.name = meta_decoder_text(r, c, &length);
    }
    if (cursor_is_bad(c))
        return ERR_INPUT;
    if (u.name == NULL || !meta_decoder_spend(r, sizeof u) || !vec_push(&shelf->process.usage, u))
        return ERR_MEMORY;
    return 0;
}

int meta_decoder_add_usage(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process *p = &shelf->process;
    struct cursor record;
    while (cursor_left(c) > 0 && cursor_take_record(c, &record)) {
        struct wake_usage_sample sample = {.time_ns = cursor_uleb(&record), .first = p->usage.count};
        uint64_t last = 0;
        int code = 0;
        sample.took_ns = cursor_uleb(&record);
        sample.anew = (cursor_uleb(&record) & USAGE_ANEW) != 0;
        while (code == 0 && cursor_left(&record) > 0)
            code = meta_decoder_add_range(r, shelf, &record, &last);
        sample.count = p->usage.count - sample.first;
        if (code == 0 && cursor_is_bad(&record))
            code = ERR_INPUT;
        if (code == 0 && (!meta_decoder_spend(r, sizeof sample) || !vec_push(&p->usage_samples, sample)))
            code = ERR_MEMORY;
        if (code != 0)
            return code;
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

int meta_decoder_add_marks(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process *p = &shelf->process;
    uint64_t number = cursor_uleb(c);
    struct cursor record;
    if (!meta_decoder_gap_is_sane(r, number, p->marks.count))
        return ERR_INPUT;
    while (p->marks.count < number)
        if (!meta_decoder_spend(r, sizeof *p->marks.data) ||
            !vec_push(&p->marks, ((struct wake_mark){.name = ""})))
            return ERR_MEMORY;
    while (cursor_left(c) > 0 && cursor_take_record(c, &record)) {
        struct wake_mark mark = {0};
        size_t length;
        mark.time_ns = cursor_uleb(&record);
        mark.thread = (uint32_t)cursor_uleb(&record);
        mark.name = meta_decoder_text(r, &record, &length);
        if (cursor_is_bad(&record))
            return ERR_INPUT;
        if (mark.name == NULL || !meta_decoder_spend(r, sizeof mark) || !vec_push(&p->marks, mark))
            return ERR_MEMORY;
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

int meta_decoder_add_pools(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct cursor record;
    while (cursor_left(c) > 0 && cursor_take_record(c, &record)) {
        size_t length;
        struct wake_pool pool = {.number = (uint32_t)cursor_uleb(&record)};
        pool.name = meta_decoder_text(r, &record, &length);
        pool.unit = meta_decoder_text(r, &record, &length);
        if (cursor_is_bad(&record))
            return ERR_INPUT;
        if (pool.name == NULL || pool.unit == NULL || !meta_decoder_spend(r, sizeof pool) ||
            !vec_push(&shelf->process.pools, pool))
            return ERR_MEMORY;
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

int meta_decoder_add_end(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    (void)r;
    struct wake_process_end end = {0};
    end.end_ns = cursor_uleb(c);
    end.wait_status = (int32_t)varint_unzigzag(cursor_uleb(c));
    uint64_t flags = cursor_uleb(c);
    end.complete = (flags & END_COMPLETE) != 0;
    end.execed = (flags & END_EXECED) != 0;
    end.goes_on = (flags & END_GOES_ON) != 0;
    end.made_up = (flags & END_MADE_UP) != 0;
    end.no_clock = (flags & END_NO_CLOCK) != 0;
    uint64_t *const numbers[] = {
        &end.allocations,  &end.frees,         &end.allocated_bytes, &end.peak_bytes,
        &end.peak_blocks,  &end.peak_time_ns,  &end.peak_event,      &end.leaked_blocks,
        &end.leaked_bytes, &end.unknown_frees, &end.inherited_frees, &end.implied_frees,
        &end.lost_events,  &end.cut_stacks,    &end.peak_rss_bytes,  &end.threads,
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = cursor_uleb(c);
    if (cursor_is_bad(c))
        return ERR_INPUT;
    shelf->process.end = end;
    shelf->process.ended = true;
    return 0;
}

int meta_decoder_add_totals(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process *p = &shelf->process;
    uint64_t first = cursor_uleb(c), count = cursor_uleb(c);
    if (first != p->totals.count || count > cursor_left(c) / 8)
        return ERR_INPUT;
    if (!meta_decoder_spend(r, count * sizeof *p->totals.data) ||
        !vec_reserve(&p->totals, p->totals.count + count))
        return ERR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        struct wake_stack_totals t;
        t.allocations = cursor_uleb(c);
        t.allocated_bytes = cursor_uleb(c);
        t.freed = cursor_uleb(c);
        t.freed_bytes = cursor_uleb(c);
        t.peak_blocks = cursor_uleb(c);
        t.peak_bytes = cursor_uleb(c);
        t.temporary = cursor_uleb(c);
        t.temporary_bytes = cursor_uleb(c);
        (void)vec_push(&p->totals, t);
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

int meta_decoder_add_omissions(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process *p = &shelf->process;
    struct wake_omissions o = {0};
    struct cursor record;
    if (!cursor_take_record(c, &record))
        return ERR_INPUT;
    uint64_t flags = cursor_uleb(&record);
    o.is_culled = (flags & OMISSIONS_CULLED) != 0;
    o.is_limited = (flags & OMISSIONS_LIMITED) != 0;
    o.has_gaps = (flags & OMISSIONS_GAPS) != 0;
    uint64_t *const numbers[] = {&o.threshold_ns, &o.culled_blocks, &o.culled_bytes, &o.limit_ns,
                                 &o.allocations,  &o.frees,         &o.others,       &o.sample_rate,
                                 &o.samples,      &o.freed_samples};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = cursor_uleb(&record);
    if (cursor_is_bad(&record))
        return ERR_INPUT;
    p->omitted = o;
    for (uint64_t stack = 0; cursor_left(c) > 0;) {
        struct wake_culled_stack row;
        stack += cursor_uleb(c);
        row.blocks = cursor_uleb(c);
        row.bytes = cursor_uleb(c);
        row.smallest = cursor_uleb(c);
        row.largest = row.smallest + cursor_uleb(c);
        if (cursor_is_bad(c) || stack >= p->stacks.count)
            return ERR_INPUT;
        while (p->culled.count <= stack)
            if (!meta_decoder_spend(r, sizeof row) || !vec_push(&p->culled, (struct wake_culled_stack){0}))
                return ERR_MEMORY;
        p->culled.data[stack] = row;
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

/* What is told later of a number, and of those above it, counts. */
int meta_decoder_add_gaps(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process *p = &shelf->process;
    struct weight_gap gap = {0};
    while (cursor_left(c) > 0) {
        gap.number += cursor_uleb(c);
        gap.skipped += cursor_uleb(c);
        if (cursor_is_bad(c))
            return ERR_INPUT;
        while (p->gaps.count > 0 && p->gaps.data[p->gaps.count - 1].number >= gap.number)
            p->gaps.count--;
        if (!meta_decoder_spend(r, sizeof gap) || !vec_push(&p->gaps, gap))
            return ERR_MEMORY;
    }
    return 0;
}

/* The next of the blocks in a live or carried chunk; b: the one before it. */
static void meta_decoder_next_block(struct cursor *c, struct wake_live_block *b)
{
    b->allocation += varint_unzigzag(cursor_uleb(c));
    b->address += varint_unzigzag(cursor_uleb(c));
    b->size = cursor_uleb(c);
    b->stack = (uint32_t)cursor_uleb(c);
}

int meta_decoder_add_live(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process *p = &shelf->process;
    struct wake_live_block b = {0};
    uint64_t count = cursor_uleb(c);
    if (count > cursor_left(c) / 4)
        return ERR_INPUT;
    if (!meta_decoder_spend(r, count * sizeof b) || !vec_reserve(&p->live, p->live.count + count))
        return ERR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        meta_decoder_next_block(c, &b);
        (void)vec_push(&p->live, b);
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

int meta_decoder_add_carried(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    struct wake_process *p = &shelf->process;
    struct wake_live_block b = {0};
    p->carried_ns = cursor_uleb(c);
    uint64_t first_event = cursor_uleb(c), first_allocation = cursor_uleb(c), count = cursor_uleb(c);
    if (count > cursor_left(c) / 4 || shelf->spans.count != 0)
        return ERR_INPUT;
    if (!meta_decoder_spend(r, count * sizeof b) || !vec_reserve(&p->carried, p->carried.count + count))
        return ERR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        meta_decoder_next_block(c, &b);
        if (b.allocation >= first_allocation)
            return ERR_INPUT;
        (void)vec_push(&p->carried, b);
    }
    if (!cursor_is_bad(c))
        shelf->next_event = first_event;
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}
