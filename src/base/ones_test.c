/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ones_test: every byte, by a look at each of its bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/ones.h"

static void the_ones_of_every_byte_are_listed_in_their_order(void **state)
{
    static struct ones ones;
    (void)state;
    ones_init(&ones);
    for (unsigned byte = 0; byte < 256; byte++) {
        uint16_t list[ONES_EIGHT];
        unsigned found = 0;
        ones_note(&ones, list, byte, 4000);
        for (unsigned bit = 0; bit < ONES_EIGHT; bit++)
            if ((byte >> bit & 1) != 0)
                assert_int_equal(list[found++], 4000 + bit);
        assert_int_equal(ones.counts[byte], found);
    }
}

static void flags_are_gathered_lowest_first(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint64_t eight = 0;
        for (unsigned bit = 0; bit < ONES_EIGHT; bit++)
            eight |= (uint64_t)(byte >> bit & 1) << 8 * bit;
        assert_int_equal(ones_gather(eight), byte);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ones_of_every_byte_are_listed_in_their_order),
        cmocka_unit_test(flags_are_gathered_lowest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
