/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of ticker: which words it advances.
 */
#include "collect/ticker.h"

#include "collect/timebase.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

static uint64_t look(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void wait_for_a_tick(const uint64_t *word)
{
    uint64_t before = look(word);
    while (look(word) == before)
        nanosleep(&(struct timespec){0, 100000}, NULL);
}

static void words_are_advanced_until_they_are_removed(void **state)
{
    struct ticker t;
    uint64_t counter = 1, clock = 1;
    (void)state;
    ticker_init(&t);
    assert_true(ticker_add(&t, &counter, false));
    assert_true(ticker_add(&t, &clock, true));
    wait_for_a_tick(&counter);
    wait_for_a_tick(&clock);
    assert_true(look(&clock) <= timebase_now());
    ticker_remove(&t, &counter);
    uint64_t left = look(&counter);
    wait_for_a_tick(&clock);
    wait_for_a_tick(&clock);
    assert_true(look(&counter) == left);
    ticker_remove(&t, &clock);
    assert_true(ticker_add(&t, &counter, false)); /* it sleeps, and wakes again */
    wait_for_a_tick(&counter);
    ticker_release(&t);
}

static void nothing_runs_where_nothing_was_added(void **state)
{
    struct ticker t;
    (void)state;
    ticker_init(&t);
    assert_false(t.has_thread);
    ticker_remove(&t, NULL);
    ticker_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_advanced_until_they_are_removed),
        cmocka_unit_test(nothing_runs_where_nothing_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
