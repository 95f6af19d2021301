/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of site, and with it of trace, frame, words, measure and combine.
 */
#include "analysis/site.h"

#include "analysis/fake_stacks.h"
#include "analysis/stack_filter.h"
#include "engine/combine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void gather(struct fake *f, struct sites *s)
{
    struct err err;
    sites_init(s);
    assert_int_equal(sites_add(s, &f->traces, f->rows.data, f->rows.count, &err), 0);
    sites_sort(s, &f->traces, MEASURE_LEAKED);
}

static void equal_stacks_of_processes_are_one_site(void **state)
{
    struct fake f;
    struct sites s;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f), q = fake_process(&f);
    fake_leak(&f, p, "main@app.c:10 > serve@app.c:20", 2, 30);
    fake_leak(&f, q, "main@app.c:10 > serve@app.c:20", 5, 700);
    fake_leak(&f, p, "main@app.c:11 > serve@app.c:20", 1, 9);
    fake_leak(&f, p, "? > ?", 1, 8);
    fake_leak(&f, q, "? > ?", 1, 8);
    gather(&f, &s);
    assert_int_equal(s.list.count, 3);
    assert_int_equal(s.list.data[0].m.leaked_bytes, 730);
    assert_int_equal(s.list.data[0].m.leaked_blocks, 7);
    assert_int_equal(s.list.data[0].rows, 2);
    assert_int_equal(s.list.data[1].m.leaked_bytes, 16);
    assert_int_equal(s.list.data[2].m.leaked_bytes, 9);
    assert_int_equal(s.total.leaked_bytes, 755);
    assert_int_equal(s.total.allocated_blocks, 10);
    sites_release(&s);
    fake_release(&f);
}

static void inlined_functions_are_frames_of_their_own(void **state)
{
    struct fake f;
    struct sites s;
    (void)state;
    fake_init(&f);
    fake_leak(&f, fake_process(&f), "main@app.c:10 > outer@app.c:20|inner@app.h:5", 1, 1);
    gather(&f, &s);
    uint32_t at = s.list.data[0].trace;
    assert_int_equal(f.traces.traces.data[at].depth, 3);
    assert_string_equal(traces_frame(&f.traces, at)->function, "inner");
    assert_string_equal(traces_frame(&f.traces, at)->file, "app.h");
    assert_true(traces_frame(&f.traces, at)->inlined);
    at = traces_parent(&f.traces, at);
    assert_string_equal(traces_frame(&f.traces, at)->function, "outer");
    assert_false(traces_frame(&f.traces, at)->inlined);
    assert_string_equal(traces_frame(&f.traces, traces_parent(&f.traces, at))->function, "main");
    sites_release(&s);
    fake_release(&f);
}

static void many_callees_of_one_frame_stay_apart(void **state)
{
    struct fake f;
    struct sites s;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f), q = fake_process(&f);
    for (unsigned i = 0; i < 30; i++) {
        char frames[64];
        snprintf(frames, sizeof frames, "main@a.c:1 > f%u@a.c:%u > leaf@a.c:9", i % 15, 100 + i % 15);
        fake_leak(&f, i < 15 ? p : q, frames, 1, 1 + i % 15);
    }
    gather(&f, &s);
    assert_int_equal(s.list.count, 15);
    for (unsigned i = 0; i < 15; i++)
        assert_int_equal(s.list.data[i].m.leaked_bytes, 2 * (15 - i));
    sites_release(&s);
    fake_release(&f);
}

static void own_code_begins_below_the_libraries(void **state)
{
    struct fake f;
    struct sites s;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p,
              "main@a.c:1 > fill@a.c:2 > void std::vector<int>::grow<int>(int) > operator new(unsigned long)",
              1, 1);
    gather(&f, &s);
    uint32_t own = traces_find_own(&f.traces, s.list.data[0].trace);
    assert_string_equal(traces_frame(&f.traces, own)->function, "fill");
    sites_release(&s);
    f.rows.count = 0;
    fake_leak(&f, p, "libc.so.6:start_thread > libc.so.6:? > malloc", 1, 1);
    gather(&f, &s);
    own = traces_find_own(&f.traces, s.list.data[0].trace);
    assert_string_equal(traces_frame(&f.traces, own)->function, "");
    assert_int_equal(traces_frame(&f.traces, own)->role, FRAME_LIBRARY);
    sites_release(&s);
    fake_release(&f);
}

