/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fake_store: for unit tests: a store that keeps every call in an array, in
 * place of store/writer.h.  Included by one file of a test; the linker then
 * takes nothing of the real writer.
 */
#ifndef HW_COLLECT_FAKE_STORE_H
#define HW_COLLECT_FAKE_STORE_H

#include "store/stream.h"
#include "store/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fake_what { FAKE_ALLOC = 1, FAKE_FREE, FAKE_UNKNOWN, FAKE_OTHER };

struct fake_call {
    enum fake_what what;
    uint64_t time_ns, number, address, size, previous;
    uint32_t thread, stack;
    unsigned kind;
};

struct fake_store {
    struct fake_call *calls;
    size_t count, room;
    uint64_t allocations;
    uint32_t threads, modules, stacks;
    struct wake_frame frames[64]; /* of the latest stack */
    uint32_t frame_count;
    struct wake_process_end end;
    size_t live_count;
};

static struct fake_store fake;
/* There is no room on its stage: every event comes by a call. */
static struct wake_stream fake_stream;

static inline void fake_reset(void)
{
    free(fake.calls);
    memset(&fake, 0, sizeof fake);
}

static inline struct fake_call *fake_add(enum fake_what what, uint64_t time_ns, uint32_t thread)
{
    if (fake.count == fake.room) {
        fake.room = fake.room == 0 ? 1024 : fake.room * 2;
        fake.calls = realloc(fake.calls, fake.room * sizeof *fake.calls);
    }
    struct fake_call *c = &fake.calls[fake.count++];
    memset(c, 0, sizeof *c);
    c->what = what;
    c->time_ns = time_ns;
    c->thread = thread;
    return c;
}

/* "alloc 0 / free 0 / ...": the story of an address, or of all (0). */
static inline const char *fake_story(uint64_t address)
{
    static char text[8192];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < fake.count && length < sizeof text - 64; i++) {
        const struct fake_call *c = &fake.calls[i];
        if (c->what == FAKE_OTHER || (address != 0 && c->address != address))
            continue;
        const char *word = c->what == FAKE_ALLOC ? "alloc" : c->what == FAKE_FREE ? "free" : "unknown";
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length == 0 ? "" : " ", word);
        if (c->what != FAKE_UNKNOWN)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%llu", (unsigned long long)c->number);
        if (c->previous != 0)
            length += (size_t)snprintf(text + length, sizeof text - length, "<%llu",
                                       (unsigned long long)c->previous - 1);
    }
    return text;
}

uint32_t wake_writer_add_process(struct wake_writer *w, const struct wake_process_info *info)
{
    (void)w;
    (void)info;
    return 0;
}

struct wake_stream *wake_writer_stream(struct wake_writer *w, uint32_t process)
{
    (void)w;
    (void)process;
    return &fake_stream;
}

void wake_writer_add_thread(struct wake_writer *w, uint32_t process, uint32_t thread, uint32_t tid,
                            uint64_t time_ns)
{
    (void)w, (void)process, (void)thread, (void)tid, (void)time_ns;
    fake.threads++;
}

void wake_writer_name_thread(struct wake_writer *w, uint32_t process, uint32_t thread, const char *name,
                             size_t length, uint64_t time_ns)
{
    (void)w, (void)process, (void)thread, (void)name, (void)length, (void)time_ns;
}

uint32_t wake_writer_add_module(struct wake_writer *w, uint32_t process, const struct wake_module_info *info)
{
    (void)w, (void)process, (void)info;
    return ++fake.modules;
}

uint32_t wake_writer_add_stack(struct wake_writer *w, uint32_t process, const struct wake_frame *frames,
                               uint32_t count, uint32_t omitted, unsigned cut)
{
    (void)w, (void)process, (void)omitted, (void)cut;
    fake.frame_count = count < 64 ? count : 64;
    if (count != 0)
        memcpy(fake.frames, frames, fake.frame_count * sizeof *frames);
    return ++fake.stacks;
}

void wake_stream_alloc(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned kind,
                       uint32_t stack, uint64_t address, uint64_t size, uint64_t usable, uint64_t previous)
{
    (void)s, (void)usable;
    struct fake_call *c = fake_add(FAKE_ALLOC, time_ns, thread);
    c->number = fake.allocations++;
    c->kind = kind;
    c->stack = stack;
    c->address = address;
    c->size = size;
    c->previous = previous;
}

