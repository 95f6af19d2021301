/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * event_source_test: however many threads decode, and whether they can be had or not, the same events come in the same
 * order, damage is noted the same, and whoever stops early leaves nothing behind.
 */
#include "store/event_source.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "store/recording.h"
#include "wire/record.h"

enum { CHUNKS = 30, CHUNK_PAIRS = 1500, THREADS = 6 };

static char path[64];
static unsigned denied, denies; /* denies: threads that cannot be had, from the second on */

/* In the place of libc's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (denies > 0 && ++denied % denies == 0)
        return EAGAIN;
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, run, context);
}

static int setup(void **state)
{
    struct wake_writer *w;
    (void)state;
    snprintf(path, sizeof path, "/tmp/event_source_test.%d.wake", (int)getpid());
    if (wake_writer_open(&w, path, NULL) != 0)
        return -1;
    struct wake_stream *s =
        wake_writer_stream(w, wake_writer_add_process(w, &(struct wake_process_info){.pid = 1, .exe = "/a"}));
    for (uint64_t i = 0; i < CHUNKS * CHUNK_PAIRS; i++) {
        uint64_t previous = i % 7 == 3 ? i : 0;
        wake_stream_alloc(s, 1000 + 2 * i, (uint32_t)(i % 3), previous != 0 ? KIND_REALLOC : KIND_MALLOC, 0,
                          0x1000 + 16 * (i % 5000), i % 400, i % 400 + 8, previous);
        if (i >= 50)
            wake_stream_free(s, 1001 + 2 * i, 1, HOW_FREE, i - 50, (i - 50) % 400);
        if (i % CHUNK_PAIRS == CHUNK_PAIRS - 1)
            wake_writer_flush(w);
    }
    return wake_writer_close(w, 0, NULL);
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* All that was seen, in order. */
struct seen {
    uint64_t hash, events, matching, stop_after;
};

static uint32_t match_large(const void *of, const struct wake_block *b, uint16_t *list)
{
    const uint64_t *least = of;
    uint32_t count = 0;
    for (uint32_t j = 0; j < b->alloc_count; j++)
        if (b->size[b->alloc_at[j]] >= *least)
            list[count++] = b->alloc_at[j];
    return count;
}

static int see(const struct wake_block *b, void *context)
{
    struct seen *s = context;
    for (uint32_t i = 0; i < b->count; i++) {
        const uint64_t values[] = {b->event[i], b->time_ns[i],  b->thread[i],  b->number[i],
                                   b->size[i],  b->previous[i], b->address[i], b->first_event + i};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            s->hash = hash_join(s->hash, values[k]);
    }
    for (uint32_t j = 0; j < b->match_count; j++)
        s->hash = hash_join(s->hash, b->number[b->match_at[j]]);
    s->events += b->count;
    s->matching += b->match_count;
    return s->stop_after != 0 && s->events >= s->stop_after ? 7 : 0;
}

static struct seen read_all(struct wake_reader *r, uint64_t from_ns, uint64_t to_ns, uint64_t least)
{
    struct seen s = {0};
    struct err err;
    struct event_request request = event_request_all(r, 0, from_ns, to_ns, WAKE_EVERYTHING);
    request.match = least != 0 ? match_large : NULL;
    request.match_of = &least;
    assert_int_equal(event_request_visit(&request, r, see, &s, &err), 0);
    return s;
}

static struct wake_reader *open_it(unsigned threads)
{
    struct wake_reader *r;
    struct err err;
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    r->threads = threads;
    return r;
}

static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    struct wake_reader *alone = open_it(1);
    const uint64_t all = UINT64_MAX, middle = 1000 + CHUNKS * CHUNK_PAIRS;
    for (denies = 0; denies < 3; denies++)
        for (unsigned threads = 0; threads <= THREADS; threads++) {
            struct wake_reader *r = open_it(threads);
            for (uint64_t least = 0; least < 400; least += 150) {
                struct seen ours = read_all(r, 0, all, least), right = read_all(alone, 0, all, least);
                assert_memory_equal(&ours, &right, sizeof ours);
                assert_int_equal(ours.events, 2 * CHUNKS * CHUNK_PAIRS - 50);
                ours = read_all(r, middle, middle + 30001, least);
                right = read_all(alone, middle, middle + 30001, least);
                assert_memory_equal(&ours, &right, sizeof ours);
                assert_true(least == 0 || ours.matching < ours.events / 2);
            }
            wake_reader_close(r);
        }
    denies = 0;
    wake_reader_close(alone);
}

static void who_stops_early_gets_no_more(void **state)
{
    (void)state;
    struct err err;
    for (uint64_t after = 1; after < 80000; after = after * 3 + 1) {
        struct wake_reader *r = open_it(4), *alone = open_it(1);
        struct seen ours = {.stop_after = after}, right = {.stop_after = after};
        assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, see, &ours, &err), 7);
        assert_int_equal(wake_reader_visit(alone, 0, 0, UINT64_MAX, see, &right, &err), 7);
        assert_memory_equal(&ours, &right, sizeof ours);
        wake_reader_close(r);
        wake_reader_close(alone);
    }
}

static void *read_again(void *context)
{
    struct seen *s = malloc(sizeof *s);
    if (s != NULL)
        *s = read_all(context, 0, UINT64_MAX, 100);
    return s;
}

static void one_reader_is_read_by_several_threads(void **state)
{
    (void)state;
    struct wake_reader *r = open_it(3);
    struct seen right = read_all(r, 0, UINT64_MAX, 100);
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_again, r), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *ours;
        assert_int_equal(pthread_join(threads[i], &ours), 0);
        assert_non_null(ours);
        assert_memory_equal(ours, &right, sizeof right);
        free(ours);
    }
    wake_reader_close(r);
}

static void flip(long at)
{
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    int byte = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(byte ^ 0x55, f);
    fclose(f);
}

static void damage_is_noted_in_order(void **state)
{
    (void)state;
    struct wake_reader *whole = open_it(1);
    long size = (long)wake_reader_summary(whole)->file_size;
    wake_reader_close(whole);
    for (long i = 1; i < 6; i++)
        flip(size / 7 * i);
    for (unsigned threads = 2; threads <= THREADS; threads++) {
        struct wake_reader *alone = open_it(1), *r = open_it(threads);
        struct seen ours = read_all(r, 0, UINT64_MAX, 0), right = read_all(alone, 0, UINT64_MAX, 0);
        assert_memory_equal(&ours, &right, sizeof ours);
        assert_int_equal(wake_reader_damage_count(r), wake_reader_damage_count(alone));
        assert_true(wake_reader_damage_count(r) >= 4);
        for (size_t i = 0; i < wake_reader_damage_count(r); i++)
            assert_string_equal(wake_reader_damage(r, i)->text, wake_reader_damage(alone, i)->text);
        wake_reader_close(r);
        wake_reader_close(alone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_number_of_threads_gives_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(who_stops_early_gets_no_more, setup, teardown),
        cmocka_unit_test_setup_teardown(one_reader_is_read_by_several_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_noted_in_order, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
