/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of plot, and of the sections that show figures over time and size.
 */
#include "present/plot.h"

#include "present/section_histogram.h"
#include "present/section_timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct query_tick ticks[] = {
    {.from_ns = 0, .live_bytes = 1 << 20},
    {.from_ns = 250000000, .live_bytes = 4 << 20},
    {.from_ns = 500000000, .live_bytes = 2 << 20},
    {.from_ns = 750000000, .live_bytes = 0},
};

static void expect_plot(bool unicode, size_t count, const char *expected)
{
    struct strbuf out;
    struct page page = {&out, 36, false, unicode};
    strbuf_init(&out);
    plot_print(&page, ticks, count, 1000000000, 4, "");
    assert_string_equal(strbuf_get(&out), expected);
    strbuf_release(&out);
}

static void levels_become_bars(void **state)
{
    (void)state;
    expect_plot(true, 4,
                "     4.0 MiB │     █████\n"
                "             │     █████\n"
                "     2.0 MiB │     ██████████\n"
                "             │███████████████\n"
                "             └────────────────────\n"
                "              0             1.00 s\n");
    expect_plot(false, 4,
                "     4.0 MiB |     #####\n"
                "             |     #####\n"
                "     2.0 MiB |     ##########\n"
                "             |###############\n"
                "             +--------------------\n"
                "              0             1.00 s\n");
}

static void nothing_is_no_plot(void **state)
{
    struct strbuf out;
    struct page page = {&out, 36, false, true};
    (void)state;
    expect_plot(true, 0, "");
    expect_plot(true, 1, "");
    strbuf_init(&out);
    plot_print(&page, ticks + 3, 1, 750000000, 4, "");
    plot_print(&page, ticks, 4, 0, 4, "");
    assert_string_equal(strbuf_get(&out), "");
    strbuf_release(&out);
}

/* Whatever the ticks say: no line is longer than the page. */
static void ticks_out_of_order_do_no_harm(void **state)
{
    struct query_tick odd[] = {
        {.from_ns = 10, .live_bytes = UINT64_MAX},
        {.from_ns = 5, .live_bytes = 7},
        {.from_ns = UINT64_MAX, .live_bytes = 9},
        {.from_ns = 10, .live_bytes = 1},
    };
    struct strbuf out;
    struct page page = {&out, 80, false, false};
    (void)state;
    strbuf_init(&out);
    plot_print(&page, odd, 4, 1000, 5, "");
    for (const char *line = strbuf_get(&out); *line != '\0'; line = strchr(line, '\n') + 1)
        assert_true(strchr(line, '\n') - line <= 80);
    assert_non_null(strstr(strbuf_get(&out), "16.0 EiB"));
    strbuf_release(&out);
}

static void histograms_have_bars_and_bounds(void **state)
{
    struct query_histogram h = {0};
    struct strbuf out;
    struct page page = {&out, 80, false, false};
    struct json j;
    (void)state;
    h.blocks[0] = 1;
    h.blocks[2] = 30;
    h.bytes[2] = 80;
    strbuf_init(&out);
    section_histogram_text(&page, HISTOGRAM_SIZES, &h);
    assert_string_equal(strbuf_get(&out), "Sizes\n"
                                          "     from  blocks     bytes  \n"
                                          "  0 bytes       1   0 bytes  #\n"
                                          "  2 bytes      30  80 bytes  ##############################\n");
    strbuf_clear(&out);
    json_init(&j, &out);
    json_open_object(&j, NULL);
    h.blocks[64] = 2;
    section_histogram_json(&j, HISTOGRAM_LIFETIMES, &h);
    json_close_object(&j);
    assert_non_null(strstr(strbuf_get(&out), "\"lifetimes\": ["));
    assert_non_null(strstr(strbuf_get(&out), "\"from\": 2,\n      \"to\": 3,\n      \"blocks\": 30"));
    assert_non_null(strstr(strbuf_get(&out), "\"to\": 18446744073709551615"));
    strbuf_clear(&out);
    memset(&h, 0, sizeof h);
    section_histogram_text(&page, HISTOGRAM_LIFETIMES, &h);
    assert_string_equal(strbuf_get(&out), "Lifetimes of freed blocks: nothing\n");
    strbuf_release(&out);
}

static void a_timeline_is_a_list_of_ticks(void **state)
{
    struct query_result r = {0};
    struct strbuf out;
    struct json j;
    (void)state;
    strbuf_init(&out);
    for (size_t i = 0; i < 4; i++)
        (void)vec_push(&r.timeline, ticks[i]);
    json_init(&j, &out);
    json_open_object(&j, NULL);
    section_timeline_json(&j, &r);
    json_close_object(&j);
    assert_non_null(strstr(strbuf_get(&out), "\"from_ns\": 250000000,\n      \"live_bytes\": 4194304"));
    vec_release(&r.timeline);
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_become_bars),
        cmocka_unit_test(nothing_is_no_plot),
        cmocka_unit_test(ticks_out_of_order_do_no_harm),
        cmocka_unit_test(histograms_have_bars_and_bounds),
        cmocka_unit_test(a_timeline_is_a_list_of_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
