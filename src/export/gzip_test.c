/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of gzip: what zlib unpacks is what was added.
 */
#include "export/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

/* Packs length bytes in pieces and unpacks them with zlib's own reader. */
static void expect_round_trip(const uint8_t *bytes, size_t length, size_t piece)
{
    char path[] = "/tmp/gzip_test.XXXXXX";
    struct out out;
    struct err err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    out_init(&out, fd);
    struct gzip *g = gzip_new(&out);
    assert_non_null(g);
    for (size_t at = 0; at < length; at += piece)
        gzip_add(g, bytes + at, length - at < piece ? length - at : piece);
    assert_int_equal(gzip_finish(g, &err), 0);
    assert_int_equal(out_flush(&out, path, &err), 0);
    gzip_free(g);
    out_release(&out);
    close(fd);

    uint8_t *back = malloc(length + 1);
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(gzread(file, back, (unsigned)length + 1), (int)length);
    assert_memory_equal(back, bytes, length);
    assert_int_equal(gzclose(file), Z_OK);
    unlink(path);
    free(back);
}

static void what_comes_out_is_what_went_in(void **state)
{
    enum { LENGTH = 300000 };
    uint8_t *bytes = malloc(LENGTH);
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (uint8_t)(i * i >> 7); /* neither even nor random */
    expect_round_trip(bytes, LENGTH, LENGTH);
    expect_round_trip(bytes, LENGTH, 977);
    expect_round_trip(bytes, 1000, 1);
    free(bytes);
}

static void nothing_is_a_file_too(void **state)
{
    static const uint8_t nothing[1];
    (void)state;
    expect_round_trip(nothing, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_out_is_what_went_in),
        cmocka_unit_test(nothing_is_a_file_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
