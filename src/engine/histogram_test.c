/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram_test: many values at once.
 */
#include "engine/histogram.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void many_values_are_those_one_by_one(void **state)
{
    (void)state;
    enum { COUNT = HISTOGRAM_MANY - 1 };
    static struct query_histogram right, ours;
    static uint64_t values[COUNT];
    static uint32_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = i % 3 == 0 ? 5 : i % 67 == 0 ? 0 : UINT64_MAX >> i % 64;
        sizes[i] = UINT32_MAX - (uint32_t)(i % 2);
        histogram_add(&right, values[i], 1, sizes[i]);
    }
    histogram_add_many(&ours, values, sizes, COUNT);
    assert_memory_equal(&ours, &right, sizeof right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_values_are_those_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
