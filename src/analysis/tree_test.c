/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of tree: both ways, roots, pruning without loss.
 */
#include "analysis/tree.h"

#include "analysis/fake_stacks.h"
#include "tool/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *frames;
    uint64_t blocks, bytes;
} sample[] = {
    {"main@a.c:1 > cook@a.c:5 > grab@a.c:9", 2, 600},
    {"main@a.c:2 > serve@a.c:7 > grab@a.c:9", 1, 300},
    {"main@a.c:3 > grab@a.c:9", 1, 60},
    {"main@a.c:3 > spill@a.c:11", 4, 40},
    {"main@a.c:3 > tiny@a.c:13", 3, 0},
};

static void show(const struct tree *t, const struct traces *c, uint32_t parent, struct strbuf *out)
{
    for (uint32_t n = t->nodes.data[parent].child; n != 0; n = t->nodes.data[n].next) {
        const struct tree_node *node = &t->nodes.data[n];
        const char *name = node->frame == 0 ? "-" : c->frames.data[node->frame - 1].function;
        strbuf_addf(out, "%s%s",
                    out->length != 0 && strchr("(", out->text[out->length - 1]) == NULL ? " " : "", name);
        if (node->rest != 0)
            strbuf_addf(out, "rest%u", node->rest);
        strbuf_addf(out, "=%u", (unsigned)node->all.bytes);
        if (node->child != 0) {
            strbuf_add_char(out, '(');
            show(t, c, n, out);
            strbuf_add_char(out, ')');
        }
    }
}

static void expect_tree(enum tree_way way, const char *root, double threshold, const char *expected)
{
    struct fake f;
    struct sites s;
    struct tree t;
    struct strbuf out;
    struct err err;
    fake_init(&f);
    sites_init(&s);
    strbuf_init(&out);
    uint32_t p = fake_process(&f);
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++)
        fake_leak(&f, p, sample[i].frames, sample[i].blocks, sample[i].bytes);
    assert_int_equal(sites_add(&s, &f.traces, f.rows.data, f.rows.count, &err), 0);
    tree_init(&t, way, MEASURE_LEAKED, threshold);
    assert_int_equal(tree_build(&t, &f.traces, &s, root, &err), 0);
    show(&t, &f.traces, 0, &out);
    assert_string_equal(strbuf_get(&out), expected);
    for (size_t i = 0; i < t.nodes.count; i++) {
        struct tree_value sum = t.nodes.data[i].self;
        for (uint32_t n = t.nodes.data[i].child; n != 0; n = t.nodes.data[n].next) {
            sum.bytes += t.nodes.data[n].all.bytes;
            sum.blocks += t.nodes.data[n].all.blocks;
        }
        assert_int_equal(sum.bytes, t.nodes.data[i].all.bytes);
        assert_int_equal(sum.blocks, t.nodes.data[i].all.blocks);
    }
    tree_release(&t);
    strbuf_release(&out);
    sites_release(&s);
    fake_release(&f);
}

static void callers_stand_below_the_innermost(void **state)
{
    (void)state;
    expect_tree(TREE_CALLERS, NULL, 0,
                "grab=960(cook=600(main=600) serve=300(main=300) main=60) spill=40(main=40) tiny=0(main=0)");
}

static void callees_stand_below_the_outermost(void **state)
{
    (void)state;
    expect_tree(TREE_CALLEES, NULL, 0,
                "main=1000(cook=600(grab=600) serve=300(grab=300) grab=60 spill=40 tiny=0)");
}

static void what_is_below_the_threshold_is_counted_in_one_node(void **state)
{
    (void)state;
    expect_tree(TREE_CALLEES, NULL, 0.1, "main=1000(cook=600(grab=600) serve=300(grab=300) -rest3=100)");
    expect_tree(TREE_CALLERS, NULL, 0.5, "grab=960(cook=600(main=600) -rest2=360) -rest2=40");
}

static void a_root_takes_only_the_stacks_that_have_it(void **state)
{
    (void)state;
    expect_tree(TREE_CALLERS, "serve", 0, "serve=300(main=300)");
    expect_tree(TREE_CALLEES, "cook", 0, "cook=600(grab=600)");
    expect_tree(TREE_CALLEES, "nobody", 0, "");
}

static void recursion_and_lines_of_a_root(void **state)
{
    struct fake f;
    struct sites s;
    struct tree t;
    struct strbuf out;
    struct err err;
    (void)state;
    fake_init(&f);
    sites_init(&s);
    strbuf_init(&out);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p, "main@a.c:1 > walk@a.c:5 > step@a.c:8 > walk@a.c:6 > grab@a.c:9", 1, 100);
    fake_leak(&f, p, "main@a.c:2 > walk@a.c:5 > grab@a.c:9", 1, 10);
    fake_row(&f, p, 0, (struct metrics){.leaked_blocks = 1, .leaked_bytes = 1});
    assert_int_equal(sites_add(&s, &f.traces, f.rows.data, f.rows.count, &err), 0);
    tree_init(&t, TREE_CALLERS, MEASURE_LEAKED, 0);
    assert_int_equal(tree_build(&t, &f.traces, &s, "walk", &err), 0);
    show(&t, &f.traces, 0, &out);
    assert_string_equal(strbuf_get(&out), "walk=110(step=100(walk=100(main=100)) main=10)");
    assert_true(t.nodes.data[t.nodes.data[0].child].lines_differ);
    tree_release(&t);
    strbuf_clear(&out);
    tree_init(&t, TREE_CALLEES, MEASURE_LEAKED, 0);
    assert_int_equal(tree_build(&t, &f.traces, &s, NULL, &err), 0);
    show(&t, &f.traces, 0, &out);
    assert_string_equal(strbuf_get(&out), "main=110(walk=110(step=100(walk=100(grab=100)) grab=10)) -=1");
    tree_release(&t);
    strbuf_release(&out);
    sites_release(&s);
    fake_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_stand_below_the_innermost),
        cmocka_unit_test(callees_stand_below_the_outermost),
        cmocka_unit_test(what_is_below_the_threshold_is_counted_in_one_node),
        cmocka_unit_test(a_root_takes_only_the_stacks_that_have_it),
        cmocka_unit_test(recursion_and_lines_of_a_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
