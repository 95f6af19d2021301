/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of resident: how often is looked, and that what is told has the course and the highest of what was seen.
 */
#include "collect/resident.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MIB (UINT64_C(1) << 20)

struct level_sampler {
    unsigned looks, told;
    uint64_t highest_seen, highest_seen_ns, highest_told, highest_told_ns;
    uint64_t widest_ns; /* between two that were told */
    double worst;       /* how far a look was off the latest told one when that was all there was */
};

static void course_tell(struct level_sampler *c, const struct resident_look *told, unsigned count,
                        uint64_t *last_ns)
{
    for (unsigned i = 0; i < count; i++) {
        assert_true(told[i].time_ns >= *last_ns);
        if (told[i].time_ns - *last_ns > c->widest_ns && *last_ns != 0)
            c->widest_ns = told[i].time_ns - *last_ns;
        *last_ns = told[i].time_ns;
        c->told++;
        if (told[i].bytes > c->highest_told) {
            c->highest_told = told[i].bytes;
            c->highest_told_ns = told[i].time_ns;
        }
    }
}

/* A process that lives for so long, every 20 ms; event_each 0: it never has one. */
static struct level_sampler live(uint64_t life_ns, uint64_t event_each_ns, uint64_t (*bytes)(uint64_t age_ns))
{
    struct resident r;
    struct resident_look told[RESIDENT_TOLD_MAX];
    struct level_sampler c = {0};
    const uint64_t start = 77 * SECOND;
    uint64_t last_ns = 0;
    resident_init(&r, start);
    for (uint64_t now = start; now < start + life_ns; now += 20 * MS) {
        uint64_t events = event_each_ns == 0 ? 5 : (now - start) / event_each_ns;
        if (!resident_is_due(&r, now, events))
            continue;
        uint64_t seen = bytes(now - start);
        c.looks++;
        if (seen > c.highest_seen) {
            c.highest_seen = seen;
            c.highest_seen_ns = now;
        }
        course_tell(&c, told, resident_note(&r, now, seen, told), &last_ns);
        double off = ((double)seen - (double)r.told.bytes) / (double)r.told.bytes;
        off = off < 0 ? -off : off;
        c.worst = off > c.worst ? off : c.worst;
    }
    course_tell(&c, told, resident_finish(&r, told), &last_ns);
    assert_int_equal(resident_finish(&r, told), 0);
    return c;
}

static uint64_t flat(uint64_t age_ns)
{
    (void)age_ns;
    return 50 * MIB;
}

static uint64_t leaking(uint64_t age_ns)
{
    return 50 * MIB + age_ns / SECOND * 4096;
}

static uint64_t jumping(uint64_t age_ns)
{
    return (age_ns / SECOND % 2 == 0 ? 50 : 60) * MIB;
}

/* A little higher than ever for a tenth of a second, once. */
static uint64_t touching(uint64_t age_ns)
{
    return 50 * MIB + (age_ns / (100 * MS) == 30007 ? 4096 : 0);
}

static void a_short_run_is_told_as_it_was_seen(void **state)
{
    (void)state;
    struct level_sampler c = live(60 * SECOND, 10 * MS, flat);
    assert_in_range(c.looks, 630, 650);            /* 50 in the first second, then ten a second */
    assert_in_range(c.told, c.looks - 1, c.looks); /* the first behind that second comes early */
}

static void who_is_still_is_looked_at_once_a_second(void **state)
{
    (void)state;
    struct level_sampler c = live(3600 * SECOND, 0, flat);
    assert_in_range(c.looks, 3600, 4200);
    c = live(3600 * SECOND, 50 * MS, flat);
    assert_in_range(c.looks, 35900, 36100);
}

static void who_stirs_is_looked_at_at_once(void **state)
{
    (void)state;
    struct resident r;
    resident_init(&r, 0);
    for (uint64_t now = 0; now < 100 * SECOND; now += 20 * MS)
        (void)resident_is_due(&r, now, 5);
    assert_true(resident_is_due(&r, 100 * SECOND + 980 * MS, 5));
    assert_false(resident_is_due(&r, 101 * SECOND, 5));
    assert_true(resident_is_due(&r, 101 * SECOND + 20 * MS, 6));
    assert_int_equal(resident_rest_ns(&r, 101 * SECOND + 20 * MS, 6), 100 * MS);
}

static void a_week_takes_thousands_of_samples_not_millions(void **state)
{
    (void)state;
    const uint64_t week = 7 * 24 * 3600 * SECOND;
    struct level_sampler c = live(week, 0, flat);
    assert_in_range(c.told, 10000, 20000);
    assert_true(c.widest_ns <= 61 * SECOND);
    c = live(week / 7, 50 * MS, leaking);
    assert_in_range(c.told, 1400, 20000);
    assert_true(c.worst <= 1.0 / 256);
    assert_int_equal(c.highest_told, c.highest_seen);
    assert_int_equal(c.highest_told_ns, c.highest_seen_ns);
}

static void what_moves_is_told_at_once(void **state)
{
    (void)state;
    struct level_sampler c = live(5000 * SECOND, 50 * MS, jumping);
    assert_in_range(c.told, 5000, 13000);
    assert_true(c.worst == 0);
}

static void the_highest_is_told_however_little_it_is(void **state)
{
    (void)state;
    struct level_sampler c = live(6000 * SECOND, 50 * MS, touching);
    assert_int_equal(c.highest_seen, 50 * MIB + 4096);
    assert_int_equal(c.highest_told, c.highest_seen);
    assert_int_equal(c.highest_told_ns, c.highest_seen_ns);
    assert_true(c.told < c.looks / 4);
}

static void another_file_begins_anew(void **state)
{
    (void)state;
    struct resident r;
    struct resident_look told[RESIDENT_TOLD_MAX];
    resident_init(&r, 0);
    assert_int_equal(resident_note(&r, 5000 * SECOND, 50 * MIB, told), 1);
    assert_int_equal(resident_note(&r, 5001 * SECOND, 50 * MIB + 4096, told), 0);
    assert_int_equal(resident_note(&r, 5002 * SECOND, 50 * MIB, told), 0);
    assert_int_equal(resident_finish(&r, told), 1);
    assert_int_equal(told[0].time_ns, 5001 * SECOND);
    assert_int_equal(resident_note(&r, 5003 * SECOND, 50 * MIB, told), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_run_is_told_as_it_was_seen),
        cmocka_unit_test(who_is_still_is_looked_at_once_a_second),
        cmocka_unit_test(who_stirs_is_looked_at_at_once),
        cmocka_unit_test(a_week_takes_thousands_of_samples_not_millions),
        cmocka_unit_test(what_moves_is_told_at_once),
        cmocka_unit_test(the_highest_is_told_however_little_it_is),
        cmocka_unit_test(another_file_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
