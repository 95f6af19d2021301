/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of series: the same events into one file and into several; read
 * together the several are the one, read alone each is a recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/live.h"
#include "store/sample.h"
#include "store/series.h"

enum { PARTS = 4, SLOTS = 500, STACKS = 5 };

static char whole[64], part[PARTS][64];

static int setup(void **state)
{
    (void)state;
    snprintf(whole, sizeof whole, "/tmp/series_test.%d.wake", (int)getpid());
    for (int i = 0; i < PARTS; i++)
        snprintf(part[i], sizeof part[i], "/tmp/series_test.%d.wake.%d", (int)getpid(), i + 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(whole);
    for (int i = 0; i < PARTS; i++)
        unlink(part[i]);
    return 0;
}

struct world {
    struct wake_writer *writer;
    uint32_t process;
    struct wake_live_block slots[SLOTS]; /* size 0 = empty; else size + 1 */
    struct wake_stack_totals totals[STACKS];
    struct wake_process_end end;
    uint64_t seed, time_ns, live_bytes;
};

static uint64_t any(struct world *w, uint64_t below)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (w->seed >> 33) % below;
}

static void define(struct world *w, uint32_t stack)
{
    struct wake_frame frames[2] = {{stack * 64, 1}, {8, 0}};
    wake_writer_add_stack(w->writer, w->process, frames, 2, 0, 0);
}

static void open_process(struct world *w, uint64_t rate)
{
    const struct wake_process_info info = {.pid = 7,
                                           .has_arenas = true,
                                           .exe = "/bin/app",
                                           .args = "app",
                                           .args_length = 4,
                                           .start_ns = 5,
                                           .sample_rate = rate};
    w->process = wake_writer_add_process(w->writer, &info);
    wake_writer_add_thread(w->writer, w->process, 1, 7, 5);
    wake_writer_name_thread(w->writer, w->process, 1, "first", 5, 5);
    wake_writer_add_module(
        w->writer, w->process,
        &(struct wake_module_info){.start = 4096, .end = 8192, .path = "/a", .path_length = 2});
    define(w, 1);
    define(w, 2);
}

static void step(struct world *w)
{
    struct wake_stream *s = wake_writer_stream(w->writer, w->process);
    struct wake_live_block *b = &w->slots[any(w, SLOTS)];
    w->time_ns += any(w, 100);
    if (b->size != 0) {
        wake_stream_free(s, w->time_ns, 1, HOW_FREE, b->allocation, b->size - 1);
        w->totals[b->stack].freed++;
        w->totals[b->stack].freed_bytes += b->size - 1;
        w->end.frees++;
        w->live_bytes -= b->size - 1;
        b->size = 0;
        return;
    }
    *b = (struct wake_live_block){
        .allocation = w->end.allocations++, .size = 1 + any(w, 1000), .stack = (uint32_t)any(w, 3)};
    b->address = (b->allocation + 1) * 16;
    w->live_bytes += b->size - 1;
    w->end.allocated_bytes += b->size - 1;
    w->totals[b->stack].allocations++;
    w->totals[b->stack].allocated_bytes += b->size - 1;
    uint64_t usable = (b->size + 7) & ~UINT64_C(7), arena = any(w, 3) == 0 ? RECORD_OTHER_ARENA : 0;
    wake_stream_alloc(s, w->time_ns, 1, KIND_MALLOC, b->stack, b->address, b->size - 1, usable + arena, 0);
}

