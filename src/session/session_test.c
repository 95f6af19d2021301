/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * session_test: a session that follows a recording answers as one that opens it anew; questions may come from several
 * threads at once, be cancelled and watched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "engine/parse.h"
#include "session/session.h"
#include "store/sample.h"
#include "store/writer.h"

enum { THREADS = 4, ROUNDS = 30 };

static char path[64], other[64];
static struct sample sample;
static struct wake_writer *writer;
static uint32_t process;

static struct wake_writer *begin(const char *name, struct sample *s, uint64_t seed)
{
    const struct wake_process_info info = {.pid = 100, .exe = "/bin/app", .args = "app", .args_length = 4};
    struct wake_writer *w;
    sample_init(s, seed);
    assert_int_equal(wake_writer_open(&w, name, NULL), 0);
    process = wake_writer_add_process(w, &info);
    sample_add_meta(w, process);
    return w;
}

static void add(size_t events)
{
    sample_add_events(&sample, wake_writer_stream(writer, process), events);
    wake_writer_flush(writer);
}

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/session_test.%d.wake", (int)getpid());
    snprintf(other, sizeof other, "/tmp/session_test.%d.other.wake", (int)getpid());
    writer = begin(path, &sample, 3);
    add(500);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (writer != NULL)
        wake_writer_close(writer, 0, NULL);
    writer = NULL;
    sample_release(&sample);
    unlink(path);
    unlink(other);
    return 0;
}

static struct session *open_session(const char *const *paths, size_t count, bool remembers)
{
    const struct session_options options = {.remembers = remembers};
    struct session *s;
    assert_int_equal(session_open(&s, paths, count, &options, NULL), 0);
    return s;
}

/* Sums of all rows, and of the answer itself. */
static struct metrics ask_total(struct session *s, const struct query *q)
{
    struct query_result result;
    struct ask ask;
    uint64_t allocated = 0;
    query_result_init(&result);
    ask_init(&ask);
    assert_int_equal(session_ask(s, q, &ask, &result, NULL), 0);
    struct metrics total = result.total;
    for (size_t i = 0; i < result.rows.count; i++)
        allocated += result.rows.data[i].m.allocated_bytes;
    assert_int_equal(allocated, total.allocated_bytes);
    query_result_release(&result);
    return total;
}

static void make_query(struct query *q)
{
    query_init(q);
    assert_int_equal(query_parse(q, "size-min", "16", NULL), 0);
    assert_int_equal(query_parse(q, "lifetime-max", "1h", NULL), 0);
}

static void assert_same_total(struct session *s, const struct query *q)
{
    const char *const paths[] = {path};
    struct session *fresh = open_session(paths, 1, false);
    struct metrics a = ask_total(s, q), b = ask_total(fresh, q);
    assert_int_equal(a.allocated_blocks, b.allocated_blocks);
    assert_int_equal(a.allocated_bytes, b.allocated_bytes);
    assert_int_equal(a.freed_bytes, b.freed_bytes);
    assert_int_equal(a.peak_bytes, b.peak_bytes);
    assert_int_equal(a.leaked_bytes, b.leaked_bytes);
    session_close(fresh);
}

static void what_is_recorded_meanwhile_counts(void **state)
{
    const char *const paths[] = {path};
    struct query q;
    uint64_t generation = 99;
    (void)state;
    make_query(&q);
    for (int remembers = 0; remembers < 2; remembers++) {
        struct session *s = open_session(paths, 1, remembers);
        assert_int_equal(session_state(s), SESSION_GROWING);
        assert_int_equal(session_refresh(s, &generation, NULL), 0);
        assert_int_equal(generation, 0);
        struct metrics before = ask_total(s, &q);
        for (unsigned i = 1; i <= 5; i++) {
            add(300);
            assert_int_equal(session_refresh(s, &generation, NULL), 0);
            assert_int_equal(generation, i);
            assert_same_total(s, &q);
        }
        assert_true(ask_total(s, &q).allocated_bytes > before.allocated_bytes);
        session_close(s);
    }
    struct session *s = open_session(paths, 1, false);
    sample_end_process(&sample, writer, process);
    assert_int_equal(wake_writer_close(writer, 0, NULL), 0);
    writer = NULL;
    assert_int_equal(session_refresh(s, &generation, NULL), 0);
    assert_int_equal(session_state(s), SESSION_WHOLE);
    assert_same_total(s, &q);
    session_close(s);
    query_release(&q);
}

