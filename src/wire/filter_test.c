/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of filter: whatever happens in whatever order, the release of a sample is told, and once everything has
 * gone by nothing is.
 */
#include "wire/filter.h"

#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 24, STEPS = 200000 };

static struct filter table, *const filter = &table;

static int clear(void **state)
{
    (void)state;
    memset(filter, 0, sizeof *filter);
    return 0;
}

static uint64_t word_of(uint64_t address)
{
    return filter->words[filter_slot(address)];
}

static void one_sample_is_told_from_its_neighbours(void **state)
{
    const uint64_t block = 0x7f1234567010;
    (void)state;
    assert_false(filter_is_used(filter, block));
    filter_add(filter, block);
    assert_true(filter_is_used(filter, block + 16));
    assert_false(filter_is_used(filter, block + FILTER_GROUP * 256));
    assert_true(filter_has(filter, block));
    assert_false(filter_has(filter, block + 16));
    /* Far away, and the same word. */
    uint64_t other = block + (1u << 24);
    assert_int_equal(filter_slot(block), filter_slot(other));
    assert_false(filter_has(filter, other));
    filter_take(filter, other);
    assert_true(filter_has(filter, block));
    filter_take(filter, block);
    assert_false(filter_is_used(filter, block));
    assert_int_equal(filter_count(word_of(block)), 1);
    filter_drop(filter, block);
    assert_int_equal(word_of(block), 0);
}

/* Whatever else an address has: tags, or bits of a larger space. */
static void bits_above_do_not_reach_the_count(void **state)
{
    const uint64_t block = 0xb4007f1234567010;
    (void)state;
    filter_add(filter, block);
    assert_true(filter_has(filter, block));
    assert_int_equal(filter_count(word_of(block)), 1);
    filter_take(filter, block);
    filter_drop(filter, block);
    assert_int_equal(word_of(block), 0);
}

static void of_several_all_are_told_until_all_are_gone(void **state)
{
    const uint64_t block = 0x555500001000;
    (void)state;
    filter_add(filter, block);
    filter_add(filter, block + 32);
    assert_true(filter_has(filter, block + 64));
    filter_take(filter, block);
    filter_drop(filter, block);
    assert_true(filter_has(filter, block + 32));
    filter_take(filter, block + 32);
    filter_drop(filter, block + 32);
    assert_int_equal(word_of(block), 0);
}

static void an_address_that_is_used_again_is_not_told_in_vain(void **state)
{
    const uint64_t block = 0x555500001000;
    (void)state;
    filter_add(filter, block);
    filter_take(filter, block);
    assert_false(filter_has(filter, block)); /* the next block there, which is no sample */
    filter_add(filter, block);               /* the one after that is */
    assert_true(filter_has(filter, block));
    filter_drop(filter, block); /* the first, late */
    assert_true(filter_has(filter, block));
    filter_take(filter, block);
    filter_drop(filter, block);
    assert_int_equal(word_of(block), 0);
}

static void a_failed_realloc_leaves_all_as_it_was(void **state)
{
    const uint64_t block = 0x555500001000;
    (void)state;
    filter_add(filter, block);
    filter_take(filter, block);
    filter_name(filter, block, false);
    assert_true(filter_has(filter, block));
    assert_int_equal(filter_count(word_of(block)), 1);
    filter_take(filter, block);
    filter_add(filter, block + 32);
    filter_name(filter, block, false);
    assert_true(filter_has(filter, block) && filter_has(filter, block + 32));
}

static void a_full_count_stays(void **state)
{
    const uint64_t block = 0x555500001000;
    (void)state;
    for (int i = 0; i < FILTER_FULL + 5; i++)
        filter_add(filter, block);
    for (int i = 0; i < FILTER_FULL + 5; i++)
        filter_drop(filter, block);
    assert_int_equal(filter_count(word_of(block)), FILTER_FULL);
    assert_true(filter_has(filter, block));
    filter_drop(filter, block + 0x10000); /* of none */
    assert_int_equal(word_of(block + 0x10000), 0);
}

/* A place that is no sample, but is to be looked at. */
static void a_warning_stays_and_names_no_block(void **state)
{
    const uint64_t place = 0x555500001000;
    (void)state;
    filter_warn(filter, place);
    filter_warn(filter, place);
    assert_true(filter_is_used(filter, place) && filter_is_used(filter, place + 48));
    assert_false(filter_has(filter, place) || filter_has(filter, place + 48));
    filter_add(filter, place + 48);
    assert_true(filter_has(filter, place + 48));
    filter_take(filter, place + 48);
    filter_drop(filter, place + 48);
    assert_true(filter_is_used(filter, place));
    /* Where samples are already. */
    filter_add(filter, place + 0x100);
    filter_warn(filter, place + 0x100);
    assert_true(filter_has(filter, place + 0x100));
    filter_take(filter, place + 0x100);
    filter_drop(filter, place + 0x100);
    assert_true(filter_is_used(filter, place + 0x100));
}

/* Eight each in two words of a group and in one of another. */
static uint64_t place_of(unsigned n)
{
    return 0x7f0000000000 + n % 3 * (FILTER_GROUP / 2 * 256) + n / 3 * 16;
}

/* A few blocks in three words, made, released and seen by the collector at random. */
static void the_release_of_a_live_sample_is_always_told(void **state)
{
    bool is_live[BLOCKS] = {false};
    uint64_t seed = 1;
    unsigned late[BLOCKS] = {0}; /* releases that the collector has to apply */
    (void)state;
    for (int i = 0; i < STEPS; i++) {
        seed = hash_mix(seed + HASH_GOLDEN);
        unsigned n = (unsigned)(seed % BLOCKS);
        uint64_t address = place_of(n);
        switch (seed >> 32 & 3) {
        case 0:
            if (late[n] > 0) {
                late[n]--;
                filter_drop(filter, address);
            }
            break;
        case 1:
            if (!is_live[n])
                filter_add(filter, address);
            is_live[n] = true;
            break;
        default:
            if (is_live[n]) {
                filter_take(filter, address);
                late[n]++;
            }
            is_live[n] = false;
        }
        for (unsigned k = 0; k < BLOCKS; k++) {
            if (is_live[k])
                assert_true(filter_has(filter, place_of(k)) && filter_is_used(filter, place_of(k)));
        }
    }
    for (unsigned n = 0; n < BLOCKS; n++) {
        for (late[n] += is_live[n]; late[n] > 0; late[n]--)
            filter_drop(filter, place_of(n));
    }
    for (unsigned n = 0; n < FILTER_SLOTS; n++)
        assert_int_equal(filter->words[n], 0);
    for (unsigned n = 0; n < FILTER_SLOTS / FILTER_GROUP; n++)
        assert_int_equal(filter->groups[n], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_sample_is_told_from_its_neighbours, clear),
        cmocka_unit_test_setup(bits_above_do_not_reach_the_count, clear),
        cmocka_unit_test_setup(of_several_all_are_told_until_all_are_gone, clear),
        cmocka_unit_test_setup(an_address_that_is_used_again_is_not_told_in_vain, clear),
        cmocka_unit_test_setup(a_failed_realloc_leaves_all_as_it_was, clear),
        cmocka_unit_test_setup(a_full_count_stays, clear),
        cmocka_unit_test_setup(a_warning_stays_and_names_no_block, clear),
        cmocka_unit_test_setup(the_release_of_a_live_sample_is_always_told, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
