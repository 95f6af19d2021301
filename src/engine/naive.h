/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * naive: for tests: small random recordings, and what blocks are in them, as a
 * plain list with birth and death.  naive_answer.h answers queries from that
 * list by definition, without any of the engine's devices.
 */
#ifndef HW_ENGINE_NAIVE_H
#define HW_ENGINE_NAIVE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/query.h"
#include "store/weight.h"
#include "store/writer.h"
#include "tool/vec.h"
#include "wire/record.h"

enum {
    NAIVE_THREADS = 4,
    NAIVE_STACKS = 7, /* 0 is "no stack" */
    NAIVE_FRAMES = 12,
    NAIVE_PAGES = 16, /* that blocks lie in, and that are mapped */
    NAIVE_PAGE = 4096,
};

#define NAIVE_HEAP UINT64_C(0x550000000000)

struct naive_block {
    uint32_t process, thread, kind, stack;
    uint64_t number, size, usable, address;
    uint64_t born, born_ns; /* event number, time */
    bool freed;
    uint64_t died, died_ns;
    uint32_t died_thread, died_how;
    uint32_t died_stack;  /* as the release has it; 0 = it does not say */
    size_t next;          /* index + 1 of the block that continues it by realloc; 0 = none */
    size_t before;        /* likewise of the one that it continues */
    const char *mark;     /* the latest one before its birth, or NULL */
    bool is_mapped;       /* has a mapping of its own */
    bool is_other;        /* lies in an arena other than the main one */
    uint32_t mapping;     /* number of the one that it lies in; 0 = none */
    struct weight counts; /* what it stands for: itself, unless it is a sample */
};

struct naive_mapping {
    uint32_t process, number, thread, stack, prot;
    uint64_t start, pages, left; /* left: pages, at the end */
    uint64_t made, made_ns;      /* event number, time */
    uint64_t died, died_ns;      /* if nothing is left */
    uint32_t died_thread, died_stack;
    const char *mark;
};

/* A page of a mapping comes or goes. */
struct naive_page {
    size_t mapping; /* index */
    uint64_t event;
    bool comes;
};

struct naive_process {
    uint32_t pid;
    uint64_t start_ns, end_ns, events;
    bool has_ended;      /* as the file says: what it did not release is gone then */
    VEC(uint64_t) times; /* of the events */
    VEC(struct wake_sample) samples;
    VEC(struct wake_mark) marks;
};

struct naive {
    uint64_t seed;
    bool is_glibc; /* usable sizes and addresses are as glibc's malloc makes them */
    uint64_t sample_rate;
    VEC(struct naive_block) blocks;
    VEC(struct naive_mapping) mappings;
    VEC(struct naive_page) pages;
    VEC(struct naive_process) processes;
};

static const char *const naive_thread_names[NAIVE_THREADS + 1] = {"", "main", "worker", "worker", "io"};
static const char *const naive_modules[] = {"/bin/app", "/usr/lib/libfoo.so.1"};
static const char *const naive_marks[] = {"start", "load", "phase two"};

static inline uint64_t naive_random(struct naive *n)
{
    n->seed ^= n->seed << 13;
    n->seed ^= n->seed >> 7;
    n->seed ^= n->seed << 17;
    return n->seed * UINT64_C(2685821657736338717) >> 8;
}

static inline uint64_t naive_below(struct naive *n, uint64_t limit)
{
    return naive_random(n) % limit;
}

/* Frame k of a stack from the inside out; -1 = no more.  Frames above 7 are in the library. */
static inline int naive_frame(uint32_t stack, unsigned k)
{
    static const int frames[NAIVE_STACKS][5] = {{-1, -1, -1, -1, -1}, {0, 1, 2, -1, -1}, {3, 1, 2, -1, -1},
                                                {8, 9, 1, 2, -1},     {4, 5, 6, 2, -1},  {10, 6, 2, -1, -1},
                                                {-1, -1, -1, -1, -1}};
    return k < 5 ? frames[stack][k] : -1;
}

static inline uint64_t naive_frame_address(int frame)
{
    return frame < 8 ? 0x401000 + (uint64_t)frame * 32 : 0x7f0000001000 + (uint64_t)frame * 32;
}

