/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of rollup: self and inclusive values.
 */
#include "analysis/rollup.h"

#include "analysis/fake_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void gather(struct fake *f, struct rollup *g, enum rollup_by by)
{
    struct err err;
    rollup_init(g, by);
    assert_int_equal(rollup_add(g, &f->traces, f->rows.data, f->rows.count, &err), 0);
    rollup_sort(g, &f->traces, MEASURE_LEAKED);
}

static const struct rollup_group *find(const struct fake *f, const struct rollup *g, const char *function)
{
    for (size_t i = 0; i < g->list.count; i++) {
        const struct rollup_group *group = &g->list.data[i];
        if (group->frame != 0 && strcmp(f->traces.frames.data[group->frame - 1].function, function) == 0)
            return group;
    }
    fail_msg("There is no group of %s.", function);
    return NULL;
}

static void a_recursive_function_counts_once_a_stack(void **state)
{
    struct fake f;
    struct rollup g;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p, "main@a.c:1 > walk@a.c:5 > walk@a.c:6 > walk@a.c:5", 2, 100);
    fake_leak(&f, p, "main@a.c:1 > walk@a.c:5 > leaf@a.c:9", 1, 11);
    gather(&f, &g, ROLLUP_FUNCTION);
    assert_int_equal(g.list.count, 3);
    assert_int_equal(find(&f, &g, "walk")->inclusive.leaked_bytes, 111);
    assert_int_equal(find(&f, &g, "walk")->self.leaked_bytes, 100);
    assert_int_equal(find(&f, &g, "main")->inclusive.leaked_blocks, 3);
    assert_int_equal(find(&f, &g, "main")->self.leaked_bytes, 0);
    assert_int_equal(find(&f, &g, "leaf")->self.leaked_bytes, 11);
    assert_int_equal(g.total.leaked_bytes, 111);
    rollup_release(&g);
    gather(&f, &g, ROLLUP_LINE);
    assert_int_equal(g.list.count, 4);
    rollup_release(&g);
    fake_release(&f);
}

static void self_is_charged_to_own_code(void **state)
{
    struct fake f;
    struct rollup g;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p,
              "main@a.c:1 > libx.so:fill@x.c:2 > std::vector<int>::grow() > operator new(unsigned long)", 1,
              64);
    fake_row(&f, p, 0, (struct metrics){.leaked_blocks = 1, .leaked_bytes = 3});
    gather(&f, &g, ROLLUP_FUNCTION);
    assert_int_equal(find(&f, &g, "fill")->self.leaked_bytes, 64);
    assert_int_equal(find(&f, &g, "std::vector<int>::grow()")->self.leaked_bytes, 0);
    assert_int_equal(find(&f, &g, "std::vector<int>::grow()")->inclusive.leaked_bytes, 64);
    uint64_t sum = 0;
    for (size_t i = 0; i < g.list.count; i++)
        sum += g.list.data[i].self.leaked_bytes;
    assert_int_equal(sum, g.total.leaked_bytes);
    rollup_release(&g);
    gather(&f, &g, ROLLUP_MODULE);
    assert_int_equal(g.list.count, 3);
    assert_string_equal(f.traces.frames.data[g.list.data[0].frame - 1].module, "/lib/libx.so");
    assert_int_equal(g.list.data[0].self.leaked_bytes, 64);
    rollup_release(&g);
    gather(&f, &g, ROLLUP_FILE);
    assert_int_equal(find(&f, &g, "fill")->self.leaked_bytes, 64);
    rollup_release(&g);
    fake_release(&f);
}

static void threads_kinds_and_processes_come_from_rows(void **state)
{
    struct fake f;
    struct rollup g;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f), q = fake_process(&f);
    for (unsigned i = 0; i < 6; i++) {
        struct query_row row = {
            i % 2 == 0 ? p : q, 0, 1 + i % 3, 1 + i / 3, {.leaked_blocks = 1, .leaked_bytes = 1u << i}};
        (void)vec_push(&f.rows, row);
    }
    gather(&f, &g, ROLLUP_THREAD);
    assert_int_equal(g.list.count, 6);
    rollup_release(&g);
    gather(&f, &g, ROLLUP_KIND);
    assert_int_equal(g.list.count, 2);
    assert_int_equal(g.list.data[0].kind, 2);
    assert_int_equal(g.list.data[0].self.leaked_bytes, 56);
    assert_int_equal(g.list.data[0].inclusive.leaked_bytes, 56);
    rollup_release(&g);
    gather(&f, &g, ROLLUP_PROCESS);
    assert_int_equal(g.list.count, 2);
    assert_int_equal(g.list.data[0].process, q);
    assert_int_equal(g.list.data[0].self.leaked_bytes, 42);
    rollup_release(&g);
    fake_release(&f);
}

static void words_name_the_ways_to_group(void **state)
{
    (void)state;
    assert_int_equal(rollup_by_find("line"), ROLLUP_LINE);
    assert_int_equal(rollup_by_find("process"), ROLLUP_PROCESS);
    assert_int_equal(rollup_by_find("colour"), ROLLUP_NONE);
    assert_string_equal(rollup_by_name(ROLLUP_KIND), "kind");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recursive_function_counts_once_a_stack),
        cmocka_unit_test(self_is_charged_to_own_code),
        cmocka_unit_test(threads_kinds_and_processes_come_from_rows),
        cmocka_unit_test(words_name_the_ways_to_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
