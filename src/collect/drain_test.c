/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of drain: what is read from a segment, sound or not, and what is given back.
 */
#include "collect/fake_world.h"
#include "tool/err.h"

static void events_come_out_as_they_went_in(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 1);
    fake_put_thread(&w.lane[0], 77, 1, world_now());
    fake_put_module(&w.lane[0], 0x400000, 0x500000, 1, "/bin/fake");
    fake_put_stack(&w.lane[0], 9, (uint64_t[]){0x400100, 0x400200}, 2);
    fake_put_alloc(&w.lane[0], 0x7000, 24, 9, world_now());
    fake_put_free(&w.lane[0], 0x7000, HOW_FREE, world_now());
    assert_int_equal(image_drain(w.image), 2);
    assert_string_equal(fake_story(0), "alloc0 free0");
    assert_int_equal(fake.calls[0].size, 24);
    assert_int_equal(fake.calls[0].thread, 1);
    assert_int_equal(fake.calls[0].stack, 1);
    assert_int_equal(fake.frame_count, 2);
    assert_int_equal(fake.frames[0].module, 1);
    struct image_end end;
    world_close(&w, &end);
    assert_true(end.process.complete);
    assert_int_equal(end.process.threads, 1);
}

/* In a lane that was read before, in one that was never looked at, and over the edge of a chunk. */
static void what_is_not_read_for_want_of_memory_is_counted(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 1);
    fake_put_alloc(&w.lane[0], 0x10, 1, 0, world_now());
    assert_int_equal(image_drain(w.image), 1);
    w.image->failed = true;
    fake_lane_open(&w.lane[1], &w.segment);
    fake_put_thread(&w.lane[1], 5, 1, world_now());
    for (uint64_t i = 0; i < 1000; i++) {
        fake_put_alloc(&w.lane[1], 0x1000 + 16 * i, 1, 0, world_now());
        fake_put_free(&w.lane[0], 0x1000 + 16 * i, HOW_FREE, world_now());
    }
    assert_int_equal(image_drain(w.image), 0);
    struct image_end end;
    world_close(&w, &end);
    assert_false(end.process.complete);
    assert_int_equal(end.process.lost_events, 2000);
}

static void one_stack_under_two_ids_is_one_stack(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 1);
    fake_put_stack(&w.lane[0], 5, (uint64_t[]){1, 2, 3}, 3);
    fake_put_stack(&w.lane[0], 6, (uint64_t[]){1, 2, 3}, 3);
    fake_put_stack(&w.lane[0], 7, (uint64_t[]){1, 2}, 2);
    fake_put_alloc(&w.lane[0], 0x10, 1, 5, world_now());
    fake_put_alloc(&w.lane[0], 0x20, 1, 6, world_now());
    fake_put_alloc(&w.lane[0], 0x30, 1, 7, world_now());
    fake_put_alloc(&w.lane[0], 0x40, 1, 8, world_now()); /* never defined */
    image_drain(w.image);
    assert_int_equal(fake.stacks, 2);
    assert_int_equal(fake.calls[1].stack, 1);
    assert_int_equal(fake.calls[2].stack, 2);
    assert_int_equal(fake.calls[3].stack, 0);
    struct image_end end;
    world_close(&w, &end);
    assert_int_equal(end.undefined_stacks, 1);
}

static void a_library_that_takes_the_place_of_another_is_told_apart(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 16, 1);
    fake_put_module(&w.lane[0], 0x1000, 0x2000, 1, "/lib/old.so");
    fake_put_module(&w.lane[0], 0x1000, 0x2000, 3, "/lib/new.so");
    uint64_t w2[3] = {RECORD_STACK | UINT64_C(1) << 32, 1, 2},
             frame[2] = {RECORD_FRAMES | UINT64_C(1) << 32, 0x1800};
    fake_put(&w.lane[0], w2, 3);
    fake_put(&w.lane[0], frame, 2);
    image_drain(w.image);
    assert_int_equal(fake.frames[0].module, 1);
    w2[0] = RECORD_STACK | UINT64_C(2) << 32;
    w2[2] = 3;
    fake_put(&w.lane[0], w2, 3);
    fake_put(&w.lane[0], frame, 2);
    image_drain(w.image);
    assert_int_equal(fake.frames[0].module, 2);
    world_close(&w, NULL);
}

static void chunks_come_back_zeroed_and_are_used_again(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 3, 1);
    for (uint64_t i = 0; i < 20000; i++) {
        fake_put_alloc(&w.lane[0], 0x1000 + i * 16, 8, 0, world_now());
        if (i % 200 == 0)
            image_drain(w.image);
    }
    struct image_end end;
    world_close(&w, &end);
    assert_int_equal(end.process.allocations, 20000);
    assert_int_equal(end.process.leaked_blocks, 20000);
    assert_int_equal(fake.live_count, 20000);
    assert_true(end.process.complete);
}

