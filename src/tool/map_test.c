/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "tool/map.h"

#define FREE_KEY UINT64_C(0xfedcba9876543210) /* the one that marks free slots inside */

static void what_was_set_is_found(void **state)
{
    (void)state;
    struct map m;
    map_init(&m);
    assert_null(map_find(&m, 1));
    assert_false(map_remove(&m, 1, NULL));
    for (uint64_t i = 0; i < 20000; i++)
        assert_true(map_set(&m, i * 4096, i));
    assert_int_equal(map_count(&m), 20000);
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(*map_find(&m, i * 4096), i);
    assert_null(map_find(&m, 1));
    assert_true(map_set(&m, 4096, 77));
    assert_int_equal(map_count(&m), 20000);
    assert_int_equal(*map_find(&m, 4096), 77);
    map_release(&m);
}

static void every_key_is_allowed(void **state)
{
    (void)state;
    struct map m;
    static const uint64_t keys[] = {0, 1, UINT64_MAX, FREE_KEY, FREE_KEY + 1};
    map_init(&m);
    for (size_t i = 0; i < 5; i++)
        assert_true(map_set(&m, keys[i], i));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(*map_find(&m, keys[i]), i);
    uint64_t key, value, seen = 0, sum = 0;
    for (size_t at = 0; map_next(&m, &at, &key, &value); seen++)
        sum += value;
    assert_int_equal(seen, 5);
    assert_int_equal(sum, 10);
    assert_true(map_remove(&m, FREE_KEY, &value));
    assert_int_equal(value, 3);
    assert_null(map_find(&m, FREE_KEY));
    assert_int_equal(map_count(&m), 4);
    map_release(&m);
}

/* Against a plain array, with keys that crowd together. */
static void a_map_agrees_with_an_array(void **state)
{
    (void)state;
    enum { KEYS = 500 };
    static uint64_t truth[KEYS]; /* value + 1, 0 = absent */
    struct map m;
    uint64_t seed = 12345, value;
    size_t count = 0;
    map_init(&m);
    for (int i = 0; i < 300000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t key = (seed >> 33) % KEYS;
        if ((seed >> 20) % 2 == 0) {
            assert_true(map_set(&m, key << 40, (uint64_t)i));
            count += truth[key] == 0;
            truth[key] = (uint64_t)i + 1;
        } else {
            assert_int_equal(map_remove(&m, key << 40, &value), truth[key] != 0);
            if (truth[key] != 0)
                assert_int_equal(value, truth[key] - 1);
            count -= truth[key] != 0;
            truth[key] = 0;
        }
        assert_int_equal(map_count(&m), count);
    }
    for (uint64_t key = 0; key < KEYS; key++) {
        const uint64_t *found = map_find(&m, key << 40);
        assert_int_equal(found != NULL, truth[key] != 0);
        if (found != NULL)
            assert_int_equal(*found, truth[key] - 1);
    }
    map_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_set_is_found),
        cmocka_unit_test(every_key_is_allowed),
        cmocka_unit_test(a_map_agrees_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
