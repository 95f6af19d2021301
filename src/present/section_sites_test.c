/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of the sections that show sites, groups and trees, and of frames.
 */
#include "present/section_sites.h"

#include "analysis/fake_stacks.h"
#include "present/frames.h"
#include "present/section_groups.h"
#include "present/section_head.h"
#include "present/section_tree.h"
#include "present/verdicts.h"
#include "present/width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect_name(const char *function, const char *expected)
{
    struct frame f = {function, "", "", "/lib/libx.so", 0, 0, 0x12, false, 0, false};
    struct strbuf out;
    strbuf_init(&out);
    frames_add_name(&out, &f);
    assert_string_equal(strbuf_get(&out), expected);
    strbuf_release(&out);
}

static void names_lose_what_says_little(void **state)
{
    (void)state;
    expect_name("main", "main");
    expect_name("void a::b<int, x<y> >::c<char>(char) const", "a::b<>::c<>");
    expect_name("(anonymous namespace)::pool::get()", "pool::get");
    expect_name("std::__cxx11::basic_string<char>::append(char const*)", "std::basic_string<>::append");
    expect_name("bool a::operator<(a const&)", "a::operator<");
    expect_name("std::ostream& a::operator<<(int)", "a::operator<<");
    expect_name("x::operator->()", "x::operator->");
    expect_name("a& a<int>::operator<< <f<bool (char)> >(f<bool (char)>)", "a<>::operator<< <>");
    expect_name("n::f(int)::{lambda(b<int>)#1}::operator()(b<int>) const",
                "n::f::{lambda(b<>)#1}::operator()");
    expect_name("q<a>::f(a) const::local::get<int>(int)", "q<>::f::local::get<>");
    expect_name("d.S!(immutable(char)[]).S.add(immutable(char)[])", "d.S!().S.add");
    expect_name("d.main().inner(int)", "d.main.inner");
    expect_name("net/http.(*conn).serve", "net/http.(*conn).serve");
    expect_name("n::(anonymous namespace)::pool::get(int)", "n::pool::get");
    expect_name("n::(anonymous namespace)::f(int)::local::get(int)", "n::f::local::get");
    expect_name("x::operator()(int) const", "x::operator()");
    expect_name("void* f<a::operator()(int) const::{lambda()#1}>(a::operator()(int) const::{lambda()#1})",
                "f<>");
    expect_name("void* f<a::operator<<(a const&)::{lambda()#1}>(a::operator<<(a const&)::{lambda()#1})",
                "f<>");
    expect_name("void* f<a::operator>(a)::{lambda()#1}>::g<a::operator->()::{lambda()#1}>(int)", "f<>::g<>");
    expect_name("p<&(a::operator>>(int) const)>::go(a const&)", "p<>::go");
    expect_name("my_operator<int>::go(int)", "my_operator<>::go");
    expect_name("<own::T<u8> as core::convert::From<alloc::vec::Vec<u8>>>::from",
                "<own::T<> as From<>>::from");
    expect_name("<alloc::vec::Vec<u8>>::push", "alloc::vec::Vec<>::push");
    expect_name("<[u8]>::to_vec::<T>", "<[u8]>::to_vec::<>");
    expect_name("own::_::<impl serde::de::Visit for own::T<u8>>::get",
                "own::_::<impl serde::de::Visit for own::T<>>::get");
    expect_name("\033[31mred\a(int)", "\\x1b[31mred\\x07");
    expect_name("", "libx.so+0x12");
}

struct screen {
    struct fake fake;
    struct sites sites;
    struct strbuf out;
    struct page page;
};

static void screen_init(struct screen *s)
{
    struct err err;
    fake_init(&s->fake);
    sites_init(&s->sites);
    strbuf_init(&s->out);
    uint32_t p = fake_process(&s->fake);
    fake_leak(&s->fake, p,
              "libc.so.6:__libc_start_main > main@/src/a.c:10 > cook@/src/a.c:20 > std::vector<int>::grow()",
              2, 3072);
    fake_leak(&s->fake, p, "main@/src/a.c:11 > serve@/src/a.c:30", 1, 1000);
    fake_leak(&s->fake, p, "main@/src/a.c:12", 1, 24);
    fake_row(&s->fake, p, 0, (struct metrics){.allocated_blocks = 5, .allocated_bytes = 5});
    assert_int_equal(sites_add(&s->sites, &s->fake.traces, s->fake.rows.data, s->fake.rows.count, &err), 0);
    s->page = (struct page){&s->out, 60, false, false};
}

