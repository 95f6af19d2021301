/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "base/varint.h"

static void every_length_comes_back(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (int step = -2; step <= 2; step++) {
            uint64_t value = (bits == 64 ? 0 : UINT64_C(1) << bits) + (uint64_t)(int64_t)step, back;
            uint8_t bytes[VARINT_MAX];
            uint8_t *end = varint_put(bytes, value);
            assert_true(end - bytes == 1 || end[-1] != 0); /* none shorter */
            assert_ptr_equal(varint_get(bytes, end, &back), end);
            assert_true(back == value);
            assert_null(varint_get(bytes, end - 1, &back));
            struct cursor c;
            cursor_init(&c, bytes, (size_t)(end - bytes));
            assert_true(cursor_uleb(&c) == value);
            assert_false(cursor_is_bad(&c));
        }
    }
}

static void zigzag_gives_small_numbers_to_small_differences(void **state)
{
    (void)state;
    static const int64_t values[] = {0, -1, 1, -2, 2, INT64_MAX, INT64_MIN};
    static const uint64_t codes[] = {0, 1, 2, 3, 4, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < 7; i++) {
        assert_true(varint_zigzag((uint64_t)values[i]) == codes[i]);
        assert_true(varint_unzigzag(codes[i]) == (uint64_t)values[i]);
    }
}

static void what_is_too_long_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[12];
    uint64_t value;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0xff;
    assert_null(varint_get(bytes, bytes + sizeof bytes, &value));
    bytes[9] = 2; /* a 65th bit */
    assert_null(varint_get(bytes, bytes + sizeof bytes, &value));
    bytes[9] = 1;
    assert_ptr_equal(varint_get(bytes, bytes + sizeof bytes, &value), bytes + 10);
    assert_true(value == UINT64_MAX);
    assert_null(varint_get(bytes, bytes, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_comes_back),
        cmocka_unit_test(zigzag_gives_small_numbers_to_small_differences),
        cmocka_unit_test(what_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
