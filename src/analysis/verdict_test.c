/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of verdict: lives that are drawn by hand, with noise that is the same every time.
 */
#include "analysis/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint32_t noise_state;

static uint64_t noise(uint32_t below)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (noise_state >> 8) % below;
}

/* A run of 64 minutes that did not end; ticks are minutes. */
static void begin(struct level_table *l, struct level_table_row *r)
{
    memset(l, 0, sizeof *l);
    memset(r, 0, sizeof *r);
    l->to_ns = UINT64_C(64) * 60 * 1000000000;
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++)
        l->until_ns[i] = l->to_ns / 64 * (i + 1);
    r->blocks = 1000;
    r->last_ns = l->to_ns;
    noise_state = 1;
}

static void put(struct level_table_row *r, size_t tick, uint64_t bytes)
{
    r->floor[tick] = r->level[tick] = bytes;
    r->highest = bytes > r->highest ? bytes : r->highest;
    r->left = bytes;
}

static struct verdict judge(uint64_t (*level)(size_t tick))
{
    struct level_table l;
    struct level_table_row r;
    begin(&l, &r);
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++) {
        put(&r, i, level(i));
        r.freed[i] = 1; /* its calls go on */
    }
    return verdict_find(&l, &r);
}

static uint64_t steady(size_t t)
{
    return 1000 * t;
}

static uint64_t noisy(size_t t)
{
    return 1000 * t + noise(15000);
}

static uint64_t steps(size_t t)
{
    return 5000 * (t / 8);
}

/* A large cache that loses a little. */
static uint64_t trickle(size_t t)
{
    return 100000000 + 10 * t;
}

static void growth_is_seen_and_measured(void **state)
{
    uint64_t (*const lives[])(size_t) = {steady, noisy, steps, trickle};
    const double slopes[] = {1000, 1000, 625, 10};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct verdict v = judge(lives[i]);
        assert_int_equal(v.kind, VERDICT_GROWS);
        assert_true(v.bytes_per_minute > 0.75 * slopes[i] && v.bytes_per_minute < 1.25 * slopes[i]);
        assert_true(v.confidence > 0.6 && v.confidence <= 0.99);
    }
}

static uint64_t flat(size_t t)
{
    (void)t;
    return 50000 + noise(40000);
}

static uint64_t filled_early(size_t t)
{
    return t < 12 ? 5000 * t : 60000 + noise(2000);
}

static uint64_t filled_late(size_t t)
{
    return t < 40 ? 0 : t < 48 ? 8000 * (t - 40) : 64000;
}

static uint64_t half_way(size_t t)
{
    return t < 36 ? 1000 * t : 36000;
}

static uint64_t wave(size_t t)
{
    return 10000 + (t % 16 < 8 ? t % 16 : 16 - t % 16) * 1000;
}

static void bounds_are_seen(void **state)
{
    uint64_t (*const lives[])(size_t) = {flat, filled_early, filled_late, half_way, wave};
    (void)state;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(judge(lives[i]).kind, VERDICT_BOUNDED);
}

/* Noise without growth is not taken for growth, whatever it looks like. */
static void noise_does_not_grow(void **state)
{
    struct level_table l;
    struct level_table_row r;
    (void)state;
    for (uint32_t seed = 0; seed < 2000; seed++) {
        begin(&l, &r);
        noise_state = seed * 7919;
        for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++)
            put(&r, i, 10000 + noise(10000));
        assert_int_not_equal(verdict_find(&l, &r).kind, VERDICT_GROWS);
    }
}

static void a_shutdown_is_not_part_of_life(void **state)
{
    struct level_table l;
    struct level_table_row r;
    (void)state;
    begin(&l, &r);
    l.exited = true;
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++) {
        put(&r, i, i < 60 ? 40000 : 0);
        l.made[i] = i < 60 ? 100 : 0;
        l.freed[i] = i < 60 ? 90 : 150;
        r.freed[i] = i == 60 ? 1000 : 0;
    }
    struct verdict v = verdict_find(&l, &r);
    assert_int_equal(v.kind, VERDICT_AT_EXIT);
    assert_true(v.freed_at_exit);
    for (size_t i = 0; i < 60; i++) /* the same, but it grew until then */
        put(&r, i, 1000 * i);
    r.left = 0;
    v = verdict_find(&l, &r);
    assert_int_equal(v.kind, VERDICT_GROWS);
    assert_true(v.freed_at_exit);
}

