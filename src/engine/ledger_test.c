/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ledger_test: what a ledger answers is what readings of the events answer (second_questions_test compares both with definitions).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/ledger.h"
#include "engine/naive_ask.h"
#include "engine/parse.h"
#include "engine/twins.h"

/* Of more events than are looked at together, also in parts. */
static void long_recordings_give_the_same(void **state)
{
    (void)state;
    unsigned questions = 0, without_events = 0;
    for (uint64_t seed = 500; seed < 504; seed++) {
        struct naive n;
        struct twins t;
        naive_chunk_steps = 500;
        naive_make(&n, path, seed, 1 + (unsigned)(seed % 2), 9000, true);
        open_twins(&t, &(struct ledger_limits){.part_count = seed / 2 % 2 * 3, .part_entries = 2500});
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
    } questions[] = {{"size-max", "99", true, 0},
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

/* A question with one more condition to both, and whether the ledger has answered. */
static bool ask_ledger(struct twins *t, const char *key, const char *value)
{
    struct query q;
    query_init(&q);
    asked[0] = '\0';
    ask(&q, key, "%s", value);
    ask(&q, "detail", "yes");
    ask_twins(t, &q);
    query_release(&q);
    return t->ours.events == 0;
}

/* More than caches hold: what releases will look at is asked for ahead. */
static void many_live_blocks_are_told_as_they_are(void **state)
{
    (void)state;
    enum { LIVE = 20000, PAIRS = 9000 };
    struct wake_writer *w;
    struct twins t;
    struct wake_stream *s = begin_recording(&w);
    for (uint64_t i = 0; i < LIVE; i++)
        wake_stream_alloc(s, 1000 + i, 1, KIND_MALLOC, 0, 0x1000 + i * 16, 10 + i % 7, 24, 0);
    for (uint64_t i = 0; i < PAIRS; i++) {
        wake_stream_free(s, 1000 + LIVE + i, 1, HOW_FREE, i, 10 + i % 7);
        if (i % 3 != 0)
            wake_stream_alloc(s, 1000 + LIVE + i, 1, KIND_MALLOC, 0, 0x1000 + i * 16, 10, 24, 0);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    open_twins(&t, NULL);
    assert_true(ask_ledger(&t, "size-min", "13"));
    assert_true(ask_ledger(&t, "lifetime-max", "20us"));
    close_twins(&t);
}

/* Blocks at the ends of many regions, highest first, or as `stray` has the last one. */
static void make_far_apart(uint64_t regions, uint64_t stray)
{
    struct wake_writer *w;
    struct wake_stream *s = begin_recording(&w);
    for (uint64_t i = 0; i < 2 * regions; i++) {
        uint64_t region = 0x7f0000000000 - (i / 2 << 30), address = region + (i % 2 == 0 ? 0 : (1 << 27) - 8);
        wake_stream_alloc(s, 1000 + i, 1, KIND_MALLOC, 0, i + 1 == 2 * regions ? stray : address, 10 + i,
                          10 + i, 0);
        if (i >= 3)
            wake_stream_free(s, 1000 + i, 1, HOW_FREE, i - 3, 10 + i - 3);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
}

static void addresses_are_ordered_whenever_they_are_met(void **state)
{
    (void)state;
    struct twins t;
    char value[32];
    make_far_apart(256, 0x7f0000000000 - (UINT64_C(255) << 30));
    open_twins(&t, NULL);
    assert_true(ask_ledger(&t, "address-min", "7f0000000000"));
    assert_int_equal(t.ours.total.allocated_blocks, 2);
    for (uint64_t i = 0; i < 256; i++) { /* around the lower and the upper end of a region, and between two */
        static const uint64_t offsets[] = {0, (1 << 27) - 8, 1 << 29};
        uint64_t address = 0x7f0000000000 - (i << 30) + offsets[i % 3] + i / 3 % 3 - 1;
        snprintf(value, sizeof value, "%llx", (unsigned long long)address);
        assert_true(ask_ledger(&t, i % 2 == 0 ? "address-min" : "address-max", value));
    }
    assert_true(ask_ledger(&t, "size-min", "12"));
    close_twins(&t);
}

/* More regions than codes can tell, and addresses that no malloc gives. */
static void addresses_that_have_no_code_are_read(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct twins t;
        make_far_apart(i == 0 ? 257 : 3, i == 0 ? 0x1000 : 0x1004);
        open_twins(&t, NULL);
        assert_false(ask_ledger(&t, "address-max", "2000"));
        assert_int_equal(t.ours.total.allocated_blocks, 1);
        uint64_t events = t.right.events;
        assert_false(ask_ledger(&t, "address-max", "1004"));
        assert_int_equal(t.ours.events, events);
        assert_true(ask_ledger(&t, "size-min", "11"));
        assert_true(ask_ledger(&t, "chain-length-min", "1"));
        assert_false(ask_ledger(&t, "address-min", "1004"));
        assert_int_equal(t.ours.events, events);
        close_twins(&t);
    }
}

/* Blocks that grow by realloc, some beyond what an entry has room for; some are freed, some never, and of some the
 * last realloc has no block behind it. */
static void make_chains(unsigned chains)
{
    struct wake_writer *w;
    struct wake_stream *s = begin_recording(&w);
    uint64_t number = 0, time_ns = 1000;
    for (uint64_t i = 0; i < chains; i++) {
        uint64_t size = i % 7 == 6 ? (3 + (i + 1) % 3) << 30 : 10 + i;
        wake_stream_alloc(s, time_ns++, 1, KIND_MALLOC, 0, 0x1000, size, size, 0);
        for (uint64_t link = 1; link <= i % 5; link++) {
            wake_stream_free(s, time_ns, 1, HOW_REALLOC, number++, size);
            size = size * 3 / 2;
            wake_stream_alloc(s, time_ns++, 1, KIND_REALLOC, 0, 0x1000, size, size, number);
        }
        if (i % 3 != 0)
            wake_stream_free(s, time_ns += i, 1, i % 3 == 1 ? HOW_FREE : HOW_REALLOC, number, size);
        number++;
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
}

static void chains_are_known_by_all_their_links(void **state)
{
    (void)state;
    static const char *const questions[][2] = {
        {"chain-length-min", "2"},         {"chain-length-max", "1"},       {"chain-position-min", "2"},
        {"chain-position-max", "1"},       {"chain-first-size-min", "3G"},  {"chain-first-size-max", "500"},
        {"chain-first-size-max", "4500M"}, {"chain-last-size-min", "4G"},   {"chain-last-size-max", "1K"},
        {"chain-lifetime-min", "100ns"},   {"chain-lifetime-max", "100ns"}, {"state", "chain-leaked"}};
    struct twins t;
    make_chains(3000);
    open_twins(&t, NULL);
    for (unsigned i = 0; i < sizeof questions / sizeof *questions; i++) {
        assert_true(ask_ledger(&t, questions[i][0], questions[i][1]));
        assert_in_range(t.ours.total.allocated_blocks, 1, 8999);
    }
    close_twins(&t);
    open_twins(&t, &(struct ledger_limits){.part_count = 5, .part_entries = 100});
    for (unsigned i = 0; i < sizeof questions / sizeof *questions; i++)
        assert_true(ask_ledger(&t, questions[i][0], questions[i][1]));
    close_twins(&t);
    /* Where there is no room for their links they are read. */
    open_twins(&t, &(struct ledger_limits){.entry_bytes = 18000 * 32});
    assert_false(ask_ledger(&t, questions[0][0], questions[0][1]));
    assert_false(ask_ledger(&t, questions[1][0], questions[1][1]));
    assert_true(ask_ledger(&t, "size-min", "100"));
    close_twins(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(long_recordings_give_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_of_culled_recordings_are_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_ledger_does_not_know_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(many_live_blocks_are_told_as_they_are, setup, teardown),
        cmocka_unit_test_setup_teardown(addresses_are_ordered_whenever_they_are_met, setup, teardown),
        cmocka_unit_test_setup_teardown(addresses_that_have_no_code_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(chains_are_known_by_all_their_links, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
