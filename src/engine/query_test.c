/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * query_test: thousands of random queries on random recordings, each compared
 * in every number with the answer by definition (naive_answer.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/naive_ask.h"
#include "engine/naive_check.h"
#include "engine/parse.h"
#include "store/recording.h"

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/query_test.%d.wake", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* ----------------------------------------------------------------------- tests */

/* Asks `queries` things about a recording.  How many had an answer. */
static unsigned ask_many(uint64_t seed, unsigned processes, size_t steps, bool ended, unsigned queries)
{
    struct naive n;
    struct wake_reader *reader;
    struct query_result result;
    struct err err;
    unsigned answered = 0;
    naive_make(&n, path, seed, processes, steps, ended);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    reader->threads = (unsigned)(seed % 5);
    query_result_init(&result);
    for (unsigned i = 0; i < queries; i++) {
        struct query q;
        query_init(&q);
        ask_anything(&n, &q);
        int code = query_run(&q, reader, &result, &err);
        if (code == 0) {
            answered++;
            check_answer(&n, &q, &result);
            q.sums_only = true;
            assert_int_equal(query_run(&q, reader, &result, &err), 0);
            check_answer(&n, &q, &result);
        } else if ((code != ERR_ABSENT && code != ERR_USAGE) ||
                   (n.is_glibc && strstr(err.text, "glibc") != NULL)) {
            fail_msg("%s (asked:%s)", err.text, asked);
        }
        query_release(&q);
    }
    query_result_release(&result);
    wake_reader_close(reader);
    naive_release(&n);
    return answered;
}

static void random_queries_are_answered_to_the_byte(void **state)
{
    (void)state;
    unsigned answered = 0;
    for (uint64_t seed = 1; seed <= 60; seed++)
        answered += ask_many(seed, 1 + (unsigned)(seed % 3), 30 + seed % 7 * 20, seed % 4 != 0, 100);
    /* Some name a mark of another process, or have a window that ends before it begins. */
    assert_true(answered > 5000);
}

/* Each block stands for so many, all of which sums count, the peak too. */
static void so_are_those_to_sampled_recordings(void **state)
{
    (void)state;
    unsigned answered = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        naive_sample_rate = 20 + seed % 4 * 3000;
        answered += ask_many(seed, 1 + (unsigned)(seed % 3), 30 + seed % 7 * 20, seed % 4 != 0, 100);
    }
    naive_sample_rate = 0;
    assert_true(answered > 2000);
}

/* A date is the time since the recording began, to the nanosecond. */
static void a_date_is_a_moment(void **state)
{
    (void)state;
    struct naive n;
    struct wake_reader *reader;
    struct query_result result;
    struct err err;
    naive_make(&n, path, 11, 1, 120, true);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    uint64_t began_ns = wake_reader_summary(reader)->wall_ns;
    assert_true(began_ns > 0);
    query_result_init(&result);
    for (size_t i = 0; i < n.blocks.count; i += 7) {
        uint64_t at_ns = began_ns + n.blocks.data[i].born_ns;
        time_t seconds = (time_t)(at_ns / 1000000000);
        struct tm tm;
        struct query q;
        char date[32];
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
        query_init(&q);
        asked[0] = '\0';
        ask(&q, "allocated-from", "%s.%09uZ", date, (unsigned)(at_ns % 1000000000));
        assert_int_equal(query_run(&q, reader, &result, &err), 0);
        q.filter.allocated_from = (struct query_time){.when = WHEN_NS, .ns = n.blocks.data[i].born_ns};
        check_answer(&n, &q, &result);
        query_release(&q);
    }
    query_result_release(&result);
    wake_reader_close(reader);
    naive_release(&n);
}