static void screen_release(struct screen *s)
{
    strbuf_release(&s->out);
    sites_release(&s->sites);
    fake_release(&s->fake);
}

static void many_small_sites_are_left_to_groups(void **state)
{
    struct screen s;
    char stack[64];
    (void)state;
    screen_init(&s);
    struct section_sites section = {
        .traces = &s.fake.traces, .sites = &s.sites, .measure = MEASURE_LEAKED, .limit = 1, .brief = true};
    for (unsigned way = 0; way < 2; way++) {
        sites_release(&s.sites);
        sites_init(&s.sites);
        for (unsigned i = 0; i < 17; i++) {
            snprintf(stack, sizeof stack, "main@a.c:%u", 100 + 20 * way + i);
            fake_leak(&s.fake, 0, stack, 1, 1000);
        }
        struct err err;
        assert_int_equal(sites_add(&s.sites, &s.fake.traces, s.fake.rows.data, s.fake.rows.count, &err), 0);
        strbuf_clear(&s.out);
        section_sites_text(&s.page, &section);
        bool has_hint = strstr(strbuf_get(&s.out), " other sites; --by function adds them up\n") != NULL;
        assert_int_equal(has_hint, way == 1);
    }
    screen_release(&s);
}

static void own_code_is_what_a_site_begins_with(void **state)
{
    struct screen s;
    (void)state;
    screen_init(&s);
    struct section_sites section = {
        .traces = &s.fake.traces, .sites = &s.sites, .measure = MEASURE_LEAKED, .limit = 2};
    section_sites_text(&s.page, &section);
    assert_string_equal(strbuf_get(&s.out), "Leaked: 4.0 KiB in 4 blocks\n"
                                            "     3.0 KiB  75.0 %  2x  cook  a.c:20\n"
                                            "                          in std::vector<>::grow  app\n"
                                            "                          < main  a.c:10\n"
                                            "  1000 bytes  24.4 %  1x  serve  a.c:30\n"
                                            "                          < main  a.c:11\n"
                                            "  and 24 bytes from 1 other site\n");
    strbuf_clear(&s.out);
    section.brief = true;
    section.limit = 1;
    section_sites_text(&s.page, &section);
    assert_string_equal(strbuf_get(&s.out), "Leaked: 4.0 KiB in 4 blocks\n"
                                            "  3.0 KiB  75.0 %  2x  cook  a.c:20\n"
                                            "            in std::vector<>::grow < main a.c:10\n"
                                            "  and 1.0 KiB from 2 other sites\n");
    strbuf_clear(&s.out);
    section.measure = MEASURE_TEMPORARY;
    section_sites_text(&s.page, &section);
    assert_string_equal(strbuf_get(&s.out), "Temporary: nothing\n");
    strbuf_clear(&s.out);
    section.measure = MEASURE_CALLS;
    section_sites_text(&s.page, &section);
    assert_non_null(strstr(strbuf_get(&s.out), "5  55.6 %  5 bytes  (no stack)\n"));
    screen_release(&s);
}

static void short_lines_lead_to_code_that_is_no_package(void **state)
{
    struct screen s;
    struct err err;
    (void)state;
    screen_init(&s);
    struct section_sites section = {
        .traces = &s.fake.traces, .sites = &s.sites, .measure = MEASURE_LEAKED, .limit = 2, .brief = true};
    fake_leak(
        &s.fake, 0,
        "main@/src/a.rs:1 > own@/src/a.rs:2 > from_str@/c/registry/src/d.rs:3 > sep@/c/registry/src/d.rs:4",
        1, 8192);
    fake_leak(&s.fake, 0, "main > run@/c/registry/src/e.rs:5 > poll@/c/registry/src/e.rs:6", 1, 4096);
    assert_int_equal(sites_add(&s.sites, &s.fake.traces, &s.fake.rows.data[s.fake.rows.count - 2], 2, &err),
                     0);
    section_sites_text(&s.page, &section);
    assert_non_null(strstr(strbuf_get(&s.out), "1x  sep  d.rs:4\n            < own a.rs:2 < main a.rs:1\n"));
    assert_non_null(strstr(strbuf_get(&s.out), "1x  poll  e.rs:6\n            < run e.rs:5 < main\n"));
    screen_release(&s);
}