static void a_moment_is_once(void **state)
{
    struct level_table l;
    struct level_table_row r;
    (void)state;
    begin(&l, &r);
    r.first_ns = l.to_ns / 4;
    r.first_tick = 16;
    r.last_ns = r.first_ns + 1000;
    for (size_t i = 16; i < LEVEL_TABLE_TICKS; i++)
        put(&r, i, 40000);
    assert_int_equal(verdict_find(&l, &r).kind, VERDICT_ONCE);
    for (size_t i = 32; i < LEVEL_TABLE_TICKS; i++)
        put(&r, i, 0);
    assert_int_equal(verdict_find(&l, &r).kind, VERDICT_PASSING);
}

/* Blocks of no bytes, and bytes that no tick has seen, leave the same levels. */
static void nothing_in_every_tick_is_kept_unless_it_was_freed(void **state)
{
    struct level_table l;
    struct level_table_row r;
    (void)state;
    begin(&l, &r);
    r.last_ns = r.first_ns = l.to_ns / 4;
    assert_int_equal(verdict_find(&l, &r).kind, VERDICT_ONCE);
    r.freed[40] = r.blocks;
    assert_int_equal(verdict_find(&l, &r).kind, VERDICT_PASSING);
}

static void what_begins_late_is_unclear(void **state)
{
    struct level_table l;
    struct level_table_row r;
    (void)state;
    begin(&l, &r);
    r.first_ns = l.to_ns / 64 * 58 + 1;
    r.first_tick = 58;
    for (size_t i = 58; i < LEVEL_TABLE_TICKS; i++)
        put(&r, i, 1000 * i);
    assert_int_equal(verdict_find(&l, &r).kind, VERDICT_UNCLEAR);
}

/* --------------------------------------------------------------- loads that pause */

enum { EVENTS = 100 };

/* A site that allocates in the ticks for which `loaded` says so, of a process that does nothing else.  `level` counts these
 * ticks alone. */
static struct verdict judge_load(bool (*loaded)(size_t tick), uint64_t (*level)(size_t tick), size_t first)
{
    struct level_table l;
    struct level_table_row r;
    begin(&l, &r);
    l.exited = true;
    r.first_tick = first;
    r.first_ns = first == 0 ? 1 : l.until_ns[first - 1] + 1;
    uint64_t bytes = 0;
    for (size_t i = 0, active = 0; i < LEVEL_TABLE_TICKS; i++) {
        if (i >= first && loaded(i)) {
            uint64_t next = level(++active);
            l.made[i] = EVENTS;
            l.freed[i] = EVENTS - 1;
            r.freed[i] = next <= bytes;
            bytes = next;
            r.last_ns = l.until_ns[i] - 1;
        }
        r.floor[i] = i > 0 && r.level[i - 1] < bytes ? r.level[i - 1] : bytes;
        r.level[i] = r.left = r.highest = bytes;
    }
    return verdict_find(&l, &r);
}

static bool until_the_end(size_t t)
{
    return t < 30;
}

static bool but_the_middle(size_t t)
{
    return t < 16 || t >= 48;
}

static bool from_late_on(size_t t)
{
    return t == 0 || t >= 40;
}

static bool in_bursts(size_t t)
{
    return t % 16 < 6;
}

static bool and_one_more(size_t t)
{
    return t < 30 || t == 56;
}

static void a_leak_grows_whenever_its_load_pauses(void **state)
{
    bool (*const loads[])(size_t) = {but_the_middle, from_late_on, in_bursts, and_one_more};
    (void)state;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct verdict v = judge_load(loads[i], steady, 0);
        assert_int_equal(v.kind, VERDICT_GROWS);
        assert_true(v.bytes_per_minute > 200 && v.bytes_per_minute < 1100);
    }
}

/* What requests hold while they are served goes with the last of them. */
static uint64_t busy(size_t t)
{
    return 1000 * t + noise(5000);
}

static void growth_that_ended_with_its_calls_has_stopped(void **state)
{
    uint64_t (*const lives[])(size_t) = {steady, busy, trickle};
    (void)state;
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
        struct verdict v = judge_load(until_the_end, lives[i], 0);
        assert_int_equal(v.kind, VERDICT_STOPPED);
        assert_int_equal(v.until_ns, UINT64_C(30) * 60 * 1000000000 - 1);
    }
}

static bool shortly(size_t t)
{
    return t < 6;
}

/* Too few ticks for a trend, but nothing was ever freed. */
static void a_short_load_that_grew_evenly_has_stopped(void **state)
{
    (void)state;
    assert_int_equal(judge_load(shortly, steady, 0).kind, VERDICT_STOPPED);
}

static uint64_t saturating(size_t t)
{
    return 100000 - (uint64_t)(100000 * pow(0.85, (double)t));
}

static uint64_t saturating_soon(size_t t)
{
    return 100000 - (uint64_t)(100000 * pow(0.4, (double)t));
}

static uint64_t full_early(size_t t)
{
    return t < 10 ? 5000 * t : 50000;
}

