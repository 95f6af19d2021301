/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of callgraph: sums, recursion, what is passed over.
 */
#include "analysis/callgraph.h"

#include "analysis/fake_stacks.h"
#include "tool/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *name_of(const struct fake *f, const struct callgraph *g, uint32_t node)
{
    return f->traces.frames.data[g->nodes.data[node].frame].function;
}

/* Leaks of 100, 200, ... bytes with these stacks give this graph. */
static void expect_graph(const char *const *stacks, double threshold, const char *nodes, const char *edges)
{
    struct fake f;
    struct sites s;
    struct callgraph g;
    struct strbuf out;
    struct err err;
    fake_init(&f);
    sites_init(&s);
    strbuf_init(&out);
    uint32_t p = fake_process(&f);
    for (uint64_t i = 0; stacks[i] != NULL; i++)
        fake_leak(&f, p, stacks[i], 1, 100 * (i + 1));
    assert_int_equal(sites_add(&s, &f.traces, f.rows.data, f.rows.count, &err), 0);
    callgraph_init(&g, MEASURE_LEAKED, threshold);
    assert_int_equal(callgraph_build(&g, &f.traces, &s, &err), 0);
    for (uint32_t i = 0; i < g.nodes.count; i++)
        strbuf_addf(&out, "%s %u/%u ", name_of(&f, &g, i), (unsigned)g.nodes.data[i].self,
                    (unsigned)g.nodes.data[i].all);
    assert_string_equal(strbuf_get(&out), nodes);
    strbuf_clear(&out);
    for (size_t i = 0; i < g.edges.count; i++) {
        const struct callgraph_edge *e = &g.edges.data[i];
        strbuf_addf(&out, "%s%s%s=%u ", name_of(&f, &g, e->from), e->passes_over ? "..." : ">",
                    name_of(&f, &g, e->to), (unsigned)e->weight);
    }
    assert_string_equal(strbuf_get(&out), edges);
    strbuf_release(&out);
    callgraph_release(&g);
    sites_release(&s);
    fake_release(&f);
}

static void functions_and_edges_add_up(void **state)
{
    static const char *const stacks[] = {"main > a > c", "main > b > c", "main > b", NULL};
    (void)state;
    expect_graph(stacks, 0, "main 0/600 b 300/500 c 300/300 a 0/100 ",
                 "main>b=500 b>c=200 main>a=100 a>c=100 ");
}

static void a_recursion_counts_once(void **state)
{
    static const char *const stacks[] = {"main > f > f > f", "main > f > g > f", NULL};
    (void)state;
    expect_graph(stacks, 0, "f 300/300 main 0/300 g 0/200 ", "main>f=300 f>g=200 g>f=200 f>f=100 ");
}

static void small_functions_are_passed_over(void **state)
{
    static const char *const stacks[] = {"main > small > c", "main > b > c", "main > b > c", "main > b > c",
                                         NULL};
    (void)state;
    expect_graph(stacks, 0.2, "c 1000/1000 main 0/1000 b 0/900 ", "main>b=900 b>c=900 main...c=100 ");
}

static void nothing_gives_an_empty_graph(void **state)
{
    static const char *const stacks[] = {NULL};
    (void)state;
    expect_graph(stacks, 0.01, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_edges_add_up),
        cmocka_unit_test(a_recursion_counts_once),
        cmocka_unit_test(small_functions_are_passed_over),
        cmocka_unit_test(nothing_gives_an_empty_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
