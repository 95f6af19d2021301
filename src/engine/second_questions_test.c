/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * second_questions_test: many questions to the same open recording, in random order, so that later ones are answered
 * from what earlier ones have left.  Each is compared in every number with the answer by definition.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/ledger.h"
#include "engine/naive_ask.h"
#include "engine/naive_check.h"
#include "engine/parse.h"
#include "engine/twins.h"

/* What a question may have without a condition on single blocks. */
static void ask_about_stacks(struct naive *n, struct query *q)
{
    static const char *const keys[] = {"function",   "not-function", "source",
                                       "not-source", "module",       "not-module"};
    asked[0] = '\0';
    if (naive_below(n, 2) == 0)
        ask(q, "from", "%s", random_time(n));
    if (naive_below(n, 2) == 0)
        ask(q, "to", "%s", random_time(n));
    if (naive_below(n, 3) == 0)
        ask(q, "at", "%s", random_time(n));
    if (naive_below(n, 3) == 0)
        ask(q, "ticks", "%u", 1 + (unsigned)naive_below(n, 40));
    if (naive_below(n, 3) == 0)
        ask(q, "detail", "yes");
    for (uint64_t i = naive_below(n, 3); i > 0; i--) {
        if (naive_below(n, 4) == 0)
            ask(q, "stack", "%u,%u,%u", (unsigned)naive_below(n, NAIVE_STACKS),
                (unsigned)naive_below(n, NAIVE_STACKS), (unsigned)naive_below(n, NAIVE_STACKS));
        else if (naive_below(n, 4) == 0)
            ask_range(n, q, "depth", "", 0, 4);
        else if (naive_below(n, 4) == 0)
            ask_range(n, q, "group-allocations", "", 0, 30);
        else
            ask(q, keys[naive_below(n, 6)], "%s", naive_patterns[naive_below(n, 7)]);
    }
    if (naive_below(n, 5) == 0)
        ask(q, "state", "leaked");
    q->find_place = naive_place;
}

/* How answers came about. */
struct seen {
    unsigned questions, without_events, with_few, with_all;
};

static void count_answer(struct seen *seen, const struct wake_reader *reader, const struct query_result *r)
{
    seen->questions++;
    if (r->from_totals)
        return;
    if (r->events == 0)
        seen->without_events++;
    else if (r->events < wake_reader_summary(reader)->events)
        seen->with_few++;
    else
        seen->with_all++;
}

/* What most questions are about. */
enum about { STACKS, BLOCKS };

static void ask_one(struct naive *n, enum about about, struct wake_reader *reader,
                    struct query_result *result, struct seen *seen)
{
    struct query q;
    struct err err;
    query_init(&q);
    if ((naive_below(n, 5) == 0) == (about == STACKS))
        ask_anything(n, &q);
    else
        ask_about_stacks(n, &q);
    q.sums_only = naive_below(n, 3) == 0;
    int code = query_run(&q, reader, result, &err);
    if (code == 0) {
        check_answer(n, &q, result);
        count_answer(seen, reader, result);
    } else if (code != ERR_ABSENT && code != ERR_USAGE) {
        fail_msg("%s (asked:%s)", err.text, asked);
    }
    query_release(&q);
}

static struct seen ask_often(uint64_t seed, size_t steps, enum about about,
                             const struct ledger_limits *limits, unsigned questions)
{
    struct naive n;
    struct wake_reader *reader;
    struct query_result result;
    struct seen seen = {0};
    struct err err;
    naive_chunk_steps = 1 + (unsigned)(seed % 12);
    naive_make(&n, path, seed, 1 + (unsigned)(seed % 2), steps, seed % 4 != 0);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    assert_int_equal(ledger_attach(reader, limits, &err), 0);
    if (seed % 3 != 0) /* otherwise it grows while questions are asked */
        ledger_wait(ledger_of(reader));
    query_result_init(&result);
    for (unsigned i = 0; i < questions; i++)
        ask_one(&n, about, reader, &result, &seen);
    query_result_release(&result);
    wake_reader_close(reader);
    naive_release(&n);
    return seen;
}

static void later_questions_are_answered_to_the_byte(void **state)
{
    (void)state;
    struct seen all = {0};
    for (uint64_t seed = 1; seed <= 36; seed++) {
        struct seen seen = ask_often(seed, 40 + seed % 5 * 30, STACKS, NULL, 80);
        all.questions += seen.questions;
        all.without_events += seen.without_events;
    }
    /* Some are about what a ledger does not know, or totals have the answer. */
    assert_true(all.questions > 1800);
    assert_true(all.without_events > all.questions / 2);
}

