/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/cursor.h"
#include "store/chunk_decoder.h"
#include "store/stream.h"
#include "tool/err.h"
#include "wire/record.h"

enum { HEAP_SIZE = 64 << 20 };
#define MAIN_HEAP UINT64_C(0x555500000000)
#define OTHER_HEAP UINT64_C(0x7f0000000000)

static void ignore_chunk(struct wake_stream *s, void *owner)
{
    (void)s, (void)owner;
}

static void open_stream(struct wake_stream *s)
{
    stream_init(s, NULL);
    s->close_chunk = ignore_chunk;
    s->arena_bit = RECORD_OTHER_ARENA;
}

static void put(struct wake_stream *s, uint64_t address, uint64_t size, uint64_t usable)
{
    wake_stream_alloc(s, 10, 1, KIND_MALLOC, 1, address, size, usable, 0);
}

/* The events so far as a payload. */
static uint8_t *encode(struct wake_stream *s, size_t *length)
{
    struct codec codec;
    struct events_prelude prelude;
    uint32_t raw;
    codec_init(&codec);
    uint8_t *payload = malloc(stream_bound(s));
    assert_non_null(payload);
    *length = stream_encode(s, &codec, payload, &raw, &prelude);
    codec_release(&codec);
    return payload;
}

/* The bytes of a column of a payload, none of which is compressed; NULL: it has none. */
static uint8_t *find_column(uint8_t *payload, unsigned column, size_t *length)
{
    struct events_prelude prelude;
    assert_true(events_prelude_decode(payload, &prelude));
    uint8_t *data = payload + FORMAT_PRELUDE_SIZE + prelude.columns * FORMAT_COLUMN_ENTRY_SIZE;
    for (uint32_t i = 0; i < prelude.columns; i++) {
        struct cursor c;
        cursor_init(&c, payload + FORMAT_PRELUDE_SIZE + i * FORMAT_COLUMN_ENTRY_SIZE,
                    FORMAT_COLUMN_ENTRY_SIZE);
        unsigned found = cursor_u16(&c), flags = cursor_u16(&c);
        cursor_skip(&c, 4);
        *length = cursor_u32(&c);
        if (found == column) {
            assert_int_equal(flags, FORMAT_PLAIN);
            return data;
        }
        data += *length;
    }
    return NULL;
}

/* Whether all of it can be read; arenas: what is expected, or NULL. */
static bool read_all(const uint8_t *payload, size_t length, const uint8_t *arenas)
{
    struct codec codec;
    struct chunk_decoder r;
    uint32_t at = 0;
    codec_init(&codec);
    chunk_decoder_init(&r);
    r.arrays = chunk_decoder_arrays_new();
    assert_non_null(r.arrays);
    assert_int_equal(chunk_decoder_open(&r, &codec, 0, WAKE_EVERYTHING, payload, length), 0);
    while (chunk_decoder_next(&r))
        for (uint32_t i = 0; i < r.block.count; i++, at++)
            assert_true(arenas == NULL || r.block.arena[i] == arenas[at]);
    bool fine = !r.bad;
    free(r.arrays);
    chunk_decoder_release(&r);
    codec_release(&codec);
    return fine;
}

static void a_chunk_of_the_main_arena_has_no_column(void **state)
{
    (void)state;
    struct wake_stream s;
    size_t length, column;
    uint8_t arenas[1000] = {0};
    open_stream(&s);
    for (unsigned i = 0; i < 1000; i++)
        put(&s, MAIN_HEAP + i * 160, i % 100, i % 7 == 0 ? i % 100 : (i % 100 + 24) & ~7u);
    uint8_t *payload = encode(&s, &length);
    assert_null(find_column(payload, COLUMN_ARENA, &column));
    assert_true(read_all(payload, length, arenas));
    free(payload);
    stream_release(&s);
}

static void what_a_heap_begins_with_is_listed_once_a_chunk(void **state)
{
    (void)state;
    struct wake_stream s;
    uint8_t arenas[500];
    open_stream(&s);
    for (unsigned chunk = 0; chunk < 2; chunk++) {
        size_t length, column;
        for (unsigned i = 0; i < 500; i++) {
            arenas[i] = i >= 100 && i % 3 != 0;
            put(&s, (arenas[i] ? OTHER_HEAP + i % 3 * HEAP_SIZE : MAIN_HEAP) + i * 32, 20,
                24 + arenas[i] * RECORD_OTHER_ARENA);
        }
        uint8_t *payload = encode(&s, &length);
        const uint8_t *listed = find_column(payload, COLUMN_ARENA, &column);
        assert_non_null(listed);
        assert_int_equal(column, 2);
        assert_int_equal(listed[0], 100); /* the first 100 are not listed, nor is any between 100 and 101 */
        assert_int_equal(listed[1], 0);
        assert_true(read_all(payload, length, arenas));
        free(payload);
        stream_restart(&s);
    }
    stream_release(&s);
}

/* Where it is the size itself, and so not known, it tells no arena. */
static void a_usable_size_that_is_not_known_has_no_flag(void **state)
{
    (void)state;
    struct wake_stream s;
    size_t length, column;
    static const uint8_t arenas[] = {0, 1, 0, 0};
    open_stream(&s);
    put(&s, MAIN_HEAP, 37, 37);
    put(&s, OTHER_HEAP, 37, 44);
    put(&s, MAIN_HEAP + 64, 37, 37);
    put(&s, OTHER_HEAP + 128, 37, 37);
    uint8_t *payload = encode(&s, &length);
    assert_non_null(find_column(payload, COLUMN_ARENA, &column));
    assert_int_equal(column, 2);
    assert_true(read_all(payload, length, arenas));
    free(payload);
    stream_release(&s);
}

static void a_column_that_lists_what_is_not_there_is_bad(void **state)
{
    (void)state;
    struct wake_stream s;
    size_t length, column;
    open_stream(&s);
    put(&s, OTHER_HEAP, 20, 28);
    put(&s, MAIN_HEAP, 20, 24);
    put(&s, OTHER_HEAP + HEAP_SIZE, 20, 28);
    uint8_t *payload = encode(&s, &length);
    uint8_t *listed = find_column(payload, COLUMN_ARENA, &column);
    assert_non_null(listed);
    assert_int_equal(column, 2);
    assert_true(listed[0] == 0 && listed[1] == 1);
    unsigned sound = 0;
    for (unsigned bytes = 0; bytes <= UINT16_MAX; bytes++) {
        listed[0] = bytes & 0xff;
        listed[1] = bytes >> 8;
        /* Two numbers, or one of two bytes, of which all are too large unless they begin with 0x80. */
        bool is_one = listed[0] >= 0x80;
        bool fits = is_one ? listed[1] < 0x80 && ((listed[0] & 0x7f) | listed[1] << 7) < 3
                           : listed[0] + 1 + listed[1] < 3;
        sound += fits;
        assert_int_equal(read_all(payload, length, NULL), fits);
    }
    assert_int_equal(sound, 6);
    free(payload);
    stream_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_of_the_main_arena_has_no_column),
        cmocka_unit_test(what_a_heap_begins_with_is_listed_once_a_chunk),
        cmocka_unit_test(a_usable_size_that_is_not_known_has_no_flag),
        cmocka_unit_test(a_column_that_lists_what_is_not_there_is_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
