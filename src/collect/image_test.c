/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of image: what it tells the collector about the program's buffers.
 */
#include "collect/fake_world.h"

enum { MS = 1000000 };

static void buffers_are_tight_for_a_while_after_a_thread_has_waited(void **state)
{
    struct world w;
    uint64_t now = UINT64_C(5000) * MS;
    (void)state;
    world_open(&w, 16, 1);
    assert_false(image_is_tight(w.image, now));
    w.image->view.head->waits++;
    assert_true(image_is_tight(w.image, now));
    assert_true(image_is_tight(w.image, now + 99 * MS));
    assert_false(image_is_tight(w.image, now + 100 * MS));
    world_close(&w, NULL);
}

static void a_further_wait_begins_the_while_anew(void **state)
{
    struct world w;
    uint64_t now = UINT64_C(5000) * MS;
    (void)state;
    world_open(&w, 16, 1);
    w.image->view.head->waits++;
    assert_true(image_is_tight(w.image, now));
    w.image->view.head->waits++;
    assert_true(image_is_tight(w.image, now + 90 * MS));
    assert_true(image_is_tight(w.image, now + 180 * MS));
    assert_false(image_is_tight(w.image, now + 190 * MS));
    world_close(&w, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_are_tight_for_a_while_after_a_thread_has_waited),
        cmocka_unit_test(a_further_wait_begins_the_while_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
