/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caption_test: what names become, whatever they hold.
 */
#include "export/caption.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void check_text(const char *text, const char *expected)
{
    struct strbuf b;
    strbuf_init(&b);
    caption_add_text(&b, text);
    assert_string_equal(strbuf_get(&b), expected);
    strbuf_release(&b);
}

static void control_characters_and_broken_bytes_are_replaced(void **state)
{
    (void)state;
    check_text("std::vector<int>::push_back", "std::vector<int>::push_back");
    check_text("a\nb\tc\x1b[1m\x7f", "a?b?c?[1m?");
    check_text("\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8d\xb2",
               "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8d\xb2");
    check_text("\xff\xc3(", "\xef\xbf\xbd\xef\xbf\xbd(");
    check_text("\xe2\x80\xaeright to left", "?right to left");
    check_text("zero\xe2\x80\x8bwidth\xef\xbb\xbf", "zero?width?");
    check_text("\xef\xbf\xbe", "\xef\xbf\xbd");
}

static void check_frame(const struct frame *f, const char *name, const char *place)
{
    struct strbuf b;
    strbuf_init(&b);
    caption_add(&b, f);
    assert_string_equal(strbuf_get(&b), name);
    strbuf_clear(&b);
    caption_add_place(&b, f);
    assert_string_equal(strbuf_get(&b), place);
    strbuf_release(&b);
}

static void a_frame_has_its_function_or_its_place(void **state)
{
    (void)state;
    struct frame f = {.function = "f(int)",
                      .linkage = "",
                      .file = "/src/a.c",
                      .module = "/bin/app",
                      .line = 7,
                      .address = 0xabc};
    check_frame(&f, "f(int)", "0xABC: f(int) (a.c:7)");
    f.line = 0;
    check_frame(&f, "f(int)", "0xABC: f(int) (in /bin/app)");
    f.function = f.file = "";
    check_frame(&f, "app+0xabc", "0xABC: ??? (in /bin/app)");
    f.module = "";
    check_frame(&f, "[unknown]+0xabc", "0xABC: ???");
}

static void a_command_line_is_its_arguments_or_its_program(void **state)
{
    (void)state;
    struct wake_process p = {.info = {.exe = "/bin/app", .args = "app\0-x\0two words", .args_length = 16}};
    struct strbuf b;
    strbuf_init(&b);
    caption_add_command(&b, NULL, &p);
    assert_string_equal(strbuf_get(&b), "app -x two words");
    strbuf_clear(&b);
    p.info.args_length = 0;
    caption_add_command(&b, NULL, &p);
    assert_string_equal(strbuf_get(&b), "/bin/app");
    strbuf_release(&b);
}

static void markup_holds_no_markup(void **state)
{
    (void)state;
    struct strbuf b;
    strbuf_init(&b);
    caption_add_markup(&b, "<a href=\"x\" b='y'>&amp;\x01</a>]]>");
    assert_string_equal(strbuf_get(&b),
                        "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;?&lt;/a&gt;]]&gt;");
    strbuf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_and_broken_bytes_are_replaced),
        cmocka_unit_test(a_frame_has_its_function_or_its_place),
        cmocka_unit_test(a_command_line_is_its_arguments_or_its_program),
        cmocka_unit_test(markup_holds_no_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
