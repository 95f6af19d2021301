/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of site, and with it of trace, frame, words, measure and combine.
 */
#include "query/site.h"

#include "query/combine.h"
#include "query/fake_stacks.h"
#include "query/sieve.h"

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
    struct sieve sieve;
    struct query_result r = {0};
    struct err err;
    sieve_init(&sieve);
    for (size_t i = 0; i < f->rows.count; i++)
        (void)vec_push(&r.rows, f->rows.data[i]);
    assert_int_equal(sieve_add(&sieve, pattern, exclude, &err), 0);
    assert_int_equal(sieve_apply(&sieve, &f->traces, &r, &err), 0);
    assert_int_equal(r.total.leaked_blocks, r.rows.count);
    size_t kept = r.rows.count;
    vec_release(&r.rows);
    sieve_release(&sieve);
    return kept;
}

static void a_sieve_looks_at_functions_files_and_modules(void **state)
{
    struct fake f;
    struct sieve sieve;
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
    sieve_init(&sieve);
    assert_int_equal(sieve_add(&sieve, "a(b", false, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "'a(b' is not a regular expression"));
    sieve_release(&sieve);
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
    struct frame f = {
        .function = "void a::b<int>::c(char) const", .linkage = "_ZN1a", .file = "", .module = ""};
    assert_true(frame_is_called(&f, "c"));
    assert_true(frame_is_called(&f, "b<int>::c"));
    assert_true(frame_is_called(&f, "void a::b<int>::c(char) const"));
    assert_true(frame_is_called(&f, "_ZN1a"));
    assert_false(frame_is_called(&f, "b"));
    assert_false(frame_is_called(&f, ""));
    f.function = "n::f(int)::local::get(int)";
    assert_true(frame_is_called(&f, "get"));
    assert_true(frame_is_called(&f, "n::f::local::get"));
    assert_false(frame_is_called(&f, "f"));
}

