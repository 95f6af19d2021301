/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of verdicts: the levels that the collector's totals keep while events go by are those that
 * a reading of the same events gives, number by number; so are the verdicts, and they are right.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/site_trend.h"
#include "collect/totals.h"
#include "store/level_table.h"
#include "store/reader.h"
#include "store/weight.h"
#include "store/writer.h"
#include "tool/vec.h"
#include "wire/record.h"

enum { START = 5000, MS = 1000000 };

struct block {
    uint64_t number, size;
    uint64_t until; /* step in which it is freed */
    uint32_t stack;
};

/* A process that is recorded: its events go to a file, and to totals as the collector keeps them. */
struct world {
    char path[64];
    struct wake_writer *writer;
    struct wake_stream *stream;
    uint32_t process, stacks;
    struct totals totals;
    uint64_t sample_rate, now_ns, made, events, seed;
    VEC(struct block) live;
};

static void world_open(struct world *w, uint32_t stacks, uint64_t sample_rate)
{
    *w = (struct world){
        .stacks = stacks, .sample_rate = sample_rate, .now_ns = START, .seed = 88172645463325252u};
    snprintf(w->path, sizeof w->path, "/tmp/site_verdicts_test.%d.wake", (int)getpid());
    assert_int_equal(wake_writer_open(&w->writer, w->path, NULL), 0);
    w->process = wake_writer_add_process(
        w->writer, &(struct wake_process_info){
                       .pid = 77, .start_ns = START, .exe = "/a", .args = "", .sample_rate = sample_rate});
    w->stream = wake_writer_stream(w->writer, w->process);
    for (uint32_t i = 1; i <= stacks; i++) {
        struct wake_frame frame = {0x1000 + i, 0};
        assert_int_equal(wake_writer_add_stack(w->writer, w->process, &frame, 1, 0, 0), i);
    }
    assert_true(totals_init(&w->totals, START) && totals_reserve(&w->totals, stacks));
}

static uint64_t world_random(struct world *w, uint64_t below)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return (w->seed >> 11) % below;
}

static void world_alloc(struct world *w, uint32_t stack, uint64_t size, uint64_t until)
{
    struct block b = {w->made++, size, until, stack};
    struct weight weight = weight_made(w->sample_rate, b.number, size);
    totals_alloc(&w->totals, stack, weight.blocks, weight.bytes, w->now_ns, w->events++);
    wake_stream_alloc(w->stream, w->now_ns, 1, KIND_MALLOC, stack, 0x10000 + b.number * 16, size, size, 0);
    assert_true(vec_push(&w->live, b));
}

static void world_free(struct world *w, size_t i)
{
    struct block b = w->live.data[i];
    struct weight weight = weight_made(w->sample_rate, b.number, b.size);
    totals_free(&w->totals, b.stack, weight.blocks, weight.bytes, w->now_ns, false);
    wake_stream_free(w->stream, w->now_ns, 1, HOW_FREE, b.number, b.size);
    w->events++;
    w->live.data[i] = w->live.data[--w->live.count];
}

static void world_free_until(struct world *w, uint64_t step)
{
    for (size_t i = w->live.count; i-- > 0;)
        if (w->live.data[i].until <= step)
            world_free(w, i);
}

/* Ends it and opens what was written. */
static struct wake_reader *world_close(struct world *w, bool has_levels)
{
    const struct totals *t = &w->totals;
    struct wake_stack_totals *rows = totals_copy(&w->totals);
    struct wake_process_end end = {
        .end_ns = w->now_ns + 10,
        .complete = true,
        .allocations = t->allocations,
        .frees = t->frees,
        .allocated_bytes = t->allocated_bytes,
        .peak_bytes = t->peak_bytes,
        .peak_blocks = t->peak_blocks,
        .peak_time_ns = t->peak_time_ns,
        .peak_event = t->peak_event,
        .leaked_blocks = t->live_blocks,
        .leaked_bytes = t->live_bytes,
        .threads = 1,
    };
    assert_non_null(rows);
    if (has_levels)
        totals_put_levels(&w->totals, w->writer, w->process, &end);
    wake_writer_end_process(w->writer, w->process, &end, rows, w->stacks, NULL, 0);
    assert_int_equal(wake_writer_close(w->writer, 0, NULL), 0);
    free(rows);
    totals_release(&w->totals);
    vec_release(&w->live);
    struct wake_reader *r;
    assert_int_equal(wake_reader_open(&r, w->path, NULL), 0);
    unlink(w->path);
    return r;
}

