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
    for (unsigned way = 0; way < 6; way++) {
        bool at_once = way % 2 != 0;
        struct medians m;
        uint64_t found[ROW + 1] = {0}, all[MEDIAN_BUCKETS] = {0};
        medians_init(&m);
        if (way / 2 != 0) /* the row is one of those that are prepared; or the next */
            medians_prepare(&m, way / 2 == 1 ? ROW + 1 : ROW);
        for (unsigned i = 0; i < MANY + FEWER; i++) {
            const uint32_t row = ROW;
            const uint64_t value = i < MANY ? 1000 : 100;
            if (at_once)
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

/* Of counts that have more than 16 bits, or only together.  Rows may be prepared or not. */
static void join_and_compare(size_t prepared, size_t prepared_other)
{
    struct medians m, other;
    uint64_t found[ROW + 1] = {0}, all[MEDIAN_BUCKETS] = {0};
    medians_init(&m);
    medians_init(&other);
    medians_prepare(&m, prepared);
    medians_prepare(&other, prepared_other);
    for (unsigned i = 0; i < FEWER; i++) {
        medians_add(&m, ROW, 1000);
        medians_add(&other, ROW + 5, i % 3 == 0 ? 1000 : 100);
        medians_add(&other, ROW + 5, 7);
    }
    for (unsigned i = 0; i < 3; i++)
        medians_join(&m, ROW - i, &other, ROW + 5);
    medians_join(&m, ROW, &other, ROW + 1); /* which has none */
    for (unsigned i = 0; i < MANY; i++)
        medians_add(&other, ROW + 9, 50000);
    medians_join(&m, 0, &other, ROW + 9);
    assert_true(medians_settle(&m, found, ROW + 1, all));
    assert_in_range(found[0], 49600, 50400);
    assert_int_equal(found[1], 7);
    assert_int_equal(found[2], 7);
    assert_in_range(found[ROW], 99, 101); /* 60,000 of 7, 40,000 of 100, 80,000 of 1000 */
    uint64_t sum = 0;
    for (unsigned i = 0; i < MEDIAN_BUCKETS; i++)
        sum += all[i];
    assert_int_equal(sum, 7 * FEWER + MANY);
    assert_int_equal(all[7], 3 * FEWER);
    medians_release(&m);
    medians_release(&other);
}

static void joined_medians_are_those_of_all_values(void **state)
{
    (void)state;
    for (size_t prepared = 0; prepared <= ROW + 1; prepared++)
        for (size_t other = 0; other <= ROW + 10; other += ROW + 2)
            join_and_compare(prepared, other);
}

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
        cmocka_unit_test(medians_count_beyond_16_bits),
        cmocka_unit_test(joined_medians_are_those_of_all_values),
        cmocka_unit_test(many_values_are_those_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
