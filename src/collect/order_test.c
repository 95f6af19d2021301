/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of order: events of several lanes, with stamps and publication as
 * untidy as real threads make them, come out in an order that can have been.
 */
#include "collect/fake_world.h"

#include <pthread.h>

enum { A = 0x1000, B = 0x2000 };

static void lanes_are_merged_by_stamp(void **state)
{
    struct world w;
    uint64_t t = world_now();
    (void)state;
    world_open(&w, 16, 3);
    for (uint64_t i = 0; i < 30; i++) /* C frees what A made, B gets the address, in turns */
        fake_put_alloc(&w.lane[i % 2], 0x100 + i * 16, 1, 0, t + i);
    for (uint64_t i = 0; i < 30; i++)
        fake_put_free(&w.lane[2], 0x100 + i * 16, HOW_FREE, t + 100 + i);
    assert_int_equal(image_drain(w.image), 60);
    for (uint64_t i = 0; i < 30; i++)
        assert_int_equal(fake.calls[i].address, 0x100 + i * 16);
    world_close(&w, NULL);
}

/* Lanes that take turns, that are silent for long, that have the same stamps: always by stamp, then by lane. */
static void any_number_of_lanes_in_any_rhythm_are_merged_by_stamp(void **state)
{
    enum { EVENTS = 600 };
    unsigned seed = 1;
    (void)state;
    for (unsigned lanes = 2; lanes <= WORLD_LANES; lanes++) {
        struct world w;
        world_open(&w, 64, (int)lanes);
        uint64_t stamp = world_now(), expected[EVENTS];
        unsigned turn = 0, busy = 0;
        for (uint64_t i = 0; i < EVENTS; i++) {
            seed = seed * 1103515245 + 12345;
            unsigned dice = seed >> 16;
            if (dice % 64 == 0)
                busy = dice / 64 % lanes; /* this one and the next run side by side for a while */
            unsigned lane = dice % 8 == 0 ? dice / 8 % lanes : (busy + dice / 8 % 2) % lanes;
            bool is_same = dice / 4096 % 2 == 0 && lane > turn;
            turn = lane;
            stamp += is_same ? 0 : 1 + dice % 3;
            expected[i] = 0x1000 + i * 16;
            fake_put_alloc(&w.lane[lane], expected[i], 1, 0, stamp);
        }
        assert_int_equal(image_drain(w.image), EVENTS);
        for (size_t i = 0; i < EVENTS; i++)
            assert_int_equal(fake.calls[i].address, expected[i]);
        world_close(&w, NULL);
    }
}

static void stamps_inverted_by_a_little_do_not_matter(void **state)
{
    struct world w;
    uint64_t t = world_now();
    (void)state;
    world_open(&w, 16, 3);
    fake_put_alloc(&w.lane[0], A, 1, 0, t);
    fake_put_free(&w.lane[2], A, HOW_FREE, t + 50); /* truly before lane 1's alloc */
    fake_put_alloc(&w.lane[1], A, 2, 0, t + 40);
    image_drain(w.image);
    assert_string_equal(fake_story(A), "alloc0 free0 alloc1");
    struct image_end end;
    world_close(&w, &end);
    assert_int_equal(end.process.implied_frees, 0);
    assert_int_equal(end.process.unknown_frees, 0);
}

static void what_is_stamped_after_the_round_began_waits_for_the_next(void **state)
{
    struct world w;
    uint64_t soon = world_now() + UINT64_C(200000000); /* within the second that is waited for */
    (void)state;
    world_open(&w, 16, 2);
    fake_put_alloc(&w.lane[0], A, 1, 0, world_now());
    fake_put_alloc(&w.lane[1], B, 1, 0, soon);
    assert_int_equal(image_drain(w.image), 1);
    while (world_now() < soon)
        usleep(1000);
    assert_int_equal(image_drain(w.image), 1);
    world_close(&w, NULL);
}

static void a_stamp_from_the_far_future_holds_nothing_up(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 2);
    fake_put_alloc(&w.lane[0], A, 1, 0, UINT64_MAX / 2);
    fake_put_alloc(&w.lane[1], B, 1, 0, world_now());
    assert_int_equal(image_drain(w.image), 2);
    world_close(&w, NULL);
}