static void expect_equal_rows(const struct level_table_row *a, const struct level_table_row *b)
{
    assert_memory_equal(a->floor, b->floor, sizeof a->floor);
    assert_memory_equal(a->level, b->level, sizeof a->level);
    assert_memory_equal(a->freed, b->freed, sizeof a->freed);
    assert_int_equal(a->stack, b->stack);
    assert_int_equal(a->highest, b->highest);
    assert_int_equal(a->left, b->left);
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->first_ns, b->first_ns);
    assert_int_equal(a->last_ns, b->last_ns);
    assert_int_equal(a->first_tick, b->first_tick);
}

/* Both sources; gives how many stacks have a row in the file. */
static size_t expect_equal_levels(struct wake_reader *r, uint32_t stacks)
{
    VEC(uint32_t) all = {0};
    struct level_table file, events;
    struct query q;
    size_t count = 0;
    for (uint32_t i = 0; i <= stacks; i++)
        assert_true(vec_push(&all, i));
    level_table_init(&file);
    level_table_init(&events);
    query_init(&q);
    assert_int_equal(level_table_read(&file, r, 0, all.data, all.count), 0);
    assert_int_equal(site_trend_read(&events, &q, r, 0, all.data, all.count, NULL), 0);
    assert_int_equal(file.from_ns, START);
    assert_int_equal(file.to_ns, events.to_ns);
    assert_int_equal(file.exited, events.exited);
    assert_memory_equal(file.until_ns, events.until_ns, sizeof file.until_ns);
    assert_memory_equal(file.made, events.made, sizeof file.made);
    assert_memory_equal(file.freed, events.freed, sizeof file.freed);
    for (size_t i = 0; i < all.count; i++) {
        if (file.rows.data[i].blocks == 0)
            continue;
        expect_equal_rows(&file.rows.data[i], &events.rows.data[i]);
        count++;
    }
    assert_int_equal(wake_reader_verify(r, NULL), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    level_table_release(&file);
    level_table_release(&events);
    query_release(&q);
    vec_release(&all);
    return count;
}

/* ---------------------------------------------------------------------- oracles */

enum { STEPS = 4000, NEVER = 1 << 28, AT_EXIT = 1 << 27 };

enum {
    STEADY = 1,
    STEPPED,
    BURSTY,
    GROWS_TO_EXIT,
    TURNOVER,
    FILLED,
    ONCE,
    TO_EXIT,
    PHASE,
    CHURN,
    LATE,
    ENDED,
    COUNT
};

static const enum verdict_kind expected[COUNT] = {
    [STEADY] = VERDICT_GROWS,        [STEPPED] = VERDICT_GROWS,    [BURSTY] = VERDICT_GROWS,
    [GROWS_TO_EXIT] = VERDICT_GROWS, [TURNOVER] = VERDICT_BOUNDED, [FILLED] = VERDICT_BOUNDED,
    [ONCE] = VERDICT_ONCE,           [TO_EXIT] = VERDICT_AT_EXIT,  [PHASE] = VERDICT_PASSING,
    [CHURN] = VERDICT_PASSING,       [LATE] = VERDICT_UNCLEAR,     [ENDED] = VERDICT_STOPPED,
};

static void live_step(struct world *w, uint64_t step)
{
    world_alloc(w, STEADY, 1000, NEVER);
    for (int i = 0; step % 250 == 30 && i < 20; i++)
        world_alloc(w, STEPPED, 800, NEVER);
    world_alloc(w, BURSTY, 300, NEVER);
    if (step % 50 == 10)
        world_alloc(w, BURSTY, 300000, step + 5);
    world_alloc(w, GROWS_TO_EXIT, 600, AT_EXIT);
    world_alloc(w, TURNOVER, 500, step + 200 + world_random(w, 100));
    if (step < 500)
        world_alloc(w, FILLED, 700, NEVER);
    else
        world_alloc(w, FILLED, 700, step + 1);
    for (int i = 0; step == 40 && i < 50; i++)
        world_alloc(w, ONCE, 400, NEVER);
    for (int i = 0; step == 20 && i < 50; i++)
        world_alloc(w, TO_EXIT, 300, AT_EXIT);
    if (step > 800 && step < 1500)
        world_alloc(w, PHASE, 5000, 1700);
    for (int i = 0; i < 3; i++)
        world_alloc(w, CHURN, 64 + world_random(w, 1000), step);
    if (step > 300 && step < 1500)
        world_alloc(w, ENDED, 150, NEVER);
    if (step > STEPS - STEPS / 11 && step % 2 == 0)
        world_alloc(w, LATE, 2000, NEVER);
}

static void live(struct world *w)
{
    for (uint64_t step = 0; step < STEPS; step++) {
        w->now_ns += MS / 2;
        world_free_until(w, step);
        w->now_ns += MS / 2;
        live_step(w, step);
        world_free_until(w, step);
    }
    w->now_ns += MS;
    world_free_until(w, AT_EXIT);
}

static void expect_verdicts(struct wake_reader *r, bool may_read)
{
    uint32_t stacks[COUNT];
    struct verdict found[COUNT];
    struct query q;
    for (uint32_t i = 0; i < COUNT; i++)
        stacks[i] = i;
    query_init(&q);
    assert_int_equal(site_trend_judge(found, &q, r, 0, stacks, COUNT, may_read, NULL), 0);
    for (uint32_t i = 1; i < COUNT; i++) {
        if (found[i].kind != expected[i])
            print_error("stack %u: %s, should be %s\n", i, verdict_name(found[i].kind),
                        verdict_name(expected[i]));
        assert_int_equal(found[i].kind, expected[i]);
    }
    double slope = found[STEADY].bytes_per_minute / (1000.0 * 60 * 1000);
    assert_true(slope > 0.95 && slope < 1.05);
    assert_true(found[GROWS_TO_EXIT].freed_at_exit && !found[STEADY].freed_at_exit);
    query_release(&q);
}

static void what_the_collector_kept_gives_the_verdicts(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, COUNT - 1, 0);
    live(&w);
    struct wake_reader *r = world_close(&w, true);
    expect_verdicts(r, false);
    assert_int_equal(expect_equal_levels(r, COUNT - 1), COUNT - 1);
    wake_reader_close(r);
}

