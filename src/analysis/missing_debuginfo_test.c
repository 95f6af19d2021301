/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of nameless: whose lines are not known.
 */
#include "analysis/missing_debuginfo.h"

#include "analysis/fake_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void find(struct fake *f, struct missing_debuginfo *n)
{
    struct query_result result;
    struct err err;
    query_result_init(&result);
    for (size_t i = 0; i < f->rows.count; i++)
        assert_true(vec_push(&result.rows, f->rows.data[i]));
    memset(n, 0, sizeof *n);
    assert_int_equal(missing_debuginfo_find(n, &f->traces, &result, &err), 0);
    query_result_release(&result);
}

static void the_worst_is_first_though_it_is_met_last(void **state)
{
    struct fake f;
    struct missing_debuginfo n;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    for (unsigned i = 0; i < 12; i++) {
        char stack[32];
        snprintf(stack, sizeof stack, "lib%u.so:f", i);
        fake_leak(&f, p, stack, 1, 10);
    }
    fake_leak(&f, p, "main", 1, 1000);
    fake_leak(&f, p, "main@a.c:1", 1, 5000);
    find(&f, &n);
    assert_int_equal(n.modules.count, 13);
    assert_string_equal(n.modules.data[0].name, "app");
    assert_int_equal(n.modules.data[0].bytes, 1000);
    assert_int_equal(n.bytes, 1120);
    missing_debuginfo_release(&n);
    fake_release(&f);
}

static void files_of_one_name_are_one(void **state)
{
    struct fake f;
    struct missing_debuginfo n;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p, "libz/libx.so:f", 1, 60);
    fake_leak(&f, p, "libq.so:f", 1, 100);
    fake_leak(&f, p, "libb/libx.so:g", 1, 70);
    find(&f, &n);
    assert_int_equal(n.modules.count, 2);
    assert_string_equal(n.modules.data[0].path, "/lib/libb/libx.so");
    assert_string_equal(n.modules.data[0].name, "libx.so");
    assert_int_equal(n.modules.data[0].bytes, 130);
    missing_debuginfo_release(&n);
    fake_release(&f);
}

/* To compare each with each would take minutes. */
static void of_many_files_each_is_one(void **state)
{
    enum { MANY = 400000 };
    struct fake f;
    struct missing_debuginfo n;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    struct trace_process *own = &f.traces.processes.data[p];
    free(own->traces);
    own->traces = calloc(MANY + 1, sizeof *own->traces);
    for (uint32_t i = 0; i < MANY; i++) {
        char path[32];
        struct frame frame = {.function = "f", .linkage = "", .file = "", .module = path};
        snprintf(path, sizeof path, "/%u/%u.so", i % 3, i / 2);
        assert_true(vec_push(&f.processes[p]->nodes, (struct wake_node){0}));
        assert_true(vec_push(&f.processes[p]->stacks,
                             ((struct wake_stack){.leaf = i + 1, .depth = 1, .known = true})));
        own->traces[i + 1] = traces_add(&f.traces, 0, &frame);
        fake_row(&f, p, i + 1, (struct metrics){.allocated_bytes = i});
    }
    find(&f, &n);
    assert_int_equal(n.modules.count, MANY / 2);
    for (uint64_t i = 0; i < MANY / 2; i++)
        assert_int_equal(n.modules.data[i].bytes, 2 * (MANY - 2 - 2 * i) + 1);
    assert_string_equal(n.modules.data[0].path, "/0/199999.so");
    missing_debuginfo_release(&n);
    fake_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_is_first_though_it_is_met_last),
        cmocka_unit_test(files_of_one_name_are_one),
        cmocka_unit_test(of_many_files_each_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