static void expect_closed_lane(struct world *w)
{
    struct image_end end;
    fake_put_alloc(&w->lane[1], 0x99990, 1, 0, world_now());
    image_drain(w->image);
    image_drain(w->image);
    assert_int_equal(w->segment.head->collector, SEGMENT_CLOSED); /* or its writer would wait for ever */
    world_close(w, &end);
    assert_true(end.anomalies >= 1);
    assert_false(end.process.complete);
    assert_int_equal(end.process.allocations, 2); /* what came before, and the other lane */
}

static void records_that_make_no_sense_close_their_lane_only(void **state)
{
    static const uint64_t bad[] = {
        RECORD_OP_COUNT,                            /* no such opcode */
        0xff,                                       /* alloc and free at once */
        RECORD_ALLOC,                               /* kind 0 */
        RECORD_FRAMES | UINT64_C(3) << 32,          /* frames of no stack */
        RECORD_FRAMES | UINT64_C(0xffffffff) << 32, /* too many */
        RECORD_MODULE | UINT64_C(4) << 32,          /* shorter than its own head */
        RECORD_MODULE | UINT64_C(90000) << 32,      /* longer than a chunk */
        RECORD_LINK | UINT64_C(77777) << 32,        /* a chunk that is not there */
        RECORD_LINK,                                /* a circle: back to chunk 0 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (int early = 0; early < 2; early++) { /* alone, and beside another lane */
            struct world w;
            uint64_t words[8] = {bad[i], 1, 2, 3, 4, 5, 6, 7};
            world_open(&w, 16, 2);
            fake_put_alloc(&w.lane[0], 0x5000, 1, 0, world_now());
            fake_put(&w.lane[0], words, 8);
            if (early == 0)
                image_drain(w.image);
            expect_closed_lane(&w);
        }
    }
}

static void a_segment_of_noise_is_survived(void **state)
{
    unsigned seed = 7;
    (void)state;
    for (int run = 0; run < 300; run++) {
        struct world w;
        world_open(&w, 16, 4);
        for (int i = 0; i < 4; i++)
            fake_put_alloc(&w.lane[i], 0x100 * (uint64_t)(i + 1), 1, 0, world_now());
        uint64_t *words = fake_chunk(&w.segment, 0);
        for (size_t i = 0; i < 16 * SEGMENT_CHUNK_WORDS; i++) {
            if (rand_r(&seed) % 4 == 0)
                words[i] = (uint64_t)(unsigned)rand_r(&seed) << 32 |
                           (unsigned)(rand_r(&seed) % (run % 2 ? 32 : 256));
        }
        uint32_t *lanes = (uint32_t *)(void *)(w.segment.base + FAKE_LANES_AT);
        for (int i = 0; i < 4; i++)
            lanes[i] = (uint32_t)rand_r(&seed) % 20;
        w.segment.head->lane_count = (uint32_t)rand_r(&seed);
        w.segment.head->lane_max = UINT32_MAX;
        for (int i = 0; i < 3; i++)
            image_drain(w.image);
        world_close(&w, NULL);
    }
}

static void a_head_that_contradicts_its_file_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        struct fake_segment s = {0};
        struct view view;
        struct err err;
        err_init(&err);
        assert_true(fake_segment_open(&s, 4));
        switch (i) {
        case 0:
            s.head->magic = 1;
            break;
        case 1:
            s.head->version = 99;
            break;
        case 2:
            s.head->chunk_max = UINT32_MAX;
            break;
        case 3:
            s.head->lane_max = UINT32_MAX;
            break;
        case 4:
            s.head->chunk_offset = 12345;
            break;
        case 5:
            s.head->next_offset = UINT32_MAX - 3;
            break;
        default:
            s.head->stamp_kind = 9;
            break;
        }
        assert_true(view_open(&view, s.fd, &err) < 0);
        assert_true(err.text[0] != '\0');
        fake_segment_close(&s);
    }
}

static void a_segment_cannot_shrink_any_more(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 4, 1);
    assert_int_equal(ftruncate(w.segment.fd, 4096), -1);
    world_close(&w, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_out_as_they_went_in),
        cmocka_unit_test(what_is_not_read_for_want_of_memory_is_counted),
        cmocka_unit_test(one_stack_under_two_ids_is_one_stack),
        cmocka_unit_test(a_library_that_takes_the_place_of_another_is_told_apart),
        cmocka_unit_test(chunks_come_back_zeroed_and_are_used_again),
        cmocka_unit_test(records_that_make_no_sense_close_their_lane_only),
        cmocka_unit_test(a_segment_of_noise_is_survived),
        cmocka_unit_test(a_head_that_contradicts_its_file_is_refused),
        cmocka_unit_test(a_segment_cannot_shrink_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
