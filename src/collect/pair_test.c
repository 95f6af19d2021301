/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of pair: what becomes of an address, in whatever order its events come.
 */
#include "collect/fake_store.h"
#include "collect/pair.h"
#include "wire/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { A = 0x1000, B = 0x2000 };

struct world {
    struct definitions book;
    struct timebase time;
    struct timeline line;
    struct pair pair;
    uint64_t stamp;
};

static void world_open(struct world *w, bool alone)
{
    memset(w, 0, sizeof *w);
    fake_reset();
    w->time.rate = UINT64_C(1) << 32;
    w->time.quantum = 1000;
    w->line.time = &w->time;
    definitions_init(&w->book, NULL, 0);
    assert_true(pair_init(&w->pair, &w->book, &fake_stream, &w->line));
    w->pair.is_alone = alone;
}

static void world_close(struct world *w)
{
    pair_release(&w->pair);
    definitions_release(&w->book);
    fake_reset();
}

static void give(struct world *w, unsigned op, uint64_t address, uint32_t lane)
{
    struct item i = {.op = (uint8_t)op, .address = address, .lane = lane, .thread = lane + 1};
    i.stamp = ++w->stamp;
    i.kind = op == ITEM_ALLOC ? KIND_MALLOC : op == ITEM_RELEASE ? HOW_REALLOC : HOW_FREE;
    i.size = op == ITEM_ALLOC ? 10 : 0;
    pair_apply(&w->pair, &i, 1);
}

static void complete(struct world *w, uint64_t address, uint64_t old, uint32_t lane)
{
    struct item i = {.op = ITEM_ALLOC, .address = address, .old = old, .lane = lane, .thread = lane + 1};
    i.stamp = ++w->stamp;
    i.kind = KIND_REALLOC;
    i.size = 20;
    pair_apply(&w->pair, &i, 1);
}

static void rounds(struct world *w, int count)
{
    for (int i = 0; i < count; i++)
        pair_end_round(&w->pair);
}

static void a_free_finds_its_allocation(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, true);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_ALLOC, B, 0);
    give(&w, ITEM_FREE, A, 0);
    assert_string_equal(fake_story(0), "alloc0 alloc1 free0");
    assert_int_equal(w.pair.totals.live_bytes, 10);
    world_close(&w);
}

static void an_alloc_that_comes_before_the_free_waits_for_it(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_ALLOC, A, 1); /* B got it after C had freed it */
    assert_string_equal(fake_story(A), "alloc0");
    give(&w, ITEM_FREE, A, 2);
    assert_string_equal(fake_story(A), "alloc0 free0 alloc1");
    assert_int_equal(w.pair.parked.count, 0);
    world_close(&w);
}

static void a_free_that_comes_before_its_alloc_waits_for_it(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_FREE, A, 1);
    rounds(&w, 1);
    give(&w, ITEM_ALLOC, A, 0);
    assert_string_equal(fake_story(A), "alloc0 free0");
    world_close(&w);
}

static void events_of_one_lane_are_not_reordered(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_ALLOC, A, 1); /* waits for lane 2's free */
    give(&w, ITEM_FREE, A, 1);  /* fits alloc 0, but belongs to lane 1's own */
    give(&w, ITEM_ALLOC, A, 1);
    assert_string_equal(fake_story(A), "alloc0");
    give(&w, ITEM_FREE, A, 2);
    assert_string_equal(fake_story(A), "alloc0 free0 alloc1 free1 alloc2");
    assert_int_equal(fake.calls[1].thread, 3);
    assert_int_equal(fake.calls[3].thread, 2);
    world_close(&w);
}

static void what_never_fits_is_settled_after_two_rounds(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_FREE, A, 0);
    give(&w, ITEM_ALLOC, B, 0);
    give(&w, ITEM_ALLOC, B, 1);
    rounds(&w, 1);
    assert_int_equal(w.pair.parked.count, 2);
    rounds(&w, 1);
    assert_int_equal(w.pair.parked.count, 0);
    assert_string_equal(fake_story(A), "unknown");
    assert_string_equal(fake_story(B), "alloc0 free0 alloc1");
    assert_int_equal(w.pair.unknown_frees, 1);
    assert_int_equal(w.pair.implied_frees, 1);
    world_close(&w);
}

