/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of width, page, table and colour.
 */
#include "present/width.h"

#include "present/colour.h"
#include "present/page.h"
#include "present/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_short(const char *text, size_t columns, bool unicode, const char *expected)
{
    struct strbuf out;
    strbuf_init(&out);
    size_t used = width_add(&out, text, columns, unicode);
    assert_string_equal(strbuf_get(&out), expected);
    assert_int_equal(used, width_of(expected));
    assert_true(used <= columns);
    strbuf_release(&out);
}

static void characters_take_their_columns(void **state)
{
    (void)state;
    assert_int_equal(width_of("plain"), 5);
    assert_int_equal(width_of("Grüße"), 5);
    assert_int_equal(width_of("日本"), 4);
    assert_int_equal(width_of(""), 0);
    assert_int_equal(width_of("e\xcc\x81"), 1);
}

static void long_names_lose_their_middle(void **state)
{
    (void)state;
    expect_short("short", 5, true, "short");
    expect_short("namespace::Class::method", 10, true, "nam…method");
    expect_short("namespace::Class::method", 10, false, "na..method");
    expect_short("abc", 2, true, "…c");
    expect_short("abc", 1, true, "a");
    expect_short("abc", 0, true, "");
    expect_short("日本語の名前", 6, true, "…名前");
    expect_short("日本語の名前", 8, true, "日…名前");
}

typedef size_t shorten_fn(struct strbuf *out, const char *text, size_t columns, bool unicode);

static void expect_from(shorten_fn *shorten, const char *text, size_t columns, const char *expected)
{
    struct strbuf out;
    strbuf_init(&out);
    size_t used = shorten(&out, text, columns, true);
    assert_string_equal(strbuf_get(&out), expected);
    assert_int_equal(used, width_of(expected));
    assert_true(used <= columns);
    strbuf_release(&out);
}

static void expect_name(const char *name, size_t columns, const char *expected)
{
    expect_from(width_add_name, name, columns, expected);
}

static void expect_path(const char *path, size_t columns, const char *expected)
{
    expect_from(width_add_path, path, columns, expected);
}

static void names_lose_their_outer_scopes(void **state)
{
    (void)state;
    expect_name("a::b::c", 7, "a::b::c");
    expect_name("grep_searcher::line_buffer::LineBufferBuilder::build", 30, "…LineBufferBuilder::build");
    expect_name("acme::telemetry::Sink::registerIncomingMeasurement", 28, "…registerIncomingMeasurement");
    expect_name("acme::telemetry::Sink::registerIncomingMeasurement", 27, "registerIncomingMeasurement");
    expect_name("acme::telemetry::Sink::registerIncomingMeasurement", 13, "regi…surement");
    expect_name("<a::Deque as core::iter::Extend>::extend_from", 20, "…Deque::extend_from");
    expect_name("<a::Deque as core::iter::Extend>::extend_from", 18, "…extend_from");
    expect_name("<&mut json::de::Deserializer<> as Deserializer>::deserialize_seq", 33,
                "…Deserializer<>::deserialize_seq");
    expect_name("de::impls::<impl de::Deserialize for alloc::vec::Vec<>>::deserialize", 24,
                "…Vec<>::deserialize");
    expect_name("<de::<impl de::De for Vec<>>::visit::Visitor<> as Visitor>::visit_seq", 30,
                "…Visitor<>::visit_seq");
    expect_name("<a::run::{closure#0} as Fn>::call_once", 29, "…run::{closure#0}::call_once");
    expect_name("<dyn a::Fn<> + core::marker::Sync as FnOnce>::call_once", 20, "…Fn<>::call_once");
    expect_name("<fn() -> own::T as core::ops::FnOnce<>>::call_once", 20, "…call_once");
    expect_name("absl::string_view::operator std::basic_string<>", 42,
                "…string_view::operator std::basic_string<>");
    expect_name("absl::string_view::operator std::basic_string<>", 30, "string_vi… std::basic_string<>");
    expect_name("a::Map<>::insert(b::Key const&)", 24, "…insert(b::Key const&)");
    expect_name("core::ops::FnOnce::call_once::{{closure}}", 24, "…call_once::{{closure}}");
    expect_name("app::Compare::operator()", 20, "…Compare::operator()");
    expect_name("std::operator<<", 14, "std:…perator<<");
    expect_name("no_scopes_at_all", 10, "no_…at_all");
    expect_name("a::b", 0, "");
}

