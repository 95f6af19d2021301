/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of name: patterns, and what a program may smuggle into them.
 */
#include "collect/name.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *expand(const char *pattern, const char *exe)
{
    static char text[512];
    struct name_facts facts = {exe, 42, 1700000000, "17.head/x", NULL};
    struct strbuf out;
    struct err err;
    strbuf_init(&out);
    err_init(&err);
    strcpy(text, name_expand(&out, pattern, &facts, &err) == 0 ? strbuf_get(&out) : "error");
    strbuf_release(&out);
    return text;
}

static void patterns_are_filled_in(void **state)
{
    (void)state;
    assert_string_equal(expand(NAME_DEFAULT, "/usr/bin/app"), "app.42.wake");
    assert_string_equal(expand("%%%e-%t.wake", "app"), "%app-1700000000.wake");
    assert_string_equal(expand("plain", "app"), "plain");
    assert_string_equal(expand("job%j.%r.wake", "app"), "job17.head_x.0.wake");
    assert_string_equal(expand("%e", ""), "program");
}

static void a_program_name_cannot_leave_the_folder(void **state)
{
    (void)state;
    assert_string_equal(expand("%e.wake", "/bin/.."), "_..wake");
    assert_string_equal(expand("%e.wake", "/bin/a\nb\033[31m"), "a_b_[31m.wake");
    char name[400];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_true(strlen(expand("%e.wake", name)) < 255);
}

static void n_is_the_smallest_free_number(void **state)
{
    (void)state;
    close(open("r.0", O_CREAT | O_WRONLY, 0600));
    close(open("r.1.partial", O_CREAT | O_WRONLY, 0600));
    assert_string_equal(expand("r.%n", "app"), "r.2");
    unlink("r.0");
    unlink("r.1.partial");
    assert_string_equal(expand("r.%n", "app"), "r.0");
}

static void nonsense_is_refused_with_a_sentence(void **state)
{
    static const char *const bad[] = {
        "", "%", "a%", "a%q", "folder/", "/no/such/folder/x.wake", "/etc/passwd/x"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err;
        err_init(&err);
        assert_true(name_check(bad[i], &err) < 0);
        assert_int_equal(err.text[strlen(err.text) - 1], '.');
    }
    assert_int_equal(name_check("x%e%p%t%n%h%%.wake", NULL), 0);
}

static void files_per_process_need_p_n_or_r(void **state)
{
    (void)state;
    assert_true(name_is_per_process("%e.%p.wake"));
    assert_true(name_is_per_process("%n"));
    assert_true(name_is_per_process("%j.%r"));
    assert_false(name_is_per_process("%j"));
    assert_false(name_is_per_process("%e.%t.wake"));
    assert_false(name_is_per_process("100%%p.wake"));
    assert_true(name_is_used_once("%r.%p.wake"));
    assert_false(name_is_used_once("%j.%r"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_filled_in),
        cmocka_unit_test(a_program_name_cannot_leave_the_folder),
        cmocka_unit_test(n_is_the_smallest_free_number),
        cmocka_unit_test(nonsense_is_refused_with_a_sentence),
        cmocka_unit_test(files_per_process_need_p_n_or_r),
    };
    char folder[] = "/tmp/heapwake-name-XXXXXX";
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (rmdir(folder) != 0);
}
