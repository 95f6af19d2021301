/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/format.h"
#include "store/symbols.h"
#include "tool/err.h"

static const uint64_t plenty = UINT64_C(1) << 30;

struct shelf_of_payloads {
    struct strbuf payloads[64];
    size_t count;
};

static int keep(void *of, const struct strbuf *payload)
{
    struct shelf_of_payloads *s = of;
    assert_true(s->count < 64);
    assert_true(payload->length <= FORMAT_PAYLOAD_MAX);
    strbuf_add(&s->payloads[s->count++], payload->text, payload->length);
    return 0;
}

static void let_go(struct shelf_of_payloads *s)
{
    for (size_t i = 0; i < s->count; i++)
        strbuf_release(&s->payloads[i]);
}

static struct names *make_names(unsigned places, size_t text_length)
{
    struct names *n = names_new();
    char *text = malloc(text_length + 32);
    memset(text, 'x', text_length);
    for (unsigned i = 0; i < places; i++) {
        char path[32];
        snprintf(path, sizeof path, "/lib/%u", i / 1000);
        uint32_t image = names_image(n, (const uint8_t *)path, 7, path);
        assert_true(names_set_source(n, image, NAME_SOURCE_SYMBOLS, i < 1000 ? "A remark." : ""));
        snprintf(text + text_length, 32, "%u", i);
        const struct name_frame frame = {text, "", "file.c", i, i % 2 != 0};
        assert_true(names_add(n, image, UINT64_MAX - i * UINT64_C(77777777777), i % 5 == 0, &frame, 1));
    }
    free(text);
    return n;
}

static void assert_equal(const struct names *a, struct names *b)
{
    assert_int_equal(names_count(a), names_count(b));
    for (uint32_t i = 1; i <= names_image_count(a); i++) {
        const struct name_image *image = names_get_image(a, i);
        uint32_t other = names_image(b, image->build_id, image->build_id_length, image->path);
        struct name_entry *x, *y;
        size_t count, same;
        assert_string_equal(image->remark, names_get_image(b, other)->remark);
        assert_int_equal(image->source, names_get_image(b, other)->source);
        assert_true(names_list(a, i, &x, &count) && names_list(b, other, &y, &same));
        assert_int_equal(count, same);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(x[k].place, y[k].place);
            assert_int_equal(x[k].exact, y[k].exact);
            assert_string_equal(x[k].name->frames[0].function, y[k].name->frames[0].function);
            assert_string_equal(x[k].name->frames[0].file, y[k].name->frames[0].file);
            assert_int_equal(x[k].name->frames[0].line, y[k].name->frames[0].line);
            assert_int_equal(x[k].name->frames[0].inlined, y[k].name->frames[0].inlined);
        }
        free(x);
        free(y);
    }
}

static void many_names_are_several_payloads(void **state)
{
    (void)state;
    struct shelf_of_payloads s = {0};
    struct names *n = make_names(2500, 4000), *back = names_new();
    assert_int_equal(symbols_encode(n, keep, &s), 0);
    assert_in_range(s.count, 4, 8);
    /* Each stands alone: any order will do. */
    for (size_t i = s.count; i-- > 0;) {
        uint64_t budget = plenty;
        const uint8_t *bytes = (const uint8_t *)s.payloads[i].text;
        assert_int_equal(symbols_decode(back, bytes, s.payloads[i].length, &budget), 0);
        assert_true(budget < plenty);
    }
    assert_equal(n, back);
    let_go(&s);
    names_free(n);
    names_free(back);
}

static void nothing_known_is_no_payload(void **state)
{
    (void)state;
    struct shelf_of_payloads s = {0};
    struct names *n = names_new();
    assert_int_equal(symbols_encode(n, keep, &s), 0);
    assert_int_equal(names_image(n, NULL, 0, "/lib/a"), 1);
    assert_int_equal(symbols_encode(n, keep, &s), 0);
    assert_int_equal(s.count, 0);
    names_free(n);
}

static void what_is_cut_or_flipped_is_refused_or_harmless(void **state)
{
    (void)state;
    struct shelf_of_payloads s = {0};
    struct names *n = make_names(6, 3);
    assert_int_equal(symbols_encode(n, keep, &s), 0);
    assert_int_equal(s.count, 1);
    size_t length = s.payloads[0].length, refused = 0;
    for (size_t cut = 0; cut < length; cut++) {
        uint64_t budget = plenty;
        struct names *back = names_new();
        uint8_t *bytes = malloc(cut + 1); /* so that a sanitizer sees what is read beyond */
        memcpy(bytes, s.payloads[0].text, cut);
        refused += symbols_decode(back, bytes, cut, &budget) == ERR_INPUT;
        assert_true(names_count(back) <= 6);
        free(bytes);
        names_free(back);
    }
    assert_true(refused >= length - 2); /* without its one group it is whole */
    for (size_t bit = 0; bit < length * 8; bit++) {
        uint64_t budget = plenty;
        struct names *back = names_new();
        s.payloads[0].text[bit / 8] ^= (char)(1 << bit % 8);
        (void)symbols_decode(back, (const uint8_t *)s.payloads[0].text, length, &budget);
        assert_true(names_count(back) <= length);
        s.payloads[0].text[bit / 8] ^= (char)(1 << bit % 8);
        names_free(back);
    }
    let_go(&s);
    names_free(n);
}

static void no_more_memory_than_allowed_is_taken(void **state)
{
    (void)state;
    struct shelf_of_payloads s = {0};
    struct names *n = make_names(1000, 3), *back = names_new();
    uint64_t budget = 20000;
    assert_int_equal(symbols_encode(n, keep, &s), 0);
    const uint8_t *bytes = (const uint8_t *)s.payloads[0].text;
    assert_int_equal(symbols_decode(back, bytes, s.payloads[0].length, &budget), ERR_MEMORY);
    assert_true(names_count(back) < 200);
    let_go(&s);
    names_free(n);
    names_free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_names_are_several_payloads),
        cmocka_unit_test(nothing_known_is_no_payload),
        cmocka_unit_test(what_is_cut_or_flipped_is_refused_or_harmless),
        cmocka_unit_test(no_more_memory_than_allowed_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
