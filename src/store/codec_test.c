/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "store/codec.h"
#include "store/format.h"

static void a_checksum_is_xxh3(void **state)
{
    (void)state;
    /* From the specification of XXH3: the empty input with seed 0. */
    assert_true(codec_sum("", 0) == UINT64_C(0x2d06800538d394c2));
}

static void payloads_come_back(void **state)
{
    (void)state;
    struct codec c;
    codec_init(&c);
    for (size_t length = 0; length < 300000; length = length * 3 + 1) {
        uint8_t *bytes = malloc(length + 1), *packed = malloc(codec_bound(length)),
                *back = malloc(length + 1);
        for (int noise = 0; noise < 2; noise++) {
            unsigned flags, seed = 1;
            for (size_t i = 0; i < length; i++) {
                seed = seed * 1103515245u + 12345u;
                bytes[i] = noise ? (uint8_t)(seed >> 16) : (uint8_t)(i / 100);
            }
            size_t stored = codec_pack(&c, packed, bytes, length, &flags);
            assert_true(stored <= length);
            assert_true(codec_unpack(&c, back, length, packed, stored, flags));
            assert_memory_equal(bytes, back, length);
            assert_false(codec_unpack(&c, back, length + 1, packed, stored, flags));
            assert_false(codec_unpack(&c, back, length, packed, stored, 7));
        }
        free(bytes);
        free(packed);
        free(back);
    }
    codec_release(&c);
}

static void a_chunk_header_vouches_for_itself(void **state)
{
    (void)state;
    uint8_t bytes[FORMAT_CHUNK_HEADER_SIZE];
    const struct chunk_header h = {
        .type = 5, .flags = 1, .process = 9, .raw = 1000, .stored = 900, .sum = 0x1122334455667788};
    struct chunk_header back;
    chunk_header_encode(bytes, &h);
    assert_true(chunk_header_decode(bytes, &back));
    assert_int_equal(back.type, 5);
    assert_int_equal(back.process, 9);
    assert_int_equal(back.raw, 1000);
    assert_int_equal(back.stored, 900);
    assert_true(back.sum == h.sum);
    for (unsigned bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(chunk_header_decode(bytes, &back));
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void lengths_above_the_cap_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[FORMAT_CHUNK_HEADER_SIZE];
    struct chunk_header h = {.type = 5, .raw = FORMAT_PAYLOAD_MAX, .stored = FORMAT_PAYLOAD_MAX}, back;
    chunk_header_encode(bytes, &h);
    assert_true(chunk_header_decode(bytes, &back));
    h.raw++;
    chunk_header_encode(bytes, &h);
    assert_false(chunk_header_decode(bytes, &back));
    h.raw--;
    h.stored++;
    chunk_header_encode(bytes, &h);
    assert_false(chunk_header_decode(bytes, &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checksum_is_xxh3),
        cmocka_unit_test(payloads_come_back),
        cmocka_unit_test(a_chunk_header_vouches_for_itself),
        cmocka_unit_test(lengths_above_the_cap_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
