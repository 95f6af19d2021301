/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of overlap: who is there at once.
 */
#include "engine/overlap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Three ticks of 100 ns, and processes that hold the same for all of their lives. */
struct overlap_world {
    struct query_result result;
    struct overlap overlap;
};

static void begin(struct overlap_world *w)
{
    memset(w, 0, sizeof *w);
    query_result_init(&w->result);
    for (uint64_t i = 0; i < 3; i++)
        assert_true(vec_push(&w->result.timeline, (struct query_tick){.from_ns = 100 * i}));
}

static void add(struct overlap_world *w, uint64_t from, uint64_t to, uint64_t bytes)
{
    struct wake_process p = {.info = {.start_ns = from}, .end = {.end_ns = to}, .ended = true};
    for (size_t i = 0; i < 3; i++) {
        struct query_tick *t = &w->result.timeline.data[i];
        bool is_there = from < t->from_ns + 100 && to >= t->from_ns;
        t->live_bytes = t->rss_bytes = is_there ? bytes : 0;
        t->live_blocks = is_there;
    }
    assert_true(overlap_take(&w->overlap, &w->result, &p));
}

static void expect(struct overlap_world *w, uint64_t first, uint64_t second, uint64_t third)
{
    const uint64_t bytes[] = {first, second, third};
    overlap_give(&w->overlap, &w->result);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(w->result.timeline.data[i].live_bytes, bytes[i]);
        assert_int_equal(w->result.timeline.data[i].rss_bytes, bytes[i]);
    }
    overlap_release(&w->overlap);
    query_result_release(&w->result);
}

static void processes_at_once_add_up(void **state)
{
    struct overlap_world w;
    (void)state;
    begin(&w);
    add(&w, 0, 300, 10);
    add(&w, 50, 250, 7);
    expect(&w, 17, 17, 17);
}

static void one_after_the_other_does_not(void **state)
{
    struct overlap_world w;
    (void)state;
    begin(&w);
    add(&w, 0, 110, 10);
    add(&w, 110, 150, 12); /* as after an exec */
    add(&w, 151, 160, 5);
    add(&w, 155, 190, 6);
    expect(&w, 10, 12, 0);
}

/* One that is there for a moment only, or ends with the first moment of a tick, is there. */
static void moments_count(void **state)
{
    struct overlap_world w;
    (void)state;
    begin(&w);
    add(&w, 20, 20, 9);
    add(&w, 10, 100, 3);
    add(&w, 100, 100, 4);
    add(&w, 200, 200, 5);
    expect(&w, 12, 7, 5);
}

static void nothing_is_nothing(void **state)
{
    struct overlap_world w;
    (void)state;
    begin(&w);
    add(&w, 0, 300, 0);
    expect(&w, 0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_at_once_add_up),
        cmocka_unit_test(one_after_the_other_does_not),
        cmocka_unit_test(moments_count),
        cmocka_unit_test(nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