void wake_stream_free(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                      uint64_t allocation, uint64_t size)
{
    (void)s;
    struct fake_call *c = fake_add(FAKE_FREE, time_ns, thread);
    c->kind = how;
    c->number = allocation;
    c->size = size;
    for (size_t i = fake.count - 1; i-- > 0;) {
        if (fake.calls[i].what == FAKE_ALLOC && fake.calls[i].number == allocation) {
            c->address = fake.calls[i].address;
            break;
        }
    }
}

void wake_stream_free_from(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                           uint32_t stack, uint64_t allocation, uint64_t size)
{
    wake_stream_free(s, time_ns, thread, how, allocation, size);
    fake.calls[fake.count - 1].stack = stack;
}

void wake_stream_pool_alloc(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t pool,
                            uint32_t stack, uint64_t address, uint64_t size)
{
    (void)s, (void)pool, (void)stack, (void)address, (void)size;
    fake_add(FAKE_OTHER, time_ns, thread);
}

void wake_stream_pool_free(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t pool,
                           uint32_t stack, uint64_t address, uint64_t size)
{
    (void)s, (void)pool, (void)stack, (void)address, (void)size;
    fake_add(FAKE_OTHER, time_ns, thread);
}

void wake_stream_mark(struct wake_stream *s, uint64_t time_ns, uint32_t thread, const char *name,
                      size_t length)
{
    (void)s, (void)name, (void)length;
    fake_add(FAKE_OTHER, time_ns, thread);
}

void wake_writer_add_pool(struct wake_writer *w, uint32_t process, uint32_t pool, const char *name,
                          const char *unit)
{
    (void)w, (void)process, (void)pool, (void)name, (void)unit;
}

void wake_stream_free_unknown(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                              uint32_t stack, uint64_t address)
{
    (void)s;
    struct fake_call *c = fake_add(FAKE_UNKNOWN, time_ns, thread);
    c->kind = how;
    c->stack = stack;
    c->address = address;
}

void wake_stream_map(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                     uint64_t address, uint64_t length, uint32_t prot, uint32_t flags)
{
    (void)s, (void)stack, (void)address, (void)length, (void)prot, (void)flags;
    fake_add(FAKE_OTHER, time_ns, thread);
}

void wake_stream_unmap(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                       uint64_t address, uint64_t length)
{
    (void)s, (void)stack, (void)address, (void)length;
    fake_add(FAKE_OTHER, time_ns, thread);
}

void wake_stream_brk(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                     uint64_t old_end, uint64_t new_end)
{
    (void)s, (void)stack, (void)old_end, (void)new_end;
    fake_add(FAKE_OTHER, time_ns, thread);
}

void wake_writer_add_note(struct wake_writer *w, const char *text, size_t length)
{
    (void)w;
    (void)text;
    (void)length;
}

void wake_stream_lost(struct wake_stream *s, uint64_t time_ns, unsigned reason, uint64_t count)
{
    (void)s, (void)reason, (void)count;
    fake_add(FAKE_OTHER, time_ns, 0);
}

void wake_writer_sample_usage(struct wake_writer *w, uint32_t process, uint64_t time_ns, uint64_t took_ns,
                              bool anew, const struct wake_usage *ranges, size_t count)
{
    (void)w, (void)process, (void)time_ns, (void)took_ns, (void)anew, (void)ranges, (void)count;
}

void wake_writer_sample_rss(struct wake_writer *w, uint32_t process, uint64_t time_ns, uint64_t rss_bytes)
{
    (void)w, (void)process, (void)time_ns, (void)rss_bytes;
}

void wake_writer_set_levels(struct wake_writer *w, uint32_t process, const void *bytes, size_t length)
{
    (void)w, (void)process, (void)bytes, (void)length;
}

void wake_writer_end_process(struct wake_writer *w, uint32_t process, const struct wake_process_end *end,
                             const struct wake_stack_totals *totals, uint32_t stack_count,
                             struct wake_live_block *live, size_t live_count)
{
    (void)w, (void)process, (void)totals, (void)stack_count, (void)live;
    fake.end = *end;
    fake.live_count = live_count;
}

void wake_writer_pause_process(struct wake_writer *w, uint32_t process, const struct wake_process_end *end,
                               const struct wake_stack_totals *totals, uint32_t stack_count,
                               struct wake_live_block *live, size_t live_count)
{
    wake_writer_end_process(w, process, end, totals, stack_count, live, live_count);
}

#endif
