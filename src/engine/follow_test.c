/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * follow_test: random queries on random recordings: what follow_run tells is
 * compared call by call with the plain list of blocks, and in sums with the
 * answer of query_run.
 */
#include "engine/follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/naive_answer.h"
#include "engine/naive_ask.h"

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/follow_test.%d.wake", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* A call, as it should come. */
enum call { CALL_BEGIN, CALL_EARLIER, CALL_ALLOC, CALL_RELEASE, CALL_LEFT };

struct expected {
    enum call call;
    uint32_t process;
    uint64_t order; /* within calls of one sort: number or event */
    const struct naive_block *block;
};

struct listener {
    VEC(struct expected) expected;
    size_t at;
    uint64_t allocated, freed, live, peak, level;
    uint32_t process;
    bool is_new; /* no peak of this process yet */
    const struct query_result *result;
};

static int compare_expected(const void *a, const void *b)
{
    const struct expected *x = a, *y = b;
    unsigned of_x = x->call == CALL_RELEASE ? CALL_ALLOC : x->call;
    unsigned of_y = y->call == CALL_RELEASE ? CALL_ALLOC : y->call;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (of_x != of_y)
        return of_x < of_y ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void expect_block(struct listener *l, const struct naive_asked *a, const struct naive_block *b)
{
    bool before = b->born_ns < a->from, died_before = b->freed && b->died_ns < a->from;
    if (b->born_ns > a->to || died_before || naive_is_gone(a, b->process, a->from))
        return;
    (void)vec_push(&l->expected, ((struct expected){before ? CALL_EARLIER : CALL_ALLOC, b->process,
                                                    before ? b->number : b->born, b}));
    if (b->freed && b->died_ns <= a->to)
        (void)vec_push(&l->expected, ((struct expected){CALL_RELEASE, b->process, b->died, b}));
    else
        (void)vec_push(&l->expected, ((struct expected){CALL_LEFT, b->process, b->number, b}));
}

static void expect_all(struct listener *l, const struct naive *n, const struct query *q)
{
    struct naive_asked a;
    naive_understand(&a, n, q);
    for (uint32_t p = 0; p < n->processes.count; p++)
        if (naive_is_chosen(&a, p))
            (void)vec_push(&l->expected, ((struct expected){CALL_BEGIN, p, 0, NULL}));
    for (size_t i = 0; i < n->blocks.count; i++)
        if (naive_matches(&a, &n->blocks.data[i]) && naive_is_chosen(&a, n->blocks.data[i].process))
            expect_block(l, &a, &n->blocks.data[i]);
    if (l->expected.count > 0)
        qsort(l->expected.data, l->expected.count, sizeof *l->expected.data, compare_expected);
}

static const struct naive_block *take(struct listener *l, enum call call)
{
    if (l->at >= l->expected.count || l->expected.data[l->at].call != call)
        fail_msg("call %zu is of sort %d, which was not to come; asked:%s", l->at, (int)call, asked);
    return l->expected.data[l->at++].block;
}

static void check_block(const struct follow_block *b, const struct naive_block *right)
{
    if (b->number != right->number)
        fail_msg("block %llu came instead of %llu; asked:%s", (unsigned long long)b->number,
                 (unsigned long long)right->number, asked);
    assert_int_equal(b->born_ns, right->born_ns);
    assert_int_equal(b->size, right->size);
    assert_int_equal(b->usable, right->usable);
    assert_int_equal(b->address, right->address);
    assert_int_equal(b->stack, right->stack);
    assert_int_equal(b->thread, right->thread);
    assert_int_equal(b->kind, right->kind);
    assert_int_equal(b->is_leaked, !right->freed);
}

static int on_begin(void *context, uint32_t process)
{
    struct listener *l = context;
    assert_null(take(l, CALL_BEGIN));
    assert_int_equal(l->expected.data[l->at - 1].process, process);
    l->process = process;
    l->level = 0;
    return 0;
}

static int on_alloc(void *context, struct follow_block *b, bool is_earlier)
{
    struct listener *l = context;
    check_block(b, take(l, is_earlier ? CALL_EARLIER : CALL_ALLOC));
    assert_int_equal(b->tag, 0);
    b->tag = (uint32_t)b->number + 7;
    l->allocated += !is_earlier;
    l->level += b->size;
    if (l->process == l->result->peak_process && l->level > l->peak)
        l->peak = l->level;
    return 0;
}

static int on_release(void *context, const struct follow_block *b, const struct follow_end *end)
{
    struct listener *l = context;
    const struct naive_block *right = take(l, CALL_RELEASE);
    check_block(b, right);
    assert_int_equal(b->tag, (uint32_t)b->number + 7);
    assert_int_equal(end->time_ns, right->died_ns);
    assert_int_equal(end->thread, right->died_thread);
    assert_int_equal(end->how, right->died_how);
    l->freed++;
    l->level -= b->size;
    return 0;
}

static int on_left(void *context, const struct follow_block *b)
{
    struct listener *l = context;
    check_block(b, take(l, CALL_LEFT));
    assert_int_equal(b->tag, (uint32_t)b->number + 7);
    l->live++;
    return 0;
}

static const struct follow_calls calls = {on_begin, on_alloc, on_release, on_left};

static bool ask_once(const struct naive *n, const struct query *q, struct wake_reader *reader)
{
    struct listener l = {0};
    struct query_result result;
    struct err err;
    query_result_init(&result);
    l.result = &result;
    int code = query_run(q, reader, &result, &err);
    if (code == 0) {
        expect_all(&l, n, q);
        assert_int_equal(follow_run(q, reader, FOLLOW_ALL, WAKE_EVERYTHING, &calls, &l, &err), 0);
        assert_int_equal(l.at, l.expected.count);
        assert_int_equal(l.allocated, result.total.allocated_blocks);
        assert_int_equal(l.freed, result.total.freed_blocks);
        assert_int_equal(l.peak, result.total.peak_bytes);
        /* At the end of a window what processes left that had ended before is not live, but told. */
        if (q->moment.when == WHEN_UNSET && q->to.when == WHEN_UNSET)
            assert_int_equal(l.live, result.total.live_blocks);
    } else {
        assert_int_equal(follow_run(q, reader, FOLLOW_ALL, WAKE_EVERYTHING, &calls, &l, &err), code);
        assert_int_equal(l.at, 0);
    }
    vec_release(&l.expected);
    query_result_release(&result);
    return code == 0;
}

static void every_matching_block_comes_in_order(void **state)
{
    (void)state;
    unsigned answered = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct naive n;
        struct wake_reader *reader;
        struct err err;
        naive_make(&n, path, seed, 1 + (unsigned)(seed % 3), 30 + seed % 7 * 20, seed % 4 != 0);
        assert_int_equal(wake_reader_open(&reader, path, &err), 0);
        for (unsigned i = 0; i < 60; i++) {
            struct query q;
            query_init(&q);
            ask_anything(&n, &q);
            answered += ask_once(&n, &q, reader);
            query_release(&q);
        }
        wake_reader_close(reader);
        naive_release(&n);
    }
    assert_true(answered > 2000);
}

