/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/frames.h"
#include "symbol/demangler.h"

static void expect(const char *function, const char *shown)
{
    struct frame f = {.function = function, .linkage = "", .file = "", .module = ""};
    struct strbuf name;
    strbuf_init(&name);
    frames_add_name(&name, &f);
    assert_string_equal(shown, strbuf_get(&name));
    strbuf_release(&name);
}

/* As rustc writes it into a file: by both of its schemes, with what LLVM puts behind. */
static void expect_mangled(const char *linkage, const char *shown)
{
    struct strbuf function;
    strbuf_init(&function);
    assert_true(demangle(&function, linkage));
    expect(strbuf_get(&function), shown);
    strbuf_release(&function);
}

static void names_of_rust_keep_their_paths_and_lose_hashes(void **state)
{
    (void)state;
    expect_mangled("_ZN4shop4shop4show28_$u7b$$u7b$closure$u7d$$u7d$17hc4163c73df69d927E",
                   "shop::shop::show::{closure}");
    expect_mangled(
        "_ZN4shop4shop5outer28_$u7b$$u7b$closure$u7d$$u7d$17h134baaa59f739925E.llvm.12345678901234",
        "shop::shop::outer::{closure}");
    expect_mangled("_RNCNvNtCsbxQjNsTKZZh_4shop4shop5outer0B5_", "shop::shop::outer::{closure}");
    expect_mangled("_RNvCsbxQjNsTKZZh_4shop4main.llvm.99", "shop::main");
    expect_mangled(
        "_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace28___rust_begin_short_backtraceFEuuECsbxQjNsTKZZh_4shop",
        "std::sys::backtrace::__rust_begin_short_backtrace::<>");
    expect("shop::show::{async_fn#0}", "shop::show::{async_fn}");
    expect("<shop::Till<u32>>::count::{closure#0}::{async_block#12}",
           "shop::Till<>::count::{closure}::{async_block}");
    expect("alloc::alloc::{impl#1}::allocate", "alloc::alloc::{impl}::allocate");
    expect("{async_fn#0}", "{async_fn}");
}

static void lambdas_of_cpp_stay_as_they_are(void **state)
{
    (void)state;
    expect("f(int)::{lambda(int)#1}::operator()(int) const", "f::{lambda(int)#1}::operator()");
    expect("f()::{unnamed type#2}::get()", "f::{unnamed type#2}::get");
    expect("f::{closure#", "f::{closure#");
    expect("f::{closure#0", "f::{closure#0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_rust_keep_their_paths_and_lose_hashes),
        cmocka_unit_test(lambdas_of_cpp_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
