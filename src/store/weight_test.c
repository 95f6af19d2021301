/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of weight: against the exponential of the mathematics library, and sums
 * that must come out right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/weight.h"

static const struct {
    uint64_t rate, size;
    double weight; /* 1 / (1 - exp(-size / rate)), by bc */
} known[] = {
    {524288, 1, 524288.5},           {524288, 100, 5243.3800159}, {524288, 524288, 1.5819767069},
    {524288, 1048576, 1.1565176427}, {4096, 64, 64.5013020},      {4096, 4096 * 50, 1.0},
    {1000, 100, 10.5083319},
};

static double apart(double a, double b)
{
    return a > b ? a - b : b - a;
}

static void a_block_counts_the_inverse_of_its_probability(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double bytes = known[i].weight * (double)known[i].size;
        struct weight w = weight_made(known[i].rate, 7, known[i].size);
        assert_true(apart((double)w.bytes, bytes) <= 0.51 + bytes * 1e-8);
        assert_true(apart((double)w.blocks, known[i].weight) < 1);
    }
}

static void blocks_are_rounded_so_that_sums_are_right(void **state)
{
    (void)state;
    double sum = 0;
    for (uint64_t number = 0; number < 1000000; number++)
        sum += (double)weight_made(524288, number, 524288).blocks;
    assert_true(apart(sum / 1000000, 1.5819767069) < 0.003);
}

static void the_same_block_always_counts_the_same(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 1000; number++) {
        struct weight a = weight_made(4096, number, number * 3), b = weight_made(4096, number, number * 3);
        assert_true(a.blocks == b.blocks && a.bytes == b.bytes && a.blocks >= 1);
    }
}

static void without_sampling_a_block_is_a_block(void **state)
{
    (void)state;
    struct weight w = weight_made(0, 5, 1234);
    assert_int_equal(w.blocks, 1);
    assert_int_equal(w.bytes, 1234);
    assert_int_equal(weight_made(512, 5, 0).bytes, 0);
}

static void a_block_behind_a_gap_counts_as_it_was_made(void **state)
{
    (void)state;
    static const struct weight_gap gaps[] = {{2, 3}, {3, 7}};
    static const uint64_t made[] = {0, 1, 5, 10, 11, 12};
    const struct weight_rule rule = {4096, gaps, 2}, none = {.rate = 4096}, plain = {0, gaps, 2};
    for (uint64_t number = 0; number < sizeof made / sizeof *made; number++) {
        assert_int_equal(weight_number(&rule, number), made[number]);
        assert_int_equal(weight_number(&none, number), number);
        for (uint64_t size = 1; size < 20000; size += 97) {
            assert_int_equal(weight_of(&rule, number, size).blocks,
                             weight_made(4096, made[number], size).blocks);
            assert_int_equal(weight_of(&none, number, size).blocks, weight_made(4096, number, size).blocks);
            assert_int_equal(weight_of(&plain, number, size).blocks, 1);
        }
    }
    assert_int_equal(weight_number(&rule, UINT64_MAX), 6); /* modulo 2^64: a hostile file is no matter */
}

static void the_error_is_two_standard_deviations(void **state)
{
    (void)state;
    assert_int_equal(weight_error(524288, 524288), 2 * 524288);
    assert_int_equal(weight_error(10000, 1000000), 200000);
    assert_int_equal(weight_error(0, 1000000), 0);
    assert_int_equal(weight_error(524288, 0), 0);
    assert_true(weight_error(UINT64_C(1) << 40, UINT64_MAX) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_counts_the_inverse_of_its_probability),
        cmocka_unit_test(blocks_are_rounded_so_that_sums_are_right),
        cmocka_unit_test(the_same_block_always_counts_the_same),
        cmocka_unit_test(without_sampling_a_block_is_a_block),
        cmocka_unit_test(a_block_behind_a_gap_counts_as_it_was_made),
        cmocka_unit_test(the_error_is_two_standard_deviations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
