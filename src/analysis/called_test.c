/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of called.
 */
#include "analysis/called.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
static void functions_are_known_by_parts_of_their_names(void **state)
{
    (void)state;
    struct frame f = {
        .function = "void a::b<int>::c(char) const", .linkage = "_ZN1a", .file = "", .module = ""};
    assert_true(called_matches(&f, "c"));
    assert_true(called_matches(&f, "b<int>::c"));
    assert_true(called_matches(&f, "void a::b<int>::c(char) const"));
    assert_true(called_matches(&f, "_ZN1a"));
    assert_false(called_matches(&f, "b"));
    assert_false(called_matches(&f, ""));
    f.function = "n::f(int)::local::get(int)";
    assert_true(called_matches(&f, "get"));
    assert_true(called_matches(&f, "n::f::local::get"));
    assert_false(called_matches(&f, "f"));
}

static void names_may_lack_template_arguments(void **state)
{
    static const struct {
        const char *function, *wanted;
        bool is_called;
    } cases[] = {
        {"double* make<double, 10>(int)", "make", true},
        {"double* make<double, 10>(int)", "make<>", true},
        {"double* make<double, 10>(int)", "make<double, 10>", true},
        {"double* make<double, 10>(int)", "make<double>", false},
        {"double* make<double, 10>(int)", "mak", false},
        {"double* make<double, 10>(int)", "double", false},
        {"void a::b<int>::c<e::f<g>>(char) const", "a::b::c", true},
        {"void a::b<int>::c<e::f<g>>(char) const", "b<>::c<>", true},
        {"void a::b<int>::c<e::f<g>>(char) const", "b<>::c", true},
        {"void a::b<int>::c<e::f<g>>(char) const", "b", false},
        {"void a::b<int>::c<e::f<g>>(char) const", "f", false},
        {"a<void () const>::b<&c::operator->>::d()", "a::b::d", true},
        {"bool n::operator<(n::t<int>, n::t<int>)", "operator<", true},
        {"bool n::operator<(n::t<int>, n::t<int>)", "operator", false},
        {"s& n::operator<< <int>(s&, int)", "n::operator<< <>", true},
        {"s& n::operator<< <int>(s&, int)", "n::operator<<", true},
        {"s& n::operator<< <int>(s&, int)", "operator<<", true},
        {"s& n::operator<< <int>(s&, int)", "operator<", false},
        {"bool n::operator< <int>(s&, int)", "operator<", true},
        {"bool n::operator< <int>(s&, int)", "n::operator< <>", true},
        {"bool n::operator< <int>(s&, int)", "operator<<", false},
        {"n::t<int>::operator t<char>() const", "n::t::operator t<char>", true},
        {"n::f<int>(int)::{lambda(int)#1}::operator()(int) const", "n::f<>::{lambda(int)#1}::operator()",
         true},
        {"n::(anonymous namespace)::t<int>::f()", "n::t::f", true},
        {"n::(anonymous namespace)::t<int>::f()", "(anonymous namespace)::t<>::f", true},
        {"void* f<a::operator>(a)::{lambda()#1}>(a::operator>(a)::{lambda()#1})", "f", true},
        {"<a::b<c> as d::e>::f", "f", true},
        {"<a::b<c> as d::e>::f", "<a::b<> as e>::f", true},
        {"<a::b<c> as d::e>::f", "<a::b as d::e>::f", true},
        {"<a::b<c> as d::e>::f", "a::b::f", true},
        {"<a::b<c> as d::e>::f", "b<>::f", true},
        {"<a::b<c> as d::e>::f", "e::f", false},
        {"<a::b<c> as d::e>::f", "<a::b<> as d>::f", false},
        {"<a::b<c>>::f::<g>", "a::b<>::f::<>", true},
        {"a::f::<b>", "f", true},
        {"a::f::<b>::{closure#0}", "a::f::<>::{closure#0}", true},
        {"shop::show::{async_fn#0}", "show::{async_fn}", true},
        {"shop::show::{{closure}}", "shop::show::{closure}", true},
        {"shop::show::{{closure}}", "shop::show::{{closure}}", true},
        {"shop::show::{closure#0}::{closure#1}", "show::{closure}::{closure#1}", true},
        {"shop::show::{closure#0}", "show::{async_fn}", false},
        {"shop::show::{closure#0}", "show::{closure", false},
        {"a<b", "a", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame f = {.function = cases[i].function, .linkage = "", .file = "", .module = ""};
        if (called_matches(&f, cases[i].wanted) != cases[i].is_called)
            fail_msg("%s: %s", cases[i].function, cases[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_known_by_parts_of_their_names),
        cmocka_unit_test(names_may_lack_template_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