static void a_gap_stands_for_frames_left_out(void **state)
{
    struct fake f;
    uint32_t trace;
    struct err err;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f), s = fake_stack(&f, p, "a > b > c > d > e");
    f.processes[p]->stacks.data[s].omitted = 70;
    assert_int_equal(traces_find(&f.traces, p, s, &trace, &err), 0);
    static const char *const expected[] = {"e", "d", "c", "(frames left out)", "b", "a"};
    for (size_t i = 0; i < 6; i++, trace = traces_parent(&f.traces, trace))
        assert_string_equal(traces_frame(&f.traces, trace)->function, expected[i]);
    assert_int_equal(trace, 0);
    fake_release(&f);
}

static void what_is_not_in_the_file_has_no_frames(void **state)
{
    struct fake f;
    struct sites s;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_row(&f, p, 0, (struct metrics){.leaked_blocks = 1, .leaked_bytes = 5});
    fake_row(&f, p, 77, (struct metrics){.leaked_blocks = 1, .leaked_bytes = 6});
    fake_row(&f, 9, 1, (struct metrics){.leaked_blocks = 1, .leaked_bytes = 7});
    gather(&f, &s);
    assert_int_equal(s.list.count, 1);
    assert_int_equal(s.list.data[0].trace, 0);
    assert_int_equal(s.list.data[0].m.leaked_bytes, 18);
    sites_release(&s);
    fake_release(&f);
}

static size_t count_kept(struct fake *f, const char *pattern, bool exclude)
{
    struct stack_filter sieve;
    struct query_result r = {0};
    struct err err;
    stack_filter_init(&sieve);
    for (size_t i = 0; i < f->rows.count; i++)
        (void)vec_push(&r.rows, f->rows.data[i]);
    assert_int_equal(stack_filter_add(&sieve, pattern, exclude, &err), 0);
    assert_int_equal(stack_filter_apply(&sieve, &f->traces, &r, &err), 0);
    assert_int_equal(r.total.leaked_blocks, r.rows.count);
    size_t kept = r.rows.count;
    vec_release(&r.rows);
    stack_filter_release(&sieve);
    return kept;
}

static void a_sieve_looks_at_functions_files_and_modules(void **state)
{
    struct fake f;
    struct stack_filter sieve;
    struct err err;
    (void)state;
    fake_init(&f);
    uint32_t p = fake_process(&f);
    fake_leak(&f, p, "main@app.c:10 > serve@soup.c:20", 1, 1);
    fake_leak(&f, p, "main@app.c:10 > libssl.so:connect", 1, 1);
    fake_leak(&f, p, "main@app.c:10", 1, 1);
    assert_int_equal(count_kept(&f, "^serve$", false), 1);
    assert_int_equal(count_kept(&f, "soup", false), 1);
    assert_int_equal(count_kept(&f, "libssl", false), 1);
    assert_int_equal(count_kept(&f, "libssl|serve", true), 1);
    assert_int_equal(count_kept(&f, "main", true), 0);
    assert_int_equal(count_kept(&f, "main", false), 3);
    stack_filter_init(&sieve);
    assert_int_equal(stack_filter_add(&sieve, "a(b", false, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "'a(b' is not a regular expression"));
    stack_filter_release(&sieve);
    fake_release(&f);
}

