/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ledger_test: what a ledger answers is what readings of the events answer (memo_test compares both with definitions).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "query/memo.h"
#include "query/naive_ask.h"
#include "query/parse.h"
#include "query/twins.h"

/* Of more events than are looked at together. */
static void long_recordings_give_the_same(void **state)
{
    (void)state;
    unsigned questions = 0, without_events = 0;
    for (uint64_t seed = 500; seed < 504; seed++) {
        struct naive n;
        struct twins t;
        naive_chunk_steps = 500;
        naive_make(&n, path, seed, 1 + (unsigned)(seed % 2), 9000, true);
        open_twins(&t, NULL);
        for (unsigned i = 0; i < 100; i++) {
            struct query q;
            query_init(&q);
            ask_anything(&n, &q);
            ask_twins(&t, &q);
            questions++;
            without_events += t.ours.events == 0 && t.right.events > 0;
            query_release(&q);
        }
        close_twins(&t);
        naive_release(&n);
    }
    assert_true(without_events > questions / 4);
}

/* Totals know of what was left out of the events on purpose, a ledger does not: what they decide stays so. */
static void groups_of_culled_recordings_are_whole(void **state)
{
    (void)state;
    enum { KEPT = 5, CULLED = 95 };
    static const char *const questions[][2] = {{"group-allocations-min", "50"},
                                               {"group-leaked-min", "50%"},
                                               {"state", "group-leaked"},
                                               {"depth-min", "1"}};
    struct wake_live_block live[KEPT];
    struct wake_writer *w;
    struct twins t;
    uint64_t number = 0, time_ns = 1000;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    wake_writer_cull(w, &(struct wake_cull_options){.threshold_ns = 1000, .pending = 1 << 10});
    wake_writer_add_process(w, &(struct wake_process_info){.pid = 1, .exe = "/bin/app"});
    wake_writer_add_stack(w, 0, &(struct wake_frame){.address = 1}, 1, 0, CUT_NOT);
    struct wake_stream *s = wake_writer_stream(w, 0);
    for (; number < KEPT + CULLED; number++) {
        uint64_t address = 0x1000 + number * 16;
        wake_stream_alloc(s, time_ns++, 1, KIND_MALLOC, 1, address, 10, 24, 0);
        if (number < KEPT)
            live[number] = (struct wake_live_block){number, address, 10, 1};
        else
            wake_stream_free(s, time_ns++, 1, HOW_FREE, number, 10);
    }
    const struct wake_process_end end = {.end_ns = time_ns + 5000,
                                         .complete = true,
                                         .allocations = KEPT + CULLED,
                                         .frees = CULLED,
                                         .allocated_bytes = 10 * (KEPT + CULLED),
                                         .leaked_blocks = KEPT,
                                         .leaked_bytes = 10 * KEPT,
                                         .peak_bytes = 60,
                                         .peak_blocks = 6};
    const struct wake_stack_totals totals[] = {{0},
                                               {.allocations = KEPT + CULLED,
                                                .allocated_bytes = 10 * (KEPT + CULLED),
                                                .freed = CULLED,
                                                .freed_bytes = 10 * CULLED}};
    wake_writer_end_process(w, 0, &end, totals, 1, live, KEPT);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    open_twins(&t, NULL);
    for (unsigned i = 0; i < 16; i++) {
        struct query q;
        query_init(&q);
        asked[0] = '\0';
        ask(&q, questions[i % 4][0], "%s", questions[i % 4][1]);
        if (i % 3 != 0)
            ask(&q, "size-min", "%u", 5 + i % 2);
        ask_twins(&t, &q);
        assert_int_equal(t.ours.total.allocated_blocks > 0, i % 4 == 0 || i % 4 == 3);
        query_release(&q);
    }
    close_twins(&t);
}

/* Usable sizes below sizes, as a foreign format may have them, and more marks than classes can tell apart. */
static void what_a_ledger_does_not_know_is_read(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct twins t;
    struct wake_stream *s = begin_recording(&w);
    for (uint64_t i = 0; i < 1200; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "mark%u", (unsigned)i / 3);
        wake_stream_mark(s, 1000 + i, 1, name, (size_t)length);
        wake_stream_alloc(s, 1000 + i, 1, KIND_MALLOC, 0, 0x1000 + i * 16, 100, i % 2 == 0 ? 0 : 104, 0);
        if (i >= 2)
            wake_stream_free(s, 1000 + i, 1, HOW_FREE, i - 2, 100);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    open_twins(&t, NULL);
    static const struct {
        const char *key, *value;
        bool is_known;
        uint64_t blocks;
    } questions[] = {{"size-max", "99", false, 0}, /* makes it */
                     {"usable-max", "50", false, 600},
                     {"mark", "mark300", false, 3},
                     {"state", "freed", true, 1198},
                     {"size-max", "98", true, 0}};
    for (unsigned i = 0; i < 5; i++) {
        struct query q;
        query_init(&q);
        asked[0] = '\0';
        ask(&q, questions[i].key, "%s", questions[i].value);
        ask_twins(&t, &q);
        assert_int_equal(t.ours.total.allocated_blocks, questions[i].blocks);
        assert_int_equal(t.ours.events == 0, questions[i].is_known);
        query_release(&q);
    }
    close_twins(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(long_recordings_give_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_of_culled_recordings_are_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_ledger_does_not_know_is_read, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
