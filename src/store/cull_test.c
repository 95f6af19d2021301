/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of cull: what is written is what the definition says, whatever the
 * order of lives; counts add up; a long run stays small.
 *
 * The definition, event by event and slow: a chain is written when it is live
 * at the end, or when its last release is at least the threshold after its
 * first allocation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/reader.h"
#include "store/weight.h"
#include "store/writer.h"
#include "tool/vec.h"
#include "wire/record.h"

#define THRESHOLD UINT64_C(1000)
#define SECOND UINT64_C(1000000000)

enum { STACKS = 5, NONE = -1 };

struct made {
    uint64_t time_ns, number, address, size, previous;
    uint8_t event, kind;
    uint32_t thread, stack;
    int chain;
};

struct life {
    uint64_t start_ns, end_ns;
    bool is_over;
};

struct thread_state {
    uint64_t number, size;
    uint32_t stack;
    int chain; /* NONE = empty */
};

struct world {
    struct wake_writer *writer;
    struct wake_stream *stream;
    uint32_t process;
    VEC(struct made) made;
    VEC(struct life) lives;
    VEC(struct wake_live_block) live;
    uint64_t time_ns, number, threshold_ns;
    struct wake_stack_totals totals[STACKS];
    struct wake_process_end end;
    uint32_t seed;
};

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/cull_test.%d.wake", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static uint32_t any(struct world *w, uint32_t below)
{
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % below;
}

/* rate 0: not sampled.  size: at which the file is full; 0: never. */
static void world_open_as(struct world *w, size_t pending, uint64_t threshold, uint32_t seed, uint64_t rate,
                          uint64_t size)
{
    struct err err;
    *w = (struct world){.seed = seed, .time_ns = 10, .threshold_ns = threshold};
    assert_int_equal(wake_writer_open(&w->writer, path, &err), 0);
    wake_writer_cull(w->writer, &(struct wake_cull_options){threshold, pending});
    wake_writer_limit(w->writer, size);
    w->process = wake_writer_add_process(
        w->writer, &(struct wake_process_info){.pid = 5, .exe = "/x", .sample_rate = rate});
    w->stream = wake_writer_stream(w->writer, w->process);
    wake_writer_add_thread(w->writer, w->process, 1, 5, 0);
    wake_writer_add_thread(w->writer, w->process, 2, 6, 0);
    for (uint32_t i = 1; i < STACKS; i++)
        wake_writer_add_stack(w->writer, w->process, &(struct wake_frame){i * 64, 0}, 1, 0, 0);
}

static void world_open(struct world *w, size_t pending, uint64_t threshold, uint32_t seed)
{
    world_open_as(w, pending, threshold, seed, 0, 0);
}

static void world_alloc(struct world *w, struct thread_state *s, int chain, uint64_t previous)
{
    struct made m = {.time_ns = w->time_ns,
                     .event = WAKE_ALLOC,
                     .kind = previous == 0 ? KIND_MALLOC : KIND_REALLOC,
                     .number = w->number++,
                     .size = any(w, 500),
                     .thread = 1 + any(w, 2),
                     .stack = any(w, STACKS),
                     .previous = previous,
                     .chain = chain};
    m.address = (m.number + 1) * 16;
    if (chain == NONE) {
        m.chain = (int)w->lives.count;
        assert_true(vec_push(&w->lives, (struct life){.start_ns = w->time_ns}));
    }
    *s = (struct thread_state){m.number, m.size, m.stack, m.chain};
    assert_true(vec_push(&w->made, m));
    w->end.allocations++;
    w->end.allocated_bytes += m.size;
    w->totals[m.stack].allocations++;
    w->totals[m.stack].allocated_bytes += m.size;
    wake_stream_alloc(w->stream, m.time_ns, m.thread, m.kind, m.stack, m.address, m.size, m.size, previous);
}

