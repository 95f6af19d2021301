/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of pace: when events are taken, by how they come.
 */
#include "collect/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define ROOM (UINT64_C(1) << 21)

/* Looks every 20 ms at a program with so many events a ms, for a second.  How many rounds take any; *most: events at once. */
static unsigned look_for_a_second(uint64_t a_ms, uint64_t room, uint64_t *most)
{
    struct pace p = {0};
    uint64_t now = 5000 * MS, waiting = 0;
    unsigned rounds = 0;
    *most = 0;
    for (unsigned look = 0; look < 50; look++, now += PACE_LOOK_MS * MS) {
        waiting += a_ms * PACE_LOOK_MS;
        if (!pace_is_due(&p, now, room))
            continue;
        rounds++;
        *most = waiting > *most ? waiting : *most;
        do {
            uint64_t taken = waiting < 3 * PACE_A_LOT ? waiting : 3 * PACE_A_LOT;
            waiting -= taken;
            pace_note(&p, now, taken);
        } while (p.is_behind && pace_is_due(&p, now, room));
        assert_int_equal(waiting, 0);
    }
    return rounds;
}

static void a_steady_flow_is_taken_in_large_rounds(void **state)
{
    uint64_t most;
    (void)state;
    assert_in_range(look_for_a_second(2000, ROOM, &most), 12, 16);
    assert_int_equal(most, 2000 * PACE_LONGEST_MS);
    assert_in_range(look_for_a_second(5000, ROOM, &most), 25, 28);
    assert_int_equal(most, 5000 * 40);
}

static void little_room_and_fast_programs_are_looked_after_at_once(void **state)
{
    uint64_t most;
    (void)state;
    assert_int_equal(look_for_a_second(11000, ROOM, &most), 50);
    assert_int_equal(look_for_a_second(2000, 1 << 16, &most), 50);
    assert_in_range(look_for_a_second(400, 1 << 16, &most), 25, 27);
    assert_int_equal(most, 400 * 40); /* a quarter of the room */
}

static void who_hardly_allocates_is_looked_after_at_once(void **state)
{
    uint64_t most;
    (void)state;
    assert_int_equal(look_for_a_second(0, ROOM, &most), 50);
    assert_int_equal(look_for_a_second(1, ROOM, &most), 50);
}

static void many_events_a_round_are_a_flow(void **state)
{
    struct pace p = {0};
    (void)state;
    assert_true(pace_is_flow(&p)); /* nothing is known yet */
    pace_note(&p, 5000 * MS, 10);
    assert_true(pace_is_flow(&p));
    pace_note(&p, 5020 * MS, PACE_SOME - 1);
    assert_false(pace_is_flow(&p));
    pace_note(&p, 5040 * MS, PACE_SOME);
    assert_true(pace_is_flow(&p));
    pace_note(&p, 5060 * MS, 0);
    assert_false(pace_is_flow(&p));
    pace_note(&p, 5080 * MS, PACE_A_LOT); /* and there may be more */
    assert_true(pace_is_flow(&p));
}

static void flushes_become_rarer_with_age(void **state)
{
    (void)state;
    const uint64_t second = 1000 * MS, week = 7 * 24 * 3600 * second;
    assert_int_equal(pace_flush_ns(0), second);
    assert_int_equal(pace_flush_ns(200 * second), second);
    assert_int_equal(pace_flush_ns(2560 * second), 10 * second);
    assert_int_equal(pace_flush_ns(week), 60 * second);
    unsigned flushes = 0;
    for (uint64_t age = 0; age < week; age += pace_flush_ns(age))
        flushes++;
    assert_in_range(flushes, 10000, 12000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushes_become_rarer_with_age),
        cmocka_unit_test(many_events_a_round_are_a_flow),
        cmocka_unit_test(a_steady_flow_is_taken_in_large_rounds),
        cmocka_unit_test(little_room_and_fast_programs_are_looked_after_at_once),
        cmocka_unit_test(who_hardly_allocates_is_looked_after_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