static void totals_answer_without_reading_events(void **state)
{
    (void)state;
    struct naive n;
    struct wake_reader *reader;
    struct query_result result;
    struct query q;
    struct err err;
    naive_make(&n, path, 77, 2, 200, true);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    query_result_init(&result);
    query_init(&q);
    asked[0] = '\0';
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_int_equal(result.events, 0);
    check_answer(&n, &q, &result);
    /* A condition on stacks too, but for its peak. */
    q.find_place = naive_place;
    ask(&q, "function", "fn_1");
    ask(&q, "not-module", "libfoo");
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_true(result.events > 0 && result.total.allocated_blocks > 0);
    check_answer(&n, &q, &result);
    q.sums_only = true;
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_int_equal(result.events, 0);
    check_answer(&n, &q, &result);
    ask(&q, "detail", "yes");
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_true(result.events > 0);
    check_answer(&n, &q, &result);
    query_release(&q);
    query_result_release(&result);
    wake_reader_close(reader);
    naive_release(&n);
}

/* A large process beside one that is too small for a rough timeline, and one without any events. */
static void only_events_of_small_processes_are_read(void **state)
{
    (void)state;
    enum { CHUNKS = 40, SMALL = 3 };
    struct wake_writer *w;
    struct wake_reader *reader;
    struct query_result result;
    struct query q;
    struct err err;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    const uint64_t events[] = {0, CHUNKS * 10, SMALL};
    for (uint32_t p = 0; p < 3; p++) {
        struct wake_process_info info = {.pid = 10 + p, .exe = "/a", .args = ""};
        struct wake_process_end end = {.end_ns = 100000,
                                       .complete = true,
                                       .allocations = events[p],
                                       .frees = events[p],
                                       .allocated_bytes = 8 * events[p]};
        struct wake_stack_totals totals = {.allocations = events[p],
                                           .allocated_bytes = 8 * events[p],
                                           .freed = events[p],
                                           .freed_bytes = 8 * events[p]};
        assert_int_equal(wake_writer_add_process(w, &info), p);
        for (uint64_t i = 0; i < events[p]; i++) {
            wake_stream_alloc(wake_writer_stream(w, p), i * 100, 1, KIND_MALLOC, 0, 0x1000, 8, 24, 0);
            wake_stream_free(wake_writer_stream(w, p), i * 100 + 50, 1, HOW_FREE, i, 8);
            if (p == 1 && i % 10 == 9)
                wake_writer_flush(w);
        }
        wake_writer_end_process(w, p, &end, &totals, 0, NULL, 0);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    query_result_init(&result);
    query_init(&q);
    q.ticks = 10;
    q.rough_ticks = true;
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_int_equal(result.events, 2 * SMALL);
    assert_true(result.timeline_is_rough);
    uint64_t allocations = 0;
    for (size_t i = 0; i < result.timeline.count; i++)
        allocations += result.timeline.data[i].allocations;
    assert_int_equal(allocations, CHUNKS * 10 + SMALL);
    assert_int_equal(result.total.allocated_blocks, CHUNKS * 10 + SMALL);
    query_release(&q);
    query_result_release(&result);
    wake_reader_close(reader);
}

/* Chunk headers never show less than there was, and nothing is counted twice. */
static void a_rough_timeline_needs_no_events(void **state)
{
    (void)state;
    struct naive n;
    struct wake_reader *reader;
    struct query_result exact, rough;
    struct query q;
    struct err err;
    naive_make(&n, path, 5, 2, 3000, true);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    query_result_init(&exact);
    query_result_init(&rough);
    query_init(&q);
    q.ticks = 6;
    assert_int_equal(query_run(&q, reader, &exact, &err), 0);
    q.rough_ticks = true;
    assert_int_equal(query_run(&q, reader, &rough, &err), 0);
    assert_true(rough.timeline_is_rough && !exact.timeline_is_rough);
    assert_int_equal(rough.events, 0);
    assert_int_equal(rough.timeline.count, exact.timeline.count);
    uint64_t allocations = 0, frees = 0;
    for (size_t i = 0; i < rough.timeline.count; i++) {
        const struct query_tick *r = &rough.timeline.data[i], *e = &exact.timeline.data[i];
        assert_int_equal(r->from_ns, e->from_ns);
        assert_int_equal(r->rss_bytes, e->rss_bytes);
        assert_true(r->live_bytes >= e->live_bytes);
        assert_true(r->live_bytes <= 2 * exact.total.peak_bytes);
        allocations += r->allocations;
        frees += r->frees;
    }
    assert_int_equal(allocations, exact.total.allocated_blocks);
    assert_int_equal(frees, exact.total.freed_blocks);
    /* With a condition the events are read. */
    assert_int_equal(query_parse(&q, "size-min", "10", &err), 0);
    assert_int_equal(query_run(&q, reader, &rough, &err), 0);
    assert_true(!rough.timeline_is_rough && rough.events > 0);
    query_release(&q);
    /* ... also with one that totals are enough for. */
    query_init(&q);
    q.ticks = 6;
    q.rough_ticks = q.sums_only = true;
    assert_int_equal(query_parse(&q, "stack", "1", &err), 0);
    assert_int_equal(query_run(&q, reader, &rough, &err), 0);
    assert_true(!rough.timeline_is_rough && rough.events > 0);
    query_release(&q);
    query_result_release(&exact);
    query_result_release(&rough);
    wake_reader_close(reader);
    naive_release(&n);
}

/* `count` blocks of 10 bytes, `live` of them at a time, each freed when it is the oldest. */
static void write_queue(uint64_t count, uint64_t live)
{
    struct wake_writer *w;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t process = wake_writer_add_process(w, &(struct wake_process_info){.pid = 1, .exe = "/bin/app"});
    struct wake_stream *s = wake_writer_stream(w, process);
    for (uint64_t i = 0; i < count + live; i++) {
        if (i >= live)
            wake_stream_free(s, 2000 + i, 1, HOW_FREE, i - live, 10);
        if (i < count)
            wake_stream_alloc(s, 2000 + i, 1, KIND_MALLOC, 0, 0x1000 + i * 16, 10, 24, 0);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
}

/* Conditions that are known at death cost a fate pass and a scan, whatever is live at once. */
static void what_is_known_at_death_is_decided_first(void **state)
{
    (void)state;
    struct {
        uint64_t count, live;
    } queues[] = {{100000, 80000}, {200000, 10}, {16000, 10}};
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        struct wake_reader *reader;
        struct query_result result;
        struct query q;
        struct err err;
        uint64_t count = queues[i].count, live = queues[i].live;
        write_queue(count, live);
        assert_int_equal(wake_reader_open(&reader, path, &err), 0);
        query_result_init(&result);
        query_init(&q);
        q.want = WANT_DETAIL | WANT_MEDIAN | WANT_HISTOGRAMS;
        assert_int_equal(query_parse(&q, "lifetime-max", "1s", &err), 0);
        assert_int_equal(query_run(&q, reader, &result, &err), 0);
        assert_int_equal(result.events, 4 * count);
        assert_int_equal(result.total.allocated_blocks, count);
        assert_int_equal(result.total.freed_bytes, count * 10);
        assert_int_equal(result.total.slack_bytes, count * 14);
        assert_int_equal(result.total.peak_bytes, live * 10);
        assert_int_equal(result.total.peak_blocks, live);
        assert_int_equal(result.peak_time_ns, 2000 + live - 1);
        assert_int_equal(result.sizes.blocks[4], count);
        uint64_t lived = 0;
        for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++)
            lived += result.lifetimes.blocks[k];
        assert_int_equal(lived, count);
        query_release(&q);
        query_result_release(&result);
        wake_reader_close(reader);
    }
}

