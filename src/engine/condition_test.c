/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "engine/condition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/parse.h"
#include "wire/record.h"

static struct query q;
static struct err err;

/* What a command does with a condition. */
static int apply(const char *text)
{
    struct condition c;
    err_init(&err);
    int code = condition_read(&c, text, &err);
    for (size_t i = 0; i < c.key_count && code == 0; i++) {
        code = query_parse(&q, c.keys[i], c.value, &err);
        if (code == 0)
            code = condition_finish(&c, &q, c.keys[i], &err);
    }
    return code;
}

static int setup(void **state)
{
    (void)state;
    query_init(&q);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    query_release(&q);
    return 0;
}

static void numbers_have_bounds(void **state)
{
    const struct query_filter *f = &q.filter;
    (void)state;
    assert_int_equal(0, apply("size>100"));
    assert_int_equal(101, f->size.min);
    assert_int_equal(0, apply("size<=4K"));
    assert_int_equal(4096, f->size.max);
    assert_int_equal(0, apply("lifetime<1ms"));
    assert_int_equal(999999, f->lifetime.max);
    assert_int_equal(0, apply("depth>=3"));
    assert_int_equal(3, f->depth.min);
    assert_int_equal(0, apply("usable=48"));
    assert_true(f->usable.min == 48 && f->usable.max == 48);
    assert_int_equal(0, apply("slack-min=7"));
    assert_int_equal(7, f->slack.min);
    assert_int_equal(ERR_USAGE, apply("size<0"));
    assert_string_equal("Nothing is less than the bound of 'size-max'.", err.text);
}

static void times_have_bounds_that_count(void **state)
{
    (void)state;
    assert_int_equal(0, apply("allocated>=10s"));
    assert_true(q.filter.allocated_from.when == WHEN_NS &&
                q.filter.allocated_from.ns == UINT64_C(10000000000));
    assert_int_equal(0, apply("freed<=50%"));
    assert_int_equal(WHEN_PERCENT, q.filter.freed_to.when);
    assert_int_equal(ERR_USAGE, apply("allocated>10s"));
    assert_int_equal(0, apply("allocated=inside"));
    assert_int_equal(SIDE_INSIDE, q.filter.allocated);
    assert_int_equal(ERR_USAGE, apply("group-leaked>3"));
    assert_string_equal("'group-leaked-min' is compared by >= and <=.", err.text);
}

static void patterns_match_or_do_not(void **state)
{
    (void)state;
    assert_int_equal(0, apply("function~^git"));
    assert_int_equal(0, apply("module!~libc"));
    assert_int_equal(0, apply("source!=gen"));
    assert_int_equal(3, q.filter.patterns.count);
    assert_string_equal("^git", q.filter.patterns.data[0].text);
    assert_false(q.filter.patterns.data[0].negated);
    assert_true(q.filter.patterns.data[1].negated && q.filter.patterns.data[2].negated);
    assert_int_equal(ERR_USAGE, apply("size~4"));
    assert_string_equal("'size' has no comparison '~'; 'heapwake help where' lists those it has.", err.text);
}

static void choices_are_negated(void **state)
{
    (void)state;
    assert_int_equal(0, apply("kind!=malloc"));
    assert_int_equal(0, q.filter.kinds & 1u << KIND_MALLOC);
    assert_int_not_equal(0, q.filter.kinds & 1u << KIND_CALLOC);
    assert_int_equal(0, apply("state!=leaked"));
    assert_int_equal(STATE_FREED, q.filter.states);
    assert_int_equal(0, apply("mapped!=yes"));
    assert_int_equal(MAPPED_SHARED, q.filter.mapped);
    assert_int_equal(0, apply("not-stack=3"));
    assert_int_equal(0, apply("stack!=4"));
    assert_int_equal(2, q.filter.not_stacks.count);
    assert_int_equal(ERR_USAGE, apply("thread!=7"));
}

static void mistakes_get_a_sentence(void **state)
{
    (void)state;
    assert_int_equal(ERR_USAGE, apply("size"));
    assert_non_null(strstr(err.text, "a comparison such as 'size>100', not 'size'"));
    assert_int_equal(ERR_USAGE, apply(">3"));
    assert_int_equal(ERR_USAGE, apply("sise>3"));
    assert_non_null(strstr(err.text, "There is no filter called \"sise\""));
    assert_int_equal(ERR_USAGE, apply("size>big"));
    assert_non_null(strstr(err.text, "\"big\" is no value for size-min"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_have_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(times_have_bounds_that_count, setup, teardown),
        cmocka_unit_test_setup_teardown(patterns_match_or_do_not, setup, teardown),
        cmocka_unit_test_setup_teardown(choices_are_negated, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_get_a_sentence, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
