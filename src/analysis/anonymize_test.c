/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of veil: tokens are stable and apart, and what stays is what everybody has.
 */
#include "analysis/anonymize.h"

#include "analysis/role.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct frame frame_of(const char *function, const char *module)
{
    struct frame f = {.function = function, .linkage = "_Zmangled", .file = "/src/own.c", .module = module};
    f.role = (uint8_t)role_find(&f);
    return f;
}

static void the_same_name_is_the_same_token(void **state)
{
    struct anonymize a, b, other;
    (void)state;
    anonymize_init(&a, ANONYMIZE_FULL, 7);
    anonymize_init(&b, ANONYMIZE_FULL, 7);
    anonymize_init(&other, ANONYMIZE_FULL, 8);
    anonymize_text(&b, ANONYMIZE_FUNCTION, "something else first");
    const char *token = anonymize_text(&a, ANONYMIZE_FUNCTION, "secret");
    assert_string_equal(token, anonymize_text(&b, ANONYMIZE_FUNCTION, "secret"));
    assert_string_not_equal(token, anonymize_text(&a, ANONYMIZE_FUNCTION, "secret2"));
    assert_string_not_equal(token, anonymize_text(&other, ANONYMIZE_FUNCTION, "secret"));
    assert_null(strstr(token, "secret"));
    assert_string_equal("", anonymize_text(&a, ANONYMIZE_FILE, ""));
    anonymize_release(&a);
    anonymize_release(&b);
    anonymize_release(&other);
}

static void partial_keeps_what_everybody_has(void **state)
{
    struct anonymize v;
    (void)state;
    anonymize_init(&v, ANONYMIZE_PARTIAL, 7);
    struct frame library =
        frame_of("void std::vector<Secret, std::allocator<Secret> >::push_back(Secret const&)",
                 "/opt/somebody/bin/app");
    assert_true(anonymize_frame(&v, &library));
    assert_string_equal(library.function, "std::vector<...>::push_back");
    assert_string_equal(library.module, "app");
    assert_string_equal(library.file, "own.c");
    assert_string_equal(library.linkage, "");
    struct frame shift =
        frame_of("std::ostream& std::operator<< <char>(std::ostream&, Secret)", "libstdc++.so.6");
    assert_true(anonymize_frame(&v, &shift));
    assert_non_null(strstr(shift.function, "operator<<"));
    assert_null(strstr(shift.function, "Secret"));
    struct frame lambda = frame_of(
        "auto std::f<Secret>(Secret) const::{lambda(Secret (*)())#1}::operator()(Secret) const", "app");
    assert_true(anonymize_frame(&v, &lambda));
    assert_string_equal(lambda.function, "std::f<...>(...) const::{lambda(...)#1}::operator()");
    struct frame own = frame_of("secret", "/opt/somebody/bin/app");
    assert_true(anonymize_frame(&v, &own));
    assert_null(strstr(own.function, "secret"));
    assert_null(strstr(own.file, "own"));
    assert_string_equal(own.module, "app");
    anonymize_release(&v);
}

static void full_keeps_no_name(void **state)
{
    struct anonymize v;
    (void)state;
    anonymize_init(&v, ANONYMIZE_FULL, 7);
    struct frame f = frame_of("malloc", "/lib/libc.so.6");
    assert_true(anonymize_frame(&v, &f));
    assert_null(strstr(f.function, "malloc"));
    assert_null(strstr(f.module, "libc"));
    assert_int_equal(f.role, FRAME_ALLOCATOR);
    assert_int_equal(role_find(&f), FRAME_ALLOCATOR);
    struct frame library = frame_of("std::sort", "/opt/somebody/bin/app");
    assert_true(anonymize_frame(&v, &library));
    assert_null(strstr(library.function, "sort"));
    assert_int_equal(role_find(&library), FRAME_LIBRARY);
    struct frame own = frame_of("library_of_mine", "/opt/somebody/bin/app");
    assert_int_equal(own.role, FRAME_OWN);
    assert_true(anonymize_frame(&v, &own));
    assert_int_equal(role_find(&own), FRAME_OWN);
    anonymize_release(&v);
}

/* It may be the program's own. */
static void a_wrapper_has_no_file(void **state)
{
    struct anonymize v;
    (void)state;
    anonymize_init(&v, ANONYMIZE_PARTIAL, 7);
    struct frame f = frame_of("xmalloc", "/bin/app");
    assert_int_equal(f.role, FRAME_LIBRARY);
    assert_true(anonymize_frame(&v, &f));
    assert_string_equal(f.function, "xmalloc");
    assert_null(strstr(f.file, "own"));
    anonymize_release(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_name_is_the_same_token),
        cmocka_unit_test(partial_keeps_what_everybody_has),
        cmocka_unit_test(a_wrapper_has_no_file),
        cmocka_unit_test(full_keeps_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
