/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * twins: for tests: a recording that is open twice, once as it is and once with a ledger (ledger.h), and the same
 * question to both.
 */
#ifndef HW_ENGINE_TWINS_H
#define HW_ENGINE_TWINS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/ledger.h"
#include "store/recording.h"
#include "store/writer.h"

static char path[64];

static inline int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/twins.%d.wake", (int)getpid());
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* A recording of one process, which is number 0. */
static inline struct wake_stream *begin_recording(struct wake_writer **w)
{
    assert_int_equal(wake_writer_open(w, path, NULL), 0);
    const struct wake_process_info info = {.pid = 1, .exe = "/bin/app"};
    return wake_writer_stream(*w, wake_writer_add_process(*w, &info));
}

/* One recording, open twice. */
struct twins {
    struct wake_reader *alone, *attached;
    struct query_result right, ours;
};

/* The ledger of the one stands, unless it may grow while questions are asked. */
static inline void open_growing_twins(struct twins *t, const struct ledger_limits *limits, bool grows)
{
    struct err err;
    assert_int_equal(wake_reader_open(&t->alone, path, &err), 0);
    assert_int_equal(wake_reader_open(&t->attached, path, &err), 0);
    t->attached->threads = 3;
    assert_int_equal(ledger_attach(t->attached, limits, &err), 0);
    if (!grows)
        ledger_wait(ledger_of(t->attached));
    query_result_init(&t->right);
    query_result_init(&t->ours);
}

static inline void open_twins(struct twins *t, const struct ledger_limits *limits)
{
    open_growing_twins(t, limits, false);
}

static inline void close_twins(struct twins *t)
{
    query_result_release(&t->right);
    query_result_release(&t->ours);
    wake_reader_close(t->alone);
    wake_reader_close(t->attached);
}

static inline int compare_rows(const void *a, const void *b)
{
    const struct query_row *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

/* Split rows may be in any order. */
static inline void sort_rows(struct query_result *r)
{
    if (r->rows.count > 0)
        qsort(r->rows.data, r->rows.count, sizeof *r->rows.data, compare_rows);
}

static inline void ask_twins(struct twins *t, const struct query *q)
{
    struct err err;
    int right = query_run(q, t->alone, &t->right, &err), ours = query_run(q, t->attached, &t->ours, &err);
    assert_int_equal(ours, right);
    if (right != 0)
        return;
    assert_int_equal(t->ours.rows.count, t->right.rows.count);
    sort_rows(&t->ours);
    sort_rows(&t->right);
    for (size_t i = 0; i < t->right.rows.count; i++) {
        assert_int_equal(compare_rows(&t->ours.rows.data[i], &t->right.rows.data[i]), 0);
        assert_memory_equal(&t->ours.rows.data[i].m, &t->right.rows.data[i].m, sizeof(struct metrics));
    }
    assert_memory_equal(&t->ours.total, &t->right.total, sizeof(struct metrics));
    assert_int_equal(t->ours.peak_time_ns, t->right.peak_time_ns);
    assert_int_equal(t->ours.peak_process, t->right.peak_process);
    assert_int_equal(t->ours.omitted_blocks, t->right.omitted_blocks);
    assert_int_equal(t->ours.timeline.count, t->right.timeline.count);
    if (t->right.timeline.count > 0)
        assert_memory_equal(t->ours.timeline.data, t->right.timeline.data,
                            t->right.timeline.count * sizeof *t->right.timeline.data);
    assert_memory_equal(&t->ours.sizes, &t->right.sizes, sizeof t->right.sizes);
    assert_memory_equal(&t->ours.lifetimes, &t->right.lifetimes, sizeof t->right.lifetimes);
    assert_int_equal(t->ours.interrupted, t->right.interrupted);
    assert_int_equal(t->ours.read_until_ns, t->right.read_until_ns);
}

#endif