static void a_single_lane_settles_at_once(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, true);
    give(&w, ITEM_FREE, A, 0);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_ALLOC, A, 0);
    assert_string_equal(fake_story(A), "unknown alloc0 free0 alloc1");
    world_close(&w);
}

static void realloc_is_a_chain(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, true);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_RELEASE, A, 0);
    complete(&w, B, A, 0);
    give(&w, ITEM_RELEASE, B, 0);
    complete(&w, B, B, 0);
    assert_string_equal(fake_story(0), "alloc0 free0 alloc1<0 free1 alloc2<1");
    assert_int_equal(w.pair.totals.live_blocks, 1);
    world_close(&w);
}

static void a_failed_realloc_leaves_the_block_alive(void **state)
{
    struct world w;
    size_t count;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_RELEASE, A, 0);
    give(&w, ITEM_FREE, A, 1); /* another lane frees it after the failure */
    assert_string_equal(fake_story(0), "alloc0");
    give(&w, ITEM_REALLOC_FAILED, A, 0);
    assert_string_equal(fake_story(0), "alloc0 free0");
    give(&w, ITEM_ALLOC, B, 0);
    give(&w, ITEM_RELEASE, B, 0);
    free(pair_live(&w.pair, &count)); /* killed inside realloc: still live */
    assert_int_equal(count, 1);
    world_close(&w);
}

static void a_realloc_to_size_zero_frees(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, true);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_RELEASE, A, 0);
    give(&w, ITEM_REALLOC_FREED, A, 0);
    assert_string_equal(fake_story(0), "alloc0 free0");
    world_close(&w);
}

static void the_old_address_of_a_realloc_may_be_handed_out_first(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_RELEASE, A, 0);
    give(&w, ITEM_ALLOC, A, 1); /* real realloc has moved the block; lane 1 got its address */
    assert_string_equal(fake_story(A), "alloc0 free0 alloc1");
    assert_int_equal(fake.calls[1].thread, 1); /* by whoever reallocates it, not by who got its address */
    give(&w, ITEM_RELEASE, A, 1);              /* ... and reallocates it at once */
    complete(&w, B, A, 0);
    assert_string_equal(fake_story(B), "alloc2<0");
    complete(&w, 0x3000, A, 1);
    assert_string_equal(fake_story(0x3000), "alloc3<1");
    assert_int_equal(w.pair.totals.live_blocks, 2);
    world_close(&w);
}

static void a_realloc_waits_for_an_alloc_that_is_late(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_RELEASE, A, 1); /* the block was made by lane 0, which is late */
    complete(&w, B, A, 1);
    assert_string_equal(fake_story(0), "");
    give(&w, ITEM_ALLOC, A, 0);
    assert_string_equal(fake_story(0), "alloc0 free0 alloc1<0");
    assert_int_equal(w.pair.parked.count, 0);
    world_close(&w);
}

static void a_realloc_in_place_waits_for_an_alloc_that_is_late(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_RELEASE, A, 1);
    complete(&w, A, A, 1);
    give(&w, ITEM_RELEASE, A, 2);
    complete(&w, A, A, 2);
    give(&w, ITEM_ALLOC, A, 0);
    assert_string_equal(fake_story(0), "alloc0 free0 alloc1<0 free1 alloc2<1");
    world_close(&w);
}

/* The lane has had the old address again since, and all of it waits. */
static void a_realloc_finds_its_own_release_among_others(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_RELEASE, A, 1); /* the block was made by lane 0, which is late */
    complete(&w, B, A, 1);
    give(&w, ITEM_ALLOC, A, 1);
    give(&w, ITEM_RELEASE, A, 1);
    complete(&w, 0x3000, A, 1);
    give(&w, ITEM_ALLOC, B, 2); /* both destinations are stirred */
    give(&w, ITEM_FREE, B, 2);
    give(&w, ITEM_ALLOC, 0x3000, 2);
    give(&w, ITEM_FREE, 0x3000, 2);
    give(&w, ITEM_ALLOC, A, 0);
    assert_string_equal(fake_story(B), "alloc0 free0 alloc5<2");
    assert_string_equal(fake_story(A), "alloc2 free2 alloc3 free3");
    assert_string_equal(fake_story(0x3000), "alloc1 free1 alloc4<3");
    assert_int_equal(w.pair.parked.count, 0);
    assert_int_equal(w.pair.limbo.count, 0);
    assert_int_equal(w.pair.forced.count, 0);
    world_close(&w);
}