static void verdicts_are_whole_sentences(void **state)
{
    struct strbuf out;
    struct page page = {&out, 80, false, false};
    struct verdict at_exit = {.kind = VERDICT_AT_EXIT};
    struct verdict grows = {
        .kind = VERDICT_GROWS, .bytes_per_minute = 1023.9 * 1024, .confidence = 1, .freed_at_exit = true};
    (void)state;
    strbuf_init(&out);
    verdicts_print_line(&page, &at_exit, 30);
    verdicts_print_line(&page, &grows, 30);
    assert_string_equal(strbuf_get(&out),
                        "                              at exit: freed only when the program ends\n"
                        "                              grows: 1023.9 KiB a minute, 100 % sure, freed at\n"
                        "                              exit\n");
    strbuf_release(&out);
}

static void temporaries_stand_beside_the_calls_they_are_of(void **state)
{
    struct screen s;
    (void)state;
    screen_init(&s);
    uint32_t p = fake_process(&s.fake);
    fake_row(&s.fake, p, fake_stack(&s.fake, p, "churn@/src/b.c:3"),
             (struct metrics){.allocated_blocks = 666, .temporary_blocks = 368, .temporary_bytes = 368});
    struct err err;
    assert_int_equal(sites_add(&s.sites, &s.fake.traces, s.fake.rows.data + s.fake.rows.count - 1, 1, &err),
                     0);
    struct section_sites section = {
        .traces = &s.fake.traces, .sites = &s.sites, .measure = MEASURE_TEMPORARY};
    section_sites_text(&s.page, &section);
    assert_string_equal(strbuf_get(&s.out), "Temporary: 368 of 675 calls\n"
                                            "  368  of 666  100.0 % of all  churn  b.c:3\n");
    screen_release(&s);
}

/* A site with `depth` callers, shown. */
static void show_deep(struct strbuf *out, unsigned depth)
{
    struct fake fake;
    struct sites sites;
    struct err err;
    char path[1024] = "f0";
    for (unsigned i = 1; i <= depth; i++)
        snprintf(path + strlen(path), 16, " > f%u", i);
    fake_init(&fake);
    sites_init(&sites);
    fake_leak(&fake, fake_process(&fake), path, 1, 10);
    assert_int_equal(sites_add(&sites, &fake.traces, fake.rows.data, fake.rows.count, &err), 0);
    struct page page = {out, 60, false, false};
    struct section_sites section = {.traces = &fake.traces, .sites = &sites, .measure = MEASURE_LEAKED};
    strbuf_clear(out);
    section_sites_text(&page, &section);
    sites_release(&sites);
    fake_release(&fake);
}

static void callers_that_are_left_out_are_counted(void **state)
{
    struct strbuf out;
    (void)state;
    strbuf_init(&out);
    show_deep(&out, 13);
    assert_non_null(strstr(strbuf_get(&out), "< f0  app\n"));
    assert_null(strstr(strbuf_get(&out), "more"));
    show_deep(&out, 15);
    assert_non_null(strstr(strbuf_get(&out), "< f3  app\n"));
    assert_null(strstr(strbuf_get(&out), "< f2  app\n"));
    assert_non_null(strstr(strbuf_get(&out), " < 3 more\n"));
    strbuf_release(&out);
}

