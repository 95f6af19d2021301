/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of safe, json and units: nothing foreign reaches a terminal as it is.
 */
#include "present/json.h"
#include "present/safe.h"
#include "present/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect_safe(const char *text, const char *shown)
{
    struct strbuf out;
    strbuf_init(&out);
    safe_add_text(&out, text);
    assert_string_equal(strbuf_get(&out), shown);
    strbuf_release(&out);
}

static void what_could_harm_is_shown_as_an_escape(void **state)
{
    (void)state;
    expect_safe("plain text, Grüße, 日本", "plain text, Grüße, 日本");
    expect_safe("\033]52;c;x\a", "\\x1b]52;c;x\\x07");
    expect_safe("a\nb\tc\\", "a\\nb\\tc\\\\");
    expect_safe("\x7f\xc2\x9b", "\\x7f\\u{009b}");
    expect_safe("\xe2\x80\xae"
                "gpj",
                "\\u{202e}gpj");
    expect_safe("\xe2\x80\x8b", "\\u{200b}");
    expect_safe("\xff\xc0\xaf\xed\xa0\x80", "\\xff\\xc0\\xaf\\xed\\xa0\\x80");
    expect_safe("\xe2\x82", "\\xe2\\x82");
}

static void commands_are_quoted(void **state)
{
    static const char args[] = "ls\0-l\0two words\0";
    struct strbuf out;
    (void)state;
    strbuf_init(&out);
    safe_add_command(&out, args, sizeof args - 1);
    assert_string_equal(strbuf_get(&out), "ls -l 'two words'");
    static const char odd[] = "sh\0-c\0it's \\n\0one's\nline\\\0\xe2\x80\x8b\xff";
    strbuf_clear(&out);
    safe_add_command(&out, odd, sizeof odd - 1);
    assert_string_equal(strbuf_get(&out), "sh -c 'it'\\''s \\n' $'one\\'s\\nline\\\\' $'\\u200b\\xff'");
    strbuf_release(&out);
}

static void json_is_valid_whatever_the_bytes(void **state)
{
    struct strbuf out;
    struct json j;
    (void)state;
    strbuf_init(&out);
    json_init(&j, &out);
    json_open_object(&j, NULL);
    json_add_text(&j, "a\"b", "x\"\\\n\xff\xe2\x80\xa8", 8);
    json_add_text(&j, "hidden", "\xe2\x80\x8b\xf3\xa0\x80\x81", 7);
    json_open_array(&j, "list");
    json_add_number(&j, NULL, UINT64_MAX);
    json_add_bool(&j, NULL, true);
    json_close_array(&j);
    json_open_array(&j, "empty");
    json_close_array(&j);
    json_close_object(&j);
    assert_string_equal(strbuf_get(&out), "{\n  \"a\\\"b\": \"x\\\"\\\\\\u000a\\ufffd\\u2028\",\n  "
                                          "\"hidden\": \"\\u200b\\udb40\\udc01\",\n  \"list\": [\n"
                                          "    18446744073709551615,\n    true\n  ],\n  \"empty\": []\n}\n");
    strbuf_release(&out);
}

static void numbers_are_readable(void **state)
{
    char text[UNITS_MAX];
    (void)state;
    assert_string_equal(units_count(text, 20000012), "20,000,012");
    assert_string_equal(units_count(text, 999), "999");
    assert_string_equal(units_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(units_bytes(text, 1), "1 byte");
    assert_string_equal(units_bytes(text, 1363149), "1.3 MiB");
    assert_string_equal(units_bytes(text, 1048575), "1.0 MiB");
    assert_string_equal(units_time(text, 350000), "350 us");
    assert_string_equal(units_time(text, UINT64_C(125000000000)), "2 min 5 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_harm_is_shown_as_an_escape),
        cmocka_unit_test(commands_are_quoted),
        cmocka_unit_test(json_is_valid_whatever_the_bytes),
        cmocka_unit_test(numbers_are_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
