/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of section_drift: which change comes first.
 */
#include "present/section_moment_diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What the page says of these sites. */
static void show(struct strbuf *out, const struct drift_site *sites, size_t count, size_t limit)
{
    struct traces traces;
    struct drift drift;
    struct page page = {out, 60, false, false};
    traces_init(&traces);
    drift_init(&drift, 0);
    strbuf_init(out);
    for (size_t i = 0; i < count; i++)
        assert_true(vec_push(&drift.list, sites[i]));
    struct section_moment_diff section = {
        .traces = &traces, .drift = &drift, .title = "until the end", .limit = limit};
    section_moment_diff_text(&page, &section);
    drift_release(&drift);
    traces_release(&traces);
}

static void the_largest_change_comes_first(void **state)
{
    static const struct drift_site sites[] = {{.bytes = 700, .blocks = 1},
                                              {.bytes = 40, .blocks = 1},
                                              {.bytes = 0, .blocks = 1},
                                              {.bytes = -40, .blocks = 1},
                                              {.bytes = -900, .blocks = 1}};
    struct strbuf out = {0};
    (void)state;
    show(&out, sites, 5, 0);
    assert_string_equal(strbuf_get(&out), "Change of what is live until the end: +0 bytes in +0 blocks\n"
                                          "  -900 bytes  +1x  (no stack)\n"
                                          "  +700 bytes  +1x  (no stack)\n"
                                          "   +40 bytes  +1x  (no stack)\n"
                                          "   -40 bytes  +1x  (no stack)\n"
                                          "    +0 bytes  +1x  (no stack)\n");
    strbuf_release(&out);
    show(&out, sites, 5, 1);
    assert_non_null(strstr(strbuf_get(&out), "  -900 bytes  +1x  (no stack)\n"
                                             "  +700 bytes  +1x  (no stack)\n"
                                             "  and 3 other sites\n"));
    strbuf_release(&out);
}

/* Blocks of no bytes come and go too; those that have come are not among what has shrunk. */
static void blocks_without_bytes_grow_too(void **state)
{
    static const struct drift_site sites[] = {{.bytes = 500, .blocks = 1},
                                              {.bytes = 400, .blocks = 1},
                                              {.blocks = 2},
                                              {.blocks = -1},
                                              {.bytes = -10, .blocks = -1}};
    struct strbuf out = {0};
    (void)state;
    show(&out, sites, 5, 2);
    assert_non_null(strstr(strbuf_get(&out), "  +500 bytes  +1x  (no stack)\n"
                                             "  +400 bytes  +1x  (no stack)\n"
                                             "   -10 bytes  -1x  (no stack)\n"
                                             "    +0 bytes  -1x  (no stack)\n"
                                             "  and 1 other site\n"));
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_change_comes_first),
        cmocka_unit_test(blocks_without_bytes_grow_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