static void without_it_the_events_give_the_same(void **state)
{
    struct world w;
    uint32_t stack = STEADY;
    struct verdict found;
    struct query q;
    (void)state;
    world_open(&w, COUNT - 1, 0);
    live(&w);
    struct wake_reader *r = world_close(&w, false);
    expect_verdicts(r, true);
    query_init(&q);
    assert_int_equal(site_trend_judge(&found, &q, r, 0, &stack, 1, false, NULL), 0);
    assert_int_equal(found.kind, VERDICT_NONE);
    query_release(&q);
    wake_reader_close(r);
}

/* ----------------------------------------------------------------------- chance */

enum { CHANCE_STACKS = 60, CHANCE_STEPS = 60000 };

/* Any events: busy times, idle times, many at one moment, hours without any. */
static void chance(struct world *w)
{
    for (uint64_t step = 0; step < CHANCE_STEPS; step++) {
        uint64_t dice = world_random(w, 1000);
        w->now_ns += dice < 500 ? 0 : dice < 990 ? world_random(w, 2000) : world_random(w, 1000000);
        if (dice == 7 && step % 50 == 0)
            w->now_ns += UINT64_C(3600000000000);
        uint32_t stack = (uint32_t)(1 + world_random(w, 1 + step * CHANCE_STACKS / CHANCE_STEPS));
        if (w->live.count > 0 && world_random(w, 100) < 47)
            world_free(w, world_random(w, w->live.count));
        else
            world_alloc(w, stack, world_random(w, 100) == 0 ? world_random(w, 1000000) : world_random(w, 300),
                        NEVER);
    }
    if (world_random(w, 2) == 0)
        world_free_until(w, NEVER);
}