static void what_is_live_has_a_moment(void **state)
{
    struct screen s;
    struct json j;
    (void)state;
    screen_init(&s);
    struct section_sites section = {
        .traces = &s.fake.traces, .sites = &s.sites, .measure = MEASURE_LIVE, .moment_ns = 1500000000};
    section_sites_text(&s.page, &section);
    assert_string_equal(strbuf_get(&s.out), "Live at 1.50 s: nothing\n");
    strbuf_clear(&s.out);
    json_init(&j, &s.out);
    json_open_object(&j, NULL);
    section_sites_json(&j, &section);
    json_close_object(&j);
    assert_non_null(strstr(strbuf_get(&s.out), "\"time_ns\": 1500000000"));
    strbuf_clear(&s.out);
    section.moment_ns = UINT64_MAX; /* several recordings */
    section_sites_text(&s.page, &section);
    assert_string_equal(strbuf_get(&s.out), "Live: nothing\n");
    screen_release(&s);
}

static void rules_of_one_name_are_one(void **state)
{
    struct screen s;
    struct suppress suppress;
    struct err err;
    static const char text[] = "leak:cook\nleak:serve\nleak:cook\n";
    (void)state;
    screen_init(&s);
    suppress_init(&suppress);
    assert_int_equal(suppress_add_text(&suppress, "rules", text, strlen(text), &err), 0);
    assert_int_equal(suppress.rules.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        suppress.rules.data[i].blocks = 1;
        suppress.rules.data[i].bytes = 10 + i;
    }
    struct section_sites section = {.traces = &s.fake.traces,
                                    .sites = &s.sites,
                                    .measure = MEASURE_LEAKED,
                                    .limit = 1,
                                    .suppress = &suppress};
    section_sites_text(&s.page, &section);
    assert_non_null(strstr(strbuf_get(&s.out), "     bytes  blocks  suppressed by\n"
                                               "  22 bytes       2  cook\n"
                                               "  11 bytes       1  serve\n"));
    suppress_release(&suppress);
    screen_release(&s);
}