static inline void naive_frame_texts(int frame, char *function, char *source)
{
    snprintf(function, 32, "fn_%d(int)", frame);
    snprintf(source, 32, "/src/part%d/file%d.cc", frame % 3, frame);
}

/* What the engine asks for names. */
static inline const struct name_place *naive_place(void *context, uint32_t process,
                                                   const struct wake_node *node)
{
    static _Thread_local char functions[NAIVE_FRAMES][32], sources[NAIVE_FRAMES][32];
    static _Thread_local struct name_frame frames[NAIVE_FRAMES];
    static _Thread_local struct name_place places[NAIVE_FRAMES];
    (void)context, (void)process;
    for (int i = 0; i < NAIVE_FRAMES; i++) {
        if (naive_frame_address(i) != node->address)
            continue;
        naive_frame_texts(i, functions[i], sources[i]);
        frames[i] = (struct name_frame){.function = functions[i], .linkage = "", .file = sources[i]};
        places[i] = (struct name_place){.frames = &frames[i], .count = 1};
        return &places[i];
    }
    return NULL;
}

static inline void naive_add_meta(struct wake_writer *w, uint32_t process)
{
    for (uint32_t i = 1; i <= NAIVE_THREADS; i++) {
        wake_writer_add_thread(w, process, i, 1000 + i, 0);
        wake_writer_name_thread(w, process, i, naive_thread_names[i], strlen(naive_thread_names[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        uint64_t start = i == 0 ? 0x400000 : 0x7f0000000000;
        wake_writer_add_module(w, process,
                               &(struct wake_module_info){.start = start,
                                                          .end = start + 0x100000,
                                                          .bias = start,
                                                          .path = naive_modules[i],
                                                          .path_length = strlen(naive_modules[i])});
    }
    for (uint32_t s = 1; s < NAIVE_STACKS; s++) {
        struct wake_frame frames[5];
        uint32_t count = 0;
        for (int f; (f = naive_frame(s, count)) >= 0; count++)
            frames[count] = (struct wake_frame){naive_frame_address(f), f < 8 ? 1 : 2};
        wake_writer_add_stack(w, process, frames, count, 0, CUT_NOT);
    }
}

/* How many steps a chunk has, more or less. */
static unsigned naive_chunk_steps = 60;

/* Blocks are samples, one in so many bytes; 0: they are all there are. */
static uint64_t naive_sample_rate;

/* One process while it is made. */
struct naive_maker {
    struct naive *naive;
    struct wake_writer *writer;
    struct wake_stream *stream;
    uint32_t process;
    uint64_t now, numbers;
    const char *mark;
    VEC(size_t) live;           /* indexes of blocks */
    uint32_t mappings;          /* made */
    size_t owners[NAIVE_PAGES]; /* index + 1 of the mapping that a page is of */
};

static inline uint64_t naive_event(struct naive_maker *m)
{
    struct naive_process *p = &m->naive->processes.data[m->process];
    (void)vec_push(&p->times, m->now);
    return p->events++;
}

/* before: index + 1 of the block that it continues; claimed: of one that it names
 * although that was not released by realloc, or has been continued already. */
static inline void naive_alloc(struct naive_maker *m, uint32_t thread, uint32_t kind, size_t before,
                               size_t claimed)
{
    struct naive *n = m->naive;
    struct naive_block b = {
        .process = m->process,
        .thread = thread,
        .kind = kind,
        .stack = (uint32_t)naive_below(n, NAIVE_STACKS),
        .number = m->numbers++,
        .size = naive_below(n, 9) == 0   ? 0
                : naive_below(n, 3) == 0 ? naive_below(n, 100000)
                                         : naive_below(n, 300),
        .address = NAIVE_HEAP + naive_below(n, NAIVE_PAGES * NAIVE_PAGE / 16) * 16,
        .born_ns = m->now,
        .before = before,
        .mark = m->mark,
    };
    bool is_odd = !n->is_glibc && naive_below(n, 4) == 0;
    b.usable = is_odd ? b.size + naive_below(n, 50) : b.size < 24 ? 24 : ((b.size + 23) & ~UINT64_C(15)) - 8;
    b.is_mapped = n->is_glibc && naive_below(n, 5) == 0;
    if (b.is_mapped) {
        uint64_t above = 16 * (1 + naive_below(n, 3)); /* of its first page: more where it is aligned */
        b.address = (b.address & ~UINT64_C(4095)) + above;
        b.usable = ((b.size + above + 4095) & ~UINT64_C(4095)) - above;
        b.size -= b.usable == b.size; /* glibc has a word behind it */
    }
    size_t owner = m->owners[(b.address - NAIVE_HEAP) / NAIVE_PAGE];
    b.mapping = owner == 0 ? 0 : n->mappings.data[owner - 1].number;
    b.born = naive_event(m);
    uint64_t previous = 0;
    if (before != 0) {
        n->blocks.data[before - 1].next = n->blocks.count + 1;
        previous = n->blocks.data[before - 1].number + 1;
    }
    if (claimed != 0)
        previous = n->blocks.data[claimed - 1].number + 1;
    b.is_other = n->is_glibc && !b.is_mapped && naive_below(n, 3) == 0;
    b.counts = weight_made(n->sample_rate, b.number, b.size);
    wake_stream_alloc(m->stream, m->now, thread, kind, b.stack, b.address, b.size,
                      b.usable + b.is_other * RECORD_OTHER_ARENA, previous);
    (void)vec_push(&n->blocks, b);
    (void)vec_push(&m->live, n->blocks.count - 1);
}

/* Frees a live block, not always the most recent.  Its index. */
static inline size_t naive_free(struct naive_maker *m, uint32_t thread, uint32_t how)
{
    struct naive *n = m->naive;
    size_t at = naive_below(n, 3) != 0
                    ? m->live.count - 1 - naive_below(n, (m->live.count < 4 ? m->live.count : 4))
                    : naive_below(n, m->live.count);
    size_t index = m->live.data[at];
    struct naive_block *b = &n->blocks.data[index];
    memmove(&m->live.data[at], &m->live.data[at + 1], (m->live.count - at - 1) * sizeof *m->live.data);
    m->live.count--;
    b->freed = true;
    b->died_ns = m->now;
    b->died_thread = thread;
    b->died_how = how;
    b->died = naive_event(m);
    b->died_stack = naive_below(n, 3) == 0 ? 0 : (uint32_t)naive_below(n, NAIVE_STACKS);
    if (how == HOW_REALLOC && naive_below(n, 4) != 0)
        b->died_stack = 0;
    wake_stream_free_from(m->stream, m->now, thread, how, b->died_stack, b->number, b->size);
    return index;
}

/* A mapping in place of what is there, or nothing in its place. */
static inline void naive_map(struct naive_maker *m, uint32_t thread, bool makes)
{
    struct naive *n = m->naive;
    uint64_t first = naive_below(n, NAIVE_PAGES), pages = 1 + naive_below(n, NAIVE_PAGES - first);
    uint32_t stack = (uint32_t)naive_below(n, NAIVE_STACKS), prot = (uint32_t)naive_below(n, 8);
    uint64_t start = NAIVE_HEAP + first * NAIVE_PAGE, event = n->processes.data[m->process].events;
    if (makes)
        wake_stream_map(m->stream, m->now, thread, stack, start, pages * NAIVE_PAGE - naive_below(n, 100),
                        prot, 34);
    else
        wake_stream_unmap(m->stream, m->now, thread, stack, start, pages * NAIVE_PAGE - naive_below(n, 100));
    for (uint64_t p = first; p < first + pages; p++) {
        if (m->owners[p] == 0)
            continue;
        struct naive_mapping *old = &n->mappings.data[m->owners[p] - 1];
        (void)vec_push(&n->pages, ((struct naive_page){m->owners[p] - 1, event, false}));
        m->owners[p] = 0;
        old->left--;
        old->died = event;
        old->died_ns = m->now;
        old->died_thread = thread;
        old->died_stack = stack;
    }
    for (uint64_t p = first; p < first + pages && makes; p++) {
        m->owners[p] = n->mappings.count + 1;
        (void)vec_push(&n->pages, ((struct naive_page){n->mappings.count, event, true}));
    }
    if (makes)
        (void)vec_push(&n->mappings, ((struct naive_mapping){.process = m->process,
                                                             .number = ++m->mappings,
                                                             .thread = thread,
                                                             .stack = stack,
                                                             .prot = prot,
                                                             .start = start,
                                                             .pages = pages,
                                                             .left = pages,
                                                             .made = event,
                                                             .made_ns = m->now,
                                                             .mark = m->mark}));
}

static inline void naive_other(struct naive_maker *m, uint32_t thread)
{
    struct naive *n = m->naive;
    uint64_t r = naive_below(n, 8);
    if (r == 0) {
        wake_stream_free_unknown(m->stream, m->now, thread, HOW_FREE, 0, 0x1234);
    } else if (r < 5) {
        naive_map(m, thread, r < 4);
    } else {
        m->mark = naive_marks[naive_below(n, 3)];
        (void)vec_push(&n->processes.data[m->process].marks, ((struct wake_mark){m->now, thread, m->mark}));
        wake_stream_mark(m->stream, m->now, thread, m->mark, strlen(m->mark));
    }
    naive_event(m);
}

/* A realloc that names a block which has no chain to go on with. */
static inline bool naive_claim(struct naive_maker *m, uint32_t thread)
{
    struct naive *n = m->naive;
    size_t index = n->blocks.count == 0 ? 0 : naive_below(n, n->blocks.count);
    if (n->blocks.count == 0 || n->blocks.data[index].process != m->process ||
        (n->blocks.data[index].died_how == HOW_REALLOC && n->blocks.data[index].next == 0))
        return false;
    naive_alloc(m, thread, KIND_REALLOC, 0, index + 1);
    return true;
}

static inline void naive_step(struct naive_maker *m)
{
    struct naive *n = m->naive;
    uint32_t thread = naive_below(n, 3) == 0 ? 1 + (uint32_t)naive_below(n, NAIVE_THREADS) : 1;
    uint64_t r = naive_below(n, 20);
    m->now += naive_below(n, 3) == 0    ? 0
              : naive_below(n, 20) == 0 ? naive_below(n, 1000000)
                                        : naive_below(n, 3000);
    if (r == 0) {
        naive_other(m, thread);
    } else if (r < 4 && m->live.count > 0) {
        /* Most reallocs go on; some free, some lose sight of their old block. */
        size_t old = naive_free(m, thread, HOW_REALLOC);
        if (naive_below(n, 5) == 0)
            return;
        if (naive_below(n, 4) == 0)
            naive_alloc(m, thread, KIND_MALLOC, 0, 0);
        naive_alloc(m, thread, KIND_REALLOC, naive_below(n, 6) == 0 ? 0 : old + 1, 0);
    } else if (r < 11 && m->live.count > 0) {
        naive_free(m, thread, HOW_FREE);
    } else if (r < 19 || !naive_claim(m, thread)) {
        naive_alloc(m, thread, naive_below(n, 4) == 0 ? KIND_NEW : KIND_MALLOC, 0, 0);
    }
    if (naive_below(n, 15) == 0) {
        struct wake_sample s = {m->now, 4096 * naive_below(n, 1000)};
        (void)vec_push(&n->processes.data[m->process].samples, s);
        wake_writer_sample_rss(m->writer, m->process, s.time_ns, s.rss_bytes);
    }
    if (naive_below(n, naive_chunk_steps) == 0)
        wake_writer_flush(m->writer);
}

static inline bool naive_is_live(const struct naive_block *b, uint64_t event)
{
    return b->born <= event && (!b->freed || b->died > event);
}

/* Temporary as the collector counts it: the thread's latest allocation. */
static inline bool naive_is_latest(const struct naive *n, const struct naive_block *b)
{
    if (!b->freed || b->died_thread != b->thread || n->sample_rate != 0)
        return false;
    for (size_t i = 0; i < n->blocks.count; i++) {
        const struct naive_block *o = &n->blocks.data[i];
        if (o->process == b->process && o->thread == b->thread && o->born > b->born && o->born < b->died)
            return false;
    }
    return true;
}

static inline void naive_find_peak(const struct naive *n, uint32_t process, struct wake_process_end *end)
{
    for (uint64_t e = 0; e < n->processes.data[process].events; e++) {
        uint64_t bytes = 0, blocks = 0;
        for (size_t i = 0; i < n->blocks.count; i++)
            if (n->blocks.data[i].process == process && naive_is_live(&n->blocks.data[i], e)) {
                bytes += n->blocks.data[i].counts.bytes;
                blocks += n->blocks.data[i].counts.blocks;
            }
        if (bytes <= end->peak_bytes)
            continue;
        end->peak_bytes = bytes;
        end->peak_blocks = blocks;
        end->peak_event = e;
        end->peak_time_ns = n->processes.data[process].times.data[e];
    }
}

static inline void naive_end_process(struct naive_maker *m)
{
    struct naive *n = m->naive;
    struct naive_process *p = &n->processes.data[m->process];
    struct wake_process_end end = {.end_ns = m->now + naive_below(n, 5000), .complete = true};
    struct wake_stack_totals totals[NAIVE_STACKS] = {0};
    VEC(struct wake_live_block) live = {0};
    naive_find_peak(n, m->process, &end);
    for (size_t i = 0; i < n->blocks.count; i++) {
        const struct naive_block *b = &n->blocks.data[i];
        struct wake_stack_totals *t = &totals[b->stack];
        if (b->process != m->process)
            continue;
        bool at_peak = end.peak_bytes > 0 && naive_is_live(b, end.peak_event);
        bool is_latest = naive_is_latest(n, b);
        t->allocations += b->counts.blocks;
        t->allocated_bytes += b->counts.bytes;
        t->freed += b->freed ? b->counts.blocks : 0;
        t->freed_bytes += b->freed ? b->counts.bytes : 0;
        t->peak_blocks += at_peak ? b->counts.blocks : 0;
        t->peak_bytes += at_peak ? b->counts.bytes : 0;
        t->temporary += is_latest;
        t->temporary_bytes += is_latest ? b->size : 0;
        end.allocations += b->counts.blocks;
        end.frees += b->freed ? b->counts.blocks : 0;
        end.allocated_bytes += b->counts.bytes;
        end.leaked_blocks += b->freed ? 0 : b->counts.blocks;
        end.leaked_bytes += b->freed ? 0 : b->counts.bytes;
        if (!b->freed)
            (void)vec_push(&live, ((struct wake_live_block){b->number, b->address, b->size, b->stack}));
    }
    p->end_ns = end.end_ns;
    p->has_ended = true;
    wake_writer_end_process(m->writer, m->process, &end, totals, NAIVE_STACKS - 1, live.data, live.count);
    vec_release(&live);
}

/* Writes a recording and remembers it.  ended: false leaves the ends of the
 * processes out, so that a reader has to derive them. */
static inline void naive_make(struct naive *n, const char *path, uint64_t seed, unsigned processes,
                              size_t steps, bool ended)
{
    struct wake_writer *w;
    *n = (struct naive){.seed = seed * 2654435761u + 88172645463325252u,
                        .is_glibc = seed % 2 != 0,
                        .sample_rate = naive_sample_rate};
    if (wake_writer_open(&w, path, NULL) != 0)
        abort();
    for (uint32_t i = 0; i < processes; i++) {
        /* Beside the one before it, or behind it, as after an exec. */
        bool is_next = i != 0 && naive_below(n, 3) == 0;
        uint64_t start_ns =
            is_next ? n->processes.data[i - 1].end_ns + 50 * naive_below(n, 3) : naive_below(n, 20000);
        struct naive_process p = {.pid = 100 + i, .start_ns = start_ns};
        struct naive_maker m = {.naive = n, .writer = w, .process = i, .now = p.start_ns};
        (void)vec_push(&n->processes, p);
        wake_writer_add_process(w, &(struct wake_process_info){.pid = p.pid,
                                                               .has_arenas = n->is_glibc,
                                                               .start_ns = p.start_ns,
                                                               .exe = "/bin/app",
                                                               .sample_rate = n->sample_rate});
        naive_add_meta(w, i);
        m.stream = wake_writer_stream(w, i);
        for (size_t k = 0; k < steps; k++)
            naive_step(&m);
        if (ended)
            naive_end_process(&m);
        else
            n->processes.data[i].end_ns = m.now;
        vec_release(&m.live);
    }
    if (wake_writer_close(w, 0, NULL) != 0)
        abort();
}

static inline void naive_release(struct naive *n)
{
    for (size_t i = 0; i < n->processes.count; i++) {
        vec_release(&n->processes.data[i].times);
        vec_release(&n->processes.data[i].samples);
        vec_release(&n->processes.data[i].marks);
    }
    vec_release(&n->blocks);
    vec_release(&n->mappings);
    vec_release(&n->pages);
    vec_release(&n->processes);
}

#endif
