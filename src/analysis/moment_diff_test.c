/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of drift.
 */
#include "analysis/moment_diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t call(struct traces *c, uint32_t parent, const char *function, uint32_t line)
{
    struct frame f = {function, "", "a.c", "/a", line, 0, line, false, 0, false};
    return traces_add(c, parent, &f);
}

static void test_sites_are_signed_and_in_order(void **state)
{
    (void)state;
    struct traces c;
    struct drift d;
    traces_init(&c);
    drift_init(&d, 0);
    uint32_t root = call(&c, 0, "main", 1);
    uint32_t one = call(&c, root, "one", 2), two = call(&c, root, "two", 3),
             three = call(&c, root, "three", 4);
    assert_int_equal(drift_add(&d, &c, one, 100, 1, NULL), 0);
    assert_int_equal(drift_add(&d, &c, two, -300, -3, NULL), 0);
    assert_int_equal(drift_add(&d, &c, one, 50, 1, NULL), 0);
    assert_int_equal(drift_add(&d, &c, three, 20, 1, NULL), 0);
    assert_int_equal(drift_add(&d, &c, three, -20, -1, NULL), 0);
    assert_int_equal(drift_add(&d, &c, 0, 7, 1, NULL), 0);
    drift_sort(&d);
    assert_int_equal(d.list.count, 3); /* three has not moved */
    assert_int_equal(d.list.data[0].trace, one);
    assert_int_equal(d.list.data[0].bytes, 150);
    assert_int_equal(d.list.data[1].trace, 0);
    assert_int_equal(d.list.data[2].bytes, -300);
    assert_int_equal(d.bytes, -143);
    assert_int_equal(d.blocks, 0);
    drift_release(&d);
    traces_release(&c);
}

static void test_a_depth_merges_what_differs_further_out(void **state)
{
    (void)state;
    struct traces c;
    struct drift d;
    traces_init(&c);
    drift_init(&d, 2);
    uint32_t a = call(&c, call(&c, call(&c, 0, "main", 1), "leaf", 5), "new", 6);
    uint32_t b = call(&c, call(&c, call(&c, call(&c, 0, "main", 1), "other", 2), "leaf", 5), "new", 6);
    uint32_t other = call(&c, call(&c, 0, "twig", 7), "new", 6);
    assert_int_equal(drift_add(&d, &c, a, 10, 1, NULL), 0);
    assert_int_equal(drift_add(&d, &c, b, 30, 1, NULL), 0);
    assert_int_equal(drift_add(&d, &c, other, 5, 1, NULL), 0);
    drift_sort(&d);
    assert_int_equal(d.list.count, 2);
    assert_int_equal(d.list.data[0].bytes, 40);
    assert_int_equal(c.traces.data[d.list.data[0].trace].depth, 2);
    assert_string_equal(traces_frame(&c, d.list.data[0].trace)->function, "new");
    drift_release(&d);
    traces_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sites_are_signed_and_in_order),
        cmocka_unit_test(test_a_depth_merges_what_differs_further_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
