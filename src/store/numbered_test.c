/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * numbered_test: the table against a plain array that keeps everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/numbered.h"

struct entry {
    uint64_t number, check;
};

static uint64_t seed = 88172645463325252u;

static uint64_t rng(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void add(struct numbered *n, uint64_t number)
{
    struct entry *e = numbered_add(n, number, sizeof *e);
    assert_non_null(e);
    *e = (struct entry){number, ~number * 3};
}

static void check(const struct entry *e, uint64_t number)
{
    assert_non_null(e);
    assert_int_equal(e->number, number);
    assert_int_equal(e->check, ~number * 3);
}

/* Adds `count` numbers from `first` on; each is taken out again with the
 * chance of `churn` in 8 a step, so that pages of every density come about. */
static void follow(uint64_t first, size_t count, unsigned churn)
{
    struct numbered n;
    unsigned char *here = calloc(count, 1);
    size_t live = 0;
    numbered_init(&n);
    for (size_t i = 0; i < count; i++) {
        add(&n, first + i);
        here[i] = 1;
        live++;
        if (rng() % 8 < churn) {
            size_t back = (size_t)(rng() % (rng() % 4 == 0 ? i + 1 : i % 700 + 1)), k = i - back;
            const struct entry *e = numbered_find(&n, first + k, sizeof *e);
            assert_int_equal(e != NULL, here[k]);
            e = numbered_take(&n, first + k, sizeof *e);
            assert_int_equal(e != NULL, here[k]);
            if (e != NULL)
                check(e, first + k);
            live -= here[k];
            here[k] = 0;
        }
        assert_int_equal(numbered_count(&n), live);
    }
    uint64_t number;
    size_t seen = 0;
    const struct entry *e;
    for (struct numbered_walk at = {0}; (e = numbered_next(&n, &at, &number, sizeof *e)) != NULL; seen++) {
        check(e, number);
        assert_true(here[number - first] == 1);
        here[number - first] = 2;
    }
    assert_int_equal(seen, live);
    for (size_t i = 0; i < count; i++) {
        e = numbered_take(&n, first + i, sizeof *e);
        assert_int_equal(e != NULL, here[i] != 0);
    }
    assert_int_equal(numbered_count(&n), 0);
    numbered_release(&n);
    free(here);
}

static void finds_and_takes_what_was_added(void **state)
{
    (void)state;
    follow(0, 300000, 7);
    follow(12345678901, 100000, 8);
    follow(1023, 60000, 3);
    follow(UINT64_MAX - 70000, 60000, 6);
}

static void memory_goes_by_what_is_live(void **state)
{
    (void)state;
    struct numbered n;
    numbered_init(&n);
    /* One in 2,000 stays. */
    for (uint64_t i = 0; i < 4000000; i++) {
        add(&n, i);
        if (i % 2000 != 0)
            check(numbered_take(&n, i, sizeof(struct entry)), i);
    }
    size_t pages = 0;
    for (size_t i = 0; i < n.directory.count; i++)
        pages += n.directory.data[i] != NUMBERED_NONE && n.directory.data[i] != NUMBERED_LEFT;
    assert_int_equal(numbered_count(&n), 2000);
    assert_int_equal(pages + n.spare.count, n.pages);
    /* Those that are young, two on their way, and a quarter more, rounded to a slab. */
    assert_true(n.pages <= (NUMBERED_YOUNG + 2) * 5 / 4 + 4);
    assert_true(n.rest_capacity <= 4000);
    for (uint64_t i = 0; i < 4000000; i += 2000)
        check(numbered_take(&n, i, sizeof(struct entry)), i);
    numbered_release(&n);
}

static void takes_numbers_that_jump_as_they_come(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {5, UINT64_MAX - 3, 6,           1u << 30, UINT64_C(1) << 50,
                                       7, 1024,           900000000000};
    struct numbered n;
    numbered_init(&n);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add(&n, numbers[i]);
    assert_true(n.directory.capacity < 1 << 18);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        check(numbered_take(&n, numbers[i], sizeof(struct entry)), numbers[i]);
    assert_null(numbered_take(&n, 8, sizeof(struct entry)));
    assert_int_equal(numbered_count(&n), 0);
    numbered_release(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_and_takes_what_was_added),
        cmocka_unit_test(memory_goes_by_what_is_live),
        cmocka_unit_test(takes_numbers_that_jump_as_they_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
