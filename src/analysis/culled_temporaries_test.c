/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * culled_temporaries_test: which blocks are temporary where culling has taken blocks out.  Every way to an answer is asked, each with
 * and without a ledger: from the neighbours that are left nobody may conclude that a thread made nothing between.
 */
#include "engine/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/advice.h"
#include "engine/naive_ask.h"
#include "engine/twins.h"

enum { ROUNDS = 200, LONG_NS = 5000, THRESHOLD_NS = 1000, STACKS = 2 };

/* Each round a block that lives long, and meanwhile two that do not: the second of them is temporary as its thread frees
 * it before it makes another.  quick: whether there are such. */
static void make_recording(bool culls, bool quick, bool ends)
{
    struct wake_stack_totals totals[STACKS + 1] = {0};
    struct wake_process_end end = {.complete = true};
    struct wake_writer *w;
    uint64_t number = 0, now = 1000;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    if (culls)
        wake_writer_cull(w, &(struct wake_cull_options){.threshold_ns = THRESHOLD_NS, .pending = 1 << 10});
    wake_writer_add_process(w, &(struct wake_process_info){.pid = 7, .exe = "/bin/app"});
    for (uint64_t i = 1; i <= STACKS; i++)
        wake_writer_add_stack(w, 0, &(struct wake_frame){.address = i}, 1, 0, CUT_NOT);
    struct wake_stream *s = wake_writer_stream(w, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t kept = number++;
        wake_stream_alloc(s, now++, 1, KIND_MALLOC, 1, 0x10000, 100, 104, 0);
        for (unsigned i = 0; quick && i < 2; i++)
            wake_stream_alloc(s, now++, 1, KIND_MALLOC, 2, 0x1000 + 64 * i, 10, 24, 0);
        for (unsigned i = 0; quick && i < 2; i++)
            wake_stream_free(s, now++, 1, HOW_FREE, number++, 10);
        now += LONG_NS;
        wake_stream_free(s, now++, 1, HOW_FREE, kept, 100);
    }
    const uint64_t many = quick ? 2 * ROUNDS : 0;
    totals[1] = (struct wake_stack_totals){.allocations = ROUNDS,
                                           .allocated_bytes = 100 * ROUNDS,
                                           .freed = ROUNDS,
                                           .freed_bytes = 100 * ROUNDS,
                                           .temporary = quick ? 0 : ROUNDS,
                                           .temporary_bytes = quick ? 0 : 100 * ROUNDS};
    totals[2] = (struct wake_stack_totals){.allocations = many,
                                           .allocated_bytes = 10 * many,
                                           .freed = many,
                                           .freed_bytes = 10 * many,
                                           .temporary = many / 2,
                                           .temporary_bytes = 10 * many / 2};
    end.end_ns = now;
    end.allocations = end.frees = ROUNDS + many;
    end.allocated_bytes = 100 * ROUNDS + 10 * many;
    end.peak_bytes = quick ? 120 : 100;
    end.peak_blocks = quick ? 3 : 1;
    if (ends)
        wake_writer_end_process(w, 0, &end, totals, STACKS, NULL, 0);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
}

