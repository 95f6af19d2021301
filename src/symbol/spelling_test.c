/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbol/spelling.h"

static void expect(const char *function, const char *own, const char *spelt)
{
    struct strbuf text;
    strbuf_init(&text);
    assert_int_equal(spelt != NULL, spelling_add_async(&text, function, own));
    assert_string_equal(spelt != NULL ? spelt : "", strbuf_get(&text));
    strbuf_release(&text);
}

/* The names in a program of rustc 1.95: of the linker, and of the entry. */
static void bodies_of_async_functions_are_called_so(void **state)
{
    (void)state;
    expect("shop::shop::show::{closure#0}", "{async_fn#0}", "shop::shop::show::{async_fn#0}");
    expect("shop::shop::show::{{closure}}", "{async_fn#0}", "shop::shop::show::{async_fn#0}");
    expect("shop::f::{closure#3}", "{async_block#1}<u8>", "shop::f::{async_block#1}");
    expect("shop::f::{closure#0}", "{closure#0}", NULL);
    expect("shop::f", "{async_fn#0}", NULL);
    expect("shop::f::{closure#0}", "{async_fn#0", NULL);
    expect("", "{async_fn#0}", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bodies_of_async_functions_are_called_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
