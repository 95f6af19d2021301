/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fake_segment: for tests: makes a segment exactly as wire/segment.h says and
 * writes records into its lanes, as a probe would.
 */
#ifndef HW_COLLECT_FAKE_SEGMENT_H
#define HW_COLLECT_FAKE_SEGMENT_H

#include "wire/record.h"
#include "wire/segment.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    FAKE_LANES = 4096,
    FAKE_LANES_AT = SEGMENT_HEAD_SIZE + SEGMENT_TEXT_SIZE,
    FAKE_PASS_AT = FAKE_LANES_AT + FAKE_LANES * 4,
    FAKE_NEXT_AT = FAKE_PASS_AT + SEGMENT_PASS_SIZE,
};

struct fake_segment {
    int fd;
    uint8_t *base;
    size_t size;
    struct segment_head *head;
};

struct fake_lane {
    struct fake_segment *segment;
    uint64_t *at, *end; /* NULL: no chunk yet */
    uint32_t index;
};

static inline uint64_t fake_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline bool fake_segment_map(struct fake_segment *s, uint32_t chunks, const char *exe)
{
    uint32_t chunk_at = (uint32_t)((FAKE_NEXT_AT + chunks * 4 + 4095) / 4096 * 4096);
    s->size = chunk_at + (size_t)chunks * SEGMENT_CHUNK_SIZE;
    if (s->fd < 0 || ftruncate(s->fd, (off_t)s->size) != 0)
        return false;
    void *base = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    if (base == MAP_FAILED)
        return false;
    s->base = base;
    struct segment_head *h = s->head = base;
    h->version = SEGMENT_VERSION;
    h->stamp_kind = SEGMENT_STAMP_TSC;
    h->size = s->size;
    h->lane_offset = FAKE_LANES_AT;
    h->lane_max = FAKE_LANES;
    h->next_offset = FAKE_NEXT_AT;
    h->pass_offset = FAKE_PASS_AT;
    h->chunk_offset = chunk_at;
    h->chunk_max = h->chunk_limit = h->pool = chunks;
    h->pid = (uint32_t)getpid();
    h->ppid = (uint32_t)getppid();
    h->start_ns = fake_ns(CLOCK_MONOTONIC);
    h->wall_ns = fake_ns(CLOCK_REALTIME);
    h->start_stamp = h->clock = __builtin_ia32_rdtsc();
    h->exe_length = (uint32_t)strlen(exe);
    h->args_length = h->exe_length + 1;
    memcpy(s->base + SEGMENT_HEAD_SIZE, exe, h->exe_length);
    memcpy(s->base + SEGMENT_HEAD_SIZE + h->exe_length, exe, h->exe_length + 1);
    h->magic = SEGMENT_MAGIC;
    return true;
}

static inline bool fake_segment_open(struct fake_segment *s, uint32_t chunks)
{
    s->fd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fake_segment_map(s, chunks, "/bin/fake");
}

static inline void fake_segment_close(struct fake_segment *s)
{
    munmap(s->base, s->size);
    close(s->fd);
}