static void world_free(struct world *w, struct thread_state *s, unsigned how)
{
    struct made m = {.time_ns = w->time_ns,
                     .event = WAKE_FREE,
                     .kind = (uint8_t)how,
                     .number = s->number,
                     .thread = 1 + any(w, 2),
                     .chain = s->chain};
    assert_true(vec_push(&w->made, m));
    w->lives.data[s->chain].end_ns = w->time_ns;
    w->lives.data[s->chain].is_over = how != HOW_REALLOC;
    w->end.frees++;
    w->totals[s->stack].freed++;
    w->totals[s->stack].freed_bytes += s->size;
    wake_stream_free(w->stream, m.time_ns, m.thread, how, s->number, s->size);
    if (how != HOW_REALLOC)
        s->chain = NONE;
}

static void world_map(struct world *w)
{
    struct made m = {.time_ns = w->time_ns, .event = WAKE_MAP, .chain = NONE, .address = 4096, .thread = 1};
    assert_true(vec_push(&w->made, m));
    wake_stream_map(w->stream, w->time_ns, 1, 0, 4096, 8192, 0, 0);
}

static void world_run(struct world *w, int steps)
{
    enum { SLOTS = 3000 };
    struct thread_state slots[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        slots[i].chain = NONE;
    for (int i = 0; i < steps; i++) {
        w->time_ns += any(w, 30);
        /* Some slots are visited often and so hold short lives, others rarely. */
        struct thread_state *s = &slots[any(w, 4) != 0 ? any(w, 8) : any(w, SLOTS)];
        if (any(w, 100) == 0) {
            world_map(w);
        } else if (s->chain == NONE) {
            world_alloc(w, s, NONE, 0);
        } else if (any(w, 3) == 0) {
            int chain = s->chain;
            uint64_t number = s->number;
            world_free(w, s, HOW_REALLOC);
            world_alloc(w, s, chain, number + 1);
        } else {
            world_free(w, s, HOW_FREE);
        }
    }
    for (int i = 0; i < SLOTS; i++) {
        if (slots[i].chain == NONE)
            continue;
        struct wake_live_block b = {slots[i].number, (slots[i].number + 1) * 16, slots[i].size,
                                    slots[i].stack};
        assert_true(vec_push(&w->live, b));
    }
}

static struct wake_reader *world_close(struct world *w)
{
    struct err err;
    struct wake_reader *r;
    w->end.complete = true;
    w->end.leaked_blocks = w->live.count;
    wake_writer_end_process(w->writer, w->process, &w->end, w->totals, STACKS - 1, w->live.data,
                            w->live.count);
    assert_int_equal(wake_writer_close(w->writer, 0, &err), 0);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    return r;
}

static void world_release(struct world *w, struct wake_reader *r)
{
    wake_reader_close(r);
    vec_release(&w->made);
    vec_release(&w->lives);
    vec_release(&w->live);
}

static bool is_kept(const struct world *w, const struct made *m)
{
    if (m->chain == NONE)
        return true;
    const struct life *l = &w->lives.data[m->chain];
    return !l->is_over || l->end_ns - l->start_ns >= w->threshold_ns;
}

/* Goes through what was written; with `exact` it is what the definition says, else only more. */
struct follow {
    const struct world *w;
    const struct weight_rule *rule;
    size_t at;         /* in made */
    uint64_t *numbers; /* of an allocation in the file -> as it was made */
    uint64_t allocations, frees;
    bool exact;
};

static void follow_event(struct follow *f, const struct wake_block *b, uint32_t i)
{
    const struct made *m = &f->w->made.data[f->at];
    assert_int_equal(b->event[i], m->event);
    assert_int_equal(b->time_ns[i], m->time_ns);
    assert_int_equal(b->thread[i], m->thread);
    if (m->event == WAKE_ALLOC) {
        assert_int_equal(b->address[i], m->address);
        assert_int_equal(b->size[i], m->size);
        assert_int_equal(b->stack[i], m->stack);
        assert_int_equal(b->detail[i], m->kind);
        assert_int_equal(b->number[i], f->allocations);
        f->numbers[f->allocations++] = m->number;
        if (f->rule->rate != 0)
            assert_int_equal(weight_number(f->rule, b->number[i]), m->number);
        if (m->previous != 0 && (f->exact || b->previous[i] != 0))
            assert_int_equal(f->numbers[b->previous[i] - 1], m->previous - 1);
    } else if (m->event == WAKE_FREE) {
        assert_int_equal(b->detail[i], m->kind);
        assert_int_equal(f->numbers[b->number[i]], m->number);
        f->frees++;
    }
}

static bool follow_is_same(const struct made *m, const struct wake_block *b, uint32_t i,
                           const uint64_t *numbers)
{
    if (b->event[i] != m->event || b->time_ns[i] != m->time_ns)
        return false;
    return m->event == WAKE_ALLOC ? b->address[i] == m->address
                                  : m->event == WAKE_MAP || numbers[b->number[i]] == m->number;
}

static int follow_block(const struct wake_block *b, void *context)
{
    struct follow *f = context;
    for (uint32_t i = 0; i < b->count; i++, f->at++) {
        for (; f->exact ? !is_kept(f->w, &f->w->made.data[f->at])
                        : !follow_is_same(&f->w->made.data[f->at], b, i, f->numbers);
             f->at++) {
            assert_true(f->at < f->w->made.count);
            assert_true(f->exact || !is_kept(f->w, &f->w->made.data[f->at]));
        }
        follow_event(f, b, i);
    }
    return 0;
}

static void compare(const struct world *w, struct wake_reader *r, bool exact)
{
    struct err err;
    const struct wake_process *p = wake_reader_process(r, 0);
    struct follow f = {
        .w = w, .rule = &p->rule, .exact = exact, .numbers = calloc(w->number + 1, sizeof *f.numbers)};
    assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, follow_block, &f, &err), 0);
    for (; f.at < w->made.count; f.at++)
        assert_false(is_kept(w, &w->made.data[f.at]));
    assert_int_equal(p->omitted.has_gaps, p->omitted.sample_rate != 0);
    assert_true(p->rule.rate != 0 || p->gaps.count == 0);
    assert_int_equal(f.allocations + p->omitted.culled_blocks, w->end.allocations);
    assert_int_equal(f.frees + p->omitted.culled_blocks, w->end.frees);
    /* The live blocks have the numbers that they have in the file. */
    assert_int_equal(p->live.count, w->live.count);
    for (size_t i = 0; i < p->live.count; i++)
        assert_int_equal((f.numbers[p->live.data[i].allocation] + 1) * 16, p->live.data[i].address);
    uint64_t blocks = 0, bytes = 0;
    for (size_t i = 0; i < p->culled.count; i++) {
        assert_true(p->culled.data[i].blocks == 0 || p->culled.data[i].smallest <= p->culled.data[i].largest);
        blocks += p->culled.data[i].blocks;
        bytes += p->culled.data[i].bytes;
    }
    assert_int_equal(blocks, p->omitted.culled_blocks);
    assert_int_equal(bytes, p->omitted.culled_bytes);
    free(f.numbers);
}

