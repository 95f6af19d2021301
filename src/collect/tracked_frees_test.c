/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of passlist, changes and pools: what the collector keeps for control.
 */
#include "collect/tracked_frees.h"

#include "collect/changes.h"
#include "collect/pools.h"
#include "wire/segment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define FAR ((uint64_t)SEGMENT_PASS_BITS * 16) /* addresses this far apart share a bit */

static bool passes(const uint32_t *bits, uint64_t address)
{
    uint32_t bit = (uint32_t)(address / 16) & (SEGMENT_PASS_BITS - 1);
    return (bits[bit / 32] >> bit % 32 & 1) != 0;
}

static void add_block(struct blocks *blocks, uint64_t address)
{
    struct block *b = blocks_claim(blocks, address);
    assert_non_null(b);
    block_set(b, address, 100, 0, 0);
    blocks->count++;
}

static void test_live_blocks_pass_until_the_last_at_their_bit_is_gone(void **state)
{
    (void)state;
    struct blocks blocks;
    struct tracked_frees p = {0};
    uint32_t *bits = malloc(SEGMENT_PASS_SIZE);
    bits[7] = UINT32_MAX; /* left over from the time before */
    assert_true(blocks_init(&blocks));
    add_block(&blocks, 0x10000);
    add_block(&blocks, 0x10000 + FAR);
    add_block(&blocks, 0x20000);
    assert_true(tracked_frees_open(&p, bits, &blocks));
    assert_true(passes(bits, 0x10000) && passes(bits, 0x20000));
    assert_false(passes(bits, 0x30000));
    assert_int_equal(bits[7], 0);
    tracked_frees_remove(&p, 0x10000);
    assert_true(passes(bits, 0x10000 + FAR));
    tracked_frees_remove(&p, 0x10000 + FAR);
    assert_false(passes(bits, 0x10000));
    tracked_frees_remove(&p, 0x10000); /* was told twice: nothing to take away */
    tracked_frees_add(&p, 0x30000);
    assert_true(passes(bits, 0x30000) && passes(bits, 0x20000));
    tracked_frees_close(&p);
    blocks_release(&blocks);
    free(bits);
}

static void test_a_bit_of_too_many_blocks_stays(void **state)
{
    (void)state;
    struct blocks blocks;
    struct tracked_frees p = {0};
    uint32_t *bits = malloc(SEGMENT_PASS_SIZE);
    assert_true(blocks_init(&blocks));
    assert_true(tracked_frees_open(&p, bits, &blocks));
    for (uint32_t i = 0; i < UINT16_MAX; i++)
        tracked_frees_add(&p, 0x40000);
    for (uint32_t i = 0; i < UINT16_MAX; i++)
        tracked_frees_remove(&p, 0x40000);
    assert_true(passes(bits, 0x40000));
    tracked_frees_close(&p);
    blocks_release(&blocks);
    free(bits);
}

static void test_changes_add_up_to_what_is_live(void **state)
{
    (void)state;
    struct totals t;
    struct changes c = {0};
    struct changes_answer a;
    assert_true(totals_init(&t, 0) && totals_reserve(&t, 2));
    totals_alloc(&t, 1, 1, 100, 0, 0);
    totals_alloc(&t, 2, 1, 50, 0, 1);
    assert_true(changes_take(&c, &t, &a));
    assert_int_equal(a.list.count, 2);
    assert_int_equal(a.bytes, 150);
    vec_release(&a.list);

    totals_free(&t, 1, 1, 100, 0, false);
    totals_alloc(&t, 2, 1, 7, 0, 2);
    assert_true(changes_take(&c, &t, &a));
    assert_int_equal(a.list.count, 2);
    assert_int_equal(a.list.data[0].bytes, -100);
    assert_int_equal(a.list.data[0].blocks, -1);
    assert_int_equal(a.list.data[1].bytes, 7);
    assert_int_equal(a.bytes, -93);
    assert_int_equal(a.live_bytes, 57);
    vec_release(&a.list);

    assert_true(changes_take(&c, &t, &a));
    assert_int_equal(a.list.count, 0);
    vec_release(&a.list);
    changes_release(&c);
    totals_release(&t);
}

static void test_pools_have_addresses_of_their_own(void **state)
{
    (void)state;
    struct pools p;
    struct pools_block block = {10, 1}, other = {20, 2}, got;
    pools_init(&p);
    assert_true(pools_add(&p, 1, 0x1000, &block));
    assert_false(pools_add(&p, 1, 0x1000, &other)); /* live already */
    assert_true(pools_add(&p, 2, 0x1000, &other));
    assert_false(pools_add(&p, 1, UINT64_C(1) << 48, &block));
    assert_false(pools_take(&p, 3, 0x1000, &got));
    assert_true(pools_take(&p, 1, 0x1000, &got));
    assert_int_equal(got.size, 10);
    assert_false(pools_take(&p, 1, 0x1000, &got));
    assert_true(pools_add(&p, 1, 0x1000, &other));
    assert_int_equal(p.blocks.count, 2); /* its place was used again */
    assert_true(pools_take(&p, 2, 0x1000, &got));
    assert_int_equal(got.stack, 2);
    pools_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_blocks_pass_until_the_last_at_their_bit_is_gone),
        cmocka_unit_test(test_a_bit_of_too_many_blocks_stays),
        cmocka_unit_test(test_changes_add_up_to_what_is_live),
        cmocka_unit_test(test_pools_have_addresses_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
