/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sorted_test: every key in lists of every length, against a count one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/sorted.h"

enum { LONGEST = 40 };

struct element {
    uint32_t other;
    uint64_t start;
    uint8_t last;
};

/* Repeats, gaps, and both ends of what a number can be. */
static uint64_t number(size_t i, size_t length)
{
    return i + 1 == length && length % 2 == 0 ? UINT64_MAX : i / 3 * 2;
}

static void the_count_is_that_of_a_look_at_each(void **state)
{
    (void)state;
    for (size_t length = 0; length <= LONGEST; length++) {
        uint64_t list[LONGEST];
        struct element elements[LONGEST];
        for (size_t i = 0; i < length; i++) {
            list[i] = number(i, length);
            elements[i] = (struct element){.other = UINT32_MAX, .start = list[i], .last = 255};
        }
        for (uint64_t k = 0; k <= LONGEST + 1; k++) {
            const uint64_t key = k == LONGEST + 1 ? UINT64_MAX : k;
            size_t below = 0, up_to = 0;
            for (size_t i = 0; i < length; i++) {
                below += list[i] < key;
                up_to += list[i] <= key;
            }
            assert_int_equal(sorted_below(list, length, key), below);
            assert_int_equal(sorted_up_to(list, length, key), up_to);
            assert_int_equal(sorted_below_by(elements, length, key, start), below);
            assert_int_equal(sorted_up_to_by(elements, length, key, start), up_to);
        }
    }
}

static void nothing_is_in_no_list(void **state)
{
    const struct element none[1] = {{0}};
    (void)state;
    assert_int_equal(sorted_up_to(NULL, 0, 5), 0);
    assert_int_equal(sorted_below_by(none, 0, 5, start), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_count_is_that_of_a_look_at_each),
        cmocka_unit_test(nothing_is_in_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
