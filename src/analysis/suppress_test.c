/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of suppress: syntax, matching as LeakSanitizer does, the built-in rules.
 */
#include "analysis/suppress.h"

#include "analysis/fake_stacks.h"
#include "engine/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void patterns_match_as_in_leaksanitizer(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"foo", "foo", true},
        {"foo", "a_foo_b", true},
        {"^foo", "foobar", true},
        {"^foo", "afoo", false},
        {"foo$", "afoo", true},
        {"foo$", "foob", false},
        {"^foo$", "foo", true},
        {"^foo$", "foofoo", false},
        {"f*r", "foobar", true},
        {"f*r$", "xfoobar", true},
        {"^f*r$", "foobarr", true},
        {"a*b*c", "xaxbxcx", true},
        {"a*c*b", "xaxbxcx", false},
        {"*", "anything", true},
        {"*foo*", "a foo b", true},
        {"libx.so", "/lib/libx.so.1", true},
        {"^*bar$", "foobar", true},
        {"aab$", "aaab", true},
        {"a*ab$", "ab", false},
        {"foo", "", false},
        {"foo", "Foo", false},
        {"fo\\*", "foo", false},
        {"^", "a", true},
        {"$", "a", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (suppress_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
    }
}

static int parse(struct suppress *s, const char *text, struct err *err)
{
    suppress_init(s);
    return suppress_add_text(s, "lsan.txt", text, strlen(text), err);
}

static void lines_are_read(void **state)
{
    struct suppress s;
    struct err err;
    (void)state;
    assert_int_equal(parse(&s, "# known\n\nleak:foo\r\n  leak:b*r$  \n\t# more\nleak:last", &err), 0);
    assert_int_equal(s.rules.count, 3);
    assert_string_equal(s.rules.data[0].pattern, "foo");
    assert_string_equal(s.rules.data[1].pattern, "b*r$");
    assert_string_equal(s.rules.data[2].pattern, "last");
    suppress_release(&s);
    assert_int_equal(parse(&s, "", &err), 0);
    suppress_release(&s);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
    struct suppress s;
    struct err err;
    (void)state;
    assert_int_equal(parse(&s, "leak:a\nrace:b\n", &err), ERR_INPUT);
    assert_string_equal(err.text, "lsan.txt, line 2: 'race:b' does not begin with 'leak:'.");
    suppress_release(&s);
    assert_int_equal(parse(&s, "\n\nleak:\n", &err), ERR_INPUT);
    assert_string_equal(err.text, "lsan.txt, line 3: there is no pattern behind 'leak:'.");
    suppress_release(&s);
    suppress_init(&s);
    assert_int_equal(suppress_add_text(&s, "x", "leak:a\0b", 8, &err), ERR_INPUT);
    suppress_release(&s);
}

static void take_rows(const struct fake *f, struct query_result *r)
{
    for (size_t i = 0; i < f->rows.count; i++) {
        (void)vec_push(&r->rows, f->rows.data[i]);
        measure_add(&r->total, &f->rows.data[i].m);
    }
}

static void suppressed_leaks_are_kept_apart(void **state)
{
    struct fake f;
    struct query_result r = {0};
    struct suppress s;
    struct err err;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p, "main@app.c:1 > known@app.c:2", 2, 100);
    fake_leak(&f, p, "main@app.c:1 > libpool.so:get@pool.c:2", 3, 50);
    fake_leak(&f, p, "main@app.c:1 > other@app.c:9", 1, 7);
    take_rows(&f, &r);
    assert_int_equal(parse(&s, "leak:^known$\nleak:libpool.so\nleak:never\n", &err), 0);
    assert_int_equal(suppress_apply(&s, &f.traces, &r, &err), 0);
    assert_int_equal(s.rules.data[0].bytes, 100);
    assert_int_equal(s.rules.data[0].blocks, 2);
    assert_int_equal(s.rules.data[1].bytes, 50);
    assert_int_equal(s.rules.data[2].blocks, 0);
    assert_int_equal(r.total.leaked_bytes, 7);
    assert_int_equal(r.total.leaked_blocks, 1);
    assert_int_equal(r.total.allocated_bytes, 157);
    suppress_release(&s);
    vec_release(&r.rows);
    fake_release(&f);
}

/* Bytes that the built-in rules leave of one leak. */
static uint64_t left(const char *frames, uint64_t blocks, uint64_t bytes)
{
    struct fake f;
    struct query_result r = {0};
    struct suppress s;
    struct err err;
    fake_init(&f);
    fake_leak(&f, fake_process(&f), frames, blocks, bytes);
    take_rows(&f, &r);
    suppress_init(&s);
    assert_int_equal(suppress_add_built_in(&s, &err), 0);
    assert_int_equal(suppress_apply(&s, &f.traces, &r, &err), 0);
    uint64_t bytes_left = r.total.leaked_bytes;
    suppress_release(&s);
    vec_release(&r.rows);
    fake_release(&f);
    return bytes_left;
}