static void questions_about_blocks_need_no_events(void **state)
{
    (void)state;
    struct seen all = {0};
    for (uint64_t seed = 400; seed < 440; seed++) {
        struct seen seen = ask_often(seed, 40 + seed % 7 * 40, BLOCKS, NULL, 80);
        all.questions += seen.questions;
        all.without_events += seen.without_events;
    }
    /* Of samples, mappings, lists and the like a ledger knows nothing. */
    assert_true(all.questions > 1800);
    assert_true(all.without_events > all.questions * 3 / 5);
}

/* By several threads, each of which has a few entries. */
static void parts_that_are_counted_at_once_give_the_same(void **state)
{
    (void)state;
    struct seen all = {0};
    for (uint64_t seed = 600; seed < 640; seed++) {
        const struct ledger_limits limits = {.part_count = 2 + seed % 5, .part_entries = 1 + seed % 31};
        struct seen seen = ask_often(seed, 60 + seed % 7 * 40, BLOCKS, &limits, 80);
        all.questions += seen.questions;
        all.without_events += seen.without_events;
    }
    assert_true(all.questions > 1800);
    assert_true(all.without_events > all.questions * 3 / 5);
}

/* From checkpoints alone, of which there are as many as chunks, or as memory has room for. */
static void scans_that_start_at_a_border_give_the_same(void **state)
{
    (void)state;
    struct seen all = {0};
    for (uint64_t seed = 100; seed < 140; seed++) {
        const struct ledger_limits limits = {.entry_bytes = 1,
                                             .events_apart = 1 + seed % 7 * 10,
                                             .checkpoint_bytes = seed % 4 == 0 ? 1000 * (1 + seed % 16) : 0};
        struct seen seen = ask_often(seed, 60 + seed % 4 * 40, seed % 2 == 0 ? STACKS : BLOCKS, &limits, 60);
        all.questions += seen.questions;
        all.with_few += seen.with_few;
        all.with_all += seen.with_all;
        all.without_events += seen.without_events;
    }
    assert_true(all.questions > 1000);
    assert_true(all.with_few > all.questions / 8 && all.with_all > all.questions / 8);
}

/* Entries of the first events: windows that end there need no others. */
static void entries_that_end_early_are_used_as_far_as_they_go(void **state)
{
    (void)state;
    struct seen all = {0};
    for (uint64_t seed = 700; seed < 740; seed++) {
        const struct ledger_limits limits = {.entry_bytes = 2000 + seed % 5 * 1000, .events_apart = 20};
        struct seen seen = ask_often(seed, 100, STACKS, &limits, 60);
        all.questions += seen.questions;
        all.without_events += seen.without_events;
        all.with_few += seen.with_few;
    }
    assert_true(all.without_events > all.questions / 50 && all.with_few > all.questions / 20);
}

static void without_memory_for_a_ledger_events_are_read(void **state)
{
    (void)state;
    struct seen all = {0};
    for (uint64_t seed = 400; seed < 408; seed++) { /* for entries and then for their times */
        const struct ledger_limits limits = {.entry_bytes = 1 + seed % 4 * 1500, .events_apart = 1 << 30};
        struct seen seen = ask_often(seed, 200, BLOCKS, &limits, 60);
        all.questions += seen.questions;
        all.with_all += seen.with_all;
    }
    assert_true(all.with_all > all.questions / 2);
}

static void damage(uint64_t seed)
{
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    for (unsigned i = 0; i < 3; i++) {
        fseek(f, (long)(64 + (seed * 7919 + i * 104729) % (uint64_t)(size - 64)), SEEK_SET);
        fputc((int)(seed * 31 + i) & 0xff, f);
    }
    fclose(f);
    if (seed % 3 == 0)
        assert_int_equal(truncate(path, size - (long)(seed * 37 % (uint64_t)(size / 2))), 0);
}

static void damaged_and_cut_recordings_give_the_same(void **state)
{
    (void)state;
    unsigned opened = 0, remembered = 0;
    for (uint64_t seed = 300; seed < 340; seed++) {
        struct naive n;
        struct twins t;
        struct wake_reader *reader;
        struct err err;
        naive_chunk_steps = 5;
        naive_make(&n, path, seed, 1, 150, true);
        damage(seed);
        if (wake_reader_open(&reader, path, &err) == 0) {
            opened++;
            wake_reader_close(reader);
            open_twins(&t, NULL);
            for (unsigned i = 0; i < 30; i++) {
                struct query q;
                query_init(&q);
                if (i % 2 == 0)
                    ask_about_stacks(&n, &q);
                else
                    ask_anything(&n, &q);
                ask_twins(&t, &q);
                remembered += t.ours.events < t.right.events;
                query_release(&q);
            }
            close_twins(&t);
        }
        naive_release(&n);
    }
    /* Of those that are only cut, or damaged elsewhere, ledgers are made. */
    assert_true(opened > 20 && remembered > 20);
}