static void any_events_give_the_same_levels(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct world w;
        world_open(&w, CHANCE_STACKS, seed % 3 == 0 ? 4096 : 0);
        w.seed += seed * 7919;
        chance(&w);
        struct wake_reader *r = world_close(&w, true);
        assert_int_equal(expect_equal_levels(r, CHANCE_STACKS), CHANCE_STACKS);
        wake_reader_close(r);
    }
}

/* A few blocks at the very beginning, and no time. */
static void short_lives_have_levels_too(void **state)
{
    (void)state;
    for (uint64_t blocks = 1; blocks < 4; blocks++) {
        struct world w;
        world_open(&w, 1, 0);
        for (uint64_t i = 0; i < blocks; i++)
            world_alloc(&w, 1, 100, NEVER);
        struct wake_reader *r = world_close(&w, true);
        assert_int_equal(expect_equal_levels(r, 1), 1);
        wake_reader_close(r);
    }
}

/* ------------------------------------------------------------------------- many */

enum { MANY = 2 * LEVEL_SAMPLER_ROWS_MAX, LARGE = 50 };

/* The least are dropped; what is there is exact, and what is not comes from the events. */
static void of_very_many_stacks_the_largest_stay(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, MANY, 0);
    for (uint64_t round = 0; round < 3; round++)
        for (uint32_t stack = 1; stack <= MANY; stack++) {
            w.now_ns += 1000;
            world_alloc(&w, stack, stack % (MANY / LARGE) == 1 ? 5000 + stack : 16 + stack % 7, NEVER);
        }
    struct wake_reader *r = world_close(&w, true);
    size_t kept = expect_equal_levels(r, MANY);
    assert_true(kept >= LARGE && kept <= LEVEL_SAMPLER_ROWS_MAX);
    uint32_t stacks[2] = {MANY / LARGE + 1, 0};
    struct verdict found[2];
    struct query q;
    query_init(&q);
    for (uint32_t i = 1; i <= MANY && stacks[1] == 0; i++) {
        assert_int_equal(site_trend_judge(found, &q, r, 0, &i, 1, false, NULL), 0);
        stacks[1] = found[0].kind == VERDICT_NONE ? i : 0;
    }
    assert_int_not_equal(stacks[1], 0);
    assert_int_equal(site_trend_judge(found, &q, r, 0, stacks, 2, false, NULL), 0);
    assert_int_not_equal(found[0].kind, VERDICT_NONE);
    assert_int_equal(found[1].kind, VERDICT_NONE);
    assert_int_equal(site_trend_judge(found, &q, r, 0, stacks, 2, true, NULL), 0);
    assert_int_not_equal(found[1].kind, VERDICT_NONE);
    query_release(&q);
    wake_reader_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_collector_kept_gives_the_verdicts),
        cmocka_unit_test(without_it_the_events_give_the_same),
        cmocka_unit_test(any_events_give_the_same_levels),
        cmocka_unit_test(short_lives_have_levels_too),
        cmocka_unit_test(of_very_many_stacks_the_largest_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