static void a_failed_realloc_of_a_late_block_leaves_no_trace(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_RELEASE, A, 1);
    give(&w, ITEM_REALLOC_FAILED, A, 1);
    give(&w, ITEM_ALLOC, A, 0);
    rounds(&w, 3);
    assert_string_equal(fake_story(0), "alloc0");
    world_close(&w);
}

static void a_realloc_of_an_unknown_block_is_an_unknown_free_and_an_alloc(void **state)
{
    struct world w;
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        world_open(&w, alone != 0);
        give(&w, ITEM_RELEASE, A, 0);
        complete(&w, B, A, 0);
        rounds(&w, 5);
        pair_finish(&w.pair);
        assert_string_equal(fake_story(0), "unknown alloc0");
        assert_int_equal(w.pair.unknown_frees, 1);
        give(&w, ITEM_RELEASE, A, 0);
        give(&w, ITEM_REALLOC_FAILED, A, 0);
        rounds(&w, 5);
        assert_string_equal(fake_story(0), "unknown alloc0");
        world_close(&w);
    }
}

static void an_unknown_block_in_limbo_is_not_freed_as_if_it_were_known(void **state)
{
    struct world w;
    enum { C = 0x3000 };
    (void)state;
    world_open(&w, false);
    give(&w, ITEM_ALLOC, B, 0);
    give(&w, ITEM_RELEASE, A, 1); /* never told of, as where blocks are sampled */
    give(&w, ITEM_RELEASE, C, 2);
    complete(&w, A, C, 2);
    rounds(&w, 2);
    pair_finish(&w.pair);
    assert_string_equal(fake_story(B), "alloc0");
    assert_int_equal(w.pair.totals.frees, 0);
    assert_int_equal(w.pair.totals.live_blocks, 2);
    assert_int_equal(w.pair.totals.live_bytes, 30);
    world_close(&w);
}

static void the_peak_is_exact(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, true);
    assert_true(totals_reserve(&w.pair.totals, 2));
    for (uint64_t i = 1; i <= 10; i++)
        give(&w, ITEM_ALLOC, i * 16, 0);
    for (uint64_t i = 1; i <= 10; i++)
        give(&w, ITEM_FREE, i * 16, 0);
    for (uint64_t i = 1; i <= 9; i++)
        give(&w, ITEM_ALLOC, i * 16, 0);
    totals_settle(&w.pair.totals);
    assert_int_equal(w.pair.totals.peak_bytes, 100);
    assert_int_equal(w.pair.totals.peak_event, 9);
    assert_int_equal(w.pair.totals.stacks[0].peak_blocks, 10);
    assert_int_equal(w.pair.totals.stacks[0].peak_bytes, 100);
    assert_int_equal(w.pair.totals.temporaries[0].blocks, 1);
    world_close(&w);
}

/* A true history of one address over several lanes, in which neighbours may
 * change places: the story must come out whole.  (Further apart they cannot
 * be: between a free and the free after next the allocator runs twice.) */
static void a_history_with_inverted_stamps_is_rebuilt(void **state)
{
    struct world w;
    unsigned seed = 1;
    (void)state;
    for (int run = 0; run < 2000; run++) {
        enum { N = 40 };
        struct item items[N];
        world_open(&w, false);
        for (int i = 0; i < N; i++) {
            items[i] =
                (struct item){.op = i % 2 == 0 ? ITEM_ALLOC : ITEM_FREE, .address = A, .kind = 1, .size = 1};
            items[i].lane = (uint32_t)rand_r(&seed) % 4;
        }
        for (int i = 0; i + 1 < N; i += 1 + rand_r(&seed) % 3) {
            if (items[i].lane != items[i + 1].lane) {
                struct item first = items[i];
                items[i] = items[i + 1];
                items[++i] = first;
            }
        }
        for (int i = 0; i < N; i++)
            pair_apply(&w.pair, &items[i], 1);
        pair_finish(&w.pair);
        assert_int_equal(w.pair.unknown_frees, 0);
        assert_int_equal(w.pair.implied_frees, 0);
        assert_int_equal(fake.count, N);
        world_close(&w);
    }
}