/* Conditions that all blocks meet, each answered in another way. */
static const char *const ways[][2] = {
    {"allocated-from", "1ns"},    {"size-min", "1"},         {"state", "freed"},      {"lifetime-min", "1ns"},
    {"freed-from", "1ns"},        {"chain-length-min", "1"}, {"slack-max", "1G"},     {"address-min", "0x1"},
    {"group-interval-max", "1h"}, {"kind", "malloc"},        {"temporary", "100000"},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The temporary blocks that the events tell of, of both stacks. */
static void ask_one_way(struct wake_reader *r, const struct query *q, uint64_t kept, uint64_t quick,
                        bool is_known)
{
    uint64_t seen[STACKS + 1] = {0};
    struct query_result result;
    struct err err;
    query_result_init(&result);
    assert_int_equal(query_run(q, r, &result, &err), 0);
    for (size_t i = 0; i < result.rows.count; i++)
        seen[result.rows.data[i].stack] += result.rows.data[i].m.temporary_blocks;
    if (q->temporary_allocations > 1 && is_known) /* so many that all are */
        assert_int_equal(seen[1] + seen[2], result.total.freed_blocks);
    else if (seen[1] != kept || seen[2] != quick)
        fail_msg("%s: temporary are %u and %u", asked, (unsigned)seen[1], (unsigned)seen[2]);
    assert_true(result.total.freed_blocks > 0);
    assert_int_equal(result.lacks_temporaries, !is_known);
    query_result_release(&result);
}

static void ask_all_ways(uint64_t kept, uint64_t quick, bool is_known)
{
    static const char *const splits[] = {"none", "thread", "kind"};
    struct twins t;
    open_twins(&t, NULL);
    for (unsigned i = 0; i < WAYS * 12; i++) {
        struct query q;
        query_init(&q);
        asked[0] = '\0';
        ask(&q, ways[i / 12][0], "%s", ways[i / 12][1]);
        ask(&q, "split", "%s", splits[i % 3]);
        if (i % 6 >= 3)
            ask(&q, "from", "1ns");
        q.sums_only = i % 12 >= 6;
        ask_one_way(t.alone, &q, kept, quick, is_known);
        ask_one_way(t.attached, &q, kept, quick, is_known);
        query_release(&q);
    }
    close_twins(&t);
}

static uint64_t count_advised(struct wake_reader *r)
{
    struct advices a;
    struct query q;
    struct err err;
    uint64_t temporaries = 0;
    query_init(&q);
    advices_init(&a);
    assert_int_equal(advices_read(&a, &q, r, 0, 0, &err), 0);
    for (size_t i = 0; i < a.rows.count; i++)
        temporaries += a.rows.data[i].temporaries;
    advices_release(&a);
    query_release(&q);
    return temporaries;
}

/* How many blocks are temporary by this.  err: empty, or why that is not known. */
static uint64_t count_temporary(struct wake_reader *r, const char *temporary, struct err *err)
{
    struct query_result result;
    struct query q;
    *err = (struct err){0};
    query_init(&q);
    query_result_init(&result);
    ask(&q, "state", "temporary");
    ask(&q, "temporary", "%s", temporary);
    int code = query_run(&q, r, &result, err);
    assert_int_equal(code, err->text[0] == '\0' ? 0 : ERR_ABSENT);
    uint64_t blocks = result.total.allocated_blocks;
    query_result_release(&result);
    query_release(&q);
    return blocks;
}

static void culled_neighbours_make_nothing_temporary(void **state)
{
    (void)state;
    struct wake_reader *r;
    struct query_result whole;
    struct query q;
    struct err err;
    make_recording(true, true, true);
    ask_all_ways(0, 0, false);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(wake_reader_process(r, 0)->omitted.culled_blocks, 2 * ROUNDS);
    assert_false(wake_process_knows_order(wake_reader_process(r, 0)));
    assert_int_equal(count_advised(r), 0);
    asked[0] = '\0';
    assert_int_equal(count_temporary(r, "1", &err), 0);
    assert_non_null(strstr(err.text, "process 7 were temporary is not known, as blocks of it were culled."));
    assert_int_equal(count_temporary(r, "3", &err), 0);
    assert_non_null(strstr(err.text, "culled"));
    assert_int_equal(count_temporary(r, "1s", &err), ROUNDS);
    /* Totals were counted when all was there. */
    query_init(&q);
    query_result_init(&whole);
    assert_int_equal(query_run(&q, r, &whole, &err), 0);
    assert_int_equal(whole.total.temporary_blocks, ROUNDS);
    assert_false(whole.lacks_temporaries);
    query_result_release(&whole);
    query_release(&q);
    wake_reader_close(r);
}

static void where_none_was_culled_order_is_known(void **state)
{
    (void)state;
    struct wake_reader *r;
    struct err err;
    for (unsigned culls = 0; culls < 2; culls++) {
        make_recording(culls, !culls, true);
        ask_all_ways(culls ? ROUNDS : 0, culls ? 0 : ROUNDS, true);
        assert_int_equal(wake_reader_open(&r, path, &err), 0);
        assert_true(wake_process_knows_order(wake_reader_process(r, 0)));
        assert_int_equal(count_advised(r), ROUNDS);
        asked[0] = '\0';
        assert_int_equal(count_temporary(r, "1", &err), ROUNDS);
        wake_reader_close(r);
    }
}

/* How many were culled is written last. */
static void without_its_end_a_culled_recording_knows_nothing_of_it(void **state)
{
    (void)state;
    struct wake_reader *r;
    struct query_result whole;
    struct query q;
    struct err err;
    make_recording(true, true, false);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(wake_reader_process(r, 0)->omitted.culled_blocks, 0);
    assert_false(wake_process_knows_order(wake_reader_process(r, 0)));
    query_init(&q);
    query_result_init(&whole);
    assert_int_equal(query_run(&q, r, &whole, &err), 0);
    assert_int_equal(whole.total.temporary_blocks, 0);
    assert_true(whole.total.freed_blocks > 0 && whole.lacks_temporaries);
    query_result_release(&whole);
    query_release(&q);
    wake_reader_close(r);
    ask_all_ways(0, 0, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(culled_neighbours_make_nothing_temporary, setup, teardown),
        cmocka_unit_test_setup_teardown(where_none_was_culled_order_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(without_its_end_a_culled_recording_knows_nothing_of_it, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