static void what_is_written_is_what_lives_long(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct world w;
        world_open(&w, 1 << 20, THRESHOLD, seed);
        world_run(&w, 4000);
        struct wake_reader *r = world_close(&w);
        assert_true(wake_reader_process(r, 0)->omitted.is_culled);
        assert_int_equal(wake_reader_process(r, 0)->omitted.threshold_ns, THRESHOLD);
        assert_true(wake_reader_process(r, 0)->omitted.culled_blocks > 100);
        compare(&w, r, true);
        world_release(&w, r);
    }
}

static void beyond_the_limit_the_oldest_are_written(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        struct world w;
        /* Nothing would leave by age; only room is short. */
        world_open(&w, 1024, 100 * SECOND, seed);
        world_run(&w, 20000);
        struct wake_reader *r = world_close(&w);
        assert_true(wake_reader_process(r, 0)->omitted.culled_blocks > 100);
        assert_true(wake_reader_process(r, 0)->events > 1000);
        compare(&w, r, false);
        world_release(&w, r);
    }
}

static void what_is_left_of_samples_knows_its_numbers_as_made(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        struct world w;
        world_open_as(&w, seed % 2 == 0 ? 1024 : 1 << 20, THRESHOLD, seed, 64, 0);
        world_run(&w, 20000);
        struct wake_reader *r = world_close(&w);
        assert_true(wake_reader_process(r, 0)->gaps.count > 100);
        compare(&w, r, seed % 2 != 0);
        world_release(&w, r);
    }
}

