/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram_test: counts that outgrow their room, and many values at once.
 */
#include "query/histogram.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MANY = 66000, FEWER = 60000, ROW = 3 }; /* MANY: more than a count has bits for */

static void medians_count_beyond_16_bits(void **state)
{
    (void)state;
    for (unsigned at_once = 0; at_once < 2; at_once++) {
        struct medians m;
        uint64_t found[ROW + 1] = {0}, all[MEDIAN_BUCKETS] = {0};
        medians_init(&m);
        for (unsigned i = 0; i < MANY + FEWER; i++) {
            const uint32_t row = ROW;
            const uint64_t value = i < MANY ? 1000 : 100;
            if (at_once != 0)
                medians_add_many(&m, &row, &value, 1);
            else
                medians_add(&m, row, value);
        }
        assert_true(medians_settle(&m, found, ROW + 1, all));
        assert_in_range(found[ROW], 992, 1008);
        assert_in_range(medians_of(all), 992, 1008);
        medians_release(&m);
    }
}

static void many_values_are_those_one_by_one(void **state)
{
    (void)state;
    static struct query_histogram right, ours;
    static uint64_t values[HISTOGRAM_MANY];
    static uint32_t sizes[HISTOGRAM_MANY];
    for (size_t i = 0; i < HISTOGRAM_MANY; i++) {
        values[i] = i % 3 == 0 ? 5 : i % 67 == 0 ? 0 : UINT64_MAX >> i % 64;
        sizes[i] = UINT32_MAX - (uint32_t)(i % 2);
        histogram_add(&right, values[i], 1, sizes[i]);
    }
    histogram_add_many(&ours, values, sizes, HISTOGRAM_MANY);
    assert_memory_equal(&ours, &right, sizeof right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_count_beyond_16_bits),
        cmocka_unit_test(many_values_are_those_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
