/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/lots.h"
#include "store/reader.h"

enum { STACKS = 6, LIVE_MAX = 64, HISTORIES = 400 };

static char path[64];
static uint64_t state;

static int setup(void **unused)
{
    (void)unused;
    snprintf(path, sizeof path, "/tmp/lots_test.%d.wake", (int)getpid());
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    unlink(path);
    return 0;
}

static uint64_t below(uint64_t limit)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (state >> 33) % limit;
}

/* A program that was: allocations and releases at random, and the sums of each stack. */
struct history {
    struct lot lots[STACKS];
    uint64_t live, peak;
};

static void history_make(struct history *h, uint64_t seed)
{
    struct {
        uint64_t size;
        unsigned stack;
    } blocks[LIVE_MAX];
    size_t count = 0;
    memset(h, 0, sizeof *h);
    state = seed;
    uint64_t events = below(seed % 3 == 0 ? 8 : 300), sizes = 1 + below(3) * below(5000);
    for (uint64_t e = 0; e < events; e++) {
        if (count == LIVE_MAX || (count > 0 && below(5) < 2)) {
            size_t at = below(count);
            struct lot *l = &h->lots[blocks[at].stack];
            l->end.blocks--;
            l->end.bytes -= blocks[at].size;
            h->live -= blocks[at].size;
            blocks[at] = blocks[--count];
            continue;
        }
        blocks[count].stack = (unsigned)below(STACKS);
        blocks[count].size = below(sizes);
        struct lot *l = &h->lots[blocks[count].stack];
        l->allocated.blocks++, l->end.blocks++;
        l->allocated.bytes += blocks[count].size, l->end.bytes += blocks[count].size;
        h->live += blocks[count++].size;
        for (size_t i = 0; h->live > h->peak && i < STACKS; i++)
            h->lots[i].peak = h->lots[i].end;
        if (h->live > h->peak)
            h->peak = h->live;
    }
}

/* The recording of these lots; the caller closes it. */
static struct wake_reader *record(const struct lot *lots, size_t count, bool knows_peak, uint64_t most)
{
    struct err err;
    struct wake_reader *r;
    struct import_job job = {.most_blocks = most};
    struct lots l = {.knows_peak = knows_peak, .peak_ns = 500, .end_ns = 900};
    err_init(&err);
    assert_int_equal(recast_open(&job.recast, path, 0, &err), 0);
    recast_begin(job.recast, 7, "a", 1, "a b", 3);
    for (size_t i = 0; i < count; i++) {
        const struct recast_name name = {{"f", 1}, {"", 0}, (uint32_t)i};
        struct wake_frame frame = recast_frame(job.recast, 0, 100 + i, &name, 1);
        struct lot lot = lots[i];
        lot.stack = recast_stack(job.recast, &frame, 1);
        assert_int_equal(lot.stack, i + 1);
        assert_true(lots_add(&l, &lot));
    }
    assert_int_equal(lots_write(&l, &job, &err), 0);
    lots_release(&l);
    recast_end(job.recast);
    assert_int_equal(recast_close(job.recast, &err), 0);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    return r;
}

static bool notes_mention(const struct wake_reader *r, const char *words)
{
    for (size_t i = 0; i < wake_reader_note_count(r); i++) {
        if (strstr(wake_reader_note(r, i), words) != NULL)
            return true;
    }
    return false;
}

static void a_recording_has_the_sums_of_any_history(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct history h;
        history_make(&h, seed);
        struct wake_reader *r = record(h.lots, STACKS, true, 1000);
        const struct wake_process *p = wake_reader_process(r, 0);
        for (size_t i = 0; i < STACKS; i++) {
            const struct wake_stack_totals *t = &p->totals.data[i + 1];
            const struct lot *l = &h.lots[i];
            assert_int_equal(t->allocations, l->allocated.blocks);
            assert_int_equal(t->allocated_bytes, l->allocated.bytes);
            assert_int_equal(t->allocations - t->freed, l->end.blocks);
            assert_int_equal(t->allocated_bytes - t->freed_bytes, l->end.bytes);
            assert_int_equal(t->peak_bytes, l->peak.bytes);
            if (h.peak > 0)
                assert_int_equal(t->peak_blocks, l->peak.blocks);
        }
        assert_int_equal(p->end.peak_bytes, h.peak);
        assert_int_equal(p->end.leaked_bytes, h.live);
        assert_false(notes_mention(r, "more live than"));
        assert_false(notes_mention(r, "--max-blocks"));
        wake_reader_close(r);
    }
}

static void beyond_the_limit_bytes_stay_right(void **unused)
{
    (void)unused;
    const struct lot lots[] = {
        {.allocated = {3000000000, 90000000000}, .peak = {2000000, 60000000}, .end = {1000000, 30000000}},
        {.allocated = {500000000, 0}, .peak = {0, 0}, .end = {5, 0}},
    };
    struct wake_reader *r = record(lots, 2, true, 10000);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_int_equal(p->end.allocated_bytes, 90000000000);
    assert_int_equal(p->end.peak_bytes, 60000000);
    assert_int_equal(p->end.leaked_bytes, 30000000);
    assert_in_range(p->end.allocations, 9000, 12000);
    assert_true(notes_mention(r, "--max-blocks"));
    wake_reader_close(r);
}

static void without_a_peak_the_end_is_the_peak(void **unused)
{
    (void)unused;
    const struct lot lots[] = {{.allocated = {100, 5000}, .end = {3, 33}},
                               {.allocated = {9, 90}, .end = {0, 0}}};
    struct wake_reader *r = record(lots, 2, false, 10000);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_int_equal(p->end.allocations, 109);
    assert_int_equal(p->end.leaked_bytes, 33);
    assert_in_range(p->end.peak_bytes, 33, 52); /* a churning block may be larger than all that is left */
    assert_true(notes_mention(r, "The peak is not known"));
    wake_reader_close(r);
}

static void contradictions_are_said(void **unused)
{
    (void)unused;
    const struct lot lots[] = {{.allocated = {1, 10}, .peak = {5, 50}, .end = {2, 200}}};
    struct wake_reader *r = record(lots, 1, true, 10000);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_int_equal(p->end.leaked_bytes, 200);
    assert_int_equal(p->end.leaked_blocks, 2);
    assert_true(notes_mention(r, "more live than"));
    wake_reader_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recording_has_the_sums_of_any_history, setup, teardown),
        cmocka_unit_test_setup_teardown(beyond_the_limit_bytes_stay_right, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_peak_the_end_is_the_peak, setup, teardown),
        cmocka_unit_test_setup_teardown(contradictions_are_said, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
