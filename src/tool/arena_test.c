/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tool/arena.h"

static void blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena a;
    unsigned char *blocks[3000];
    arena_init(&a);
    for (size_t i = 0; i < 3000; i++) {
        size_t size = i * 7 % 400;
        blocks[i] = arena_push(&a, size);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)(i % 251), size);
    }
    for (size_t i = 0; i < 3000; i++)
        for (size_t k = 0; k < i * 7 % 400; k++)
            assert_int_equal(blocks[i][k], i % 251);
    arena_release(&a);
    assert_int_equal(a.total, 0);
}

static void large_blocks_do_not_waste_the_slab(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    char *first = arena_push(&a, 16);
    char *large = arena_push(&a, 10 << 20);
    char *second = arena_push(&a, 16);
    assert_non_null(large);
    assert_ptr_equal(second, first + 16);
    large[(10 << 20) - 1] = 1;
    arena_release(&a);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    assert_null(arena_push(&a, SIZE_MAX));
    assert_null(arena_push_array(&a, SIZE_MAX / 2, 3));
    assert_null(arena_push_text(&a, "x", SIZE_MAX));
    assert_non_null(arena_push(&a, 0));
    arena_release(&a);
}

static void a_text_is_copied_and_ended(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    assert_string_equal(arena_push_text(&a, "heapwake", 4), "heap");
    assert_string_equal(arena_push_text(&a, NULL, 0), "");
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(large_blocks_do_not_waste_the_slab),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(a_text_is_copied_and_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
