/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tool/strbuf.h"

static void text_gathers(void **state)
{
    (void)state;
    struct strbuf b;
    strbuf_init(&b);
    assert_string_equal(strbuf_get(&b), "");
    strbuf_add_text(&b, "one ");
    strbuf_add(&b, "two", 3);
    strbuf_add_char(&b, ' ');
    strbuf_addf(&b, "%d%s", 3, "!");
    assert_string_equal(strbuf_get(&b), "one two 3!");
    strbuf_cut(&b, 3);
    strbuf_cut(&b, 100);
    assert_string_equal(strbuf_get(&b), "one");
    strbuf_clear(&b);
    assert_string_equal(strbuf_get(&b), "");
    for (int i = 0; i < 10000; i++)
        strbuf_addf(&b, "%04d", i);
    assert_int_equal(b.length, 40000);
    assert_memory_equal(b.text + 39996, "9999", 5);
    strbuf_release(&b);
}

static void varints_are_added(void **state)
{
    (void)state;
    struct strbuf b;
    strbuf_init(&b);
    strbuf_add_varint(&b, 300);
    strbuf_add_varint(&b, 0);
    assert_int_equal(b.length, 3);
    assert_memory_equal(b.text, "\xac\x02\x00", 3);
    strbuf_release(&b);
}

static void the_text_can_be_taken_away(void **state)
{
    (void)state;
    struct strbuf b;
    strbuf_init(&b);
    char *empty = strbuf_detach(&b);
    assert_string_equal(empty, "");
    strbuf_add_text(&b, "mine");
    char *text = strbuf_detach(&b);
    assert_string_equal(text, "mine");
    assert_null(b.text);
    free(text);
    free(empty);
}

static void failure_sticks(void **state)
{
    (void)state;
    struct strbuf b;
    strbuf_init(&b);
    strbuf_add_text(&b, "kept");
    assert_null(strbuf_reserve(&b, SIZE_MAX - 2));
    assert_true(b.failed);
    strbuf_add_text(&b, "ignored");
    assert_string_equal(strbuf_get(&b), "kept");
    assert_null(strbuf_detach(&b));
    strbuf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_gathers),
        cmocka_unit_test(varints_are_added),
        cmocka_unit_test(the_text_can_be_taken_away),
        cmocka_unit_test(failure_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
