/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/digits.h"

/* As printf writes it, and nothing behind it is touched. */
static void check(uint64_t number)
{
    char expected[32], seen[32];
    memset(seen, '#', sizeof seen);
    int length = snprintf(expected, sizeof expected, "%llu", (unsigned long long)number);
    assert_int_equal(digits_put(seen, number) - seen, length);
    assert_memory_equal(seen, expected, (size_t)length);
    assert_int_equal(seen[length], '#');
    memset(seen, '#', sizeof seen);
    length = snprintf(expected, sizeof expected, "%llx", (unsigned long long)number);
    assert_int_equal(digits_put_hex(seen, number) - seen, length);
    assert_memory_equal(seen, expected, (size_t)length);
    assert_int_equal(seen[length], '#');
}

static void numbers_around_every_power_are_as_printf_writes_them(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (int step = -2; step <= 2; step++)
            check((bits == 64 ? 0 : UINT64_C(1) << bits) + (uint64_t)(int64_t)step);
    }
    for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10) {
        for (int step = -2; step <= 2; step++)
            check(power + (uint64_t)(int64_t)step);
    }
}

static void small_numbers_are_as_printf_writes_them(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 12000; number++)
        check(number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_around_every_power_are_as_printf_writes_them),
        cmocka_unit_test(small_numbers_are_as_printf_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
