/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sample: for tests: writes a recording with something of everything in it and
 * remembers the events, to compare with what a reader gives.
 */
#ifndef HW_STORE_SAMPLE_H
#define HW_STORE_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/reader.h"
#include "store/writer.h"
#include "tool/vec.h"
#include "wire/record.h"

struct sample_event {
    uint8_t event, detail, arena;
    uint32_t thread, stack;
    uint64_t time_ns, address, size, usable, number, previous;
};

struct sample {
    VEC(struct sample_event) events; /* of one process */
    VEC(struct wake_live_block) live;
    uint64_t seed, time_ns, allocations, frees, allocated_bytes, live_bytes;
    uint64_t marks;
    bool has_arenas; /* to be set by whoever says so of the process */
};

static inline uint64_t sample_random(struct sample *s)
{
    s->seed ^= s->seed << 13;
    s->seed ^= s->seed >> 7;
    s->seed ^= s->seed << 17;
    return s->seed;
}

static inline void sample_init(struct sample *s, uint64_t seed)
{
    *s = (struct sample){.seed = seed * 2654435761u + 88172645463325252u, .time_ns = 1000};
}

static inline void sample_release(struct sample *s)
{
    vec_release(&s->events);
    vec_release(&s->live);
}

/* A number of up to 64 bits, small ones as likely as large ones. */
static inline uint64_t sample_any(struct sample *s)
{
    uint64_t value = sample_random(s);
    return value >> (sample_random(s) % 64);
}

/* Of a block that may lie in another arena: heaps that differ in it, with exceptions, and usable sizes that
 * leave room for the flag, unless they are not known and the size itself. */
static inline void sample_arena(struct sample *s, struct sample_event *e)
{
    uint64_t r = sample_random(s), heap = r % 64 == 0 ? sample_any(s) : r % 4;
    e->address += heap << 26;
    if (e->usable == e->size)
        return;
    e->usable = (e->usable + 7) & ~UINT64_C(7);
    e->arena = (uint8_t)((heap % 4 > 1) != ((r >> 8) % 50 == 0));
}

static inline void sample_alloc(struct sample *s, struct wake_stream *out, struct sample_event *e)
{
    uint64_t r = sample_random(s);
    e->event = WAKE_ALLOC;
    e->detail = (uint8_t)(1 + r % (KIND_COUNT - 1));
    e->stack = (uint32_t)(r % 3 == 0 ? 1 : r % 7 == 0 ? sample_any(s) : (r >> 8) % 5);
    e->size = r % 11 == 0 ? sample_any(s) >> 8 : (r >> 16) % 600;
    e->usable = r % 5 == 0 ? e->size + (r >> 40) % 70 : ((e->size + 23) & ~UINT64_C(15)) - 8;
    if (r % 5 != 0 && e->usable < 24)
        e->usable = 24;
    e->address = r % 13 == 0 ? sample_any(s) : 0x550000000000 + (r >> 20) % 4096 * (r % 3 == 0 ? 8 : 16);
    if (s->has_arenas)
        sample_arena(s, e);
    e->number = s->allocations++;
    if (e->detail == KIND_REALLOC && r % 4 != 0)
        e->previous = e->number == 0 ? 0 : 1 + sample_random(s) % e->number;
    struct wake_live_block block = {
        .allocation = e->number, .address = e->address, .size = e->size, .stack = e->stack};
    (void)vec_push(&s->live, block);
    s->allocated_bytes += e->size;
    s->live_bytes += e->size;
    wake_stream_alloc(out, e->time_ns, e->thread, e->detail, e->stack, e->address, e->size,
                      e->usable + e->arena * RECORD_OTHER_ARENA, e->previous);
}

static inline void sample_free(struct sample *s, struct wake_stream *out, struct sample_event *e)
{
    size_t at = sample_random(s) % s->live.count;
    struct wake_live_block block = s->live.data[at];
    s->live.data[at] = s->live.data[--s->live.count];
    e->event = WAKE_FREE;
    e->detail = (uint8_t)(1 + sample_random(s) % (HOW_COUNT - 1));
    e->number = block.allocation;
    s->frees++;
    s->live_bytes -= block.size;
    if (sample_random(s) % 3 != 0) {
        wake_stream_free(out, e->time_ns, e->thread, e->detail, block.allocation, block.size);
        return;
    }
    e->stack = (uint32_t)sample_any(s);
    wake_stream_free_from(out, e->time_ns, e->thread, e->detail, e->stack, block.allocation, block.size);
}

static inline void sample_pool(struct sample *s, struct wake_stream *out, struct sample_event *e)
{
    e->number = sample_random(s) % 4;
    e->usable = 0;
    if (e->event == WAKE_POOL_ALLOC)
        wake_stream_pool_alloc(out, e->time_ns, e->thread, (uint32_t)e->number, e->stack, e->address,
                               e->size);
    else
        wake_stream_pool_free(out, e->time_ns, e->thread, (uint32_t)e->number, e->stack, e->address, e->size);
}