static int by_number(const void *a, const void *b)
{
    const struct wake_live_block *x = a, *y = b;
    return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

/* Tells how it is now, or ends. */
static void tell(struct world *w, bool is_end)
{
    struct wake_live_block live[SLOTS];
    size_t count = 0;
    for (int i = 0; i < SLOTS; i++) {
        if (w->slots[i].size == 0)
            continue;
        live[count] = w->slots[i];
        live[count++].size--;
    }
    qsort(live, count, sizeof *live, by_number);
    w->end.end_ns = w->time_ns;
    w->end.complete = true;
    w->end.leaked_blocks = count;
    w->end.leaked_bytes = w->live_bytes;
    if (is_end)
        wake_writer_end_process(w->writer, w->process, &w->end, w->totals, STACKS - 1, live, count);
    else
        wake_writer_pause_process(w->writer, w->process, &w->end, w->totals, STACKS - 1, live, count);
}

/* rate 0: not sampled. */
static void write_as(bool rotates, bool culls, uint64_t rate)
{
    struct err err;
    struct world w = {.seed = 5, .time_ns = 10};
    const struct wake_cull_options cull = {.threshold_ns = 5000, .pending = 4096};
    assert_int_equal(rotates ? wake_writer_open_series(&w.writer, part[0], &err)
                             : wake_writer_open_dated(&w.writer, whole, 1, 1, &err),
                     0);
    if (culls)
        wake_writer_cull(w.writer, &cull);
    open_process(&w, rate);
    for (int p = 0; p < PARTS; p++) {
        if (p > 0 && rotates) {
            assert_int_equal(wake_writer_open_next(w.writer, part[p], &err), 0);
            tell(&w, false);
            assert_true(wake_writer_rotate(w.writer, 0));
        }
        if (p == 2) /* what is new in a later file has the next number */
            define(&w, 3);
        for (int i = 0; i < 3000; i++)
            step(&w);
        wake_stream_mark(wake_writer_stream(w.writer, w.process), w.time_ns, 1, "here", 4);
    }
    tell(&w, true);
    assert_int_equal(wake_writer_close(w.writer, 0, &err), 0);
}

static void write_all(bool rotates, bool culls)
{
    write_as(rotates, culls, 0);
}

struct seen {
    VEC(struct sample_event) events;
};

static int see(const struct wake_block *b, void *context)
{
    struct seen *s = context;
    for (uint32_t i = 0; i < b->count; i++) {
        struct sample_event e;
        memset(&e, 0, sizeof e); /* they are compared as bytes */
        e.event = b->event[i];
        e.detail = b->detail[i];
        e.arena = b->arena[i];
        e.thread = b->thread[i];
        e.stack = b->stack[i];
        e.time_ns = b->time_ns[i];
        e.address = b->address[i];
        e.size = b->size[i];
        e.usable = b->usable[i];
        e.number = b->number[i];
        e.previous = b->previous[i];
        assert_true(vec_push(&s->events, e));
    }
    return 0;
}

static struct wake_reader *open_parts(int first, int count, struct seen *s)
{
    const char *paths[PARTS] = {NULL};
    struct wake_reader *r;
    struct err err;
    for (int i = 0; i < count; i++)
        paths[i] = part[first + i];
    assert_int_equal(wake_series_open(&r, paths, (size_t)count, &err), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    assert_int_equal(wake_reader_verify(r, &err), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, see, s, &err), 0);
    return r;
}

static void expect_same(const struct wake_process *a, const struct wake_process *b)
{
    assert_int_equal(a->threads.count, b->threads.count);
    assert_string_equal(a->threads.data[0].name, b->threads.data[0].name);
    assert_int_equal(a->modules.count, b->modules.count);
    assert_int_equal(a->stacks.count, b->stacks.count);
    assert_int_equal(a->marks.count, b->marks.count);
    assert_int_equal(a->totals.count, b->totals.count);
    assert_memory_equal(a->totals.data, b->totals.data, a->totals.count * sizeof *a->totals.data);
    assert_int_equal(a->end.end_ns, b->end.end_ns);
    assert_int_equal(a->end.allocations, b->end.allocations);
    assert_int_equal(a->end.frees, b->end.frees);
    assert_int_equal(a->end.allocated_bytes, b->end.allocated_bytes);
    assert_int_equal(a->end.leaked_blocks, b->end.leaked_blocks);
    assert_int_equal(a->end.leaked_bytes, b->end.leaked_bytes);
    assert_true(a->end.complete && b->end.complete && !b->end.goes_on);
    assert_int_equal(a->live.count, b->live.count);
    for (size_t i = 0; i < a->live.count; i++) {
        const struct wake_live_block *x = &a->live.data[i], *y = &b->live.data[i];
        assert_true(x->allocation == y->allocation && x->address == y->address && x->size == y->size &&
                    x->stack == y->stack);
    }
    assert_int_equal(a->missing_events, 0);
    assert_int_equal(b->missing_events, 0);
    assert_int_equal(a->omitted.culled_blocks, b->omitted.culled_blocks);
    assert_int_equal(b->omitted.elsewhere_allocations, 0);
}

static void together_they_are_one(bool culls)
{
    struct wake_reader *one, *many;
    struct err err;
    struct seen a = {0}, b = {0};
    write_all(false, culls);
    write_all(true, culls);
    assert_int_equal(wake_reader_open(&one, whole, &err), 0);
    assert_int_equal(wake_reader_visit(one, 0, 0, UINT64_MAX, see, &a, &err), 0);
    many = open_parts(0, PARTS, &b);
    assert_int_equal(a.events.count, b.events.count);
    assert_true(a.events.count > 1000);
    for (size_t i = 0; i < a.events.count; i++)
        assert_memory_equal(&a.events.data[i], &b.events.data[i], sizeof a.events.data[i]);
    expect_same(wake_reader_process(one, 0), wake_reader_process(many, 0));
    assert_true(wake_reader_summary(many)->complete);
    assert_int_equal(wake_reader_summary(many)->events, wake_reader_summary(one)->events);
    wake_reader_close(one);
    wake_reader_close(many);
    vec_release(&a.events);
    vec_release(&b.events);
}

static void several_files_are_what_one_would_have_been(void **state)
{
    (void)state;
    together_they_are_one(false);
}

static void culled_ones_too(void **state)
{
    (void)state;
    together_they_are_one(true);
}

static void expect_alone(int first, int count)
{
    struct seen s = {0};
    struct wake_reader *r = open_parts(first, count, &s);
    const struct wake_process *p = wake_reader_process(r, 0);
    struct wake_live live;
    bool is_last = first + count == PARTS;
    assert_true(p->ended && !p->derived && p->end.goes_on == !is_last);
    assert_true(wake_reader_summary(r)->complete);
    assert_int_equal(p->missing_events, 0);
    assert_true(first == 0 ? p->carried.count == 0 : p->carried.count > 0);
    assert_true(p->info.has_arenas);
    /* Every release finds its block, and what is left is what the file says. */
    wake_live_init(&live);
    for (size_t i = 0; i < s.events.count; i++) {
        const struct sample_event *e = &s.events.data[i];
        struct wake_live_block was;
        struct wake_block b = {
            .number = &e->number, .address = &e->address, .size = &e->size, .stack = &e->stack};
        if (e->event == WAKE_ALLOC)
            assert_true(wake_live_add(&live, &b, 0));
        else if (e->event == WAKE_FREE)
            assert_true(wake_live_take(&live, e->number, &was));
    }
    assert_int_equal(wake_live_count(&live), p->live.count);
    uint64_t totals = 0;
    for (size_t i = 0; i < p->totals.count; i++)
        totals += p->totals.data[i].allocations;
    assert_int_equal(totals, p->end.allocations);
    assert_true((first == 0 && is_last) == (p->omitted.elsewhere_allocations == 0));
    wake_live_release(&live);
    vec_release(&s.events);
    wake_reader_close(r);
}

/* Of each block, among the events, live or carried, it is known which it was as it was made; of no others. */
static void expect_numbers(int first, int count)
{
    struct seen s = {0};
    struct wake_reader *r = open_parts(first, count, &s);
    const struct wake_process *p = wake_reader_process(r, 0);
    size_t made = 0;
    assert_true(p->omitted.has_gaps && p->gaps.count > 100 && p->live.count > 50);
    for (size_t i = 0; i < s.events.count; i++) {
        const struct sample_event *e = &s.events.data[i];
        made += e->event == WAKE_ALLOC;
        if (e->event == WAKE_ALLOC)
            assert_int_equal((weight_number(&p->rule, e->number) + 1) * 16, e->address);
    }
    for (size_t i = 0; i < p->live.count; i++)
        assert_int_equal((weight_number(&p->rule, p->live.data[i].allocation) + 1) * 16,
                         p->live.data[i].address);
    assert_true(p->gaps.count <= made + p->live.count);
    vec_release(&s.events);
    wake_reader_close(r);
}

static void samples_that_are_culled_know_their_numbers_as_made(void **state)
{
    (void)state;
    write_as(true, true, 64);
    for (int first = 0; first < PARTS; first++)
        for (int count = 1; first + count <= PARTS; count++)
            expect_numbers(first, count);
}

static void each_file_can_be_read_alone(void **state)
{
    (void)state;
    write_all(true, false);
    for (int i = 1; i < PARTS; i++)
        expect_alone(i, 1);
    expect_alone(2, 2); /* the older ones are gone */
    expect_alone(1, 2);
}

/* The disk is full when the file is to be closed, with so many bytes to spare: it stays the one, and its process ends in
 * it, once. */
static void expect_stay(rlim_t spare)
{
    struct err err;
    struct world w = {.seed = 7, .time_ns = 10};
    struct stat st;
    struct rlimit old, small;
    struct wake_reader *r;
    assert_int_equal(wake_writer_open_series(&w.writer, part[0], &err), 0);
    open_process(&w, 0);
    for (int i = 0; i < 3000; i++)
        step(&w);
    assert_int_equal(wake_writer_open_next(w.writer, part[1], &err), 0);
    assert_int_equal(stat(part[0], &st), 0);
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){(rlim_t)st.st_size + spare, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    tell(&w, false);
    bool has_moved = wake_writer_rotate(w.writer, 0);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(has_moved);
    for (int i = 0; i < 100; i++)
        step(&w);
    tell(&w, true);
    assert_int_equal(wake_writer_close(w.writer, 0, &err), ERR_FULL);
    assert_int_equal(wake_reader_open(&r, part[0], &err), 0);
    assert_int_equal(wake_reader_verify(r, &err), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    const struct wake_summary *sum = wake_reader_summary(r);
    assert_int_equal(sum->events + sum->not_kept, 3100);
    assert_int_equal(sum->write_error, EFBIG);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_true(p->ended && !p->end.goes_on);
    assert_int_equal(p->end.allocations, w.end.allocations);
    wake_reader_close(r);
    unlink(part[1]);
}

static void a_file_that_cannot_be_closed_stays_the_one(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t spare = 0; spare < 1000; spare += 50)
        expect_stay(spare);
}

static void a_file_that_is_missing_between_is_said(void **state)
{
    struct wake_reader *r;
    struct err err;
    const char *paths[] = {part[0], part[2]};
    (void)state;
    write_all(true, false);
    assert_int_equal(wake_series_open(&r, paths, 2, &err), 0);
    assert_true(wake_reader_damage_count(r) > 0);
    assert_true(wake_reader_process(r, 0)->missing_events > 0);
    assert_false(wake_reader_summary(r)->complete);
    wake_reader_close(r);
}

static void which_series_a_file_belongs_to(void **state)
{
    uint64_t a, b;
    uint32_t first, third;
    (void)state;
    write_all(true, false);
    write_all(false, false);
    wake_series_find(part[0], &a, &first);
    wake_series_find(part[2], &b, &third);
    assert_true(a != 0 && a == b && first == 1 && third == 3);
    wake_series_find(whole, &a, &first);
    assert_true(a == 0 && first == 0);
    wake_series_find("/dev/null", &a, &first);
    assert_true(a == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_files_are_what_one_would_have_been),
        cmocka_unit_test(culled_ones_too),
        cmocka_unit_test(samples_that_are_culled_know_their_numbers_as_made),
        cmocka_unit_test(each_file_can_be_read_alone),
        cmocka_unit_test(a_file_that_cannot_be_closed_stays_the_one),
        cmocka_unit_test(a_file_that_is_missing_between_is_said),
        cmocka_unit_test(which_series_a_file_belongs_to),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
