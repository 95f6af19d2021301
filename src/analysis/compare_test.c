/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "analysis/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/fake_stacks.h"
#include "analysis/flame.h"

/* Leaks of process 0 are before, those of process 1 after. */
static void compare_all(struct fake *f, struct compare *d, bool same_code)
{
    struct sites sides[2];
    struct err err;
    err_init(&err);
    for (uint32_t k = 0; k < 2; k++) {
        sites_init(&sides[k]);
        for (size_t i = 0; i < f->rows.count; i++) {
            if (f->rows.data[i].process == k)
                assert_int_equal(sites_add(&sides[k], &f->traces, &f->rows.data[i], 1, &err), 0);
        }
    }
    compare_init(d);
    assert_int_equal(compare_build(d, &f->traces, &sides[0], &sides[1], same_code, &err), 0);
    sites_release(&sides[0]);
    sites_release(&sides[1]);
}

static struct fake two_processes(void)
{
    struct fake f;
    fake_init(&f);
    fake_process(&f);
    fake_process(&f);
    return f;
}

/* The changes in bytes, largest first, as many as changed. */
static void expect(struct fake *f, struct compare *d, const int64_t *changes, size_t count)
{
    assert_int_equal(compare_sort(d, &f->traces, MEASURE_LEAKED), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(compare_bytes(&d->list.data[i], MEASURE_LEAKED), changes[i]);
    compare_release(d);
    fake_release(f);
}

static void rows_are_signed_and_sorted_by_size(void **state)
{
    struct fake f = two_processes();
    struct compare d;
    (void)state;
    fake_leak(&f, 0, "main@a.c:1 > a@a.c:10", 1, 100);
    fake_leak(&f, 0, "main@a.c:2 > b@a.c:20", 1, 500);
    fake_leak(&f, 0, "main@a.c:3 > c@a.c:30", 1, 70);
    fake_leak(&f, 1, "main@a.c:1 > a@a.c:10", 2, 300);
    fake_leak(&f, 1, "main@a.c:3 > c@a.c:30", 1, 70);
    fake_leak(&f, 1, "main@a.c:4 > d@a.c:40", 1, 30);
    compare_all(&f, &d, true);
    expect(&f, &d, (int64_t[]){-500, 200, 30}, 3);
}

static void moved_lines_are_the_same_site(void **state)
{
    struct fake f = two_processes();
    struct compare d;
    (void)state;
    fake_leak(&f, 0, "main@a.c:1 > a@a.c:10", 1, 100);
    fake_leak(&f, 1, "main@a.c:5 > a@a.c:14", 1, 110);
    compare_all(&f, &d, false);
    assert_int_equal(d.list.count, 1);
    expect(&f, &d, (int64_t[]){10}, 1);
}

static void code_that_did_not_change_has_its_lines(void **state)
{
    struct fake f = two_processes();
    struct compare d;
    (void)state;
    fake_leak(&f, 0, "main@a.c:1 > a@a.c:10", 1, 100);
    fake_leak(&f, 1, "main@a.c:1 > a@a.c:14", 1, 110);
    compare_all(&f, &d, true);
    expect(&f, &d, (int64_t[]){110, -100}, 2);
}

/* Lines 10 and 11 became 11 and 12: 11 is not 11. */
static void sites_of_one_path_keep_their_order(void **state)
{
    struct fake f = two_processes();
    struct compare d;
    (void)state;
    fake_leak(&f, 0, "main@a.c:1 > a@a.c:10", 1, 1000);
    fake_leak(&f, 0, "main@a.c:1 > a@a.c:11", 1, 7);
    fake_leak(&f, 1, "main@a.c:2 > a@a.c:12", 1, 9);
    fake_leak(&f, 1, "main@a.c:2 > a@a.c:11", 1, 1000);
    compare_all(&f, &d, false);
    expect(&f, &d, (int64_t[]){2}, 1);
}

static void equal_lines_belong_together_where_one_is_new(void **state)
{
    struct fake f = two_processes();
    struct compare d;
    (void)state;
    fake_leak(&f, 0, "main@a.c:1 > a@a.c:20", 1, 1000);
    fake_leak(&f, 1, "main@a.c:1 > a@a.c:10", 1, 55);
    fake_leak(&f, 1, "main@a.c:1 > a@a.c:20", 1, 1000);
    compare_all(&f, &d, false);
    expect(&f, &d, (int64_t[]){55}, 1);
}

static void code_without_names_is_known_by_its_place(void **state)
{
    struct fake f = two_processes();
    struct compare d;
    (void)state;
    fake_leak(&f, 0, "main@a.c:1 > libx.so:?", 1, 100);
    fake_leak(&f, 1, "main@a.c:9 > libx.so:?", 1, 103);
    compare_all(&f, &d, false);
    expect(&f, &d, (int64_t[]){3}, 1);
}

static void blocks_alone_are_a_change(void **state)
{
    struct fake f = two_processes();
    struct compare d;
    (void)state;
    fake_leak(&f, 0, "main@a.c:1 > a@a.c:10", 1, 100);
    fake_leak(&f, 1, "main@a.c:1 > a@a.c:10", 4, 100);
    compare_all(&f, &d, true);
    assert_int_equal(compare_blocks(&d.list.data[0], MEASURE_LEAKED), 3);
    expect(&f, &d, (int64_t[]){0}, 1);
}

static void boxes_stand_on_their_callers(void **state)
{
    struct fake f = two_processes();
    struct compare d;
    struct flame flame;
    struct err err;
    (void)state;
    err_init(&err);
    fake_leak(&f, 0, "main@a.c:1 > a@a.c:10", 1, 300);
    fake_leak(&f, 0, "main@a.c:2 > b@a.c:20", 1, 100);
    fake_leak(&f, 1, "main@a.c:1 > a@a.c:10", 1, 500);
    fake_leak(&f, 1, "main@a.c:2 > b@a.c:20", 1, 100);
    compare_all(&f, &d, true);
    flame_init(&flame);
    assert_int_equal(flame_build(&flame, &f.traces, &d, MEASURE_LEAKED, 0.001, &err), 0);
    assert_int_equal(flame.boxes.count, 3);
    assert_int_equal(flame.levels, 2);
    const struct flame_box *main_box = &flame.boxes.data[0], *a = &flame.boxes.data[1];
    assert_int_equal(main_box->before, 400);
    assert_int_equal(main_box->after, 600);
    assert_true(main_box->x == 0 && main_box->width == 1);
    assert_string_equal(f.traces.frames.data[a->frame - 1].function, "a");
    assert_true(a->x == 0 && a->width == 0.8);
    assert_true(flame.boxes.data[2].x == 0.8 && flame.boxes.data[2].level == 1);
    flame_release(&flame);
    compare_release(&d);
    fake_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_signed_and_sorted_by_size),
        cmocka_unit_test(moved_lines_are_the_same_site),
        cmocka_unit_test(code_that_did_not_change_has_its_lines),
        cmocka_unit_test(sites_of_one_path_keep_their_order),
        cmocka_unit_test(equal_lines_belong_together_where_one_is_new),
        cmocka_unit_test(code_without_names_is_known_by_its_place),
        cmocka_unit_test(blocks_alone_are_a_change),
        cmocka_unit_test(boxes_stand_on_their_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
