/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/unrecorded_children.h"

#define LOOK UINT64_C(10000000000) /* ns between two looks */

static struct unrecorded_children s;

static int setup(void **state)
{
    (void)state;
    unrecorded_children_init(&s);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unrecorded_children_release(&s);
    return 0;
}

static void who_is_told_of_and_does_not_come_is_one(void **state)
{
    (void)state;
    unrecorded_children_told(&s, 7);
    unrecorded_children_told(&s, 8);
    assert_int_equal(unrecorded_children_count(&s), 2);
    unrecorded_children_came(&s, 8, 8);
    assert_int_equal(unrecorded_children_count(&s), 1);
    unrecorded_children_told(&s, 7); /* another, which has the number of the first */
    assert_int_equal(unrecorded_children_count(&s), 2);
}

/* Hellos are heard at once and what parents tell when it is read: a search through PATH comes behind. */
static void the_order_does_not_count(void **state)
{
    (void)state;
    for (unsigned when = 0; when <= 5; when++) {
        for (unsigned step = 0; step <= 5; step++) {
            if (step == when)
                unrecorded_children_came(&s, 9, 9);
            if (step < 5 && step % 2 == 0)
                unrecorded_children_told(&s, 9);
            else if (step < 5)
                unrecorded_children_back(&s, 9);
        }
        assert_int_equal(unrecorded_children_count(&s), 0);
    }
    unrecorded_children_told(&s, 9);
    unrecorded_children_back(&s, 9);
    assert_int_equal(unrecorded_children_count(&s), 0);
}

static void a_child_has_another_number_in_a_namespace_of_its_own(void **state)
{
    (void)state;
    unrecorded_children_told(&s, 4711);
    unrecorded_children_came(&s, 4711, 1);
    assert_int_equal(unrecorded_children_count(&s), 0);
    unrecorded_children_told(&s, 5); /* as its parent, in the same namespace, knows it */
    unrecorded_children_came(&s, 4712, 5);
    assert_int_equal(unrecorded_children_count(&s), 0);
}

static void who_came_and_was_not_told_of_is_forgotten(void **state)
{
    (void)state;
    unrecorded_children_look(&s, LOOK);
    unrecorded_children_came(&s, 6, 6);
    unrecorded_children_look(&s, LOOK + 1); /* too early for a look */
    unrecorded_children_told(&s, 6);
    assert_int_equal(unrecorded_children_count(&s), 0);
    unrecorded_children_came(&s, 6, 6);
    unrecorded_children_look(&s, 2 * LOOK);
    unrecorded_children_told(&s, 6);
    assert_int_equal(unrecorded_children_count(&s), 0);
    unrecorded_children_came(&s, 6, 6);
    unrecorded_children_look(&s, 3 * LOOK);
    unrecorded_children_look(&s, 4 * LOOK);
    unrecorded_children_told(&s, 6);
    assert_int_equal(unrecorded_children_count(&s), 1);
    unrecorded_children_look(&s, 5 * LOOK);
    unrecorded_children_look(&s, 6 * LOOK);
    assert_int_equal(unrecorded_children_count(&s), 1); /* and strangers are not */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_is_told_of_and_does_not_come_is_one, setup, teardown),
        cmocka_unit_test_setup_teardown(the_order_does_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(a_child_has_another_number_in_a_namespace_of_its_own, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(who_came_and_was_not_told_of_is_forgotten, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