static void names_are_found_in_signatures(void **state)
{
    static const char *const cases[][2] = {
        {"main", "main"},
        {"a::b(int)", "a::b"},
        {"void a::b<int, std::less<int> >::c<char>(char) const", "a::b<int, std::less<int> >::c<char>"},
        {"operator new(unsigned long)", "operator new"},
        {"operator new[](unsigned long, std::align_val_t)", "operator new[]"},
        {"(anonymous namespace)::pool::pool()", "(anonymous namespace)::pool::pool"},
        {"bool x::operator()(int) const", "x::operator()"},
        {"bool operator< <int>(int)", "operator< <int>"},
        {"a& a::operator<< <f<bool (char)> >(f<bool (char)>)", "a::operator<< <f<bool (char)> >"},
        {"a::operator-><int>()", "a::operator-><int>"},
        {"a::operator,(int)", "a::operator,"},
        {"a::operator std::vector<int (*)(char)>() const", "a::operator std::vector<int (*)(char)>"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
        {"void* f<a::operator<(a)::{lambda()#1}>(a::operator<(a)::{lambda()#1})",
         "f<a::operator<(a)::{lambda()#1}>"},
        {"n::f(int)::{lambda(int)#1}::operator()(int) const", "n::f(int)::{lambda(int)#1}::operator()"},
        {"auto q::f<a>(a) const::{lambda()#1}::operator()() const",
         "q::f<a>(a) const::{lambda()#1}::operator()"},
        {"f(void (*)(int))::local::get(int)", "f(void (*)(int))::local::get"},
        {"f(int) [clone .cold]", "f"},
        {"n::(anonymous namespace)::f(int)", "n::(anonymous namespace)::f"},
        {"net/http.(*conn).serve", "net/http.(*conn).serve"},
        {"f(int", "f"},
        {"auto q::f<a>(a)::{lambda}::operator()", "q::f<a>(a)::{lambda}::operator()"},
        {"-[Shelf(Kitchen) fill:with:]", "-[Shelf(Kitchen) fill:with:]"},
        {"JS:^fill /srv/shelf.js:1:10", "JS:^fill /srv/shelf.js:1:10"},
        {"void Shelf.fill(int, java.lang.String)", "Shelf.fill"},
        {"non-virtual thunk to a::b()", "a::b"},
        {"d.S!(immutable(char)[]).S.add(immutable(char)[])", "d.S!(immutable(char)[]).S.add"},
        {"d.main().inner(int)", "d.main().inner"},
        {"<fn(u32) -> u32 as a::Call<(u32,)>>::call", "<fn(u32) -> u32 as a::Call<(u32,)>>::call"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        const char *name = frame_find_name(cases[i][0], &length);
        char copy[100] = "";
        memcpy(copy, name, length);
        assert_string_equal(copy, cases[i][1]);
    }
}

static void the_higher_peak_of_two_recordings_counts(void **state)
{
    struct query_result a = {0}, b = {0};
    struct err err;
    (void)state;
    struct query_row low = {.m = {.peak_bytes = 10, .leaked_bytes = 1}};
    struct query_row high = {.m = {.peak_bytes = 30, .leaked_bytes = 2}};
    (void)vec_push(&b.rows, low);
    b.total = low.m;
    assert_int_equal(combine_add(&a, &b, 0, &err), 0);
    b.rows.data[0] = high;
    b.total = high.m;
    b.peak_time_ns = 99;
    assert_int_equal(combine_add(&a, &b, 1, &err), 0);
    b.rows.data[0] = low;
    b.total = low.m;
    assert_int_equal(combine_add(&a, &b, 2, &err), 0);
    assert_int_equal(a.total.peak_bytes, 30);
    assert_int_equal(a.total.leaked_bytes, 4);
    assert_int_equal(a.peak_process, 1);
    assert_int_equal(a.peak_time_ns, 99);
    assert_int_equal(a.rows.data[0].m.peak_bytes + a.rows.data[2].m.peak_bytes, 0);
    assert_int_equal(a.rows.data[1].m.peak_bytes, 30);
    assert_int_equal(a.rows.data[2].process, 2);
    vec_release(&a.rows);
    vec_release(&b.rows);
}

static void lifetimes_join_as_far_as_they_can(void **state)
{
    struct metrics a = {0};
    (void)state;
    struct metrics b = {.allocated_blocks = 1,
                        .freed_blocks = 1,
                        .lifetime_min_ns = 5,
                        .lifetime_max_ns = 9,
                        .lifetime_median_ns = 7,
                        .first_ns = 100,
                        .last_ns = 200};
    measure_add(&a, &b);
    assert_int_equal(a.lifetime_median_ns, 7);
    assert_int_equal(a.first_ns, 100);
    b.lifetime_min_ns = 3;
    b.first_ns = 150;
    b.last_ns = 400;
    measure_add(&a, &b);
    assert_int_equal(a.lifetime_min_ns, 3);
    assert_int_equal(a.lifetime_max_ns, 9);
    assert_true(a.lifetime_median_ns == METRICS_NO_MEDIAN);
    assert_int_equal(a.first_ns, 100);
    assert_int_equal(a.last_ns, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_of_processes_are_one_site),
        cmocka_unit_test(inlined_functions_are_frames_of_their_own),
        cmocka_unit_test(many_callees_of_one_frame_stay_apart),
        cmocka_unit_test(own_code_begins_below_the_libraries),
        cmocka_unit_test(a_gap_stands_for_frames_left_out),
        cmocka_unit_test(what_is_not_in_the_file_has_no_frames),
        cmocka_unit_test(a_sieve_looks_at_functions_files_and_modules),
        cmocka_unit_test(names_are_found_in_signatures),
        cmocka_unit_test(the_higher_peak_of_two_recordings_counts),
        cmocka_unit_test(lifetimes_join_as_far_as_they_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