/* One block in ten lives longer than the others, and one in a thousand is never freed. */
static void of_many_that_pass_the_others_are_left_out(void **state)
{
    (void)state;
    enum { COUNT = 100000, LATER = 100 };
    struct wake_writer *w;
    struct wake_reader *reader;
    struct query_result result;
    struct query q;
    struct err err;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t process = wake_writer_add_process(w, &(struct wake_process_info){.pid = 1, .exe = "/bin/app"});
    struct wake_stream *s = wake_writer_stream(w, process);
    for (uint64_t i = 0; i < COUNT + LATER; i++) {
        uint64_t time_ns = 2000 + 10 * i;
        if (i < COUNT)
            wake_stream_alloc(s, time_ns, 1, KIND_MALLOC, 0, 0x1000 + i * 16, 10, 24, 0);
        if (i < COUNT && i % 10 != 3 && i % 1000 != 7)
            wake_stream_free(s, time_ns + 5, i % 10 == 5 ? 2 : 1, HOW_FREE, i, 10);
        if (i >= LATER && (i - LATER) % 10 == 3)
            wake_stream_free(s, time_ns + 7, 1, HOW_FREE, i - LATER, 10);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    query_result_init(&result);
    query_init(&q);
    assert_int_equal(query_parse(&q, "lifetime-max", "100ns", &err), 0);
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_true(result.events > 2 * COUNT); /* twice */
    assert_int_equal(result.total.allocated_blocks, COUNT - COUNT / 10 - COUNT / 1000);
    assert_int_equal(result.total.freed_blocks, result.total.allocated_blocks);
    assert_int_equal(result.total.peak_bytes, 10);
    /* Another thread frees a tenth of them. */
    assert_int_equal(query_parse(&q, "temporary", "100ns", &err), 0);
    assert_int_equal(query_parse(&q, "state", "temporary", &err), 0);
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_int_equal(result.total.allocated_blocks, COUNT - COUNT / 5 - COUNT / 1000);
    assert_int_equal(result.total.temporary_blocks, result.total.allocated_blocks);
    query_release(&q);
    query_result_release(&result);
    wake_reader_close(reader);
}

static volatile sig_atomic_t stop;

static void stop_soon(void *context, uint64_t done, uint64_t total)
{
    (void)total;
    stop = done >= *(uint64_t *)context;
}

static void an_interrupted_query_says_how_far_it_came(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *reader;
    struct query_result result;
    struct query q;
    struct err err;
    uint64_t limit = 1 << 20, allocations = 3 << 20;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t process = wake_writer_add_process(w, &(struct wake_process_info){.pid = 1, .exe = "/bin/app"});
    for (uint64_t i = 0; i < allocations; i++) {
        wake_stream_alloc(wake_writer_stream(w, process), 1000 + i, 1, KIND_MALLOC, 0, 0x1000, 8, 24, 0);
        wake_stream_free(wake_writer_stream(w, process), 1000 + i, 1, HOW_FREE, i, 8);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    query_result_init(&result);
    query_init(&q);
    q.want = WANT_DETAIL;
    q.interrupt = &stop;
    q.progress = stop_soon;
    q.progress_context = &limit;
    stop = 0;
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_true(result.interrupted);
    assert_true(result.events >= limit && result.events < limit + (1 << 20));
    assert_int_equal(result.total.allocated_blocks, (result.events + 1) / 2);
    assert_int_equal(result.read_until_ns, 1000 + (result.events - 1) / 2);
    /* Interrupted before anything was decided: nothing is said. */
    stop = 0;
    assert_int_equal(query_parse(&q, "freed-to", "2us", &err), 0);
    assert_int_equal(query_run(&q, reader, &result, &err), 0);
    assert_true(result.interrupted);
    assert_int_equal(result.rows.count, 0);
    assert_int_equal(result.read_until_ns, 0);
    query_release(&q);
    query_result_release(&result);
    wake_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_queries_are_answered_to_the_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(so_are_those_to_sampled_recordings, setup, teardown),
        cmocka_unit_test_setup_teardown(a_date_is_a_moment, setup, teardown),
        cmocka_unit_test_setup_teardown(totals_answer_without_reading_events, setup, teardown),
        cmocka_unit_test_setup_teardown(only_events_of_small_processes_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_rough_timeline_needs_no_events, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_known_at_death_is_decided_first, setup, teardown),
        cmocka_unit_test_setup_teardown(of_many_that_pass_the_others_are_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupted_query_says_how_far_it_came, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