static void built_in_rules_know_the_runtime(void **state)
{
    (void)state;
    assert_int_equal(left("libc.so.6:_start > libstdc++.so.6:?", 1, 72704), 0);
    assert_int_equal(left("libc.so.6:_start > libstdc++.so.6:? > malloc", 1, 72704), 0);
    assert_int_equal(left("libc.so.6:_start > libstdc++.so.6:?", 1, 72703), 72703);
    assert_int_equal(left("main > libc.so.6:puts > libc.so.6:_IO_file_doallocate", 1, 1024), 0);
    assert_int_equal(left("main > libc.so.6:puts > libc.so.6:__GI__IO_file_doallocate", 1, 1024), 0);
    assert_int_equal(left("main > libc.so.6:_IO_file_doallocate > own", 1, 1024), 1024);
    assert_int_equal(left("main > ld-linux-x86-64.so.2:_dl_new_object", 1, 99), 0);
    assert_int_equal(left("main > libld-linux.so:x", 1, 99), 99);
    assert_int_equal(left("main > libc.so.6:_dl_open_worker > main_ctor@a.c:4", 1, 99), 99);
    assert_int_equal(left("main > libc.so.6:strdup", 1, 5), 5);
}

static void what_libc_keeps_is_known_by_what_was_called(void **state)
{
    (void)state;
    assert_int_equal(
        left("main > libc.so.6:setlocale > libc.so.6:read_alias_file > libc.so.6:extend_alias_table", 1, 9),
        0);
    assert_int_equal(left("main > libc.so.6:setlocale > libc.so.6:? > libc.so.6:?", 1, 9), 0);
    assert_int_equal(left("main > libc.so.6:setlocale > libc.so.6:? > malloc", 1, 9), 0);
    assert_int_equal(left("main > libc.so.6:__bindtextdomain > libc.so.6:__strdup", 1, 9), 0);
    assert_int_equal(left("main > libc.so.6:_IO_puts > libc.so.6:?", 1, 1024), 0);
    assert_int_equal(left("main > libc.so.6:__fprintf_chk > libc.so.6:?", 1, 1024), 0);
    assert_int_equal(left("main > libc.so.6:fputs_unlocked > libc.so.6:?", 1, 1024), 0);
    assert_int_equal(left("main > libc.so.6:getpwuid_r > libnss_files.so.2:?", 1, 9), 0);
    assert_int_equal(left("main > libc.so.6:getpwuid", 1, 1024), 0);
    assert_int_equal(left("main > libc.so.6:__isoc99_scanf > libc.so.6:?", 1, 1024), 0);
    assert_int_equal(left("main > libc.so.6:__isoc99_vfscanf > libc.so.6:?", 2, 8192), 0);
    assert_int_equal(left("libquadmath.so.0:? > libc.so.6:__register_printf_specifier", 1, 4096), 0);
    assert_int_equal(left("libc.so.6:__libc_start_main > libc.so.6:__cxa_atexit > libc.so.6:?", 1, 9), 0);
}

static void what_libc_hands_over_is_the_programs(void **state)
{
    (void)state;
    assert_int_equal(left("main > libc.so.6:getaddrinfo > libc.so.6:?", 1, 9), 9);
    assert_int_equal(left("main > libc.so.6:getline > libc.so.6:?", 1, 9), 9);
    assert_int_equal(left("main > libc.so.6:fopen > libc.so.6:?", 1, 9), 9);
    assert_int_equal(left("main > libc.so.6:__isoc99_scanf > libc.so.6:?", 1, 9), 9); /* "%ms" */
    assert_int_equal(left("main > libc.so.6:__isoc23_fscanf > libc.so.6:realloc", 3, 4098), 4098);
    assert_int_equal(left("main > libc.so.6:? > libc.so.6:?", 1, 9), 9);
    assert_int_equal(left("libc.so.6:__libc_start_main > main > libc.so.6:strdup", 1, 9), 9);
    assert_int_equal(left("main > libc.so.6:tzset > hook", 1, 9), 9);
    assert_int_equal(left("main > libown.so:setlocale > libc.so.6:strdup", 1, 9), 9);
    assert_int_equal(left("main > setlocale", 1, 9), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_leaksanitizer),
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(suppressed_leaks_are_kept_apart),
        cmocka_unit_test(built_in_rules_know_the_runtime),
        cmocka_unit_test(what_libc_keeps_is_known_by_what_was_called),
        cmocka_unit_test(what_libc_hands_over_is_the_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
