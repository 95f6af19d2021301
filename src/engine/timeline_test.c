/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of timeline: resident sets of one process and of several.
 */
#include "engine/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { TICKS = 5 };

/* Ticks of 100 ns from `from` on, and a choice of so many processes. */
struct timeline_world {
    struct query_result result;
    struct when when;
};

static void begin(struct timeline_world *w, uint64_t from, uint32_t processes)
{
    memset(w, 0, sizeof *w);
    query_result_init(&w->result);
    w->when.window = (struct query_range){from, from + 100 * TICKS - 1};
    for (uint64_t i = 0; i < TICKS; i++)
        assert_true(vec_push(&w->result.timeline, (struct query_tick){.from_ns = from + 100 * i}));
    for (uint32_t i = 0; i < processes; i++)
        assert_true(vec_push(&w->when.processes, i));
}

/* Samples of these sizes, 200 ns apart. */
static void add(struct timeline_world *w, uint64_t first_ns, uint64_t end_ns, const char *sizes)
{
    struct wake_process p = {.end = {.end_ns = end_ns}, .ended = true};
    for (uint64_t i = 0; sizes[i] != '\0'; i++) {
        struct wake_sample s = {.time_ns = first_ns + 200 * i, .rss_bytes = (uint64_t)(sizes[i] - '0')};
        assert_true(vec_push(&p.samples, s));
    }
    timeline_add_samples(&w->result, &w->when, &p);
    vec_release(&p.samples);
}

static void expect(struct timeline_world *w, const char *sizes)
{
    for (size_t i = 0; i < TICKS; i++)
        assert_int_equal(w->result.timeline.data[i].rss_bytes, sizes[i] - '0');
    query_result_release(&w->result);
    when_release(&w->when);
}

static void a_sample_counts_until_the_next(void **state)
{
    struct timeline_world w;
    (void)state;
    begin(&w, 0, 1);
    add(&w, 50, 500, "234");
    expect(&w, "22334");
    begin(&w, 1000, 1);
    add(&w, 850, 1500, "234");
    expect(&w, "33444");
}

static void several_add_up_though_their_samples_take_turns(void **state)
{
    struct timeline_world w;
    (void)state;
    begin(&w, 0, 2);
    add(&w, 50, 500, "222");
    add(&w, 150, 500, "33");
    expect(&w, "25555");
}

static void nobody_counts_before_his_first_sample_or_after_his_end(void **state)
{
    struct timeline_world w;
    (void)state;
    begin(&w, 0, 2);
    add(&w, 110, 320, "3");
    add(&w, 110, 399, "41");
    expect(&w, "07770");
}

static void who_was_there_before_the_window_is_in_it(void **state)
{
    struct timeline_world w;
    (void)state;
    begin(&w, 1000, 3);
    add(&w, 850, 1350, "53");
    add(&w, 700, 999, "9");
    add(&w, 1450, 2000, "1");
    expect(&w, "53331");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_counts_until_the_next),
        cmocka_unit_test(several_add_up_though_their_samples_take_turns),
        cmocka_unit_test(nobody_counts_before_his_first_sample_or_after_his_end),
        cmocka_unit_test(who_was_there_before_the_window_is_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
