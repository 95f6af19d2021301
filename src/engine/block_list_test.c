/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of listing: what a line may be, and what is said of one that is nothing.
 */
#include "engine/block_list.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "listing-test-XXXXXX";

static int read_text(struct block_list **l, const char *text, struct err *err)
{
    char name[sizeof path];
    memcpy(name, path, sizeof name);
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    err_init(err);
    int code = block_list_read(l, name, err);
    unlink(name);
    return code;
}

static void expect(const struct block_list *l, uint32_t process, const uint64_t *numbers, size_t count)
{
    const uint64_t *at = block_list_blocks(l, process);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(at[i], numbers[i]);
    assert_true(at[count] == UINT64_MAX);
}

static void numbers_in_any_order(void **state)
{
    struct block_list *l;
    struct err err;
    (void)state;
    assert_int_equal(read_text(&l, "0|7\n1 3\n0\t2\r\n\n# a remark | 5\n0,18446744073709551614\n1, 3", &err),
                     0);
    expect(l, 0, (const uint64_t[]){2, 7, UINT64_MAX - 1}, 3);
    expect(l, 1, (const uint64_t[]){3, 3}, 2);
    expect(l, 2, NULL, 0);
    assert_int_equal(block_list_check(l, 2, &err), 0);
    assert_int_equal(block_list_check(l, 1, &err), ERR_INPUT);
    block_list_free(l);
}

static void names_of_columns(void **state)
{
    struct block_list *l;
    struct err err;
    (void)state;
    assert_int_equal(read_text(&l, "process|number\n0|7\n", &err), 0);
    expect(l, 0, (const uint64_t[]){7}, 1);
    block_list_free(l);
    assert_int_equal(read_text(&l, "0|7\nprocess|number\n", &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "Line 2 of"));
}

static void one_process(void **state)
{
    struct block_list *l;
    struct err err;
    (void)state;
    assert_int_equal(read_text(&l, "# one process\n9\n4\n", &err), 0);
    expect(l, 0, (const uint64_t[]){4, 9}, 2);
    assert_int_equal(block_list_check(l, 1, &err), 0);
    assert_int_equal(block_list_check(l, 3, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "Line 2 of"));
    block_list_free(l);
    assert_int_equal(read_text(&l, "", &err), 0);
    expect(l, 0, NULL, 0);
    assert_int_equal(block_list_check(l, 0, &err), 0);
    block_list_free(l);
}

static void what_is_no_block(void **state)
{
    static const char *const texts[] = {"1 2 3\n",
                                        "1\n-2\n",
                                        "0 1.5\n",
                                        "0|18446744073709551615\n",
                                        "0|99999999999999999999\n",
                                        "4294967296 1\n",
                                        "0 1 x\n",
                                        "1\nx\n",
                                        "0x10\n"};
    struct block_list *l;
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(read_text(&l, texts[i], &err), ERR_INPUT);
        assert_non_null(strstr(err.text, "is not a block"));
        assert_null(l);
    }
}

static void what_is_no_file(void **state)
{
    struct block_list *l;
    struct err err;
    (void)state;
    err_init(&err);
    assert_int_equal(block_list_read(&l, "there/is/none", &err), ERR_ABSENT);
    assert_non_null(strstr(err.text, "there/is/none"));
    err_init(&err);
    assert_int_not_equal(block_list_read(&l, ".", &err), 0);
    assert_null(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_any_order), cmocka_unit_test(names_of_columns),
        cmocka_unit_test(one_process),          cmocka_unit_test(what_is_no_block),
        cmocka_unit_test(what_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
