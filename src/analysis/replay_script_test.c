/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of compose: what is in a score, and that it can be played whatever the
 * recording.
 */
#include "analysis/replay_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/fake_player.h"
#include "store/sample.h"

static char path[64];
static struct wake_writer *writer;
static struct wake_stream *stream;

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/replay_script_test.%d.wake", (int)getpid());
    assert_int_equal(wake_writer_open(&writer, path, NULL), 0);
    uint32_t p = wake_writer_add_process(writer, &(struct wake_process_info){.pid = 7, .exe = "/bin/app"});
    stream = wake_writer_stream(writer, p);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void make(uint32_t thread, unsigned kind, uint64_t address, uint64_t size, uint64_t previous)
{
    wake_stream_alloc(stream, 0, thread, kind, 0, address, size, size, previous);
}

static void drop(uint32_t thread, unsigned how, uint64_t number)
{
    wake_stream_free(stream, 0, thread, how, number, 0);
}

/* Closes the recording and composes its first process; the caller frees. */
static void *compose_all(struct replay_script *c)
{
    struct wake_reader *r;
    struct err err;
    err_init(&err);
    assert_int_equal(wake_writer_close(writer, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    replay_script_init(c);
    assert_int_equal(replay_script_read(c, r, 0, &err), 0);
    void *memory = calloc(1, c->bytes);
    assert_non_null(memory);
    assert_int_equal(replay_script_write(c, r, memory, &err), 0);
    wake_reader_close(r);
    return memory;
}

static const struct score_part *parts_of(const void *score)
{
    return (const struct score_part *)((const struct score_head *)score + 1);
}

/* Call number i of a part. */
static const struct score_call *call_of(const void *score, uint32_t part, uint64_t i)
{
    const struct score_head *head = score;
    const struct score_part *p = &parts_of(score)[part];
    const struct score_call *calls = (const struct score_call *)((const char *)score + fake_offset(head));
    for (uint64_t k = 0; k < p->count; k++) {
        if (score_call_verb(&calls[p->first + k]) != SCORE_ENTER && i-- == 0)
            return &calls[p->first + k];
    }
    fail_msg("There are not so many calls.");
    return NULL;
}

static void a_thread_uses_its_slots_again(void **state)
{
    struct replay_script c;
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        make(1, KIND_MALLOC, 0x1000, 50 + i, 0);
        drop(1, HOW_FREE, i);
    }
    void *score = compose_all(&c);
    struct fake_play play = fake_player(score, SCORE_LEAD_FREE);
    assert_int_equal(c.slots, 1);
    assert_int_equal(play.made, 100);
    assert_int_equal(play.released, 100);
    assert_int_equal(c.peak_bytes, 149);
    assert_int_equal(play.peak_bytes, 149);
    assert_int_equal(c.crossings, 0);
    replay_script_release(&c);
    free(score);
}

static void who_releases_for_another_waits(void **state)
{
    struct replay_script c;
    (void)state;
    /* Thread 2 is known before it takes what thread 1 makes; the slots of thread 1 are used again meanwhile. */
    make(1, KIND_MALLOC, 0x1000, 10, 0);
    make(2, KIND_MALLOC, 0x2000, 20, 0);
    drop(1, HOW_FREE, 0);
    make(1, KIND_MALLOC, 0x1000, 30, 0);
    drop(2, HOW_FREE, 2);
    drop(2, HOW_FREE, 1);
    void *score = compose_all(&c);
    struct fake_play play = fake_player(score, SCORE_LEAD_FREE);
    assert_int_equal(c.parts.count, 2);
    assert_int_equal(c.crossings, 1);
    assert_true(play.waits > 0);
    assert_int_not_equal(call_of(score, 0, 0)->slot, call_of(score, 0, 2)->slot);
    assert_int_equal(call_of(score, 0, 2)->slot, call_of(score, 1, 1)->slot);
    replay_script_release(&c);
    free(score);
}

static void a_realloc_is_one_call(void **state)
{
    struct replay_script c;
    (void)state;
    make(1, KIND_MALLOC, 0x1000, 10, 0);
    drop(1, HOW_REALLOC, 0);
    make(2, KIND_MALLOC, 0x1000, 5, 0); /* another thread is given the old address meanwhile */
    make(1, KIND_REALLOC, 0x3000, 40, 1);
    drop(2, HOW_REALLOC, 2); /* across threads */
    make(2, KIND_REALLOC, 0x4000, 80, 3);
    drop(2, HOW_REALLOC, 3); /* to nothing */
    drop(2, HOW_FREE, 1);
    void *score = compose_all(&c);
    struct fake_play play = fake_player(score, SCORE_LEAD_FREE);
    assert_int_equal(play.made, 2);
    assert_int_equal(play.changed, 2);
    assert_int_equal(play.released, 2);
    assert_int_equal(score_call_verb(call_of(score, 0, 1)), SCORE_REALLOC);
    assert_int_equal(score_call_size(call_of(score, 0, 1)), 40);
    assert_int_equal(call_of(score, 1, 1)->old, call_of(score, 0, 1)->slot);
    assert_int_equal(parts_of(score)[1].count, 5); /* with the window that it enters */
    replay_script_release(&c);
    free(score);
}

static void kinds_become_verbs(void **state)
{
    static const struct {
        unsigned kind, verb, align;
        uint64_t address;
    } rows[] = {
        {KIND_MALLOC, SCORE_MALLOC, 0, 0x1000},        {KIND_NEW, SCORE_MALLOC, 0, 0x1000},
        {KIND_CALLOC, SCORE_CALLOC, 0, 0x1000},        {KIND_REALLOC, SCORE_MALLOC, 0, 0x1000},
        {KIND_POSIX_MEMALIGN, SCORE_ALIGNED, 6, 0x40}, {KIND_MEMALIGN, SCORE_ALIGNED, 12, 0x100000},
        {KIND_ALIGNED_ALLOC, SCORE_ALIGNED, 4, 0x8},   {KIND_VALLOC, SCORE_ALIGNED, 12, 0x10},
        {KIND_NEW_ALIGNED, SCORE_ALIGNED, 8, 0x300},   {KIND_PVALLOC, SCORE_ALIGNED, 12, 0},
    };
    struct replay_script c;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        make(1, rows[i].kind, rows[i].address, i == 0 ? UINT64_MAX : i, 0);
    void *score = compose_all(&c);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(score_call_verb(call_of(score, 0, i)), rows[i].verb);
        assert_int_equal(score_call_align(call_of(score, 0, i)), rows[i].align);
        assert_int_equal(score_call_size(call_of(score, 0, i)), i == 0 ? SCORE_SIZE_MAX : i);
    }
    replay_script_release(&c);
    free(score);
}