/* Of what is not among the events only blocks that are live have to be known. */
static void live_samples_behind_the_limit_know_their_numbers_as_made(void **state)
{
    struct world w;
    (void)state;
    world_open_as(&w, 1 << 16, THRESHOLD, 3, 64, 10000);
    world_run(&w, 20000);
    wake_writer_flush(w.writer);
    uint64_t size = wake_writer_size(w.writer);
    world_run(&w, 100000);
    assert_true(wake_writer_size(w.writer) < size + 1000); /* nor do gaps go on */
    struct wake_reader *r = world_close(&w);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_true(p->omitted.is_limited && p->omitted.allocations > 1000 && p->live.count > 100);
    for (size_t i = 0; i < p->live.count; i++)
        assert_int_equal((weight_number(&p->rule, p->live.data[i].allocation) + 1) * 16,
                         p->live.data[i].address);
    world_release(&w, r);
}

static void samples_without_an_end_know_their_numbers_as_made(void **state)
{
    struct world w;
    struct err err;
    struct wake_reader *r;
    (void)state;
    world_open_as(&w, 1 << 16, THRESHOLD, 4, 64, 0);
    world_run(&w, 20000);
    wake_writer_flush(w.writer);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_true(p->derived && p->live.count > 100 && p->gaps.count > 100);
    for (size_t i = 0; i < p->live.count; i++)
        assert_int_equal((weight_number(&p->rule, p->live.data[i].allocation) + 1) * 16,
                         p->live.data[i].address);
    assert_int_equal(wake_writer_close(w.writer, 0, &err), 0);
    world_release(&w, r);
}

static void time_alone_lets_old_events_go(void **state)
{
    struct world w;
    struct thread_state s = {.chain = NONE};
    (void)state;
    world_open(&w, 1024, THRESHOLD, 1);
    world_alloc(&w, &s, NONE, 0);
    wake_writer_flush(w.writer);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    wake_writer_advance(w.writer, w.time_ns + THRESHOLD);
    wake_writer_flush(w.writer);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size > before.st_size);
    w.time_ns += 2 * THRESHOLD;
    world_free(&w, &s, HOW_FREE);
    struct wake_reader *r = world_close(&w);
    compare(&w, r, true);
    assert_int_equal(wake_reader_process(r, 0)->events, 2);
    world_release(&w, r);
}

static void a_recording_without_an_end_says_that_it_is_culled(void **state)
{
    struct world w;
    struct thread_state s = {.chain = NONE};
    struct err err;
    struct wake_reader *r;
    (void)state;
    world_open(&w, 1024, THRESHOLD, 1);
    world_alloc(&w, &s, NONE, 0);
    wake_writer_flush(w.writer);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_true(wake_reader_process(r, 0)->omitted.is_culled);
    wake_reader_close(r);
    assert_int_equal(wake_writer_close(w.writer, 0, &err), 0);
    vec_release(&w.made);
    vec_release(&w.lives);
}