static void names_may_lack_template_arguments(void **state)
{
    static const struct {
        const char *function, *wanted;
        bool is_called;
    } cases[] = {
        {"double* make<double, 10>(int)", "make", true},
        {"double* make<double, 10>(int)", "make<>", true},
        {"double* make<double, 10>(int)", "make<double, 10>", true},
        {"double* make<double, 10>(int)", "make<double>", false},
        {"double* make<double, 10>(int)", "mak", false},
        {"double* make<double, 10>(int)", "double", false},
        {"void a::b<int>::c<e::f<g>>(char) const", "a::b::c", true},
        {"void a::b<int>::c<e::f<g>>(char) const", "b<>::c<>", true},
        {"void a::b<int>::c<e::f<g>>(char) const", "b<>::c", true},
        {"void a::b<int>::c<e::f<g>>(char) const", "b", false},
        {"void a::b<int>::c<e::f<g>>(char) const", "f", false},
        {"a<void () const>::b<&c::operator->>::d()", "a::b::d", true},
        {"bool n::operator<(n::t<int>, n::t<int>)", "operator<", true},
        {"bool n::operator<(n::t<int>, n::t<int>)", "operator", false},
        {"s& n::operator<< <int>(s&, int)", "n::operator<< <>", true},
        {"n::t<int>::operator t<char>() const", "n::t::operator t<char>", true},
        {"n::f<int>(int)::{lambda(int)#1}::operator()(int) const", "n::f<>::{lambda(int)#1}::operator()",
         true},
        {"n::(anonymous namespace)::t<int>::f()", "n::t::f", true},
        {"n::(anonymous namespace)::t<int>::f()", "(anonymous namespace)::t<>::f", true},
        {"void* f<a::operator>(a)::{lambda()#1}>(a::operator>(a)::{lambda()#1})", "f", true},
        {"<a::b<c> as d::e>::f", "f", true},
        {"<a::b<c> as d::e>::f", "<a::b<> as e>::f", true},
        {"<a::b<c> as d::e>::f", "<a::b as d::e>::f", true},
        {"<a::b<c> as d::e>::f", "a::b::f", true},
        {"<a::b<c> as d::e>::f", "b<>::f", true},
        {"<a::b<c> as d::e>::f", "e::f", false},
        {"<a::b<c> as d::e>::f", "<a::b<> as d>::f", false},
        {"<a::b<c>>::f::<g>", "a::b<>::f::<>", true},
        {"a::f::<b>", "f", true},
        {"a::f::<b>::{closure#0}", "a::f::<>::{closure#0}", true},
        {"a<b", "a", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame f = {.function = cases[i].function, .linkage = "", .file = "", .module = ""};
        if (frame_is_called(&f, cases[i].wanted) != cases[i].is_called)
            fail_msg("%s: %s", cases[i].function, cases[i].wanted);
    }
}

static void roles_are_known(void **state)
{
    static const struct {
        const char *function, *file, *module;
        enum frame_role role;
    } cases[] = {
        {"malloc", "", "/bin/app", FRAME_ALLOCATOR},
        {"operator new[](unsigned long)", "", "/usr/lib/libstdc++.so.6", FRAME_ALLOCATOR},
        {"", "", "/usr/lib/libheapwake.so", FRAME_ALLOCATOR},
        {"", "", "/lib/x86_64-linux-gnu/libc.so.6", FRAME_LIBRARY},
        {"std::thread::run()", "", "/bin/app", FRAME_LIBRARY},
        {"void std::vector<int>::push_back(int)", "", "/bin/app", FRAME_LIBRARY},
        {"make_std::thing()", "", "/bin/app", FRAME_OWN},
        {"own<std::string>(std::string)", "/src/own.cc", "/bin/app", FRAME_OWN},
        {"_start", "", "/bin/app", FRAME_LIBRARY},
        {"f", "/usr/include/c++/12/bits/f.h", "/bin/app", FRAME_LIBRARY},
        {"boost::shared_ptr<int>::shared_ptr<int>(int*)", "/usr/include/boost/smart_ptr/shared_ptr.hpp",
         "/bin/app", FRAME_LIBRARY},
        {"__gthread_once", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h", "/bin/app",
         FRAME_LIBRARY},
        {"own::get()", "/home/me/app/include/own.h", "/bin/app", FRAME_OWN},
        {"serde_json::de::from_str",
         "/root/.cargo/registry/src/index.crates.io-1949cf8c/serde_json/src/de.rs", "/bin/app", FRAME_OWN},
        {"xmalloc", "/src/util.c", "/bin/app", FRAME_LIBRARY},
        {"g_malloc0", "", "/usr/lib/libglib-2.0.so.0", FRAME_LIBRARY},
        {"Perl_safesysmalloc", "", "/usr/bin/perl", FRAME_LIBRARY},
        {"zrealloc_usable", "", "/usr/bin/redis-server", FRAME_LIBRARY},
        {"ngx_memalign", "", "/usr/sbin/nginx", FRAME_LIBRARY},
        {"_PyObject_Malloc", "/src/obmalloc.c", "/usr/bin/python3", FRAME_LIBRARY},
        {"os::malloc(unsigned long, MEMFLAGS)", "", "/usr/lib/libjvm.so", FRAME_LIBRARY},
        {"AllocateHeap(unsigned long, MEMFLAGS, AllocFailStrategy::AllocFailEnum)", "", "/usr/lib/libjvm.so",
         FRAME_LIBRARY},
        {"zcalloc_num", "", "/usr/bin/redis-server", FRAME_LIBRARY},
        {"dbMallocRawFinish", "/src/sqlite3.c", "/usr/lib/libsqlite3.so.0", FRAME_LIBRARY},
        {"av_mallocz", "", "/usr/lib/libavutil.so.57", FRAME_LIBRARY},
        {"AcquireQuantumMemory", "", "/usr/lib/libMagickCore-6.Q16.so.6", FRAME_LIBRARY},
        {"xmalloc_pool_new", "/src/util.c", "/bin/app", FRAME_OWN},
        {"Pool::xmalloc(int)", "/src/util.cc", "/bin/app", FRAME_OWN},
        {"malloc_stats_of_mine", "", "/bin/app", FRAME_OWN},
        {"", "", "/usr/lib/x86_64-linux-gnu/libgfortran.so.5", FRAME_LIBRARY},
        {"", "", "/ve/numpy.libs/libgfortran-040039e1-0352e75f.so.5.0.0", FRAME_LIBRARY},
        {"_gfortrani_xmallocarray", "", "/bin/app", FRAME_LIBRARY},
        {"__gnat_malloc", "", "/usr/lib/x86_64-linux-gnu/libgnat-12.so", FRAME_LIBRARY},
        {"gomp_malloc", "", "/usr/lib/x86_64-linux-gnu/libgomp.so.1", FRAME_LIBRARY},
        {"QArrayData::allocate(unsigned long, unsigned long, unsigned long, "
         "QFlags<QArrayData::AllocationOption>)",
         "", "/usr/lib/x86_64-linux-gnu/libQt5Core.so.5", FRAME_LIBRARY},
        {"QByteArray::QByteArray(int, char)", "", "/usr/lib/x86_64-linux-gnu/libQt5Core.so.5", FRAME_OWN},
        {"core.internal.container.common.xmalloc(ulong)", "", "/bin/app", FRAME_OWN},
        {"<i32 as core::fmt::Display>::fmt", "", "/bin/app", FRAME_LIBRARY},
        {"<&mut [own::T] as core::fmt::Debug>::fmt", "", "/bin/app", FRAME_LIBRARY},
        {"<alloc::vec::Vec<own::T> as core::clone::Clone>::clone", "", "/bin/app", FRAME_LIBRARY},
        {"<alloc::vec::Vec<u8>>::reserve", "", "/bin/app", FRAME_LIBRARY},
        {"<fn() -> own::T as core::ops::function::FnOnce<()>>::call_once", "", "/bin/app", FRAME_LIBRARY},
        {"<alloc::vec::Vec<u32> as own::Frob>::frob", "/src/own.rs", "/bin/app", FRAME_OWN},
        {"<own::T as core::ops::drop::Drop>::drop", "/src/own.rs", "/bin/app", FRAME_OWN},
        {"<own::T<alloc::string::String>>::new", "/src/own.rs", "/bin/app", FRAME_OWN},
        {"<T as own::Frob>::frob", "", "/bin/app", FRAME_OWN},
        {"<own", "", "/bin/app", FRAME_OWN},
        {"<lambda(int)>::operator()", "/src/own.cc", "/bin/app", FRAME_OWN},
        {"", "", "/bin/app", FRAME_OWN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame f = {cases[i].function, "", cases[i].file, cases[i].module, 0, 0, 0, false, 0, false};
        assert_int_equal(frame_find_role(&f), cases[i].role);
    }
    struct frame of_d = {
        "core.internal.container.common.xmalloc(ulong)", "_D4core", "", "/bin/app", 0, 0, 0, false, 0, false};
    assert_int_equal(frame_find_role(&of_d), FRAME_LIBRARY);
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
        cmocka_unit_test(names_may_lack_template_arguments),
        cmocka_unit_test(roles_are_known),
        cmocka_unit_test(the_higher_peak_of_two_recordings_counts),
        cmocka_unit_test(lifetimes_join_as_far_as_they_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
