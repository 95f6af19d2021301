/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/demangler.h"

static void expect(const char *linkage, const char *meaning)
{
    struct strbuf b = {0};
    strbuf_add_text(&b, "before ");
    assert_int_equal(meaning != NULL, demangle(&b, linkage));
    assert_memory_equal("before ", strbuf_get(&b), 7);
    assert_string_equal(meaning != NULL ? meaning : "", strbuf_get(&b) + 7);
    strbuf_release(&b);
}

static void names_of_four_schemes_are_read(void **state)
{
    (void)state;
    expect("_ZN6wideft3addEi", "wideft::add(int)");
    expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
           "std::vector<int, std::allocator<int> >::push_back(int const&)");
    expect("_ZN12_GLOBAL__N_15twiceEi.part.0", "(anonymous namespace)::twice(int) [clone .part.0]");
    /* Rust, the older scheme and the newer one */
    expect("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str");
    expect("_RNvC6_123foo3bar", "123foo::bar");
    expect("_D8demangle4testFiZv", "demangle.test(int)");
}

static void other_names_are_left_alone(void **state)
{
    (void)state;
    expect("main", NULL);
    expect("", NULL);
    expect("_", NULL);
    expect("_Z", NULL);
    expect("_R", NULL);
    expect("_ZN6broken", NULL);
    expect("_Xunknown", NULL);
}

static char *repeated(const char *head, const char *part, size_t times, const char *tail)
{
    struct strbuf b = {0};
    strbuf_add_text(&b, head);
    for (size_t i = 0; i < times; i++)
        strbuf_add_text(&b, part);
    strbuf_add_text(&b, tail);
    return strbuf_detach(&b);
}

/* libiberty itself refuses names from 1 KiB on. */
static void long_names_are_read(void **state)
{
    (void)state;
    struct strbuf b = {0};
    char *name = repeated("_ZN", "20abcdefghijklmnopqrst", 500, "E");
    assert_true(demangle(&b, name));
    assert_int_equal(500 * 20 + 499 * strlen("::"), b.length);
    strbuf_release(&b);
    free(name);
}

static void deep_and_endless_names_are_refused(void **state)
{
    (void)state;
    char *deep = repeated("_Z1f", "P", 16000, "i");
    char *endless = repeated("_Z1f", "i", DEMANGLER_MAX, "");
    /* f(a<int>, c<a<int>, a<int>>, ...): each parameter is twice the one before it. */
    struct strbuf doubling = {0};
    strbuf_add_text(&doubling, "_Z1f1aIiE1cIS0_S0_E");
    for (const char *c = "23456789ABCDEFGHIJKLMNOPQRSTUVWXY"; *c != '\0'; c++)
        strbuf_addf(&doubling, "S1_IS%c_S%c_E", *c, *c);
    struct strbuf b = {0};
    (void)demangle(&b, deep); /* however deep: we come back */
    assert_true(b.length <= DEMANGLER_OUTPUT_MAX);
    expect(endless, NULL);
    expect(strbuf_get(&doubling), NULL);
    strbuf_release(&doubling);
    strbuf_release(&b);
    free(deep);
    free(endless);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_four_schemes_are_read),
        cmocka_unit_test(other_names_are_left_alone),
        cmocka_unit_test(long_names_are_read),
        cmocka_unit_test(deep_and_endless_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
