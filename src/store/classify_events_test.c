/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * classify_events_test: lists of places against a look at each event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/classify_events.h"

enum { BEHIND = 16 /* bytes behind the ops that belong to somebody else */ };

static struct chunk_decoder_arrays arrays;
static uint8_t ops[WAKE_BLOCK_MAX + BEHIND];

static void check(uint32_t count)
{
    struct chunk_decoder r = {.arrays = &arrays, .prelude = {.first_allocation = 7}, .allocations = 5};
    uint32_t allocations = 0, frees = 0, others = 0;
    r.at[COLUMN_OP] = ops;
    classify_events_block(&r, count);
    for (uint32_t i = 0; i < count; i++) {
        unsigned code = ops[i] & OP_CODE;
        if (code == OP_RARE) {
            assert_int_equal(arrays.other_at[others++], i);
            continue;
        }
        bool is_free = code >= OP_FREE;
        if (r.block_others > 0)
            assert_int_equal(arrays.number[i], 12 + allocations);
        assert_int_equal(is_free ? arrays.free_at[frees++] : arrays.alloc_at[allocations++], i);
        assert_int_equal(arrays.event[i], is_free ? WAKE_FREE : WAKE_ALLOC);
        assert_int_equal(arrays.detail[i], is_free ? code - OP_FREE : code);
    }
    assert_int_equal(r.block_allocations, allocations);
    assert_int_equal(r.block_frees, frees);
    assert_int_equal(r.block_others, others);
    assert_false(r.bad);
}

/* Ops of any kind, rare ones among them with the chance of `rare` in 256. */
static void fill(unsigned rare)
{
    for (size_t i = 0; i < sizeof ops; i++) {
        unsigned is_free = (unsigned)rand() & 1, some = (unsigned)rand();
        ops[i] = (uint8_t)((is_free ? OP_FREE + some % 8 : 1 + some % OP_ALLOC_MAX) | (some & ~OP_CODE));
        if (some / 256 % 256 < rare)
            ops[i] = OP_RARE;
    }
}

static void finds_what_each_event_is(void **state)
{
    (void)state;
    classify_events_init(&arrays);
    for (uint32_t count = 1; count <= WAKE_BLOCK_MAX; count += count < 70 ? 1 : 331) {
        fill(0);
        check(count);
        fill(5);
        check(count);
    }
    fill(0);
    check(WAKE_BLOCK_MAX);
    memset(ops, OP_FREE, sizeof ops);
    check(WAKE_BLOCK_MAX);
    memset(ops, 1, sizeof ops);
    check(WAKE_BLOCK_MAX);
}

static void refuses_ops_that_do_not_exist(void **state)
{
    (void)state;
    struct chunk_decoder r = {.arrays = &arrays};
    r.at[COLUMN_OP] = ops;
    fill(0);
    ops[40] = OP_RARE + 1;
    classify_events_block(&r, 100);
    assert_true(r.bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_each_event_is),
        cmocka_unit_test(refuses_ops_that_do_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
