/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tool/err.h"

static void a_sentence_and_its_code_are_kept(void **state)
{
    (void)state;
    struct err err;
    err_init(&err);
    assert_string_equal(err.text, "");
    assert_int_equal(err.code, ERR_NONE);
    errno = EACCES;
    assert_int_equal(err_set(&err, ERR_INPUT, "%s has %d legs.", "A table", 3), ERR_INPUT);
    assert_string_equal(err.text, "A table has 3 legs.");
    assert_int_equal(err.code, ERR_INPUT);
    assert_int_equal(errno, EACCES);
}

static void no_memory_is_one_sentence(void **state)
{
    (void)state;
    struct err err;
    err_init(&err);
    assert_int_equal(err_no_memory(&err), ERR_MEMORY);
    assert_string_equal(err.text, "Out of memory.");
    assert_int_equal(err.code, ERR_MEMORY);
    assert_int_equal(err_no_memory(NULL), ERR_MEMORY);
}

static void nobody_need_listen(void **state)
{
    (void)state;
    err_init(NULL);
    assert_int_equal(err_set(NULL, ERR_IO, "unheard %d", 1), ERR_IO);
}

static void a_long_sentence_is_cut_between_characters(void **state)
{
    (void)state;
    struct err err;
    char text[1200];
    for (size_t i = 0; i < sizeof text - 2; i += 2)
        memcpy(text + i, "\xc3\xa4", 3);
    for (int shift = 0; shift < 2; shift++) {
        err_set(&err, ERR_INPUT, "%s", text + (shift == 0 ? 0 : 1));
        size_t length = strlen(err.text);
        assert_true(length < sizeof err.text);
        assert_string_equal(err.text + length - 3, "...");
        if (shift == 0)
            assert_int_equal((length - 3) % 2, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_and_its_code_are_kept),
        cmocka_unit_test(no_memory_is_one_sentence),
        cmocka_unit_test(nobody_need_listen),
        cmocka_unit_test(a_long_sentence_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
