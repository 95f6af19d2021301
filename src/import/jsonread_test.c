/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "import/jsonread.h"

static struct jsonread json_of(const char *text)
{
    struct jsonread j;
    jsonread_init(&j, text, strlen(text));
    return j;
}

static void members_are_read_in_order(void **unused)
{
    (void)unused;
    struct jsonread j = json_of(
        " {\"a\" : 12.5, \"skip\":{\"x\":[1,{\"}\":\"]\"}]} ,\"list\":[1, 2,3],\"yes\":true,\"none\":[]}");
    char key[8];
    uint64_t sum = 0, members = 0;
    jsonread_open(&j, '{');
    while (jsonread_key(&j, key, sizeof key)) {
        members++;
        if (strcmp(key, "a") == 0) {
            assert_int_equal(jsonread_number(&j), 12);
        } else if (strcmp(key, "yes") == 0) {
            assert_true(jsonread_bool(&j));
        } else if (strcmp(key, "skip") == 0) {
            jsonread_skip(&j);
        } else {
            jsonread_open(&j, '[');
            while (jsonread_more(&j))
                sum += jsonread_number(&j);
        }
    }
    assert_false(j.bad);
    assert_int_equal(members, 5);
    assert_int_equal(sum, 6);
    assert_ptr_equal(j.at, j.end);
}

static void texts_lose_their_escapes(void **unused)
{
    (void)unused;
    struct strbuf text;
    struct jsonread j = json_of("\"a\\\"\\\\\\n\\u0041\\u00e4\\u20ac\"");
    strbuf_init(&text);
    jsonread_text(&j, &text);
    assert_false(j.bad);
    assert_string_equal(strbuf_get(&text), "a\"\\\nA\xc3\xa4\xe2\x82\xac");
    strbuf_release(&text);
}

static void nonsense_is_bad(void **unused)
{
    (void)unused;
    static const char *const numbers[] = {"", "-1", "x", "99999999999999999999", "\"1\""};
    static const char *const texts[] = {"\"open", "\"\\x\"", "\"\\u12g4\"", "\"\\", "5"};
    static const char *const values[] = {"", "]", "[", "{\"a\":", "[[[]]"};
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < 5; i++) {
        struct jsonread n = json_of(numbers[i]), t = json_of(texts[i]), v = json_of(values[i]);
        (void)jsonread_number(&n);
        assert_true(n.bad);
        jsonread_text(&t, &text);
        assert_true(t.bad);
        jsonread_skip(&v);
        assert_true(v.bad);
    }
    struct jsonread j = json_of("[1 2]");
    jsonread_open(&j, '[');
    assert_true(jsonread_more(&j));
    assert_int_equal(jsonread_number(&j), 1);
    assert_false(jsonread_more(&j));
    assert_true(j.bad);
    strbuf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_read_in_order),
        cmocka_unit_test(texts_lose_their_escapes),
        cmocka_unit_test(nonsense_is_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