static inline void sample_rare(struct sample *s, struct wake_stream *out, struct sample_event *e)
{
    char name[32];
    unsigned pick = (unsigned)(sample_random(s) % 8);
    e->event = (uint8_t)(pick < 6 ? WAKE_FREE_UNKNOWN + pick : WAKE_POOL_ALLOC + pick - 6);
    e->stack = (uint32_t)sample_any(s);
    e->address = sample_any(s);
    e->size = sample_any(s);
    e->usable = sample_any(s);
    if (e->event == WAKE_FREE_UNKNOWN) {
        e->detail = HOW_FREE;
        e->stack = sample_random(s) % 2 == 0 ? 0 : e->stack;
        e->size = e->usable = 0;
        wake_stream_free_unknown(out, e->time_ns, e->thread, HOW_FREE, e->stack, e->address);
    } else if (e->event == WAKE_MAP) {
        wake_stream_map(out, e->time_ns, e->thread, e->stack, e->address, e->size, (uint32_t)e->usable,
                        (uint32_t)(e->usable >> 32));
    } else if (e->event == WAKE_UNMAP) {
        e->usable = 0;
        wake_stream_unmap(out, e->time_ns, e->thread, e->stack, e->address, e->size);
    } else if (e->event == WAKE_BRK) {
        e->size = 0;
        wake_stream_brk(out, e->time_ns, e->thread, e->stack, e->address, e->usable);
    } else if (e->event == WAKE_POOL_ALLOC || e->event == WAKE_POOL_FREE) {
        sample_pool(s, out, e);
    } else if (e->event == WAKE_MARK) {
        e->stack = 0;
        e->address = e->size = e->usable = 0;
        e->number = s->marks++;
        int length = snprintf(name, sizeof name, "mark %llu", (unsigned long long)e->number);
        wake_stream_mark(out, e->time_ns, e->thread, name, (size_t)length);
    } else {
        e->detail = LOST_NESTED;
        e->stack = 0;
        e->address = e->usable = 0;
        e->thread = s->events.count == 0 ? 0 : s->events.data[s->events.count - 1].thread;
        wake_stream_lost(out, e->time_ns, LOST_NESTED, e->size);
    }
}

/* Adds events of every kind to a stream. */
static inline void sample_add_events(struct sample *s, struct wake_stream *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t r = sample_random(s);
        s->time_ns += r % 3 == 0 ? 0 : r % 101 == 0 ? (r >> 8) % 1000000000 : (r >> 8) % 200;
        struct sample_event e = {.time_ns = s->time_ns, .thread = (uint32_t)(1 + (r >> 40) % 8 / 6)};
        if (r % 97 == 0)
            e.thread = (uint32_t)sample_any(s);
        if (r % 41 == 0)
            sample_rare(s, out, &e);
        else if (s->live.count > 0 && (r >> 50) % 2 == 0)
            sample_free(s, out, &e);
        else
            sample_alloc(s, out, &e);
        (void)vec_push(&s->events, e);
    }
}

static inline void sample_add_meta(struct wake_writer *w, uint32_t process)
{
    static const uint8_t id[20] = {1, 2, 3, 4, 5};
    static const struct wake_frame frames[] = {
        {0x401010, 1}, {0x401020 | RECORD_FRAME_EXACT, 1}, {0x7f0000001000, 2}, {0x401100, 1}, {42, 0}};
    wake_writer_add_thread(w, process, 1, 4242, 5);
    wake_writer_name_thread(w, process, 1, "main", 4, 6);
    wake_writer_add_thread(w, process, 2, 4243, 7);
    wake_writer_add_module(w, process,
                           &(struct wake_module_info){.start = 0x400000,
                                                      .end = 0x500000,
                                                      .build_id = id,
                                                      .build_id_length = sizeof id,
                                                      .path = "/bin/app",
                                                      .path_length = 8});
    wake_writer_add_module(w, process,
                           &(struct wake_module_info){.start = 0x7f0000000000,
                                                      .end = 0x7f0000100000,
                                                      .bias = 0x7f0000000000,
                                                      .path = "/lib/libc.so.6",
                                                      .path_length = 14});
    wake_writer_add_stack(w, process, frames, 5, 0, CUT_NOT);
    wake_writer_add_stack(w, process, frames + 1, 4, 0, CUT_NO_CFI);
    wake_writer_add_stack(w, process, NULL, 0, 0, CUT_EARLY);
    wake_writer_add_stack(w, process, frames, 3, 77, CUT_NOT);
    wake_writer_sample_rss(w, process, 10, 1 << 20);
    wake_writer_sample_rss(w, process, 20, 3 << 20);
    static const struct wake_usage usage[] = {
        {0x400000, 0x500000, 64 << 10, 4 << 10, 0, WAKE_READ | WAKE_EXECUTE, false, "/bin/app"},
        {0x7f1000000000, 0x7f1000005000, 8 << 10, 8 << 10, 4 << 10, WAKE_READ | WAKE_WRITE, false,
         "[anon:x]"},
        {0x400000, 0x500000, 0, 0, 0, 0, true, ""},
    };
    wake_writer_sample_usage(w, process, 15, 4, true, usage, 2);
    wake_writer_sample_usage(w, process, 25, 0, false, usage + 2, 1);
}

static inline void sample_end_process(const struct sample *s, struct wake_writer *w, uint32_t process)
{
    struct wake_stack_totals totals[5];
    for (unsigned i = 0; i < 5; i++)
        totals[i] = (struct wake_stack_totals){i, i * 100, i, i * 10, 1, 2, i, i * 3};
    struct wake_process_end end = {
        .end_ns = s->time_ns,
        .wait_status = 9,
        .complete = true,
        .allocations = s->allocations,
        .frees = s->frees,
        .allocated_bytes = s->allocated_bytes,
        .leaked_blocks = s->live.count,
        .leaked_bytes = s->live_bytes,
        .threads = 2,
    };
    wake_writer_end_process(w, process, &end, totals, 4, s->live.data, s->live.count);
}

#endif
