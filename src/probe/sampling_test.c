/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of sampling: how often blocks are taken. Five standard deviations: these
 * tests fail by chance less than once in a million runs.
 */
#include "probe/sampling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TRIES = 1000000 };

static void expect_share(uint64_t rate, size_t size, double chance)
{
    double taken = 0, expected = chance * TRIES, variance = expected * (1 - chance);
    sampling_rate = rate;
    tls_sampling = (struct sampling_thread){0};
    for (int i = 0; i < TRIES; i++)
        taken += sampling_takes(size);
    assert_true((taken - expected) * (taken - expected) <= 25 * variance + 1);
}

static void a_block_is_taken_by_its_size(void **state)
{
    (void)state;
    expect_share(524288, 524288, 0.6321205588); /* 1 - exp(-size / rate) */
    expect_share(524288, 65536, 0.1175030974);
    expect_share(524288, 1000, 0.0019055276);
    expect_share(4096, 100, 0.0241184270);
    expect_share(UINT64_C(1) << 40, UINT64_C(1) << 39, 0.3934693403);
    expect_share(1, 64, 1);
    expect_share(524288, SIZE_MAX, 1);
}

static void sizes_that_mix_do_not_disturb_each_other(void **state)
{
    double small = 0, large = 0;
    (void)state;
    sampling_rate = 10000;
    tls_sampling = (struct sampling_thread){0};
    for (int i = 0; i < TRIES; i++) {
        small += sampling_takes(100);
        large += sampling_takes(20000);
    }
    double chance = 0.0099501663, expected = chance * TRIES;
    assert_true((small - expected) * (small - expected) <= 25 * expected);
    chance = 0.8646647168, expected = chance * TRIES;
    assert_true((large - expected) * (large - expected) <= 25 * expected * (1 - chance));
}

/* As the hook of malloc asks: before the call, and again after it if it may be one. */
static void calls_that_fail_do_not_disturb_the_others(void **state)
{
    double taken = 0;
    (void)state;
    sampling_rate = 10000;
    tls_sampling = (struct sampling_thread){0};
    for (int i = 0; i < TRIES; i++) {
        taken += !sampling_passes(100) && sampling_takes(100);
        if (!sampling_passes(5000))
            sampling_forget();
    }
    double expected = 0.0099501663 * TRIES;
    assert_true((taken - expected) * (taken - expected) <= 25 * expected);
}

/* The way of malloc: most blocks go by at once, and those of no bytes are asked about again. */
static void going_by_at_once_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        double chance;
    } cases[] = {{100, 0.0099501663}, {0, 0.0000999950}, {1, 0.0000999950}};
    sampling_rate = 10000;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        double taken = 0, expected = cases[n].chance * TRIES;
        tls_sampling = (struct sampling_thread){0};
        for (int i = 0; i < TRIES; i++)
            taken += !sampling_passes_at_once(sampling_place_of_left(), cases[n].size) &&
                     sampling_takes(cases[n].size);
        assert_true((taken - expected) * (taken - expected) <= 25 * expected);
    }
}

static void a_block_that_was_not_marked_is_known_not_to_be(void **state)
{
    static struct filter filter;
    (void)state;
    share.filter = &filter;
    char blocks[64] = {0};
    assert_false(sampling_may_have(blocks));
    sampling_mark(blocks);
    assert_true(sampling_may_have(blocks));
    assert_false(sampling_may_have(blocks + 32));
    sampling_take(blocks);
    assert_false(sampling_may_have(blocks));
    sampling_put_back(blocks);
    assert_true(sampling_may_have(blocks));
    share.filter = NULL;
    assert_false(sampling_may_have(blocks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_taken_by_its_size),
        cmocka_unit_test(sizes_that_mix_do_not_disturb_each_other),
        cmocka_unit_test(calls_that_fail_do_not_disturb_the_others),
        cmocka_unit_test(going_by_at_once_changes_nothing),
        cmocka_unit_test(a_block_that_was_not_marked_is_known_not_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
