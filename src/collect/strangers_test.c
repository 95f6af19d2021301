/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/strangers.h"

#define LOOK UINT64_C(10000000000) /* ns between two looks */

static struct strangers s;

static int setup(void **state)
{
    (void)state;
    strangers_init(&s);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    strangers_release(&s);
    return 0;
}

static void who_is_told_of_and_does_not_come_is_one(void **state)
{
    (void)state;
    strangers_told(&s, 7);
    strangers_told(&s, 8);
    assert_int_equal(strangers_count(&s), 2);
    strangers_came(&s, 8, 8);
    assert_int_equal(strangers_count(&s), 1);
    strangers_told(&s, 7); /* another, which has the number of the first */
    assert_int_equal(strangers_count(&s), 2);
}

/* Hellos are heard at once and what parents tell when it is read: a search through PATH comes behind. */
static void the_order_does_not_count(void **state)
{
    (void)state;
    for (unsigned when = 0; when <= 5; when++) {
        for (unsigned step = 0; step <= 5; step++) {
            if (step == when)
                strangers_came(&s, 9, 9);
            if (step < 5 && step % 2 == 0)
                strangers_told(&s, 9);
            else if (step < 5)
                strangers_back(&s, 9);
        }
        assert_int_equal(strangers_count(&s), 0);
    }
    strangers_told(&s, 9);
    strangers_back(&s, 9);
    assert_int_equal(strangers_count(&s), 0);
}

static void a_child_has_another_number_in_a_namespace_of_its_own(void **state)
{
    (void)state;
    strangers_told(&s, 4711);
    strangers_came(&s, 4711, 1);
    assert_int_equal(strangers_count(&s), 0);
    strangers_told(&s, 5); /* as its parent, in the same namespace, knows it */
    strangers_came(&s, 4712, 5);
    assert_int_equal(strangers_count(&s), 0);
}

static void who_came_and_was_not_told_of_is_forgotten(void **state)
{
    (void)state;
    strangers_look(&s, LOOK);
    strangers_came(&s, 6, 6);
    strangers_look(&s, LOOK + 1); /* too early for a look */
    strangers_told(&s, 6);
    assert_int_equal(strangers_count(&s), 0);
    strangers_came(&s, 6, 6);
    strangers_look(&s, 2 * LOOK);
    strangers_told(&s, 6);
    assert_int_equal(strangers_count(&s), 0);
    strangers_came(&s, 6, 6);
    strangers_look(&s, 3 * LOOK);
    strangers_look(&s, 4 * LOOK);
    strangers_told(&s, 6);
    assert_int_equal(strangers_count(&s), 1);
    strangers_look(&s, 5 * LOOK);
    strangers_look(&s, 6 * LOOK);
    assert_int_equal(strangers_count(&s), 1); /* and strangers are not */
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
