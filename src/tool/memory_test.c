/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tool/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void copies_end_in_nul(void **state)
{
    (void)state;
    char *whole = memory_copy_text("wake"), *part = memory_copy_part("wake", 2),
         *more = memory_copy_part("wake", 9);
    assert_string_equal(whole, "wake");
    assert_string_equal(part, "wa");
    assert_string_equal(more, "wake");
    free(whole);
    free(part);
    free(more);
}

static void nothing_is_a_block_and_zeroes_are_zero(void **state)
{
    (void)state;
    void *none = memory_new(0), *zeroed = memory_new_zeroed(0, 8);
    char *block = memory_new_zeroed(4, 2);
    static const char zeroes[8];
    assert_non_null(none);
    assert_non_null(zeroed);
    assert_memory_equal(block, zeroes, 8);
    block = memory_resize(block, 100);
    assert_memory_equal(block, zeroes, 8);
    free(none);
    free(zeroed);
    free(block);
}

static void a_failure_is_remembered(void **state)
{
    (void)state;
    volatile size_t too_much = PTRDIFF_MAX;
    assert_false(memory_has_failed());
    void *none = memory_new_zeroed(too_much, 4);
    assert_null(none);
    assert_true(memory_has_failed());
    void *some = memory_new(8);
    assert_non_null(some);
    assert_true(memory_has_failed());
    free(some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_end_in_nul),
        cmocka_unit_test(nothing_is_a_block_and_zeroes_are_zero),
        cmocka_unit_test(a_failure_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