/* Full, or nearly, before the load paused. */
static void a_cache_is_bounded_whenever_its_load_pauses(void **state)
{
    bool (*const loads[])(size_t) = {until_the_end, but_the_middle, in_bursts};
    (void)state;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        assert_int_equal(judge_load(loads[i], saturating, 0).kind, VERDICT_BOUNDED);
        assert_int_equal(judge_load(loads[i], full_early, 0).kind, VERDICT_BOUNDED);
    }
    assert_int_equal(judge_load(shortly, saturating_soon, 0).kind, VERDICT_BOUNDED);
}

static bool at_start(size_t t)
{
    return t < 2;
}

static void a_table_of_the_start_is_once(void **state)
{
    (void)state;
    assert_int_equal(judge_load(at_start, steady, 0).kind, VERDICT_ONCE);
}

static bool in_a_burst(size_t t)
{
    return t >= 10 && t < 40;
}

/* Half of the ticks are work: a burst may have many of them in a moment of time. */
static struct verdict judge_burst(uint64_t length_ns, uint64_t first_ns)
{
    struct level_table l;
    struct level_table_row r;
    begin(&l, &r);
    r.first_tick = 10;
    r.first_ns = first_ns;
    r.last_ns = first_ns + length_ns;
    l.to_ns = UINT64_C(10000000000);
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++) {
        l.made[i] = in_a_burst(i) ? EVENTS : 0;
        l.until_ns[i] = i < 10    ? first_ns / 10 * (i + 1)
                        : i < 40  ? first_ns + length_ns / 30 * (i - 9)
                        : i == 63 ? l.to_ns
                                  : first_ns + length_ns + 1000000 * i;
        put(&r, i, i < 10 ? 0 : i < 40 ? 1000 * (i - 10) : 30000);
    }
    return verdict_find(&l, &r);
}

/* Ten seconds: a table is made in a moment, wherever that is; half a second of many ticks is a load. */
static void a_load_is_no_moment(void **state)
{
    (void)state;
    for (uint64_t first_ns = 1000000; first_ns <= UINT64_C(2000000000); first_ns *= 2000) {
        assert_int_equal(judge_burst(3000000, first_ns).kind, VERDICT_ONCE);
        assert_int_equal(judge_burst(500000000, first_ns).kind, VERDICT_STOPPED);
    }
}

/* What was freed when its load was over has not stopped: it is gone, or most of it. */
static void what_fell_after_its_calls_has_not_stopped(void **state)
{
    struct level_table l;
    struct level_table_row r;
    (void)state;
    for (uint64_t left = 0; left < 20000; left += 10000) {
        begin(&l, &r);
        r.last_ns = l.until_ns[29];
        for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++) {
            put(&r, i, i < 30 ? 1000 * i : i < 40 ? 29000 : left);
            l.made[i] = i < 30 ? EVENTS : 0;
        }
        r.freed[40] = r.blocks / 2;
        assert_int_equal(verdict_find(&l, &r).kind, left == 0 ? VERDICT_PASSING : VERDICT_BOUNDED);
    }
}

/* Buffers that go in a pause are no part of a shutdown that comes long after. */
static void a_shutdown_begins_after_the_last_pause(void **state)
{
    struct level_table l;
    struct level_table_row r;
    (void)state;
    begin(&l, &r);
    l.exited = true;
    r.last_ns = l.until_ns[39];
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++) {
        put(&r, i, i < 40 ? 1000 * i : 39000);
        l.made[i] = i < 40 ? EVENTS : 0;
        l.freed[i] = i < 40 ? EVENTS : i == 50 || i == 63 ? 3 * EVENTS : 0;
    }
    assert_int_equal(verdict_find(&l, &r).kind, VERDICT_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_is_seen_and_measured),
        cmocka_unit_test(bounds_are_seen),
        cmocka_unit_test(noise_does_not_grow),
        cmocka_unit_test(a_shutdown_is_not_part_of_life),
        cmocka_unit_test(a_moment_is_once),
        cmocka_unit_test(nothing_in_every_tick_is_kept_unless_it_was_freed),
        cmocka_unit_test(what_begins_late_is_unclear),
        cmocka_unit_test(a_leak_grows_whenever_its_load_pauses),
        cmocka_unit_test(growth_that_ended_with_its_calls_has_stopped),
        cmocka_unit_test(a_short_load_that_grew_evenly_has_stopped),
        cmocka_unit_test(a_cache_is_bounded_whenever_its_load_pauses),
        cmocka_unit_test(a_table_of_the_start_is_once),
        cmocka_unit_test(a_load_is_no_moment),
        cmocka_unit_test(what_fell_after_its_calls_has_not_stopped),
        cmocka_unit_test(a_shutdown_begins_after_the_last_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