/* A zeroed chunk: given back ones first.  False: none is free now. */
static inline bool fake_take_chunk(struct fake_segment *s, uint32_t *index)
{
    struct segment_head *h = s->head;
    uint32_t *next = (uint32_t *)(void *)(s->base + h->next_offset);
    uint64_t old = __atomic_load_n(&h->free_list, __ATOMIC_ACQUIRE);
    while ((uint32_t)old != 0) {
        uint32_t chunk = (uint32_t)old - 1;
        uint64_t new = ((old >> 32) + 1) << 32 | __atomic_load_n(&next[chunk], __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&h->free_list, &old, new, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            *index = chunk;
            return true;
        }
    }
    uint32_t fresh = __atomic_load_n(&h->fresh, __ATOMIC_RELAXED);
    while (fresh < h->chunk_limit) {
        if (__atomic_compare_exchange_n(&h->fresh, &fresh, fresh + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            *index = fresh;
            return true;
        }
    }
    return false;
}

static inline uint64_t *fake_chunk(struct fake_segment *s, uint32_t index)
{
    return (uint64_t *)(void *)(s->base + s->head->chunk_offset + (size_t)index * SEGMENT_CHUNK_SIZE);
}

/* Publishes a record: the first word last.  Waits where there is no chunk. */
static inline void fake_put(struct fake_lane *l, const uint64_t *words, unsigned count)
{
    if (l->at == NULL || (size_t)(l->end - l->at) < count + 1) {
        uint32_t chunk;
        while (!fake_take_chunk(l->segment, &chunk))
            usleep(100);
        uint64_t *to = fake_chunk(l->segment, chunk);
        __atomic_store_n(to, RECORD_CHUNK | (uint64_t)l->index << 32, __ATOMIC_RELEASE);
        if (l->at != NULL)
            __atomic_store_n(l->at, RECORD_LINK | (uint64_t)chunk << 32, __ATOMIC_RELEASE);
        else
            __atomic_store_n(&((uint32_t *)(void *)(l->segment->base + FAKE_LANES_AT))[l->index], chunk + 1,
                             __ATOMIC_RELEASE);
        l->at = to + 1;
        l->end = to + SEGMENT_CHUNK_WORDS;
    }
    for (unsigned i = 1; i < count; i++)
        l->at[i] = words[i];
    __atomic_store_n(l->at, words[0], __ATOMIC_RELEASE);
    l->at += count;
}

/* The same, of something that events of other lanes may refer to. */
static inline void fake_define(struct fake_lane *l, const uint64_t *words, unsigned count)
{
    fake_put(l, words, count);
    __atomic_fetch_add(&l->segment->head->definitions, 1, __ATOMIC_RELEASE);
}

static inline void fake_lane_open(struct fake_lane *l, struct fake_segment *s)
{
    *l = (struct fake_lane){.segment = s};
    l->index = __atomic_fetch_add(&s->head->lane_count, 1, __ATOMIC_ACQ_REL);
}

static inline void fake_put_thread(struct fake_lane *l, uint32_t tid, uint64_t number, uint64_t stamp)
{
    uint64_t w[5] = {RECORD_THREAD | (uint64_t)tid << 32, number, 0, 0, stamp};
    memcpy(&w[2], "worker", 6);
    fake_define(l, w, 5);
}

static inline void fake_put_stack(struct fake_lane *l, uint32_t id, const uint64_t *addresses, uint32_t count)
{
    uint64_t w[1 + RECORD_FRAMES_MAX] = {RECORD_STACK | (uint64_t)id << 32, count, 1};
    fake_put(l, w, 3);
    w[0] = RECORD_FRAMES | (uint64_t)count << 32;
    memcpy(w + 1, addresses, count * sizeof *addresses);
    fake_define(l, w, 1 + count);
}

static inline void fake_put_module(struct fake_lane *l, uint64_t start, uint64_t end, uint64_t generation,
                                   const char *path)
{
    size_t length = strlen(path);
    uint64_t words = 5 + (length + 7) / 8;
    uint64_t w[64] = {RECORD_MODULE | (uint64_t)length << 16 | words << 32, start, end, start, generation};
    memcpy(w + 5, path, length);
    fake_define(l, w, (unsigned)words);
}

static inline void fake_put_alloc(struct fake_lane *l, uint64_t address, uint64_t size, uint32_t stack,
                                  uint64_t stamp)
{
    uint64_t w[3] = {RECORD_ALLOC | RECORD_STAMPED | KIND_MALLOC | size << 8 | (uint64_t)stack << 32, address,
                     stamp};
    fake_put(l, w, 3);
}

static inline void fake_put_free(struct fake_lane *l, uint64_t address, unsigned how, uint64_t stamp)
{
    uint64_t w[2] = {RECORD_FREE | RECORD_STAMPED | how | address << 16, stamp};
    fake_put(l, w, 2);
}

static inline void fake_put_realloc(struct fake_lane *l, uint64_t address, uint64_t size, uint64_t old,
                                    uint64_t stamp)
{
    uint64_t w[4] = {RECORD_ALLOC | RECORD_STAMPED | KIND_REALLOC | size << 8, address, stamp, old};
    fake_put(l, w, 4);
}

#endif
