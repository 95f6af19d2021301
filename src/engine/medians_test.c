/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * medians_test: counts that outgrow their room, one way or another.
 */
#include "engine/medians.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

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

/* ------------------------------------------------------- rows of any number of values */

enum { ROWS = 9, MOST = 200 };

static const unsigned row_counts[ROWS] = {1, 2, MEDIAN_FEW - 1, MEDIAN_FEW, MEDIAN_FEW + 1, 64, MOST, 0, 5};

static int compare_values(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static uint64_t made_value(unsigned row, unsigned i)
{
    uint64_t x = (row * 1000003u + i * 7919u) % 99991u;
    return x * x >> i % 30; /* some below 128, some far above */
}

/* The values of a row that `parts` medians share, joined into the first. */
static void compare_rows(size_t prepared, unsigned parts)
{
    struct medians m[3];
    uint64_t found[ROWS] = {0}, all[MEDIAN_BUCKETS] = {0}, values[MOST] = {0}, sum = 0, wanted = 0;
    for (unsigned i = 0; i < parts; i++) {
        medians_init(&m[i]);
        medians_prepare(&m[i], i == 1 ? 0 : prepared);
    }
    for (unsigned i = 0; i < MOST; i++)
        for (unsigned row = 0; row < ROWS; row++)
            if (i < row_counts[row])
                medians_add(&m[i * parts / row_counts[row]], row, made_value(row, i));
    for (unsigned i = 1; i < parts; i++)
        for (unsigned row = 0; row < ROWS; row++)
            medians_join(&m[0], row, &m[i], row);
    assert_true(medians_settle(&m[0], found, ROWS, all));
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned i = 0; i < row_counts[row]; i++)
            values[i] = made_value(row, i);
        qsort(values, row_counts[row], sizeof *values, compare_values);
        uint64_t right = row_counts[row] == 0 ? 0 : values[(row_counts[row] - 1) / 2];
        assert_in_range(found[row], right - right / 100, right + right / 100);
        wanted += row_counts[row];
    }
    for (unsigned i = 0; i < MEDIAN_BUCKETS; i++)
        sum += all[i];
    assert_int_equal(sum, wanted);
    for (unsigned i = 0; i < parts; i++)
        medians_release(&m[i]);
}

static void rows_of_any_number_of_values_have_theirs(void **state)
{
    (void)state;
    for (size_t prepared = 0; prepared <= ROWS; prepared++)
        for (unsigned parts = 1; parts <= 3; parts++)
            compare_rows(prepared, parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_count_beyond_16_bits),
        cmocka_unit_test(joined_medians_are_those_of_all_values),
        cmocka_unit_test(rows_of_any_number_of_values_have_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
