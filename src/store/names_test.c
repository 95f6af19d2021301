/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "store/names.h"

static const uint8_t id_a[] = {0xab, 0xcd}, id_b[] = {0xab, 0xce};

static void images_are_told_apart_by_build_id_and_path(void **state)
{
    (void)state;
    struct names *n = names_new();
    uint32_t a = names_image(n, id_a, 2, "/lib/a.so");
    assert_int_equal(a, 1);
    assert_int_equal(names_image(n, id_b, 2, "/lib/a.so"), 2);
    assert_int_equal(names_image(n, id_a, 2, "/lib/b.so"), 3);
    assert_int_equal(names_image(n, NULL, 0, "/lib/a.so"), 4);
    assert_int_equal(names_image(n, id_a, 2, "/lib/a.so"), a);
    assert_int_equal(names_image_count(n), 4);
    const struct name_image *image = names_get_image(n, a);
    assert_string_equal(image->path, "/lib/a.so");
    assert_int_equal(image->build_id_length, 2);
    assert_memory_equal(image->build_id, id_a, 2);
    assert_int_equal(image->source, NAME_SOURCE_NONE);
    assert_string_equal(image->remark, "");
    assert_true(names_set_source(n, a, NAME_SOURCE_MISSING, "There is no such file."));
    assert_int_equal(image->source, NAME_SOURCE_MISSING);
    assert_string_equal(image->remark, "There is no such file.");
    assert_null(names_get_image(n, 0));
    assert_null(names_get_image(n, 5));
    names_free(n);
}

static void a_place_keeps_the_name_it_got_last(void **state)
{
    (void)state;
    struct names *n = names_new();
    char function[] = "inner()";
    uint32_t image = names_image(n, id_a, 2, "/a");
    struct name_frame frames[] = {{function, "_Z5innerv", "a.cc", 7, true},
                                  {"main", "main", "a.cc", 9, false}};
    assert_null(names_find(n, image, 0x1234, false));
    assert_true(names_add(n, image, 0x1234, false, frames, 2));
    memset(function, 'x', sizeof function - 1); /* the text was copied */
    assert_null(names_find(n, image, 0x1234, true));
    assert_null(names_find(n, image + 1, 0x1234, false));
    const struct name_place *p = names_find(n, image, 0x1234, false);
    assert_non_null(p);
    assert_int_equal(p->count, 2);
    assert_string_equal(p->frames[0].function, "inner()");
    assert_string_equal(p->frames[0].linkage, "_Z5innerv");
    assert_string_equal(p->frames[0].file, "a.cc");
    assert_int_equal(p->frames[0].line, 7);
    assert_true(p->frames[0].inlined);
    assert_string_equal(p->frames[1].function, "main");
    assert_string_equal(p->frames[1].linkage, ""); /* the same as function */
    assert_false(p->frames[1].inlined);
    assert_true(names_add(n, image, 0x1234, true, frames + 1, 1));
    assert_int_equal(names_count(n), 2);
    assert_true(names_add(n, image, 0x1234, false, frames + 1, 1));
    assert_int_equal(names_find(n, image, 0x1234, false)->count, 1);
    assert_int_equal(names_count(n), 2);
    assert_true(names_add(n, image, 0x1234, false, NULL, 0));
    assert_null(names_find(n, image, 0x1234, false));
    assert_int_equal(names_count_image(n, image), 1);
    names_free(n);
}

static void any_address_is_a_place_and_lists_are_sorted(void **state)
{
    (void)state;
    struct names *n = names_new();
    const struct name_frame frame = {"f", "", "", 0, false};
    static const uint64_t places[] = {UINT64_MAX, 0, 77, 1, UINT64_C(1) << 63, 76};
    static const uint64_t sorted[] = {0, 1, 76, 77, UINT64_C(1) << 63, UINT64_MAX};
    uint32_t image = names_image(n, id_a, 2, "/a");
    for (size_t i = 0; i < 6; i++)
        assert_true(names_add(n, image, places[i], false, &frame, 1));
    assert_true(names_add(n, image, 77, true, &frame, 1));
    struct name_entry *entries;
    size_t count;
    assert_true(names_list(n, image, &entries, &count));
    assert_int_equal(count, 7);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(entries[i].place, sorted[i]);
    assert_int_equal(entries[4].place, 77);
    assert_true(entries[4].exact);
    assert_int_equal(entries[6].place, UINT64_MAX);
    assert_ptr_equal(entries[0].name, entries[6].name); /* one list for all */
    free(entries);
    assert_true(names_list(n, 99, &entries, &count));
    assert_int_equal(count, 0);
    free(entries);
    names_free(n);
}

static void what_is_too_long_is_cut(void **state)
{
    (void)state;
    struct names *n = names_new();
    char *text = calloc(1, NAMES_TEXT_MAX + 10);
    memset(text, 'a', NAMES_TEXT_MAX + 9);
    struct name_frame frames[NAMES_FRAMES_MAX + 3];
    for (uint32_t i = 0; i < NAMES_FRAMES_MAX + 3; i++)
        frames[i] = (struct name_frame){text, "", "", i, true};
    uint32_t image = names_image(n, NULL, 0, "/a");
    assert_true(names_add(n, image, 1, false, frames, NAMES_FRAMES_MAX + 3));
    const struct name_place *p = names_find(n, image, 1, false);
    assert_int_equal(p->count, NAMES_FRAMES_MAX);
    assert_int_equal(p->frames[0].line, 3);
    assert_int_equal(strlen(p->frames[0].function), NAMES_TEXT_MAX);
    free(text);
    names_free(n);
}

static void images_of_processes_are_known(void **state)
{
    static const char *const others[] = {
        "[process ]",           "[process 1",       "[process 1]x", "[process +1]",
        "[process 4294967296]", "/bin/[process 1]", "[vdso]",       ""};
    uint32_t process = 0;
    (void)state;
    assert_true(names_is_process("[process 4294967295]", &process));
    assert_int_equal(process, UINT32_MAX);
    assert_true(names_is_process("[process 0]", &process));
    assert_int_equal(process, 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(names_is_process(others[i], &process));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_of_processes_are_known),
        cmocka_unit_test(images_are_told_apart_by_build_id_and_path),
        cmocka_unit_test(a_place_keeps_the_name_it_got_last),
        cmocka_unit_test(any_address_is_a_place_and_lists_are_sorted),
        cmocka_unit_test(what_is_too_long_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
