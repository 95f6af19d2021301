/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of image: what it tells the collector about the program's buffers.
 */
#include "collect/fake_world.h"

enum { MS = 1000000 };

static void buffers_are_tight_for_a_while_after_a_thread_has_waited(void **state)
{
    struct world w;
    uint64_t now = UINT64_C(5000) * MS;
    (void)state;
    world_open(&w, 16, 1);
    assert_false(image_is_tight(w.image, now));
    w.image->view.head->waits++;
    assert_true(image_is_tight(w.image, now));
    assert_true(image_is_tight(w.image, now + 99 * MS));
    assert_false(image_is_tight(w.image, now + 100 * MS));
    world_close(&w, NULL);
}

static void a_further_wait_begins_the_while_anew(void **state)
{
    struct world w;
    uint64_t now = UINT64_C(5000) * MS;
    (void)state;
    world_open(&w, 16, 1);
    w.image->view.head->waits++;
    assert_true(image_is_tight(w.image, now));
    w.image->view.head->waits++;
    assert_true(image_is_tight(w.image, now + 90 * MS));
    assert_true(image_is_tight(w.image, now + 180 * MS));
    assert_false(image_is_tight(w.image, now + 190 * MS));
    world_close(&w, NULL);
}

/* Events come steadily, a few of what there is room for: it is not due for a while. */
static uint64_t flow_steadily(struct image *m)
{
    uint64_t now = timebase_now();
    m->pace = (struct pace){.caught_up_ns = now, .flow = PACE_SOME, .during_ns = 100 * MS};
    assert_false(image_is_due(m, now));
    return now;
}

static void events_are_taken_at_once_when_somebody_waits_for_it(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 1024, 1);
    struct segment_head *head = w.image->view.head;
    uint64_t now = flow_steadily(w.image);
    assert_true(image_is_due(w.image, now + PACE_LONGEST_MS * UINT64_C(1000000)));
    head->asked++;
    assert_true(image_is_due(w.image, now));
    image_drain(w.image);
    now = flow_steadily(w.image);
    head->wishes[SEGMENT_WISH_TAG]++;
    assert_true(image_is_due(w.image, now));
    assert_int_equal(image_hear(w.image, SEGMENT_WISH_TAG), 1);
    now = flow_steadily(w.image);
    image_switch(w.image, false);
    assert_true(image_is_due(w.image, now));
    world_close(&w, NULL);
}

static void events_are_taken_at_once_when_buffers_are_tight(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 1024, 1);
    uint64_t now = flow_steadily(w.image);
    w.image->view.head->waits++;
    assert_true(image_is_due(w.image, now));
    world_close(&w, NULL);
}

/* Is the clock advanced? */
static void expect_ticks(struct image *m, bool expected)
{
    uint64_t clock = __atomic_load_n(&m->view.head->clock, __ATOMIC_RELAXED);
    assert_true(m->is_ticking == expected);
    assert_true(m->ticker->clocks.count == (expected ? 1 : 0));
    if (!expected)
        assert_int_equal(clock, SEGMENT_CLOCK_RESTS);
}

static void the_clock_goes_on_while_a_lone_thread_makes_many_events(void **state)
{
    struct ticker ticker;
    struct world w;
    (void)state;
    world_open(&w, 16, 1);
    ticker_init(&ticker);
    w.image->ticker = &ticker;
    image_follow_pace(w.image); /* before anything is known */
    expect_ticks(w.image, true);
    flow_steadily(w.image);
    image_follow_pace(w.image);
    expect_ticks(w.image, true);
    w.image->pace.flow = PACE_SOME - 1;
    image_follow_pace(w.image);
    expect_ticks(w.image, false);
    image_tick(w.image, timebase_now());
    expect_ticks(w.image, false);
    flow_steadily(w.image);
    image_follow_pace(w.image);
    expect_ticks(w.image, true);
    w.image->drain.lane_count = 2; /* their events have stamps */
    image_follow_pace(w.image);
    expect_ticks(w.image, false);
    w.image->view.head->sequence = SEGMENT_SEQUENCE_FIRST + 1; /* but these are made of the clock */
    image_follow_pace(w.image);
    expect_ticks(w.image, true);
    w.image->drain.lane_count = 0; /* none of these is there */
    world_close(&w, NULL);
    assert_int_equal(ticker.clocks.count, 0);
    ticker_release(&ticker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_are_tight_for_a_while_after_a_thread_has_waited),
        cmocka_unit_test(a_further_wait_begins_the_while_anew),
        cmocka_unit_test(events_are_taken_at_once_when_somebody_waits_for_it),
        cmocka_unit_test(events_are_taken_at_once_when_buffers_are_tight),
        cmocka_unit_test(the_clock_goes_on_while_a_lone_thread_makes_many_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
