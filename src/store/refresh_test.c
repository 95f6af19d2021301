/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * refresh_test: a reader that follows a recording while it is written knows what one knows that opens it now.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/live.h"
#include "store/reader.h"
#include "store/sample.h"
#include "store/writer.h"
#include "tool/err.h"

static char path[64];
static struct sample sample;
static struct wake_writer *writer;
static uint32_t process;

static int setup(void **state)
{
    const struct wake_process_info info = {
        .pid = 100, .has_arenas = true, .exe = "/bin/app", .args = "app", .args_length = 4};
    (void)state;
    snprintf(path, sizeof path, "/tmp/refresh_test.%d.wake", (int)getpid());
    sample_init(&sample, 5);
    sample.has_arenas = true;
    assert_int_equal(wake_writer_open(&writer, path, NULL), 0);
    process = wake_writer_add_process(writer, &info);
    sample_add_meta(writer, process);
    sample_add_events(&sample, wake_writer_stream(writer, process), 40);
    wake_writer_flush(writer);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (writer != NULL)
        wake_writer_close(writer, 0, NULL);
    sample_release(&sample);
    unlink(path);
    return 0;
}

static int compare_live(const void *a, const void *b)
{
    const struct wake_live_block *x = a, *y = b;
    return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

static void assert_same_live(const struct wake_process *a, const struct wake_process *b)
{
    size_t size = a->live.count * sizeof *a->live.data;
    struct wake_live_block *left = malloc(size + 1), *right = malloc(size + 1);
    assert_int_equal(a->live.count, b->live.count);
    memcpy(left, a->live.data, size);
    memcpy(right, b->live.data, size);
    qsort(left, a->live.count, sizeof *left, compare_live);
    qsort(right, b->live.count, sizeof *right, compare_live);
    for (size_t i = 0; i < a->live.count; i++) {
        assert_int_equal(left[i].allocation, right[i].allocation);
        assert_int_equal(left[i].address, right[i].address);
        assert_int_equal(left[i].size, right[i].size);
        assert_int_equal(left[i].stack, right[i].stack);
    }
    free(left);
    free(right);
}

static int sum_block(const struct wake_block *b, void *context)
{
    uint64_t *sum = context;
    for (uint32_t i = 0; i < b->count; i++)
        *sum = *sum * 31 + b->event[i] + b->address[i] + b->size[i] + b->time_ns[i];
    return 0;
}

static uint64_t sum_events(struct wake_reader *r)
{
    uint64_t sum = 0;
    assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, sum_block, &sum, NULL), 0);
    return sum;
}

/* All that a reader says of the process. */
static void assert_same(struct wake_reader *followed)
{
    struct wake_reader *fresh;
    assert_int_equal(wake_reader_open(&fresh, path, NULL), 0);
    const struct wake_process *a = wake_reader_process(followed, 0), *b = wake_reader_process(fresh, 0);
    assert_int_equal(wake_reader_process_count(followed), wake_reader_process_count(fresh));
    assert_memory_equal(&a->end, &b->end, sizeof a->end);
    assert_int_equal(a->derived, b->derived);
    assert_int_equal(a->ended, b->ended);
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->stacks.count, b->stacks.count);
    assert_int_equal(a->marks.count, b->marks.count);
    assert_int_equal(a->totals.count, b->totals.count);
    assert_memory_equal(a->totals.data, b->totals.data, a->totals.count * sizeof *a->totals.data);
    assert_same_live(a, b);
    assert_int_equal(wake_reader_summary(followed)->closed, wake_reader_summary(fresh)->closed);
    assert_int_equal(wake_reader_summary(followed)->complete, wake_reader_summary(fresh)->complete);
    assert_int_equal(wake_reader_summary(followed)->events, wake_reader_summary(fresh)->events);
    assert_int_equal(wake_reader_summary(followed)->file_size, wake_reader_summary(fresh)->file_size);
    assert_int_equal(wake_reader_damage_count(followed), wake_reader_damage_count(fresh));
    assert_int_equal(sum_events(followed), sum_events(fresh));
    wake_reader_close(fresh);
}

static void what_is_appended_is_taken_in(void **state)
{
    struct wake_reader *r;
    bool has_grown;
    (void)state;
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_int_equal(wake_reader_state(r), WAKE_GROWING);
    assert_int_equal(wake_reader_refresh(r, &has_grown, NULL), 0);
    assert_false(has_grown);
    for (unsigned i = 0; i < 20; i++) {
        sample_add_events(&sample, wake_writer_stream(writer, process), 10 + 7 * i);
        wake_writer_flush(writer);
        assert_int_equal(wake_reader_refresh(r, &has_grown, NULL), 0);
        assert_true(has_grown);
        assert_same(r);
    }
    sample_end_process(&sample, writer, process);
    assert_int_equal(wake_writer_close(writer, 0, NULL), 0);
    writer = NULL;
    assert_int_equal(wake_reader_refresh(r, &has_grown, NULL), 0);
    assert_true(has_grown);
    assert_int_equal(wake_reader_state(r), WAKE_CLOSED);
    assert_same(r);
    assert_int_equal(wake_reader_refresh(r, &has_grown, NULL), 0);
    assert_false(has_grown);
    wake_reader_close(r);
}

/* Copies the first bytes of the recording to a file of its own. */
static void put_part(const char *name, uint64_t length)
{
    char bytes[1 << 12];
    int from = open(path, O_RDONLY), to = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(from >= 0 && to >= 0);
    while (length > 0) {
        ssize_t got = read(from, bytes, length < sizeof bytes ? length : sizeof bytes);
        assert_true(got > 0 && write(to, bytes, (size_t)got) == got);
        length -= (uint64_t)got;
    }
    close(from);
    close(to);
}

static void a_part_of_a_chunk_is_damage_only_when_nobody_writes(void **state)
{
    char part[80];
    struct wake_reader *r;
    (void)state;
    sample_add_events(&sample, wake_writer_stream(writer, process), 100);
    wake_writer_flush(writer);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    uint64_t size = wake_reader_summary(r)->file_size;
    wake_reader_close(r);
    snprintf(part, sizeof part, "%s.part", path);
    put_part(part, size - 10);
    assert_int_equal(wake_reader_open(&r, part, NULL), 0);
    assert_int_equal(wake_reader_state(r), WAKE_CUT);
    assert_int_equal(wake_reader_damage_count(r), 1);
    wake_reader_close(r);
    int lock = open(part, O_RDONLY);
    assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(wake_reader_open(&r, part, NULL), 0);
    assert_int_equal(wake_reader_state(r), WAKE_GROWING);
    assert_int_equal(wake_reader_damage_count(r), 0);
    put_part(part, size);
    bool has_grown;
    assert_int_equal(wake_reader_refresh(r, &has_grown, NULL), 0);
    assert_true(has_grown);
    assert_same(r);
    unlink(part);
    put_part(part, size);
    assert_int_equal(wake_reader_state(r), WAKE_REPLACED);
    wake_reader_close(r);
    close(lock);
    unlink(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_appended_is_taken_in, setup, teardown),
        cmocka_unit_test_setup_teardown(a_part_of_a_chunk_is_damage_only_when_nobody_writes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
