/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "symbol/span.h"

static void the_innermost_is_found(void **state)
{
    (void)state;
    struct spans s = {0};
    assert_true(spans_add(&s, 130, 140, 3));
    assert_true(spans_add(&s, 100, 200, 0));
    assert_true(spans_add(&s, 160, 180, 2));
    assert_true(spans_add(&s, 120, 150, 1));
    assert_true(spans_add(&s, 120, 150, 4)); /* same range, further in */
    spans_seal(&s);
    assert_int_equal(SPAN_NONE, spans_find(&s, 99));
    assert_int_equal(0, spans_find(&s, 100));
    assert_int_equal(4, spans_find(&s, 120));
    assert_int_equal(3, spans_find(&s, 139));
    assert_int_equal(4, spans_find(&s, 140));
    assert_int_equal(0, spans_find(&s, 150));
    assert_int_equal(2, spans_find(&s, 179));
    assert_int_equal(0, spans_find(&s, 199));
    assert_int_equal(SPAN_NONE, spans_find(&s, 200));
    spans_release(&s);
}

static void empty_spans_hold_nothing(void **state)
{
    (void)state;
    struct spans s = {0};
    spans_seal(&s);
    assert_int_equal(SPAN_NONE, spans_find(&s, 0));
    assert_true(spans_add(&s, 7, 7, 1));
    assert_true(spans_add(&s, 9, 8, 2));
    spans_seal(&s);
    assert_int_equal(SPAN_NONE, spans_find(&s, 7));
    spans_release(&s);
}

/* Ranges as they come: what is found is the latest to begin of those that hold the address. */
static void agrees_with_a_search_through_all(void **state)
{
    (void)state;
    srand(5);
    for (int round = 0; round < 200; round++) {
        struct spans s = {0};
        uint64_t low[40], high[40];
        for (uint32_t i = 0; i < 40; i++) {
            low[i] = (uint64_t)rand() % 1000;
            high[i] = low[i] + 1 + (uint64_t)rand() % 100;
            assert_true(spans_add(&s, low[i], high[i], i));
        }
        spans_seal(&s);
        for (uint64_t at = 0; at < 1100; at++) {
            uint32_t best = SPAN_NONE;
            for (uint32_t i = 0; i < 40; i++)
                if (low[i] <= at && at < high[i] &&
                    (best == SPAN_NONE || low[i] > low[best] ||
                     (low[i] == low[best] && high[i] <= high[best])))
                    best = i;
            assert_int_equal(best, spans_find(&s, at));
        }
        spans_release(&s);
    }
}

static void endless_nesting_stays_quick(void **state)
{
    (void)state;
    struct spans s = {0};
    const uint32_t count = 200000;
    for (uint32_t i = 0; i < count; i++)
        assert_true(spans_add(&s, i, 10000000 - i, i));
    spans_seal(&s);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(0, spans_find(&s, 9999999));
    spans_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_is_found),
        cmocka_unit_test(empty_spans_hold_nothing),
        cmocka_unit_test(agrees_with_a_search_through_all),
        cmocka_unit_test(endless_nesting_stays_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
