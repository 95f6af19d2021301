/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of maps: small histories, told as text; and random ones against one owner for
 * every page.
 */
#include "engine/maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/writer.h"

#define P UINT64_C(4096)

enum { RW = 3, ANON = 0x22, FIXED = 0x32, MAYMOVE = 1, KEEPS = 5 };

static char path[64];
static struct wake_writer *writer;
static struct wake_stream *stream;
static uint64_t now, took;

static int setup(void **state)
{
    struct wake_process_info info = {.pid = 77, .exe = "/a", .args = "a", .args_length = 2};
    (void)state;
    snprintf(path, sizeof path, "/tmp/maps_test.%d.wake", (int)getpid());
    assert_int_equal(wake_writer_open(&writer, path, NULL), 0);
    stream = wake_writer_stream(writer, wake_writer_add_process(writer, &info));
    now = took = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* Addresses are told in pages. */
static void map(uint32_t stack, uint64_t page, uint64_t pages, uint32_t prot, uint32_t flags)
{
    wake_stream_map(stream, ++now, 1, stack, page * P, pages * P, prot, flags);
}

static void unmap(uint32_t stack, uint64_t page, uint64_t pages)
{
    wake_stream_unmap(stream, ++now, 1, stack, page * P, pages * P);
}

static void sample(bool anew, uint64_t page, uint64_t pages, uint64_t resident, bool is_gone,
                   const char *name)
{
    struct wake_usage u = {.start = page * P,
                           .end = (page + pages) * P,
                           .rss_bytes = resident * P,
                           .anonymous_bytes = resident * P,
                           .rights = is_gone ? 0 : RW,
                           .is_gone = is_gone,
                           .name = name};
    wake_writer_sample_usage(writer, 0, now, took, anew, &u, 1);
}

static void read_back(struct maps *m)
{
    struct wake_reader *r;
    struct query q;
    query_init(&q);
    maps_init(m);
    assert_int_equal(wake_writer_close(writer, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_int_equal(maps_read(m, &q, r, 0, 0, NULL), 0);
    maps_order(m, MAPS_BY_PEAK_RSS, false);
    for (size_t i = 0; i < m->list.count; i++) /* names are the reader's */
        m->list.data[i].name = m->list.data[i].name[0] == '\0' ? "" : "named";
    wake_reader_close(r);
    query_release(&q);
}

/* "mmap 10+5 rw: munmap@3 start 10+1; left 11+4": in pages. */
static void expect(const struct maps *m, size_t number, const char *story)
{
    char text[512];
    int n;
    assert_in_range(number, 0, m->list.count - 1);
    const struct mapping *x = &m->list.data[number];
    n = snprintf(text, sizeof text, "%s %llu+%llu:", maps_cause_name(x->how),
                 (unsigned long long)(x->start / P), (unsigned long long)((x->end - x->start) / P));
    for (size_t i = 0; i < x->removals.count; i++) {
        const struct maps_removal *r = &x->removals.data[i];
        n += snprintf(text + n, sizeof text - (size_t)n, " %s@%u %s %llu+%llu", maps_cause_name(r->cause),
                      r->stack, maps_cut_name(r->cut), (unsigned long long)(r->start / P),
                      (unsigned long long)((r->end - r->start) / P));
        if (r->by != MAPS_NONE)
            n += snprintf(text + n, sizeof text - (size_t)n, " by %zu", r->by);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "; left");
    for (size_t i = 0; i < x->pieces.count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %llu+%llu",
                      (unsigned long long)(x->pieces.data[i].start / P),
                      (unsigned long long)((x->pieces.data[i].end - x->pieces.data[i].start) / P));
    assert_string_equal(text, story);
}

static void mappings_are_cut_and_removed(void **state)
{
    struct maps m;
    (void)state;
    map(1, 10, 5, RW, ANON);
    map(2, 20, 5, RW, ANON);
    map(3, 30, 5, RW, ANON);
    map(4, 40, 5, RW, ANON);
    unmap(5, 10, 5);
    unmap(6, 20, 1);
    unmap(7, 24, 1);
    map(8, 32, 1, RW, FIXED);
    unmap(9, 31, 20);
    read_back(&m);
    expect(&m, 0, "mmap 10+5: munmap@5 whole 10+5; left");
    expect(&m, 1, "mmap 20+5: munmap@6 start 20+1 munmap@7 end 24+1; left 21+3");
    expect(&m, 2, "mmap 30+5: mmap@8 middle 32+1 by 4 munmap@9 end 31+1 munmap@9 whole 33+2; left 30+1");
    expect(&m, 3, "mmap 40+5: munmap@9 whole 40+5; left");
    expect(&m, 4, "mmap 32+1: munmap@9 whole 32+1; left");
    assert_int_equal(m.peak_bytes, 20 * P);
    assert_int_equal(m.peak_ns, 4);
    assert_int_equal(m.left, 2);
    assert_int_equal(m.left_bytes, 4 * P);
    assert_int_equal(m.list.data[0].gone_ns, 5);
    maps_release(&m);
}

static void what_mremap_moves_goes_on(void **state)
{
    struct maps m;
    (void)state;
    map(1, 10, 5, RW, ANON);
    unmap(2, 10, 5);
    map(2, 50, 9, 0, MAYMOVE);
    unmap(3, 50, 9); /* in place */
    map(3, 50, 4, 0, 0);
    unmap(4, 50, 4); /* what was there stays, too */
    map(4, 70, 4, 0, KEEPS);
    read_back(&m);
    expect(&m, 0, "mmap 10+5: mremap@2 whole 10+5 by 1; left");
    expect(&m, 1, "mremap 50+9: mremap@3 whole 50+9 by 2; left");
    expect(&m, 2, "mremap 50+4:; left 50+4");
    expect(&m, 3, "mremap 70+4:; left 70+4");
    assert_int_equal(m.list.data[3].prot, RW);
    assert_int_equal(m.list.data[3].flags, ANON);
    assert_int_equal(m.list.data[2].previous, 1);
    assert_int_equal(m.list.data[0].previous, MAPS_NONE);
    maps_release(&m);
}

static void a_removal_that_failed_was_none(void **state)
{
    struct maps m;
    (void)state;
    map(1, 10, 5, RW, ANON);
    map(2, 20, 5, RW, ANON);
    unmap(3, 20, 1);
    unmap(4, 12, 11); /* the kernel says no */
    map(4, 12, 11, 0, 0);
    unmap(5, 12, 1); /* two calls, that only look like one */
    map(6, 12, 1, 0, 2);
    read_back(&m);
    expect(&m, 0, "mmap 10+5: munmap@5 middle 12+1; left 10+2 13+2");
    expect(&m, 1, "mmap 20+5: munmap@3 start 20+1; left 21+4");
    expect(&m, 2, "mmap 12+1:; left 12+1");
    assert_int_equal(m.list.data[1].gone_ns, 0);
    maps_release(&m);
}

static void the_break_grows_and_shrinks(void **state)
{
    struct maps m;
    (void)state;
    wake_stream_brk(stream, ++now, 1, 1, 10 * P, 15 * P);
    wake_stream_brk(stream, ++now, 1, 2, 15 * P, 15 * P + 100);
    wake_stream_brk(stream, ++now, 1, 3, 15 * P + 100, 15 * P + 300); /* the same page */
    wake_stream_brk(stream, ++now, 1, 4, 15 * P + 300, 12 * P);
    read_back(&m);
    assert_int_equal(m.list.count, 2);
    expect(&m, 0, "brk 10+5: brk@4 end 12+3; left 10+2");
    expect(&m, 1, "brk 15+1: brk@4 whole 15+1; left");
    maps_release(&m);
}

static void lengths_that_wrap_do_no_harm(void **state)
{
    struct maps m;
    (void)state;
    wake_stream_map(stream, ++now, 1, 1, 10 * P, UINT64_MAX, RW, ANON);
    wake_stream_unmap(stream, ++now, 1, 2, UINT64_MAX - 10, UINT64_MAX);
    wake_stream_unmap(stream, ++now, 1, 3, 10 * P, 0);
    wake_stream_map(stream, ++now, 1, 4, UINT64_MAX, UINT64_MAX, RW, ANON);
    unmap(5, 10, 1);
    read_back(&m);
    assert_int_equal(m.list.data[0].removals.count, 1);
    assert_int_equal(m.list.data[0].end, UINT64_MAX & ~(P - 1));
    maps_release(&m);
}

static void samples_tell_what_is_in_memory(void **state)
{
    struct maps m;
    (void)state;
    map(1, 10, 5, RW, ANON);
    map(2, 15, 5, RW, ANON);
    sample(true, 10, 5, 2, false, "[anon:x]");
    sample(false, 15, 5, 0, false, "");
    sample(false, 100, 7, 3, false, "/lib/c");
    now++;
    sample(false, 10, 5, 2, false, "[anon:x]"); /* as before */
    map(3, 12, 1, RW, FIXED);
    sample(false, 10, 5, 0, true, "");
    sample(false, 10, 2, 1, false, "");
    sample(false, 12, 1, 1, false, "");
    sample(false, 13, 2, 2, false, "");
    now++;
    sample(false, 100, 7, 9, false, "/lib/c");
    map(4, 50, 2, RW, ANON);
    sample(false, 49, 3, 3, false, ""); /* not its own alone */
    read_back(&m);
    const struct mapping *x = m.list.data;
    assert_true(x[0].has_usage && x[1].has_usage && x[2].has_usage && !x[3].has_usage);
    assert_true(x[3].is_blurred && !x[0].is_blurred);
    assert_int_equal(x[0].peak_rss_bytes, 3 * P);
    assert_int_equal(x[0].usage.count, 2);
    assert_int_equal(x[0].usage.data[0].rss_bytes, 2 * P);
    assert_int_equal(x[0].usage.data[1].rss_bytes, 3 * P);
    assert_string_equal(x[0].name, "named");
    assert_int_equal(x[1].usage.count, 1);
    assert_int_equal(x[1].usage.data[0].rss_bytes, 0);
    assert_int_equal(x[2].usage.data[0].rss_bytes, P);
    assert_int_equal(m.others.count, 1);
    assert_int_equal(m.others.data[0].peak_rss_bytes, 9 * P);
    assert_int_equal(m.others.data[0].peak_bytes, 7 * P);
    assert_int_equal(m.chosen.data[0], 0);
    assert_int_equal(m.chosen.data[1], 2);
    maps_release(&m);
}

static void a_sample_that_begins_anew_forgets_the_others(void **state)
{
    struct maps m;
    (void)state;
    map(1, 10, 5, RW, ANON);
    sample(true, 10, 5, 4, false, "");
    now++;
    sample(true, 100, 1, 1, false, "");
    now++;
    sample(false, 10, 5, 1, false, "");
    read_back(&m);
    assert_int_equal(m.list.data[0].usage.count, 2);
    assert_int_equal(m.samples, 3);
    maps_release(&m);
}

static void recordings_that_make_no_sense_add_up(void **state)
{
    struct maps m;
    (void)state;
    map(1, 10, 5, RW, ANON);
    unmap(2, 10, 5);
    wake_stream_map(stream, ++now, 2, 3, 12 * P, P, RW, ANON); /* another thread, in the middle of it */
    map(2, 10, 5, 0, 0);                                       /* and yet it failed */
    read_back(&m);
    expect(&m, 0, "mmap 10+5:; left 10+5");
    expect(&m, 1, "mmap 12+1: mremap@2 whole 12+1 by 0; left");
    assert_int_equal(m.left_bytes, 5 * P);
    assert_int_equal(m.peak_bytes, 5 * P);
    maps_release(&m);
}

/* What a sample tells of a place that was handed on while it was taken is nobody's. */
static void places_that_change_hands_meanwhile_are_nobodys(void **state)
{
    struct maps m;
    (void)state;
    map(1, 10, 5, RW, ANON); /* 1 */
    sample(true, 10, 5, 2, false, "");
    unmap(2, 10, 5);
    map(3, 10, 5, RW, ANON); /* 3 */
    now++;
    took = 2;
    sample(false, 10, 5, 4, false, "");
    now++;
    took = 1;
    sample(false, 10, 5, 3, false, "");
    read_back(&m);
    assert_int_equal(m.list.data[0].peak_rss_bytes, 2 * P);
    assert_int_equal(m.list.data[1].usage.count, 1);
    assert_int_equal(m.list.data[1].peak_rss_bytes, 3 * P);
    assert_int_equal(m.others.count, 0);
    maps_release(&m);
}

/* ---------------------------------------- random, against an owner for every page */

enum { PAGES = 100, ROUNDS = 3000 };

static void random_histories_are_those_of_a_slow_model(void **state)
{
    static int owner[PAGES]; /* mapping + 1 */
    static uint64_t removed[ROUNDS];
    uint64_t seed = 4711, total = 0, most = 0;
    int made = 0;
    struct maps m;
    (void)state;
    memset(owner, 0, sizeof owner);
    memset(removed, 0, sizeof removed);
    for (int i = 0; i < ROUNDS; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        uint64_t first = seed % PAGES, count = 1 + (seed >> 20) % 12;
        count = first + count > PAGES ? PAGES - first : count;
        bool maps_it = (seed >> 40) % 2 == 0;
        for (uint64_t p = first; p < first + count; p++) {
            if (owner[p] != 0)
                removed[owner[p] - 1]++;
            total -= owner[p] != 0;
            owner[p] = maps_it ? made + 1 : 0;
            total += maps_it;
        }
        if (maps_it)
            made++;
        most = total > most ? total : most;
        if (maps_it)
            map((uint32_t)i + 1, first, count, RW, FIXED);
        else
            unmap((uint32_t)i + 1, first, count);
    }
    read_back(&m);
    assert_int_equal(m.list.count, made);
    assert_int_equal(m.peak_bytes, most * P);
    for (int i = 0; i < made; i++) {
        const struct mapping *x = &m.list.data[i];
        uint64_t gone = 0, left = 0;
        for (size_t k = 0; k < x->removals.count; k++)
            gone += (x->removals.data[k].end - x->removals.data[k].start) / P;
        for (int p = 0; p < PAGES; p++)
            left += owner[p] == i + 1;
        assert_int_equal(gone, removed[i]);
        assert_int_equal(x->left_bytes, left * P);
        assert_int_equal(gone + left, (x->end - x->start) / P);
        for (size_t k = 0; k < x->pieces.count; k++) {
            for (uint64_t a = x->pieces.data[k].start; a < x->pieces.data[k].end; a += P)
                assert_int_equal(owner[a / P], i + 1);
        }
    }
    maps_release(&m);
}

static void equal_ones_are_in_the_order_of_the_list(void **state)
{
    struct maps m;
    (void)state;
    map(1, 10, 1, RW, ANON);
    unmap(2, 10, 1);
    map(1, 10, 5, RW, ANON);
    now--; /* made at the same time as the one before */
    map(1, 20, 9, RW, ANON);
    read_back(&m);
    assert_int_equal(m.chosen.count, 3);
    maps_order(&m, MAPS_BY_ADDRESS, false);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(m.chosen.data[i], i);
    maps_order(&m, MAPS_BY_TIME, false);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(m.chosen.data[i], i);
    maps_order(&m, MAPS_BY_PEAK_RSS, false); /* nothing is known of it: the largest first */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(m.chosen.data[i], 2 - i);
    maps_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mappings_are_cut_and_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_mremap_moves_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(a_removal_that_failed_was_none, setup, teardown),
        cmocka_unit_test_setup_teardown(the_break_grows_and_shrinks, setup, teardown),
        cmocka_unit_test_setup_teardown(lengths_that_wrap_do_no_harm, setup, teardown),
        cmocka_unit_test_setup_teardown(samples_tell_what_is_in_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sample_that_begins_anew_forgets_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(recordings_that_make_no_sense_add_up, setup, teardown),
        cmocka_unit_test_setup_teardown(places_that_change_hands_meanwhile_are_nobodys, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_ones_are_in_the_order_of_the_list, setup, teardown),
        cmocka_unit_test_setup_teardown(random_histories_are_those_of_a_slow_model, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