static void definitions_of_another_lane_are_known_in_time(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 2);
    fake_put_alloc(&w.lane[0], A, 1, 0, world_now());
    image_drain(w.image);
    fake_put_thread(&w.lane[1], 5, 1, world_now());
    fake_put_stack(&w.lane[1], 3, (uint64_t[]){7, 8}, 2);
    fake_put_alloc(&w.lane[0], B, 1, 3, world_now());
    image_drain(w.image);
    assert_int_equal(fake.calls[1].stack, 1);
    world_close(&w, NULL);
}

/* Further ahead in a lane than its events are read: there, only a look at all lanes finds it. */
static void definitions_far_ahead_in_another_lane_are_known_in_time(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 2);
    uint64_t first = world_now();
    for (uint64_t i = 0; i < 4 * DRAIN_AHEAD; i++)
        fake_put_alloc(&w.lane[1], B + 16 * i, 1, 0, first + 1 + i);
    fake_put_stack(&w.lane[1], 3, (uint64_t[]){7, 8}, 2);
    fake_put_alloc(&w.lane[0], A, 1, 3, first);
    assert_int_equal(image_drain(w.image), 1 + 4 * DRAIN_AHEAD);
    assert_int_equal(fake.calls[0].address, A);
    assert_int_equal(fake.calls[0].stack, 1);
    world_close(&w, NULL);
}

static void a_late_publication_changes_nothing_for_others(void **state)
{
    struct world w;
    uint64_t early = world_now();
    (void)state;
    world_open(&w, 16, 2);
    for (uint64_t i = 0; i < 100; i++) {
        fake_put_alloc(&w.lane[1], B, 1, 0, world_now());
        fake_put_free(&w.lane[1], B, HOW_FREE, world_now());
        image_drain(w.image);
    }
    fake_put_alloc(&w.lane[0], A, 1, 0, early); /* its thread slept between stamp and publication */
    image_drain(w.image);
    fake_put_free(&w.lane[1], A, HOW_FREE, world_now());
    image_drain(w.image);
    assert_string_equal(fake_story(A), "alloc100 free100");
    for (size_t i = 1; i < fake.count; i++)
        assert_true(fake.calls[i].time_ns >= fake.calls[i - 1].time_ns);
    world_close(&w, NULL);
}

static void a_free_that_nobody_told_the_block_of_is_none_of_the_next_in_its_place(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 2);
    w.image->view.head->has_gaps = 1;
    uint64_t now = world_now(), long_ago = now - 100 * w.time.quantum;
    fake_put_free(&w.lane[0], A, HOW_FREE, long_ago);
    fake_put_alloc(&w.lane[1], A, 1, 0, now);
    fake_put_free(&w.lane[0], B, HOW_FREE, now); /* stamps of two CPUs are out by this much */
    fake_put_alloc(&w.lane[1], B, 1, 0, now + 10);
    image_drain(w.image);
    image_drain(w.image);
    assert_string_equal(fake_story(A), "alloc0");
    assert_string_equal(fake_story(B), "alloc1 free1");
    world_close(&w, NULL);
}

static void recording_is_off_only_when_all_from_before_has_been_read(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 1);
    uint32_t *control = &w.image->view.head->control;
    uint64_t before = world_now(), now_ns = timebase_now();
    *control = segment_change(*control, SEGMENT_FADING);
    image_follow(w.image, now_ns);
    fake_put_alloc(&w.lane[0], A, 1, 0, before);
    for (int seconds = 2; seconds < 5; seconds++) {
        image_follow(w.image, now_ns + (uint64_t)seconds * UINT64_C(1000000000));
        assert_int_equal(*control & SEGMENT_STATE_MASK, SEGMENT_FADING);
    }
    image_drain(w.image);
    image_follow(w.image, now_ns + UINT64_C(9000000000));
    assert_int_equal(*control & SEGMENT_STATE_MASK, SEGMENT_OFF);
    assert_true((w.image->view.pass[A / 16 % SEGMENT_PASS_BITS / 32] >> A / 16 % 32 & 1) != 0);
    world_close(&w, NULL);
}

/* ---------------------------------------------------------------- real threads */

enum { THREADS = 4, SLOTS = 64, TURNS = 60000 };

/* A tiny allocator: slots are addresses, taken and given back under no lock but their own word. */
struct heap {
    uint32_t taken[SLOTS];
};

