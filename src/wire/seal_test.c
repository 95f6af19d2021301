/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of seal: each change of a chunk changes its sum.
 */
#include "wire/seal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t chunk[SEGMENT_CHUNK_WORDS];

static void fill(void)
{
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < SEGMENT_CHUNK_WORDS; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        chunk[i] = i % 3 == 0 ? x : i;
    }
}

static uint32_t sum(void)
{
    return seal_chunk(chunk, SEGMENT_CHUNK_WORDS);
}

static void each_bit_counts(void **state)
{
    (void)state;
    fill();
    uint32_t whole = sum();
    for (size_t bit = 0; bit < SEGMENT_CHUNK_SIZE * 8; bit++) {
        chunk[bit / 64] ^= UINT64_C(1) << bit % 64;
        assert_int_not_equal(sum(), whole);
        chunk[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
    assert_int_equal(sum(), whole);
}

static void two_bits_do_not_cancel_each_other(void **state)
{
    (void)state;
    fill();
    uint32_t whole = sum();
    for (unsigned distance = 1; distance < SEGMENT_CHUNK_WORDS; distance++) {
        for (unsigned bit = 0; bit < 64; bit += 9) {
            chunk[0] ^= UINT64_C(1) << bit;
            chunk[distance] ^= UINT64_C(1) << bit;
            assert_int_not_equal(sum(), whole);
            fill();
        }
    }
}

static void places_count(void **state)
{
    (void)state;
    fill();
    uint32_t whole = sum();
    for (size_t i = 1; i < SEGMENT_CHUNK_WORDS; i++) {
        uint64_t first = chunk[0];
        chunk[0] = chunk[i], chunk[i] = first;
        assert_int_not_equal(sum(), whole);
        chunk[i] = chunk[0], chunk[0] = first;
    }
    assert_int_not_equal(seal_chunk(chunk, SEGMENT_CHUNK_WORDS - 1), whole);
}

static void a_chunk_has_the_sum_of_its_words_one_by_one(void **state)
{
    (void)state;
    struct seal s = seal_begin();
    fill();
    for (size_t i = 0; i < SEGMENT_CHUNK_WORDS; i++) {
        assert_int_equal(seal_get(&s), seal_chunk(chunk, i));
        seal_add(&s, chunk[i]);
    }
}

static void a_sum_is_never_zero(void **state)
{
    (void)state;
    assert_int_not_equal(seal_chunk(chunk, 0), 0);
    memset(chunk, 0, sizeof chunk);
    assert_int_not_equal(sum(), 0);
}

/* What of the head does change behind the seal (signals, requests) is not in it; all else is. */
static void the_head_counts_but_for_its_control_words(void **state)
{
    (void)state;
    static _Alignas(8) uint8_t page[SEGMENT_HEAD_SIZE + SEGMENT_TEXT_SIZE];
    struct segment_head *head = (void *)page;
    uint32_t lanes[2] = {1, 2}, next[3] = {4, 5, 6}, whole = seal_head(head, lanes, 2, next, 3);
    head->control = head->wishes[1] = head->waits = head->asked = head->seal = 7;
    assert_int_equal(seal_head(head, lanes, 2, next, 3), whole);
    uint8_t *const counts[] = {(void *)&head->pid,
                               (void *)&head->lane_count,
                               (void *)&head->lost_events,
                               (void *)&head->exec_ns,
                               (void *)&head->job[5],
                               (void *)&head->sample_rate,
                               &page[5000],
                               (void *)&lanes[1],
                               (void *)&next[2]};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *counts[i] ^= 64;
        assert_int_not_equal(seal_head(head, lanes, 2, next, 3), whole);
        *counts[i] ^= 64;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bit_counts),
        cmocka_unit_test(two_bits_do_not_cancel_each_other),
        cmocka_unit_test(places_count),
        cmocka_unit_test(a_sum_is_never_zero),
        cmocka_unit_test(a_chunk_has_the_sum_of_its_words_one_by_one),
        cmocka_unit_test(the_head_counts_but_for_its_control_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