static void json_has_every_frame(void **state)
{
    struct screen s;
    struct json j;
    (void)state;
    screen_init(&s);
    struct section_sites section = {.traces = &s.fake.traces, .sites = &s.sites, .measure = MEASURE_LEAKED};
    json_init(&j, &s.out);
    json_open_object(&j, NULL);
    section_sites_json(&j, &section);
    json_close_object(&j);
    static const char *const expected[] = {"\"total_bytes\": 4096",
                                           "\"total_blocks\": 4",
                                           "\"bytes\": 3072",
                                           "\"function\": \"std::vector<int>::grow()\"",
                                           "\"function\": \"__libc_start_main\"",
                                           "\"file\": \"/src/a.c\"",
                                           "\"line\": 20",
                                           "\"module\": \"/bin/app\"",
                                           "\"inlined\": false"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_non_null(strstr(strbuf_get(&s.out), expected[i]));
    screen_release(&s);
}

static void groups_are_a_table(void **state)
{
    struct screen s;
    struct rollup g;
    struct err err;
    struct json j;
    (void)state;
    screen_init(&s);
    rollup_init(&g, ROLLUP_FUNCTION);
    assert_int_equal(rollup_add(&g, &s.fake.traces, s.fake.rows.data, s.fake.rows.count, &err), 0);
    struct section_groups section = {&s.fake.traces, &g, MEASURE_LEAKED, 3, 0, NULL, NULL, NULL, NULL};
    section_groups_text(&s.page, &section);
    assert_string_equal(strbuf_get(&s.out), "Leaked by function\n"
                                            "        self          with callees           function\n"
                                            "     3.0 KiB  75.0 %       3.0 KiB   75.0 %  cook\n"
                                            "  1000 bytes  24.4 %    1000 bytes   24.4 %  serve\n"
                                            "    24 bytes   0.6 %       4.0 KiB  100.0 %  main\n"
                                            "  and 2 more\n");
    strbuf_clear(&s.out);
    json_init(&j, &s.out);
    json_open_object(&j, NULL);
    section_groups_json(&j, &section);
    json_close_object(&j);
    assert_non_null(strstr(strbuf_get(&s.out), "\"name\": \"cook\",\n        \"self_bytes\": 3072"));
    rollup_release(&g);
    screen_release(&s);
}

static void lines_that_are_not_known_are_places(void **state)
{
    struct screen s;
    struct rollup g;
    struct err err;
    (void)state;
    screen_init(&s);
    fake_leak(&s.fake, 0, "main > eat", 1, 500);
    rollup_init(&g, ROLLUP_LINE);
    assert_int_equal(rollup_add(&g, &s.fake.traces, s.fake.rows.data, s.fake.rows.count, &err), 0);
    struct section_groups section = {&s.fake.traces, &g, MEASURE_LEAKED, 0, 0, NULL, NULL, NULL, NULL};
    section_groups_text(&s.page, &section);
    assert_non_null(strstr(strbuf_get(&s.out), "  a.c:20\n"));
    assert_non_null(strstr(strbuf_get(&s.out), "  eat  app+0x"));
    rollup_release(&g);
    screen_release(&s);
}

static void trees_are_indented_where_they_branch(void **state)
{
    struct screen s;
    struct tree t;
    struct err err;
    struct json j;
    (void)state;
    screen_init(&s);
    s.page.width = 70;
    tree_init(&t, TREE_CALLEES, MEASURE_LEAKED, 0.3);
    assert_int_equal(tree_build(&t, &s.fake.traces, &s.sites, "main", &err), 0);
    struct section_tree section = {&s.fake.traces, &t, NULL, NULL, false};
    section_tree_text(&s.page, &section);
    assert_string_equal(strbuf_get(&s.out),
                        "Leaked: 4.0 KiB in 4 blocks, callees below\n"
                        "  -> 100.00% (4.0 KiB, 4x): main  a.c\n"
                        "    -> 75.00% (3.0 KiB, 2x): cook  a.c:20\n"
                        "    | -> 75.00% (3.0 KiB, 2x): std::vector<>::grow  app\n"
                        "    -> 24.41% (1000 bytes, 1x) in 1 place, all below the 30% threshold\n");
    strbuf_clear(&s.out);
    json_init(&j, &s.out);
    json_open_object(&j, NULL);
    section_tree_json(&j, &section);
    json_close_object(&j);
    assert_non_null(strstr(strbuf_get(&s.out), "\"parent\": null,\n        \"bytes\": 4096"));
    assert_non_null(strstr(strbuf_get(&s.out), "\"parent\": 1,\n        \"bytes\": 3072"));
    assert_non_null(strstr(strbuf_get(&s.out), "\"self_bytes\": 24"));
    assert_non_null(strstr(strbuf_get(&s.out), "\"places\": 1"));
    tree_release(&t);
    screen_release(&s);
}

static void the_head_fits_the_page(void **state)
{
    struct strbuf out;
    struct page page = {&out, 80, false, true};
    const uint64_t count = UINT64_C(9999999999);
    struct missing_debuginfo_module modules[] = {{"/usr/bin/cc1", "cc1", 600},
                                                 {"/lib/and-another-one.so", "and-another-one.so", 300},
                                                 {"as", "as", 100}};
    struct missing_debuginfo nameless = {.bytes = 1000};
    nameless.modules.data = modules;
    nameless.modules.count = 3;
    struct section_head head = {.sum.end = "exit code 0",
                                .sum.args = "app",
                                .sum.args_length = 3,
                                .sum.allocated_bytes = 1000,
                                .nameless = &nameless,
                                .nameless_remark =
                                    "/usr/lib/gcc/cc1 has been replaced: its build id is 0123456789abcdef, "
                                    "that of the recorded file is 1123456789abcdef.",
                                .sum.cull_threshold_ns = UINT64_C(3599) * 1000000000,
                                .sum.culled_blocks = count,
                                .sum.culled_bytes = count,
                                .sum.sample_rate = UINT64_C(1000) << 10,
                                .sum.samples = 999999999,
                                .sum.limit_ns = UINT64_C(3599) * 1000000000,
                                .sum.limited_events = count,
                                .sum.lost_events = 9999999,
                                .sum.stacks = 999999,
                                .sum.cut_stacks = 999999,
                                .sum.unrecorded_processes = count};
    const struct query_result lists = {.omitted_blocks = count, .releases_without_stack = count};
    (void)state;
    caveats_of_summary(&head.recording, &head.sum);
    caveats_of_answer(&head.answer, &head.recording, &lists, false);
    strbuf_init(&out);
    section_head_text(&page, &head);
    assert_non_null(strstr(
        strbuf_get(&out),
        "100.0 %  of the bytes: 60 % cc1, 30 % and-another-one.so and\n                         1 more\n"));
    assert_non_null(strstr(strbuf_get(&out), "/usr/lib/gcc/cc1 has been replaced: "));
    assert_non_null(strstr(strbuf_get(&out), "(heapwake record --free-stacks)"));
    for (char *line = strtok(out.text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (width_of(line) > 80)
            fail_msg("%zu columns: %s", width_of(line), line);
    strbuf_release(&out);
}

/* Deep trees with long hostile names: no line is longer than the page, and no escape gets out. */
static void every_line_fits_the_page(void **state)
{
    static const char evil[] = "\033]0;owned\a::Very<Long>::Name_";
    struct traces c;
    struct sites sites;
    struct tree t;
    struct err err;
    struct strbuf out;
    struct page page = {&out, 80, false, true};
    (void)state;
    traces_init(&c);
    sites_init(&sites);
    strbuf_init(&out);
    for (unsigned width = 0; width < 4; width++) {
        uint32_t trace = 0;
        for (unsigned i = 0; i < 60; i++) {
            char name[400];
            memset(name, 'n', sizeof name);
            memcpy(name, evil, sizeof evil - 1);
            snprintf(name + 60 + i * 4, 100, "_%u_%u", width, i < 30 ? 0U : i);
            struct frame f = {
                name, "",   "/a/very/long/path/with\033[31m/a_long_file_name.cc", "/bin/app", i, 0, i, false,
                0,    false};
            trace = traces_add(&c, i % 7 == 0 ? 0 : trace, &f);
        }
        struct site site = {trace, 1, {.leaked_blocks = 1u << 30, .leaked_bytes = UINT64_MAX >> (2 + width)}};
        (void)vec_push(&sites.list, site);
        measure_add(&sites.total, &site.m);
    }
    struct section_sites list = {.traces = &c, .sites = &sites, .measure = MEASURE_LEAKED};
    section_sites_text(&page, &list);
    list.brief = true;
    section_sites_text(&page, &list);
    tree_init(&t, TREE_CALLERS, MEASURE_LEAKED, 0);
    assert_int_equal(tree_build(&t, &c, &sites, NULL, &err), 0);
    section_tree_text(&page, &(struct section_tree){&c, &t, NULL, NULL, false});
    assert_null(memchr(strbuf_get(&out), '\033', out.length));
    assert_null(memchr(strbuf_get(&out), '\a', out.length));
    size_t lines = 0;
    for (char *line = strtok(out.text, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
        if (width_of(line) > 80)
            fail_msg("%zu columns: %s", width_of(line), line);
    }
    assert_true(lines > 20);
    tree_release(&t);
    strbuf_release(&out);
    sites_release(&sites);
    traces_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lose_what_says_little),
        cmocka_unit_test(own_code_is_what_a_site_begins_with),
        cmocka_unit_test(many_small_sites_are_left_to_groups),
        cmocka_unit_test(short_lines_lead_to_code_that_is_no_package),
        cmocka_unit_test(verdicts_are_whole_sentences),
        cmocka_unit_test(temporaries_stand_beside_the_calls_they_are_of),
        cmocka_unit_test(callers_that_are_left_out_are_counted),
        cmocka_unit_test(what_is_live_has_a_moment),
        cmocka_unit_test(rules_of_one_name_are_one),
        cmocka_unit_test(json_has_every_frame),
        cmocka_unit_test(groups_are_a_table),
        cmocka_unit_test(lines_that_are_not_known_are_places),
        cmocka_unit_test(the_head_fits_the_page),
        cmocka_unit_test(trees_are_indented_where_they_branch),
        cmocka_unit_test(every_line_fits_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