/* Blocks of 4 GiB and more. */
static void huge_blocks_are_counted(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct twins t;
    struct wake_stream *s = begin_recording(&w);
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t size = (UINT64_C(1) << (20 + i % 16)) - i % 3;
        wake_stream_alloc(s, 1000 + i / 3, 1, KIND_MALLOC, 0, 0x1000 + i * 16, size, size, 0);
        if (i % 7 == 6)
            wake_writer_flush(w);
        if (i >= 10)
            wake_stream_free(s, 1000 + i / 3, 1, HOW_FREE, i - 10,
                             (UINT64_C(1) << (20 + (i - 10) % 16)) - (i - 10) % 3);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    open_twins(&t, NULL);
    for (uint64_t i = 0; i < 40; i++) {
        struct query q;
        query_init(&q);
        asked[0] = '\0';
        ask(&q, "from", "%lluns", (unsigned long long)(1000 + i));
        ask(&q, "to", "%lluns", (unsigned long long)(1050 + 2 * i));
        if (i % 2 == 1)
            ask(&q, "ticks", "%u", 1 + (unsigned)i);
        ask(&q, "detail", "yes");
        ask_twins(&t, &q);
        assert_true(t.ours.total.peak_bytes > UINT64_C(1) << 32);
        ask(&q, "size-min", "%lluk", 1ULL << (10 + i % 20));
        ask_twins(&t, &q);
        assert_int_equal(t.ours.events, 0);
        query_release(&q);
    }
    close_twins(&t);
}