static void threads_follow_each_other(void **state)
{
    struct replay_script c;
    (void)state;
    make(9, KIND_MALLOC, 0x1000, 1, 0);
    for (uint32_t i = 0; i < 5; i++) {
        make(10 + i, KIND_MALLOC, 0x2000, 1, 0);
        drop(10 + i, HOW_FREE, 1 + i);
    }
    drop(9, HOW_FREE, 0);
    void *score = compose_all(&c);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(parts_of(score)[i].after, i == 0 ? 0 : i - 1);
        assert_int_equal(parts_of(score)[i].ends, i == 5 ? 0 : i + 1);
    }
    (void)fake_player(score, SCORE_LEAD_FREE);
    replay_script_release(&c);
    free(score);
}

static void what_was_never_seen_is_left_out(void **state)
{
    struct replay_script c;
    struct wake_reader *r;
    struct err err;
    (void)state;
    wake_stream_free_unknown(stream, 0, 1, HOW_FREE, 0, 0x1000);
    wake_stream_map(stream, 0, 1, 0, 0x1000, 4096, 3, 2);
    assert_int_equal(wake_writer_close(writer, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    replay_script_init(&c);
    err_init(&err);
    assert_int_equal(replay_script_read(&c, r, 0, &err), ERR_ABSENT);
    assert_int_equal(c.left_out, 2);
    assert_true(err.text[0] != '\0');
    replay_script_release(&c);
    replay_script_init(&c);
    assert_int_equal(replay_script_read(&c, r, 1, &err), ERR_ABSENT);
    replay_script_release(&c);
    wake_reader_close(r);
}

static void nobody_runs_ahead_where_they_keep_together(void **state)
{
    struct replay_script c;
    (void)state;
    /* Thread 1 makes what thread 2 releases, one at a time. */
    for (uint64_t i = 0; i < 10000; i++) {
        make(1, KIND_MALLOC, 0x1000, 10, 0);
        drop(2, HOW_FREE, i);
    }
    void *score = compose_all(&c);
    assert_int_equal(c.peak_bytes, 10);
    /* Two windows, or seventeen, of 64 calls, half of which make a block. */
    assert_int_equal(fake_player(score, SCORE_LEAD_TOGETHER).peak_bytes, 2 * 32 * 10);
    assert_int_equal(fake_player(score, SCORE_LEAD_FREE).peak_bytes, 17 * 32 * 10);
    replay_script_release(&c);
    free(score);
}

static void any_recording_can_be_played(void **state)
{
    struct sample s;
    struct replay_script c;
    sample_init(&s, 11);
    sample_add_events(&s, stream, 20000);
    void *score = compose_all(&c);
    struct fake_play play = fake_player(score, SCORE_LEAD_FREE),
                     paced = fake_player(score, SCORE_LEAD_TOGETHER);
    assert_int_equal(paced.made, play.made);
    assert_int_equal(paced.changed, play.changed);
    assert_int_equal(paced.released, play.released);
    assert_int_equal(play.made + play.changed, s.allocations);
    assert_int_equal(play.released + play.changed, s.frees);
    assert_int_equal(c.allocations, s.allocations);
    assert_int_equal(c.releases, s.frees);
    sample_release(&s);
    replay_script_release(&c);
    free(score);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_thread_uses_its_slots_again, setup, teardown),
        cmocka_unit_test_setup_teardown(who_releases_for_another_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(a_realloc_is_one_call, setup, teardown),
        cmocka_unit_test_setup_teardown(kinds_become_verbs, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_follow_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_never_seen_is_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_runs_ahead_where_they_keep_together, setup, teardown),
        cmocka_unit_test_setup_teardown(any_recording_can_be_played, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
