/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of usage, on our own address space.
 */
#include "collect/usage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/reader.h"

enum { PAGE = 4096, HALF = 5 };

#define LENGTH ((size_t)HALF * PAGE)

static char path[64];
static struct wake_writer *writer;
static struct wake_reader *reader;
static struct usage usage;
static struct timeline line;

static int setup(void **state)
{
    struct wake_process_info info = {.pid = 77, .exe = "/a", .args = "a", .args_length = 2};
    (void)state;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    snprintf(path, sizeof path, "/tmp/usage_test.%d.wake", (int)getpid());
    assert_int_equal(wake_writer_open(&writer, path, NULL), 0);
    assert_int_equal(wake_writer_add_process(writer, &info), 0);
    usage_init(&usage, (uint32_t)getpid(), 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    usage_release(&usage);
    wake_reader_close(reader);
    reader = NULL;
    unlink(path);
    return 0;
}

static const struct wake_process *read_back(void)
{
    assert_int_equal(wake_writer_close(writer, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&reader, path, NULL), 0);
    assert_int_equal(wake_reader_damage_count(reader), 0);
    return wake_reader_process(reader, 0);
}

/* What a sample tells of exactly this range; NULL: nothing. */
static const struct wake_usage *find(const struct wake_process *p, size_t sample, const char *start,
                                     size_t length)
{
    assert_in_range(sample, 0, p->usage_samples.count - 1);
    const struct wake_usage_sample *s = &p->usage_samples.data[sample];
    for (size_t i = s->first; i < s->first + s->count; i++) {
        const struct wake_usage *u = &p->usage.data[i];
        if (u->start == (uintptr_t)start && u->end == (uintptr_t)start + length)
            return u;
    }
    return NULL;
}

/* Two neighbours that the kernel takes for one. */
static char *map_two(void)
{
    char *at = mmap(NULL, 2 * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    usage_note(&usage, (uintptr_t)at, LENGTH);
    usage_note(&usage, (uintptr_t)at + LENGTH, LENGTH - 100); /* the rest of its last page is its own */
    return at;
}

static void neighbours_are_told_apart(void **state)
{
    (void)state;
    char *at = map_two();
    at[0] = at[2 * PAGE] = 1;
    memset(at + LENGTH, 1, LENGTH);
    usage_take(&usage, writer, 0, &line, true);
    munmap(at + LENGTH, LENGTH);
    at[PAGE] = 1;
    usage_take(&usage, writer, 0, &line, true);
    const struct wake_process *p = read_back();
    assert_true(p->usage_samples.data[0].anew && !p->usage_samples.data[1].anew);
    const struct wake_usage *first = find(p, 0, at, LENGTH), *second = find(p, 0, at + LENGTH, LENGTH);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(first->rss_bytes + first->swap_bytes, 2 * PAGE);
    assert_int_equal(second->rss_bytes + second->swap_bytes, LENGTH);
    assert_int_equal(second->anonymous_bytes, second->rss_bytes);
    assert_int_equal(first->rights, WAKE_READ | WAKE_WRITE);
    first = find(p, 1, at, LENGTH);
    second = find(p, 1, at + LENGTH, LENGTH);
    assert_non_null(first);
    assert_int_equal(first->rss_bytes + first->swap_bytes, 3 * PAGE);
    assert_non_null(second);
    assert_true(second->is_gone);
    munmap(at, LENGTH);
}

static void what_has_not_changed_is_told_once(void **state)
{
    (void)state;
    char *at = map_two();
    memset(at, 1, 2 * LENGTH);
    usage_take(&usage, writer, 0, &line, true);
    at[0] = 2;
    madvise(at + LENGTH, LENGTH, MADV_DONTNEED); /* or there might be no second sample at all */
    usage_take(&usage, writer, 0, &line, true);
    usage.is_fresh = true;
    usage_take(&usage, writer, 0, &line, true);
    const struct wake_process *p = read_back();
    assert_int_equal(p->usage_samples.count, 3);
    assert_non_null(find(p, 0, at, LENGTH));
    assert_null(find(p, 1, at, LENGTH));
    assert_non_null(find(p, 1, at + LENGTH, LENGTH));
    assert_non_null(find(p, 2, at, LENGTH));
    assert_true(p->usage_samples.data[2].anew);
    munmap(at, 2 * LENGTH);
}

static void ends_are_kept_in_bounds_and_only_where_something_is(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 4 * (uint64_t)USAGE_ENDS_MAX; i++)
        usage_note(&usage, (i + 1) * 2 * PAGE, PAGE); /* nothing is down there */
    assert_in_range(usage.ends.count, USAGE_ENDS_MAX / 2, USAGE_ENDS_MAX);
    usage_take(&usage, writer, 0, &line, true);
    assert_int_equal(usage.ends.count, 0);
    char *at = map_two();
    usage_note(&usage, (uintptr_t)at, LENGTH);
    usage_note(&usage, (uintptr_t)at, 0);
    usage_take(&usage, writer, 0, &line, true);
    assert_int_equal(usage.ends.count, 3); /* each once */
    assert_non_null(find(read_back(), 1, at, LENGTH));
    munmap(at, 2 * LENGTH);
}

static void who_is_gone_has_nothing_to_tell(void **state)
{
    (void)state;
    usage.pid = UINT32_MAX;
    usage_take(&usage, writer, 0, &line, true);
    assert_int_equal(read_back()->usage_samples.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(neighbours_are_told_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(what_has_not_changed_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_are_kept_in_bounds_and_only_where_something_is, setup, teardown),
        cmocka_unit_test_setup_teardown(who_is_gone_has_nothing_to_tell, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
