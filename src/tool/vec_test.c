/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tool/vec.h"

struct pair {
    uint32_t a;
    uint64_t b;
};

static void elements_stay_in_order(void **state)
{
    (void)state;
    VEC(struct pair) v = {0};
    for (uint32_t i = 0; i < 10000; i++)
        assert_true(vec_push(&v, ((struct pair){i, i * 3ull})));
    assert_int_equal(v.count, 10000);
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(v.data[i].a, i);
        assert_int_equal(v.data[i].b, i * 3ull);
    }
    vec_release(&v);
    assert_null(v.data);
    assert_int_equal(v.capacity, 0);
}

static void a_size_that_cannot_be_changes_nothing(void **state)
{
    (void)state;
    VEC(struct pair) v = {0};
    assert_true(vec_push(&v, ((struct pair){1, 2})));
    assert_false(vec_reserve(&v, SIZE_MAX / 2));
    assert_int_equal(v.count, 1);
    assert_int_equal(v.data[0].b, 2);
    vec_release(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stay_in_order),
        cmocka_unit_test(a_size_that_cannot_be_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