struct worker {
    struct world *world;
    struct heap *heap;
    struct fake_lane *lane;
    unsigned seed;
    uint64_t allocations, reallocations;
};

static int heap_take(struct heap *h, unsigned *seed)
{
    for (;;) {
        int slot = rand_r(seed) % SLOTS;
        uint32_t none = 0;
        if (__atomic_compare_exchange_n(&h->taken[slot], &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return slot;
    }
}

static uint64_t slot_address(int slot)
{
    return 0x10000 + (uint64_t)slot * 64;
}

/* As the probe does: releases are published before, acquisitions after. */
static void *worker_run(void *of)
{
    struct worker *w = of;
    int mine[4] = {-1, -1, -1, -1};
    for (int turn = 0; turn < TURNS; turn++) {
        int i = rand_r(&w->seed) % 4;
        if (mine[i] < 0) {
            mine[i] = heap_take(w->heap, &w->seed);
            fake_put_alloc(w->lane, slot_address(mine[i]), 8, 0, world_now());
            w->allocations++;
        } else if (rand_r(&w->seed) % 3 == 0) {
            int old = mine[i];
            fake_put_free(w->lane, slot_address(old), HOW_REALLOC, world_now());
            __atomic_store_n(&w->heap->taken[old], 0, __ATOMIC_RELEASE);
            mine[i] = heap_take(w->heap, &w->seed);
            if (rand_r(&w->seed) % 64 == 0)
                usleep(1);
            fake_put_realloc(w->lane, slot_address(mine[i]), 8, slot_address(old), world_now());
            w->allocations++;
            w->reallocations++;
        } else {
            fake_put_free(w->lane, slot_address(mine[i]), HOW_FREE, world_now());
            __atomic_store_n(&w->heap->taken[mine[i]], 0, __ATOMIC_RELEASE);
            mine[i] = -1;
        }
    }
    for (int i = 0; i < 4; i++) {
        if (mine[i] >= 0)
            fake_put_free(w->lane, slot_address(mine[i]), HOW_FREE, world_now());
    }
    return NULL;
}

static void threads_that_hand_addresses_around_are_put_in_true_order(void **state)
{
    struct world w;
    static struct heap heap;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    (void)state;
    world_open(&w, 256, THREADS);
    memset(&heap, 0, sizeof heap);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){&w, &heap, &w.lane[i], (unsigned)i + 1, 0, 0};
        fake_put_thread(&w.lane[i], 100 + (uint32_t)i, (uint64_t)i + 1, world_now());
        pthread_create(&threads[i], NULL, worker_run, &workers[i]);
    }
    uint64_t made = 0, chained = 0, links = 0;
    for (int i = 0; i < THREADS; i++) {
        while (pthread_tryjoin_np(threads[i], NULL) != 0) {
            timebase_update(&w.time);
            image_drain(w.image);
        }
        made += workers[i].allocations;
        chained += workers[i].reallocations;
    }
    struct image_end end;
    world_close(&w, &end);
    assert_int_equal(end.process.allocations, made);
    assert_int_equal(end.process.frees, made);
    assert_int_equal(end.process.leaked_blocks, 0);
    assert_int_equal(end.process.unknown_frees, 0);
    assert_int_equal(end.process.implied_frees, 0);
    assert_true(end.process.complete);
    for (size_t i = 0; i < fake.count; i++)
        links += fake.calls[i].previous != 0;
    assert_int_equal(links, chained);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_merged_by_stamp),
        cmocka_unit_test(any_number_of_lanes_in_any_rhythm_are_merged_by_stamp),
        cmocka_unit_test(stamps_inverted_by_a_little_do_not_matter),
        cmocka_unit_test(what_is_stamped_after_the_round_began_waits_for_the_next),
        cmocka_unit_test(a_stamp_from_the_far_future_holds_nothing_up),
        cmocka_unit_test(definitions_of_another_lane_are_known_in_time),
        cmocka_unit_test(definitions_far_ahead_in_another_lane_are_known_in_time),
        cmocka_unit_test(a_late_publication_changes_nothing_for_others),
        cmocka_unit_test(a_free_that_nobody_told_the_block_of_is_none_of_the_next_in_its_place),
        cmocka_unit_test(recording_is_off_only_when_all_from_before_has_been_read),
        cmocka_unit_test(threads_that_hand_addresses_around_are_put_in_true_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
