/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of section_drift: which change comes first.
 */
#include "present/section_drift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void the_largest_change_comes_first(void **state)
{
    static const int64_t bytes[] = {700, 40, 0, -40, -900};
    struct traces traces;
    struct drift drift;
    struct strbuf out;
    struct page page = {&out, 60, false, false};
    (void)state;
    traces_init(&traces);
    drift_init(&drift, 0);
    strbuf_init(&out);
    for (size_t i = 0; i < 5; i++)
        assert_true(vec_push(&drift.list, ((struct drift_site){.bytes = bytes[i], .blocks = 1})));
    struct section_drift section = {.traces = &traces, .drift = &drift, .title = "until the end"};
    section_drift_text(&page, &section);
    assert_string_equal(strbuf_get(&out), "Change of what is live until the end: +0 bytes in +0 blocks\n"
                                          "  -900 bytes  +1x  (no stack)\n"
                                          "  +700 bytes  +1x  (no stack)\n"
                                          "   +40 bytes  +1x  (no stack)\n"
                                          "   -40 bytes  +1x  (no stack)\n"
                                          "    +0 bytes  +1x  (no stack)\n");
    strbuf_clear(&out);
    section.limit = 1;
    section_drift_text(&page, &section);
    assert_non_null(strstr(strbuf_get(&out), "  -900 bytes  +1x  (no stack)\n"
                                             "  +700 bytes  +1x  (no stack)\n"
                                             "  and 3 other sites\n"));
    strbuf_release(&out);
    drift_release(&drift);
    traces_release(&traces);
}

/* Blocks of no bytes come and go too; those that have come are not among what has shrunk. */
static void blocks_without_bytes_grow_too(void **state)
{
    static const struct drift_site sites[] = {{.bytes = 500, .blocks = 1},
                                              {.bytes = 400, .blocks = 1},
                                              {.blocks = 2},
                                              {.blocks = -1},
                                              {.bytes = -10, .blocks = -1}};
    struct traces traces;
    struct drift drift;
    struct strbuf out;
    struct page page = {&out, 60, false, false};
    (void)state;
    traces_init(&traces);
    drift_init(&drift, 0);
    strbuf_init(&out);
    for (size_t i = 0; i < 5; i++)
        assert_true(vec_push(&drift.list, sites[i]));
    struct section_drift section = {.traces = &traces, .drift = &drift, .title = "until the end", .limit = 2};
    section_drift_text(&page, &section);
    assert_non_null(strstr(strbuf_get(&out), "  +500 bytes  +1x  (no stack)\n"
                                             "  +400 bytes  +1x  (no stack)\n"
                                             "   -10 bytes  -1x  (no stack)\n"
                                             "    +0 bytes  -1x  (no stack)\n"
                                             "  and 1 other site\n"));
    strbuf_release(&out);
    drift_release(&drift);
    traces_release(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_change_comes_first),
        cmocka_unit_test(blocks_without_bytes_grow_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
