/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of modmap: the newest module that is not too new, in any order of
 * coming, and quickly however often a library comes and goes.
 */
#include "collect/modmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void the_latest_of_a_place_is_found_by_generation(void **state)
{
    struct modmap m;
    (void)state;
    modmap_init(&m);
    assert_true(modmap_add(&m, 0x1000, 0x3000, 1, 1));
    assert_true(modmap_add(&m, 0x1000, 0x3000, 5, 2));
    assert_true(modmap_add(&m, 0x1000, 0x3000, 7, 0)); /* gone */
    assert_true(modmap_add(&m, 0x2000, 0x4000, 8, 3)); /* partly over it */
    assert_int_equal(modmap_find(&m, 0x2000, 0), 0);
    assert_int_equal(modmap_find(&m, 0x2000, 4), 1);
    assert_int_equal(modmap_find(&m, 0x2fff, 5), 2);
    assert_int_equal(modmap_find(&m, 0x2fff, 7), 0);
    assert_int_equal(modmap_find(&m, 0x2fff, 8), 3);
    assert_int_equal(modmap_find(&m, 0x1fff, 8), 0);
    assert_int_equal(modmap_find(&m, 0x3000, 6), 0);
    assert_true(modmap_add(&m, 0x1000, 0x3000, 9, 1)); /* the first, once more */
    assert_int_equal(modmap_find(&m, 0x2fff, 9), 1);
    assert_int_equal(modmap_find(&m, 0x3fff, 9), 3);
    assert_int_equal(modmap_find(&m, 0xfff, 9), 0);
    assert_int_equal(modmap_find(&m, 0x4000, 9), 0);
    modmap_release(&m);
}

enum { ENTRIES = 300, PLACES = 40 };

struct entry {
    uint64_t start, end, generation;
    uint32_t number;
};

/* What the header says, word for word. */
static uint32_t find_slowly(const struct entry *e, int count, uint64_t address, uint64_t generation)
{
    const struct entry *best = NULL;
    for (int i = 0; i < count; i++) {
        if (address >= e[i].start && address < e[i].end && e[i].generation <= generation &&
            (best == NULL || e[i].generation > best->generation ||
             (e[i].generation == best->generation && e[i].number > best->number)))
            best = &e[i];
    }
    return best == NULL ? 0 : best->number;
}

static void any_order_of_coming_gives_the_same_answers(void **state)
{
    unsigned seed = 11;
    (void)state;
    for (int run = 0; run < 50; run++) {
        struct modmap m;
        struct entry entries[ENTRIES];
        modmap_init(&m);
        for (int i = 0; i < ENTRIES; i++) {
            struct entry *e = &entries[i];
            e->start = (uint64_t)(rand_r(&seed) % PLACES);
            e->end = e->start + 1 + (uint64_t)(rand_r(&seed) % (run % 2 ? 3 : PLACES));
            e->generation = (uint64_t)(rand_r(&seed) % 20);
            e->number = (uint32_t)(rand_r(&seed) % 30);
            assert_true(modmap_add(&m, e->start, e->end, e->generation, e->number));
            uint64_t address = (uint64_t)(rand_r(&seed) % (2 * PLACES + 4));
            uint64_t generation = (uint64_t)(rand_r(&seed) % 22);
            assert_int_equal(modmap_find(&m, address, generation),
                             find_slowly(entries, i + 1, address, generation));
        }
        for (uint64_t address = 0; address < 2 * PLACES + 4; address++) {
            for (uint64_t generation = 0; generation < 22; generation++)
                assert_int_equal(modmap_find(&m, address, generation),
                                 find_slowly(entries, ENTRIES, address, generation));
        }
        modmap_release(&m);
    }
}

/* If a step cost time in proportion to those before it, this would not end in our time. */
static void a_million_comings_and_goings_are_quick(void **state)
{
    struct modmap m;
    (void)state;
    modmap_init(&m);
    for (uint64_t g = 1; g <= 1000000; g++) {
        uint64_t start = 0x7f0000000000 + g % 3 * 0x4000;
        assert_true(modmap_add(&m, start, start + 0x5000, g, (uint32_t)(1 + g % 2)));
        assert_int_equal(modmap_find(&m, start + 0x100, g), 1 + g % 2);
        assert_int_equal(modmap_find(&m, start + 0x4fff, g / 2 + 1) > 0, 1);
    }
    modmap_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_of_a_place_is_found_by_generation),
        cmocka_unit_test(any_order_of_coming_gives_the_same_answers),
        cmocka_unit_test(a_million_comings_and_goings_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
