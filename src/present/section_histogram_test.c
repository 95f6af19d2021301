/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of section_histogram: what lives without length are called.
 */
#include "present/section_histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void lives_without_length_are_shorter_than_the_others(void **state)
{
    struct query_histogram h = {.blocks = {[0] = 4}, .bytes = {[0] = 64}};
    struct strbuf out;
    struct page page = {&out, 80, false, false};
    (void)state;
    strbuf_init(&out);
    section_histogram_text(&page, HISTOGRAM_LIFETIMES, &h);
    assert_string_equal(strbuf_get(&out), "Lifetimes of freed blocks\n"
                                          "        from  blocks     bytes  \n"
                                          "  under 1 us       4  64 bytes  ##############################\n");
    strbuf_clear(&out);
    h.blocks[10] = 2;
    h.bytes[10] = 32;
    section_histogram_text(&page, HISTOGRAM_LIFETIMES, &h);
    assert_string_equal(strbuf_get(&out), "Lifetimes of freed blocks\n"
                                          "          from  blocks     bytes  \n"
                                          "  under 512 ns       4  64 bytes  ##############################\n"
                                          "        512 ns       2  32 bytes  ###############\n");
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_without_length_are_shorter_than_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