static void paths_lose_their_outer_folders(void **state)
{
    (void)state;
    expect_path("/lib/libc.so.6", 14, "/lib/libc.so.6");
    expect_path("/lib/x86_64-linux-gnu/libc.so.6", 30, "…/x86_64-linux-gnu/libc.so.6");
    expect_path("/lib/x86_64-linux-gnu/libc.so.6", 27, "…/libc.so.6");
    expect_path("/lib/x86_64-linux-gnu/libc.so.6", 11, "…/libc.so.6");
    expect_path("/lib/x86_64-linux-gnu/libc.so.6", 10, "libc.so.6");
    expect_path("/lib/x86_64-linux-gnu/libc.so.6", 8, "li….so.6");
    expect_path("/a/_json.cpython-311-x86_64-linux-gnu.so", 32, "_json.cpyt…1-x86_64-linux-gnu.so");
    expect_path("folder/日本/語", 9, "…/日本/語");
    expect_path("/libc.so.6", 9, "libc.so.6");
    expect_path("[heap of it all]", 9, "[h…t all]");
    expect_path("/a/", 0, "");
}

/* To measure anew what each scope leaves would take minutes. */
static void of_many_scopes_the_inner_ones_stay(void **state)
{
    enum { SCOPES = 200000 };
    char *name = malloc(6 * SCOPES + 4);
    (void)state;
    assert_non_null(name);
    for (size_t i = 0; i < SCOPES; i++)
        memcpy(name + 6 * i, "日a::", 6);
    strcpy(name + 6 * SCOPES, "end");
    expect_name(name, 15, "…日a::日a::end");
    free(name);
}

static void commands_lose_their_end(void **state)
{
    struct strbuf out;
    (void)state;
    strbuf_init(&out);
    assert_int_equal(width_add_begin(&out, "serve --port 80", 9, false), 9);
    assert_string_equal(strbuf_get(&out), "serve -..");
    strbuf_release(&out);
}

static void columns_line_up(void **state)
{
    struct strbuf out;
    struct page page = {&out, 20, false, false};
    struct table t;
    (void)state;
    strbuf_init(&out);
    table_init(&t, 3);
    static const char *const cells[] = {"bytes", "",  "name",           "1", "2.0 %", "main",
                                        "1,000", "x", "a_long_function"};
    for (size_t i = 0; i < 9; i++)
        table_add(&t, cells[i]);
    table_print(&t, &page);
    assert_string_equal(strbuf_get(&out), "  bytes         name\n"
                                          "      1  2.0 %  main\n"
                                          "  1,000      x  ..on\n");
    table_release(&t);
    strbuf_release(&out);
}

static void expect_wrapped(const char *text, const char *expected)
{
    struct strbuf out;
    strbuf_init(&out);
    struct page page = {.out = &out, .width = 20};
    page_add_wrapped(&page, COLOUR_PLAIN, text, 0, 2);
    assert_string_equal(strbuf_get(&out), expected);
    strbuf_release(&out);
}

static void sentences_go_on_in_the_next_line(void **state)
{
    (void)state;
    expect_wrapped("short", "short");
    expect_wrapped("ends where the line does", "ends where the line\n  does");
    expect_wrapped("it is all of 24.1 MiB of it", "it is all of\n  24.1 MiB of it");
    expect_wrapped("is /usr/lib/gone.so there", "is /usr/lib/gone.so\n  there");
    expect_wrapped("is /usr/lib/x86/gone.so there", "is\n  /usr/lib/x86/\n  gone.so there");
    expect_wrapped("/short/but-a-very-long-name",
                   "/short/but-a-very-lo\n  ng-name"); /* the first line would be empty */
    expect_wrapped("0123456789012345678901234", "01234567890123456789\n  01234");
}

static void colour_is_for_terminals(void **state)
{
    struct strbuf out;
    struct page page = {&out, 80, true, false};
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_false(colour_is_wanted(ends[1]));
    close(ends[0]);
    close(ends[1]);
    strbuf_init(&out);
    page_add(&page, COLOUR_ALARM, "x");
    page.colour = false;
    page_add(&page, COLOUR_ALARM, "y");
    assert_string_equal(strbuf_get(&out), "\033[31mx\033[0my");
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_take_their_columns),
        cmocka_unit_test(long_names_lose_their_middle),
        cmocka_unit_test(names_lose_their_outer_scopes),
        cmocka_unit_test(paths_lose_their_outer_folders),
        cmocka_unit_test(of_many_scopes_the_inner_ones_stay),
        cmocka_unit_test(commands_lose_their_end),
        cmocka_unit_test(columns_line_up),
        cmocka_unit_test(sentences_go_on_in_the_next_line),
        cmocka_unit_test(colour_is_for_terminals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