struct asker {
    struct session *session;
    const struct query *query;
    uint64_t allocated;
    bool has_differed;
};

static void *ask_again_and_again(void *of)
{
    struct asker *a = of;
    for (int i = 0; i < ROUNDS; i++) {
        struct query_result result;
        struct ask ask;
        query_result_init(&result);
        ask_init(&ask);
        if (session_ask(a->session, a->query, &ask, &result, NULL) != 0 ||
            result.total.allocated_bytes < a->allocated)
            a->has_differed = true;
        a->allocated = result.total.allocated_bytes;
        query_result_release(&result);
    }
    return NULL;
}

static void several_threads_ask_while_it_grows(void **state)
{
    const char *const paths[] = {path};
    pthread_t threads[THREADS];
    struct asker askers[THREADS];
    struct query q;
    uint64_t generation;
    (void)state;
    make_query(&q);
    struct session *s = open_session(paths, 1, true);
    for (size_t i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){.session = s, .query = &q};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_again_and_again, &askers[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        add(100);
        assert_int_equal(session_refresh(s, &generation, NULL), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(askers[i].has_differed);
    }
    assert_same_total(s, &q);
    session_close(s);
    query_release(&q);
}

static void several_recordings_are_one_heap(void **state)
{
    struct sample second;
    struct query q;
    struct traces traces;
    const char *const paths[] = {path, other};
    (void)state;
    struct wake_writer *w = begin(other, &second, 8);
    sample_add_events(&second, wake_writer_stream(w, process), 400);
    sample_end_process(&second, w, process);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    make_query(&q);
    struct session *both = open_session(paths, 2, false), *one = open_session(paths, 1, false),
                   *two = open_session(paths + 1, 1, false);
    assert_int_equal(session_count(both), 2);
    assert_string_equal(session_path(both, 1), other);
    assert_int_equal(session_base(both, 1), 1);
    struct metrics a = ask_total(one, &q), b = ask_total(two, &q), sum = ask_total(both, &q);
    assert_int_equal(a.allocated_bytes + b.allocated_bytes, sum.allocated_bytes);
    assert_int_equal(a.leaked_blocks + b.leaked_blocks, sum.leaked_blocks);
    assert_int_equal(a.peak_bytes > b.peak_bytes ? a.peak_bytes : b.peak_bytes, sum.peak_bytes);
    traces_init(&traces);
    assert_int_equal(session_add_traces(both, &traces, NULL), 0);
    assert_int_equal(traces.processes.count, 2);
    traces_release(&traces);
    session_close(both);
    session_close(one);
    session_close(two);
    query_release(&q);
    sample_release(&second);
}

static void note_progress(void *of, uint64_t done, uint64_t total)
{
    struct ask *ask = of;
    assert_true(done <= total);
    assert_int_equal(ask_progress(ask).total, total);
    ask_cancel(ask);
}

static void a_question_is_watched_and_cancelled(void **state)
{
    const char *const paths[] = {path};
    struct query_result result;
    struct query q;
    struct ask ask;
    (void)state;
    add(1200000); /* progress is reported after each million */
    make_query(&q);
    struct session *s = open_session(paths, 1, false);
    query_result_init(&result);
    ask_init(&ask);
    ask.progress = note_progress;
    ask.progress_of = &ask;
    assert_int_equal(session_ask_one(s, 0, &q, &ask, &result, NULL), 0);
    assert_true(result.interrupted);
    query_result_release(&result);
    assert_same_total(s, &q); /* the next one is answered whole */
    session_close(s);
    query_release(&q);
}

static void what_is_no_recording_is_explained(void **state)
{
    const char *const paths[] = {"/dev/null", "/nowhere/x.wake"};
    const struct session_options options = {0};
    struct session *s;
    struct err err;
    (void)state;
    err_init(&err);
    assert_int_equal(session_open(&s, paths, 1, &options, &err), ERR_INPUT);
    assert_null(s);
    assert_int_equal(session_open(&s, paths + 1, 1, &options, &err), ERR_ABSENT);
    assert_non_null(strstr(err.text, "/nowhere/x.wake"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_recorded_meanwhile_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(several_threads_ask_while_it_grows, setup, teardown),
        cmocka_unit_test_setup_teardown(several_recordings_are_one_heap, setup, teardown),
        cmocka_unit_test_setup_teardown(a_question_is_watched_and_cancelled, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_recording_is_explained, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
