/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "analysis/merge_display_rows.h"

#include "analysis/fake_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void gather(struct fake *f, struct sites *from, struct sites *folded)
{
    struct err err;
    sites_init(from);
    sites_init(folded);
    assert_int_equal(sites_add(from, &f->traces, f->rows.data, f->rows.count, &err), 0);
    assert_int_equal(merge_display_rows_sites(folded, from, &f->traces, MEASURE_LEAKED, false, &err), 0);
    assert_int_equal(folded->total.leaked_bytes, from->total.leaked_bytes);
}

static void finish(struct fake *f, struct sites *from, struct sites *folded)
{
    uint64_t bytes = 0, rows = 0;
    for (size_t i = 0; i < folded->list.count; i++) {
        bytes += folded->list.data[i].m.leaked_bytes;
        rows += folded->list.data[i].rows;
    }
    assert_int_equal(bytes, from->total.leaked_bytes);
    assert_int_equal(rows, f->rows.count);
    sites_release(from);
    sites_release(folded);
    fake_release(f);
}

static void what_differs_in_libraries_alone_is_one_site(void **state)
{
    struct fake f;
    struct sites from, folded;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p, "main@app.c:1 > push@app.c:2 > std::vector::grow@vector:3 > malloc", 1, 10);
    fake_leak(&f, p, "main@app.c:1 > push@app.c:2 > std::string::assign@string:3 > malloc", 2, 300);
    fake_leak(&f, p, "main@app.c:1 > push@app.c:2 > malloc", 1, 5);
    fake_leak(&f, p, "main@app.c:1 > push@app.c:9 > malloc", 1, 100);
    fake_leak(&f, p, "main@app.c:7 > push@app.c:2 > malloc", 1, 50);
    gather(&f, &from, &folded);
    assert_int_equal(from.list.count, 5);
    assert_int_equal(folded.list.count, 3);
    assert_int_equal(folded.list.data[0].m.leaked_bytes, 315);
    assert_int_equal(folded.list.data[0].m.leaked_blocks, 4);
    assert_int_equal(folded.list.data[0].trace, from.list.data[0].trace); /* the largest of the three */
    assert_int_equal(folded.list.data[1].m.leaked_bytes, 100);
    assert_int_equal(folded.list.data[2].m.leaked_bytes, 50);
    finish(&f, &from, &folded);
}

/* What a page does not show of the callers makes no other site; what it begins with where nothing is the program's own does. */
static void libraries_among_callers_make_no_other_site(void **state)
{
    struct fake f;
    struct sites from, folded;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p, "main@app.c:1 > std::sort@sort:5 > less@app.c:2 > malloc", 1, 1000);
    fake_leak(&f, p, "main@app.c:1 > std::sort@sort:6 > std::swap@sort:9 > less@app.c:2 > malloc", 1, 200);
    fake_leak(&f, p, "main@app.c:1 > less@app.c:2 > malloc", 1, 30);
    fake_leak(&f, p, "main@app.c:1 > std::sort@sort:5 > less@app.c:3 > malloc", 1, 4);
    fake_leak(&f, p, "std::thread@thread:1 > std::string@string:3 > malloc", 1, 100);
    fake_leak(&f, p, "std::async@future:1 > std::string@string:3 > malloc", 1, 50);
    fake_leak(&f, p, "std::thread@thread:1 > std::map@map:3 > malloc", 1, 7);
    fake_leak(&f, p, "std::a@lib:21 > malloc", 1, 3); /* frames and traces have numbers of their own */
    fake_leak(&f, p, "std::b@lib:22 > malloc", 1, 2);
    fake_leak(&f, p, "std::c@lib:23 > malloc", 1, 1);
    gather(&f, &from, &folded);
    assert_int_equal(from.list.count, 10);
    assert_int_equal(folded.list.count, 7);
    assert_int_equal(folded.list.data[0].m.leaked_bytes, 1230);
    assert_int_equal(folded.list.data[1].m.leaked_bytes, 150);
    assert_int_equal(folded.list.data[2].m.leaked_bytes, 7);
    assert_int_equal(folded.list.data[3].m.leaked_bytes, 4);
    finish(&f, &from, &folded);
}

/* Without lines a function is its name: two calls in it look the same.  Without a name it is its place. */
static void frames_without_a_line_are_their_function(void **state)
{
    struct fake f;
    struct sites from, folded;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f), q = fake_process(&f);
    fake_leak(&f, p, "main > liba.so:init > malloc", 1, 1000);
    fake_leak(&f, p, "main > liba.so:init|helper@a.h:2 > malloc", 1, 200);
    fake_leak(&f, p, "main > libb.so:init > malloc", 1, 30);
    fake_leak(&f, p, "main > ? > malloc", 1, 4);
    fake_leak(&f, q, "main > liba.so:init > calloc", 1, 1);
    gather(&f, &from, &folded);
    assert_int_equal(folded.list.count, 4);
    assert_int_equal(folded.list.data[0].m.leaked_bytes, 1001);
    finish(&f, &from, &folded);
}

static void two_calls_of_a_function_without_lines_are_one_site(void **state)
{
    struct fake f;
    struct sites from, folded;
    struct frame first = {.function = "init",
                          .linkage = "",
                          .file = "",
                          .module = "/lib/liba.so",
                          .address = 0x100,
                          .symbol = 7};
    struct frame second = first, nameless = first;
    (void)state;
    second.address = 0x200;
    nameless.function = "";
    fake_init(&f);
    sites_init(&from);
    sites_init(&folded);
    const struct frame *frames[] = {&first, &second, &nameless};
    for (size_t i = 0; i < 3; i++) {
        uint32_t trace = traces_add(&f.traces, 0, frames[i]);
        assert_int_not_equal(trace, 0);
        assert_true(vec_push(&from.list,
                             ((struct site){.trace = trace, .m = {.leaked_blocks = 1, .leaked_bytes = 8}})));
    }
    struct err err;
    assert_int_equal(merge_display_rows_sites(&folded, &from, &f.traces, MEASURE_LEAKED, false, &err), 0);
    assert_int_equal(folded.list.count, 2);
    assert_int_equal(folded.list.data[0].m.leaked_bytes, 16);
    sites_release(&from);
    sites_release(&folded);
    fake_release(&f);
}

static void stacks_without_frames_are_one_site(void **state)
{
    struct fake f;
    struct sites from, folded;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_row(&f, p, 0, (struct metrics){.leaked_blocks = 1, .leaked_bytes = 3});
    fake_leak(&f, p, "main@app.c:1 > malloc", 1, 1);
    gather(&f, &from, &folded);
    assert_int_equal(folded.list.count, 2);
    assert_int_equal(folded.list.data[0].trace, 0);
    finish(&f, &from, &folded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_in_libraries_alone_is_one_site),
        cmocka_unit_test(libraries_among_callers_make_no_other_site),
        cmocka_unit_test(frames_without_a_line_are_their_function),
        cmocka_unit_test(two_calls_of_a_function_without_lines_are_one_site),
        cmocka_unit_test(stacks_without_frames_are_one_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