static uint64_t hour_write(unsigned rare)
{
    enum { SLOTS = 1 << 16, RATE = 1000, SECONDS = 3600 };
    static uint64_t slot[SLOTS];
    struct world w;
    struct stat st;
    world_open(&w, 1 << 16, 10 * SECOND, 7);
    uint64_t number = 0;
    memset(slot, 0, sizeof slot);
    for (uint64_t i = 0; i < (uint64_t)RATE * SECONDS; i++) {
        uint64_t time = i * (SECOND / RATE);
        uint32_t at = i % rare == 0 ? SLOTS / 2 + any(&w, SLOTS / 2) : any(&w, RATE);
        if (slot[at] != 0)
            wake_stream_free(w.stream, time, 1, HOW_FREE, slot[at] - 1, 100);
        slot[at] = ++number;
        wake_stream_alloc(w.stream, time, 1, KIND_MALLOC, any(&w, STACKS), 4096 + (uint64_t)at * 256, 100,
                          104, 0);
    }
    struct err err;
    wake_writer_end_process(w.writer, w.process, &w.end, w.totals, STACKS - 1, NULL, 0);
    assert_int_equal(wake_writer_close(w.writer, 0, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

/* 1,000 allocations a second: most live about a second, one in a hundred lives for minutes to hours. One
 * hour on a made-up clock, times 24: what is written grows with time and nothing else does. */
static void a_day_of_a_thousand_allocations_a_second_takes_less_than_100_megabytes(void **state)
{
    (void)state;
    uint64_t hour = hour_write(100);
    assert_true(hour * 24 < 100 * 1000 * 1000);
    assert_true(hour > 10000);
}

static void a_full_file_takes_no_more_events_and_keeps_its_numbers(void **state)
{
    struct world w;
    struct err err;
    struct wake_reader *r;
    (void)state;
    w = (struct world){.seed = 3, .time_ns = 10};
    assert_int_equal(wake_writer_open(&w.writer, path, &err), 0);
    wake_writer_limit(w.writer, 200000);
    w.process = wake_writer_add_process(w.writer, &(struct wake_process_info){.pid = 5, .exe = "/x"});
    w.stream = wake_writer_stream(w.writer, w.process);
    wake_writer_add_thread(w.writer, w.process, 1, 5, 0);
    wake_writer_add_thread(w.writer, w.process, 2, 6, 0);
    for (uint32_t i = 1; i < STACKS; i++)
        wake_writer_add_stack(w.writer, w.process, &(struct wake_frame){i * 64, 0}, 1, 0, 0);
    world_run(&w, 200000);
    r = world_close(&w);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_true(p->omitted.is_limited && !p->omitted.is_culled);
    assert_true(p->omitted.limit_ns > 0 && p->omitted.allocations > 0 && p->omitted.others > 0);
    uint64_t allocations = 0, frees = 0;
    struct wake_span span;
    for (size_t i = 0; wake_reader_span(r, 0, i, &span); i++) {
        allocations += span.allocations;
        frees += span.frees;
    }
    assert_int_equal(allocations + p->omitted.allocations, w.end.allocations);
    assert_int_equal(frees + p->omitted.frees, w.end.frees);
    assert_int_equal(p->live.count, w.live.count);
    assert_int_equal(wake_reader_summary(r)->not_kept, 0);
    assert_true(wake_reader_summary(r)->file_size < 600000);
    world_release(&w, r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_what_lives_long),
        cmocka_unit_test(beyond_the_limit_the_oldest_are_written),
        cmocka_unit_test(what_is_left_of_samples_knows_its_numbers_as_made),
        cmocka_unit_test(live_samples_behind_the_limit_know_their_numbers_as_made),
        cmocka_unit_test(samples_without_an_end_know_their_numbers_as_made),
        cmocka_unit_test(time_alone_lets_old_events_go),
        cmocka_unit_test(a_recording_without_an_end_says_that_it_is_culled),
        cmocka_unit_test(a_day_of_a_thousand_allocations_a_second_takes_less_than_100_megabytes),
        cmocka_unit_test(a_full_file_takes_no_more_events_and_keeps_its_numbers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
