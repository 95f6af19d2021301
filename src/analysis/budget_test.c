/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of budget and budget_file.
 */
#include "analysis/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int read_text(struct budget *b, const char *text, struct err *err)
{
    err_init(err);
    budget_init(b);
    return budget_read(b, "ci/x.toml", text, strlen(text), err);
}

static void a_file_sets_every_limit(void **state)
{
    struct budget b;
    struct err err;
    (void)state;
    assert_int_equal(read_text(&b,
                               "[check]\nmax-peak=\"1K\"\nmax-leak = 0\nmax-leak-per-site = 4_096\n"
                               "max-allocations = 7 # calls\nmax-growth = \"2.5%\"\nbase = \"b.wake\"\n"
                               "suppressions = [\"a\\\"b\", \"/c\",]\n",
                               &err),
                     0);
    assert_int_equal(b.max[BUDGET_PEAK], 1024);
    assert_true(b.has[BUDGET_LEAK] && b.max[BUDGET_LEAK] == 0);
    assert_int_equal(b.max[BUDGET_LEAK_PER_SITE], 4096);
    assert_int_equal(b.max[BUDGET_ALLOCATIONS], 7);
    assert_true(b.has_growth && b.growth_percent == 2.5);
    assert_string_equal(b.base, "ci/b.wake");
    assert_int_equal(b.suppressions.count, 2);
    assert_string_equal(b.suppressions.data[0], "ci/a\"b");
    assert_string_equal(b.suppressions.data[1], "/c");
    budget_release(&b);
}

static void what_is_not_known_is_refused_with_its_line(void **state)
{
    static const char *const cases[][2] = {
        {"[check]\n\nmax = 1\n", "ci/x.toml, line 3: There is no key 'max'"},
        {"[chec]", "ci/x.toml, line 1: There is no table '[chec]'"},
        {"[check]\n[check]\n", "ci/x.toml, line 2: [check] is there already"},
        {"[check]\nbase = [\"a\"]\n", "ci/x.toml, line 2: base takes one value"},
        {"[check]\nbase = \"\"\n", "ci/x.toml, line 2: base needs the name of a file"},
        {"[check]\nmax-leak = -1\n", "ci/x.toml, line 2: max-leak takes a number"},
        {"[check]\nmax-peak = 99999999999999999999999999999999999\n", "ci/x.toml, line 2: That number"},
        {"[check]\nbase = \"a\\n\"\n", "ci/x.toml, line 2: In a string only"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct budget b;
        struct err err;
        assert_int_equal(read_text(&b, cases[i][0], &err), ERR_INPUT);
        assert_memory_equal(err.text, cases[i][1], strlen(cases[i][1]));
        budget_release(&b);
    }
}

static void the_limit_itself_is_kept(void **state)
{
    struct budget b;
    struct err err;
    struct budget_outcome o[BUDGET_COUNT];
    struct sites sites;
    struct metrics base = {.peak_bytes = 100, .allocated_blocks = 10};
    (void)state;
    sites_init(&sites);
    sites.total = (struct metrics){.peak_bytes = 105, .leaked_bytes = 1, .allocated_blocks = 11};
    assert_int_equal(read_text(&b, "[check]\nmax-peak = 105\nmax-growth = \"5%\"\n", &err), 0);
    assert_int_equal(budget_check(&b, &sites, &base, NULL, o), 4);
    assert_true(o[0].is_kept && o[0].seen == 105 && o[0].allowed == 105);
    assert_true(o[1].is_kept && o[1].limit == BUDGET_GROWTH_PEAK && o[1].allowed == 105);
    assert_true(!o[2].is_kept && o[2].allowed == 0); /* a leak where there was none */
    assert_true(!o[3].is_kept && o[3].allowed == 10);
    budget_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_sets_every_limit),
        cmocka_unit_test(what_is_not_known_is_refused_with_its_line),
        cmocka_unit_test(the_limit_itself_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