/* ---------------------------------------------------------------------- ends */

struct counter {
    unsigned calls, processes, stop_at;
    uint32_t process;
};

static int count_begin(void *context, uint32_t process)
{
    struct counter *c = context;
    c->processes++;
    c->process = process;
    return 0;
}

static int count_alloc(void *context, struct follow_block *b, bool is_earlier)
{
    struct counter *c = context;
    (void)b, (void)is_earlier;
    return ++c->calls == c->stop_at ? 9 : 0;
}

static int count_release(void *context, const struct follow_block *b, const struct follow_end *end)
{
    (void)context, (void)b, (void)end;
    return 0;
}

static const struct follow_calls counting = {count_begin, count_alloc, count_release, NULL};

static void one_process_can_be_followed_and_a_call_can_end_it(void **state)
{
    (void)state;
    struct naive n;
    struct wake_reader *reader;
    struct query q;
    struct err err;
    naive_make(&n, path, 3, 3, 100, true);
    assert_int_equal(wake_reader_open(&reader, path, &err), 0);
    query_init(&q);
    struct counter one = {0}, none = {0}, stopped = {.stop_at = 5};
    assert_int_equal(follow_run(&q, reader, 2, 0, &counting, &one, &err), 0);
    assert_int_equal(one.processes, 1);
    assert_int_equal(one.process, 2);
    assert_int_equal(one.calls, wake_reader_process(reader, 2)->end.allocations);
    assert_int_equal(follow_run(&q, reader, 3, 0, &counting, &none, &err), 0);
    assert_int_equal(none.processes, 0);
    assert_int_equal(follow_run(&q, reader, FOLLOW_ALL, 0, &counting, &stopped, &err), 9);
    assert_int_equal(stopped.calls, 5);
    volatile sig_atomic_t interrupt = 1;
    struct counter interrupted = {0};
    q.interrupt = &interrupt;
    assert_int_equal(follow_run(&q, reader, FOLLOW_ALL, 0, &counting, &interrupted, &err), 0);
    assert_int_equal(interrupted.processes, 1);
    query_release(&q);
    wake_reader_close(reader);
    naive_release(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_matching_block_comes_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(one_process_can_be_followed_and_a_call_can_end_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
