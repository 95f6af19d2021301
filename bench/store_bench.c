/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * store_bench: what writing and reading a recording costs an event.
 * store_bench [EVENTS [LIVE [THREADS [FILE]]]]
 *
 * The events are those of a storm: sizes 16..512, LIVE blocks of which a random
 * one is replaced, 500 stacks of two allocations each, addresses from the real
 * allocator.  They are made beforehand, so that only the store is timed. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/reader.h"
#include "store/writer.h"
#include "tool/err.h"
#include "wire/record.h"

enum {
    SLICE = 128 << 10 /* events timed together; the best slice counts, for a busy machine */
};

struct event {
    uint64_t time, address, number;
    uint32_t size, usable, stack;
    uint16_t thread;
    uint16_t free;
};

struct thread_state {
    void *block;
    uint64_t number;
    uint32_t size;
};

static uint64_t seed = 88172645463325252ULL;

static uint64_t rng(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One thread runs on the coarse clock (a tick now and then), several are stamped. */
static size_t make(struct event *events, size_t count, unsigned live, unsigned threads)
{
    struct thread_state *slots = calloc(live, sizeof *slots);
    uint64_t time = 1000, allocations = 0;
    unsigned batch = 0, stack = 0;
    size_t n = 0;
    while (n + 2 <= count) {
        if (batch == 0) {
            stack = 1 + (unsigned)(rng() % 500);
            batch = 2;
        }
        batch--;
        uint64_t r = rng();
        struct thread_state *s = &slots[r % live];
        unsigned thread =
            threads == 1 ? 1 : 1 + (unsigned)((r >> 20) % 64 == 0 ? rng() % threads : n / 64 % threads);
        if (s->block != NULL) {
            time += threads == 1 ? (n % 20000 < 2 ? 1000000 : 0) : 20 + rng() % 40;
            events[n++] = (struct event){
                .time = time, .number = s->number, .size = s->size, .thread = (uint16_t)thread, .free = 1};
            free(s->block);
        }
        uint32_t size = 16 + (uint32_t)((r >> 32) % 497);
        *s = (struct thread_state){.block = malloc(size), .number = allocations++, .size = size};
        time += threads == 1 ? 0 : 20 + rng() % 40;
        events[n++] = (struct event){.time = time,
                                     .address = (uint64_t)(uintptr_t)s->block,
                                     .size = size,
                                     .usable = (uint32_t)malloc_usable_size(s->block),
                                     .stack = stack,
                                     .thread = (uint16_t)thread};
    }
    for (unsigned i = 0; i < live; i++)
        free(slots[i].block);
    free(slots);
    return n;
}

/* What it costs to fetch the events themselves from memory. */
static double fetch(const struct event *events, size_t count)
{
    static volatile uint64_t kept;
    double best = 1e9;
    for (size_t first = 0; first + SLICE <= count; first += SLICE) {
        double start = now_ns();
        uint64_t sum = 0;
        for (const struct event *e = events + first; e < events + first + SLICE; e++)
            sum += (e->free ? e->number : e->address ^ e->usable) + e->time + e->size + e->thread;
        kept = sum;
        double spent = (now_ns() - start) / SLICE;
        best = spent < best ? spent : best;
    }
    (void)kept;
    return best;
}

static void add_stacks(struct wake_writer *w, uint32_t process)
{
    wake_writer_add_module(w, process,
                           &(struct wake_module_info){
                               .start = 0x400000, .end = 0x800000, .path = "/bin/storm", .path_length = 10});
    for (unsigned i = 0; i < 500; i++) {
        struct wake_frame frames[26];
        for (unsigned k = 0; k < 26; k++)
            frames[k] =
                (struct wake_frame){.address = 0x400000 + (k < 20 ? rng() % 4096 : k) * 16, .module = 1};
        wake_writer_add_stack(w, process, frames, 26, 0, 0);
    }
}

static double run(const struct event *events, size_t count, const char *path, uint64_t *size)
{
    struct err err;
    struct wake_writer *w;
    if (wake_writer_open(&w, path, &err) != 0) {
        fprintf(stderr, "store_bench: %s\n", err.text);
        exit(1);
    }
    uint32_t process = wake_writer_add_process(w, &(struct wake_process_info){.pid = 1, .exe = "/bin/storm"});
    add_stacks(w, process);
    struct wake_stream *s = wake_writer_stream(w, process);
    double best = 1e9;
    for (size_t first = 0; first + SLICE <= count; first += SLICE) {
        double start = now_ns();
        for (const struct event *e = events + first; e < events + first + SLICE; e++) {
            if (e->free)
                wake_stream_free(s, e->time, e->thread, HOW_FREE, e->number, e->size);
            else
                wake_stream_alloc(s, e->time, e->thread, KIND_MALLOC, e->stack, e->address, e->size,
                                  e->usable, 0);
        }
        double spent = (now_ns() - start) / SLICE;
        best = spent < best ? spent : best;
    }
    wake_writer_flush(w);
    *size = wake_writer_size(w);
    if (wake_writer_close(w, 0, &err) != 0)
        fprintf(stderr, "store_bench: %s\n", err.text);
    return best;
}

static int count_block(const struct wake_block *block, void *context)
{
    uint64_t *sum = context;
    for (uint32_t i = 0; i < block->count; i++)
        *sum += block->size[i];
    return 0;
}

static double scan(const char *path, size_t count)
{
    struct err err;
    struct wake_reader *r;
    uint64_t sum = 0;
    if (wake_reader_open(&r, path, &err) != 0) {
        fprintf(stderr, "store_bench: %s\n", err.text);
        exit(1);
    }
    double start = now_ns();
    wake_reader_visit(r, 0, 0, UINT64_MAX, count_block, &sum, &err);
    double spent = now_ns() - start;
    wake_reader_close(r);
    return spent / (double)count;
}
int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 0) : 4000000;
    unsigned live = argc > 2 ? (unsigned)atoi(argv[2]) : 1024;
    unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    const char *path = argc > 4 ? argv[4] : "store_bench.wake";
    struct event *events = malloc(count * sizeof *events);
    count = make(events, count, live, threads) / SLICE * SLICE;
    if (count == 0) {
        fprintf(stderr, "store_bench: at least %d events are needed.\n", 2 * SLICE);
        return 2;
    }
    double write = 1e9, read = 1e9;
    uint64_t size = 0;
    for (int i = 0; i < 5; i++) {
        double t = run(events, count, path, &size);
        write = t < write ? t : write;
    }
    for (int i = 0; i < 5; i++) {
        double t = scan(path, count);
        read = t < read ? t : read;
    }
    printf("store %zu events, %u live, %u threads: write %.1f ns/event (%.1f of it to fetch them), "
           "%.2f bytes/event, scan %.1f ns/event\n",
           count, live, threads, write, fetch(events, count), (double)size / (double)count, read);
    if (argc <= 4)
        unlink(path);
    free(events);
    return 0;
}
