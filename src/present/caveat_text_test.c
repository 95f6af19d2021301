/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of caveat_text: each caveat has a name and a sentence, and figures of any size fit.
 */
#include "present/caveat_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* One of each kind, with the largest figures. */
static struct caveats all_kinds(void)
{
    struct caveats c = {0};
    for (enum caveat_kind kind = 0; kind < CAVEAT_COUNT; kind++)
        caveats_add(&c, (struct caveat){kind, CAVEAT_COUNT, UINT64_MAX, UINT64_MAX, UINT64_MAX, false, false,
                                        "live"});
    return c;
}

static void each_kind_has_a_sentence_of_its_own(void **state)
{
    const struct caveats c = all_kinds();
    struct strbuf said[CAVEAT_COUNT];
    (void)state;
    for (enum caveat_kind kind = 0; kind < CAVEAT_COUNT; kind++) {
        strbuf_init(&said[kind]);
        caveat_text_add(&said[kind], caveats_find(&c, kind), "a.wake");
        const struct strbuf *s = &said[kind];
        assert_true(s->length > 10 && s->text[s->length - 1] != '.');
        assert_null(strchr(s->text, '\n'));
        for (enum caveat_kind other = 0; other < kind; other++)
            assert_string_not_equal(s->text, said[other].text);
    }
    for (enum caveat_kind kind = 0; kind < CAVEAT_COUNT; kind++)
        strbuf_release(&said[kind]);
}

static void a_row_has_room_for_any_figure(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < 4; shape++) {
        struct caveats c = all_kinds();
        for (enum caveat_kind kind = 0; kind < CAVEAT_COUNT; kind++) {
            struct caveat_row row;
            c.of[kind].is_sampled = (shape & 1) != 0;
            c.of[kind].is_unknown = (shape & 2) != 0;
            caveat_text_fill(&row, &c.of[kind]);
            assert_true(strlen(row.text) + 1 < sizeof row.text);
            assert_true(strlen(row.figure) + 1 < sizeof row.figure);
        }
    }
}

static void texts_are_those_of_the_report(void **state)
{
    struct caveats c = {0};
    struct strbuf out;
    (void)state;
    strbuf_init(&out);
    caveats_add(&c, (struct caveat){.kind = CAVEAT_LOST, .because = CAVEAT_COUNT, .count = 12});
    caveat_text_add_short(&out, caveats_find(&c, CAVEAT_LOST));
    strbuf_add_char(&out, '|');
    caveat_text_add(&out, caveats_find(&c, CAVEAT_LOST), "after");
    assert_string_equal(strbuf_get(&out), "12 events lost|after is not whole: 12 events lost");
    strbuf_clear(&out);
    struct json j;
    caveats_add(&c, (struct caveat){
                        .kind = CAVEAT_CULLED, .because = CAVEAT_COUNT, .ns = 1000000, .is_unknown = true});
    json_init(&j, &out);
    json_open_object(&j, NULL);
    caveat_text_json(&j, &c);
    json_close_object(&j);
    assert_non_null(strstr(strbuf_get(&out), "\"lost-events\""));
    assert_non_null(strstr(strbuf_get(&out), "\"blocks\": null"));
    assert_non_null(strstr(strbuf_get(&out), "\"threshold_ns\": 1000000"));
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_a_sentence_of_its_own),
        cmocka_unit_test(a_row_has_room_for_any_figure),
        cmocka_unit_test(texts_are_those_of_the_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