/* The same few bytes again and again. */
static void of_equal_peaks_the_first_counts(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct twins t;
    struct wake_stream *s = begin_recording(&w);
    for (unsigned i = 1; i <= 3; i++) {
        const struct wake_frame frame = {.address = i};
        wake_writer_add_stack(w, 0, &frame, 1, 0, CUT_NOT);
    }
    for (uint64_t i = 0; i < 600; i++) {
        wake_stream_alloc(s, 1000 + i, 1, KIND_MALLOC, 1 + i % 3, 0x1000 + i * 16, 10, 24, 0);
        if (i >= 2)
            wake_stream_free(s, 1000 + i, 1, HOW_FREE, i - 2, 10);
        if (i % 20 == 19)
            wake_writer_flush(w);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    open_twins(&t, NULL);
    for (uint64_t i = 0; i < 60; i++) {
        struct query q;
        query_init(&q);
        asked[0] = '\0';
        ask(&q, "stack", i % 3 == 0 ? "1" : i % 3 == 1 ? "1,2" : "2,3");
        ask(&q, "from", "%lluns", (unsigned long long)(1000 + 3 * i));
        ask(&q, "to", "%lluns", (unsigned long long)(1300 + 5 * i));
        ask(&q, "at", "%lluns", (unsigned long long)(1200 + 7 * i));
        if (i % 4 != 3)
            ask(&q, "ticks", "%u", 1 + (unsigned)i);
        ask_twins(&t, &q);
        assert_true(i == 0 || t.ours.events < t.right.events);
        query_release(&q);
    }
    close_twins(&t);
}

/* A ledger never takes most of the machine's memory. */
static void room_goes_by_the_machine(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct err err;
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(ledger_attach(r, NULL, &err), 0);
    assert_in_range(ledger_of(r)->limits.entry_bytes, 1, memory / 8);
    assert_in_range(ledger_of(r)->limits.checkpoint_bytes, 1, memory / 64);
    if (memory >= UINT64_C(16) << 30)
        assert_in_range(ledger_of(r)->limits.entry_bytes / ENTRIES_ENTRY_BYTES, 64000000, 80000000);
    assert_int_equal(ledger_attach(r, &(struct ledger_limits){.entry_bytes = 7}, &err), 0);
    assert_int_equal(ledger_of(r)->limits.entry_bytes, 7);
    wake_reader_close(r);
}

static volatile sig_atomic_t stop;

static void stop_soon(void *context, uint64_t done, uint64_t total)
{
    (void)total;
    stop = done >= *(uint64_t *)context;
}

/* Interrupts are of questions: a ledger is made all the same. */
static void an_interrupted_question_leaves_the_ledger_alone(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct twins t;
    struct query q;
    struct err err;
    uint64_t limit = 1 << 20, allocations = 1 << 20;
    struct wake_stream *s = begin_recording(&w);
    for (uint64_t i = 0; i < allocations; i++) {
        wake_stream_alloc(s, 1000 + i, 1, KIND_MALLOC, 0, 0x1000, 8 + i % 100, 24, 0);
        if (i >= 100)
            wake_stream_free(s, 1000 + i, 1, HOW_FREE, i - 100, 8 + (i - 100) % 100);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    open_growing_twins(&t, &(struct ledger_limits){.entry_bytes = 1}, true);
    query_init(&q);
    asked[0] = '\0';
    ask(&q, "size-min", "50");
    q.progress = stop_soon;
    q.progress_context = &limit;
    q.interrupt = &stop;
    stop = 0;
    assert_int_equal(query_run(&q, t.attached, &t.ours, &err), 0);
    assert_true(t.ours.interrupted);
    q.interrupt = NULL;
    ask(&q, "from", "600us");
    ask_twins(&t, &q);
    ledger_wait(ledger_of(t.attached));
    ask_twins(&t, &q);
    assert_true(!t.ours.interrupted && t.ours.total.allocated_blocks > 1000);
    assert_true(t.ours.events > 0 && t.ours.events < t.right.events / 2);
    close_twins(&t);
    open_twins(&t, NULL);
    ask_twins(&t, &q);
    assert_int_equal(t.ours.events, 0);
    query_release(&q);
    close_twins(&t);
}

enum { ASKERS = 4, ASKED = 40 };

/* Questions with their answers, and the reader that is asked by all. */
struct asker {
    struct wake_reader *reader;
    struct query *queries;
    const struct query_result *right;
    const int *codes;
    size_t first;
    unsigned wrong;
};

static void *ask_all(void *context)
{
    struct asker *a = context;
    struct query_result ours;
    query_result_init(&ours);
    for (size_t k = 0; k < ASKED; k++) {
        struct err err;
        size_t i = (a->first + k) % ASKED;
        int code = query_run(&a->queries[i], a->reader, &ours, &err);
        bool is_right = code == a->codes[i] &&
                        (code != 0 || (ours.rows.count == a->right[i].rows.count &&
                                       memcmp(&ours.total, &a->right[i].total, sizeof ours.total) == 0 &&
                                       ours.peak_time_ns == a->right[i].peak_time_ns));
        a->wrong += !is_right;
    }
    query_result_release(&ours);
    return NULL;
}

/* Several at once, of one reader, while its ledger grows. */
static void any_thread_may_ask(void **state)
{
    (void)state;
    for (uint64_t seed = 900; seed < 906; seed++) {
        struct naive n;
        struct twins t;
        struct query queries[ASKED];
        struct query_result right[ASKED];
        struct asker askers[ASKERS];
        pthread_t threads[ASKERS];
        int codes[ASKED];
        struct err err;
        naive_chunk_steps = 50;
        naive_make(&n, path, seed, 1, 3000, true);
        open_growing_twins(&t, &(struct ledger_limits){.events_apart = 100}, true);
        for (size_t i = 0; i < ASKED; i++) {
            query_init(&queries[i]);
            query_result_init(&right[i]);
            ask_anything(&n, &queries[i]);
            codes[i] = query_run(&queries[i], t.alone, &right[i], &err);
        }
        for (size_t k = 0; k < ASKERS; k++) {
            askers[k] = (struct asker){t.attached, queries, right, codes, k * ASKED / ASKERS, 0};
            assert_int_equal(pthread_create(&threads[k], NULL, ask_all, &askers[k]), 0);
        }
        for (size_t k = 0; k < ASKERS; k++) {
            assert_int_equal(pthread_join(threads[k], NULL), 0);
            assert_int_equal(askers[k].wrong, 0);
        }
        for (size_t i = 0; i < ASKED; i++) {
            query_release(&queries[i]);
            query_result_release(&right[i]);
        }
        close_twins(&t);
        naive_release(&n);
    }
}

/* A reader is closed while its ledger grows. */
static void a_ledger_that_nobody_needs_ends(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct err err;
    struct wake_stream *s = begin_recording(&w);
    for (uint64_t i = 0; i < 2000000; i++)
        wake_stream_alloc(s, 1000 + i, 1, KIND_MALLOC, 0, 0x1000, 8, 24, 0);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(ledger_attach(r, NULL, &err), 0);
    wake_reader_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(later_questions_are_answered_to_the_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(questions_about_blocks_need_no_events, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_that_are_counted_at_once_give_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(scans_that_start_at_a_border_give_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(entries_that_end_early_are_used_as_far_as_they_go, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_for_a_ledger_events_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_and_cut_recordings_give_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(huge_blocks_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(of_equal_peaks_the_first_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(room_goes_by_the_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupted_question_leaves_the_ledger_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(any_thread_may_ask, setup, teardown),
        cmocka_unit_test_setup_teardown(a_ledger_that_nobody_needs_ends, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