/* A thread grows a block that was made while nobody recorded, in place, and frees it; then another is given its address. */
static void what_waits_behind_an_unknown_release_is_not_overtaken(void **state)
{
    uint32_t gaps = 1;
    (void)state;
    for (uint64_t pause = 10000; pause < 10000000; pause *= 10) { /* longer than stamps may be out */
        struct world w;
        world_open(&w, false);
        w.pair.has_gaps = &gaps;
        give(&w, ITEM_RELEASE, A, 0);
        complete(&w, A, A, 0);
        w.stamp += pause;
        give(&w, ITEM_FREE, A, 0);
        w.stamp += pause;
        give(&w, ITEM_ALLOC, A, 1);
        give(&w, ITEM_FREE, A, 1);
        assert_string_equal(fake_story(0), "alloc0 free0 alloc1 free1");
        assert_int_equal(w.pair.totals.live_blocks, 0);
        rounds(&w, 3);
        assert_int_equal(w.pair.parked.count, 0);
        world_close(&w);
    }
}

/* A thread frees what another has made, which is read later, and is given its address again. */
static void a_release_is_not_decided_before_its_block_may_have_come(void **state)
{
    struct world w;
    uint32_t gaps = 1;
    (void)state;
    world_open(&w, false);
    w.pair.has_gaps = &gaps;
    w.stamp = 100;
    give(&w, ITEM_FREE, A, 0);
    give(&w, ITEM_ALLOC, A, 0);
    give(&w, ITEM_FREE, A, 0);
    w.stamp = 99;
    give(&w, ITEM_ALLOC, A, 1);
    rounds(&w, 4);
    assert_string_equal(fake_story(0), "alloc0 free0 alloc1 free1");
    assert_int_equal(w.pair.totals.live_blocks, 0);
    world_close(&w);
}

/* What is given the address of a block that is grown in place waits until that has gone. */
static void a_release_in_the_way_is_decided_with_all_behind_it(void **state)
{
    struct world w;
    uint32_t gaps = 1;
    (void)state;
    world_open(&w, false);
    w.pair.has_gaps = &gaps;
    give(&w, ITEM_RELEASE, A, 0);
    give(&w, ITEM_FREE, B, 2); /* another address has nothing to do with it */
    w.stamp += 10000000;
    complete(&w, A, A, 0);
    give(&w, ITEM_ALLOC, A, 1);
    give(&w, ITEM_FREE, A, 0);
    give(&w, ITEM_FREE, A, 1);
    assert_string_equal(fake_story(0), "alloc0 free0 alloc1 free1");
    rounds(&w, 3);
    assert_int_equal(w.pair.parked.count, 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_finds_its_allocation),
        cmocka_unit_test(an_alloc_that_comes_before_the_free_waits_for_it),
        cmocka_unit_test(a_free_that_comes_before_its_alloc_waits_for_it),
        cmocka_unit_test(events_of_one_lane_are_not_reordered),
        cmocka_unit_test(what_never_fits_is_settled_after_two_rounds),
        cmocka_unit_test(a_single_lane_settles_at_once),
        cmocka_unit_test(realloc_is_a_chain),
        cmocka_unit_test(a_failed_realloc_leaves_the_block_alive),
        cmocka_unit_test(a_realloc_to_size_zero_frees),
        cmocka_unit_test(the_old_address_of_a_realloc_may_be_handed_out_first),
        cmocka_unit_test(a_realloc_waits_for_an_alloc_that_is_late),
        cmocka_unit_test(a_realloc_in_place_waits_for_an_alloc_that_is_late),
        cmocka_unit_test(a_realloc_finds_its_own_release_among_others),
        cmocka_unit_test(a_failed_realloc_of_a_late_block_leaves_no_trace),
        cmocka_unit_test(a_realloc_of_an_unknown_block_is_an_unknown_free_and_an_alloc),
        cmocka_unit_test(an_unknown_block_in_limbo_is_not_freed_as_if_it_were_known),
        cmocka_unit_test(the_peak_is_exact),
        cmocka_unit_test(a_history_with_inverted_stamps_is_rebuilt),
        cmocka_unit_test(what_waits_behind_an_unknown_release_is_not_overtaken),
        cmocka_unit_test(a_release_is_not_decided_before_its_block_may_have_come),
        cmocka_unit_test(a_release_in_the_way_is_decided_with_all_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
