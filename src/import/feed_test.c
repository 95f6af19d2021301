/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "import/feed.h"

static char path[64];

static int setup(void **unused)
{
    (void)unused;
    snprintf(path, sizeof path, "/tmp/feed_test.%d", (int)getpid());
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    unlink(path);
    return 0;
}

static struct feed *feed_of(const void *bytes, size_t length)
{
    struct feed *f;
    struct err err;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    assert_int_equal(feed_open(&f, path, &err), 0);
    return f;
}

static void expect_line(struct feed *f, const char *expected)
{
    const char *line;
    size_t length;
    assert_true(feed_line(f, &line, &length));
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(line, expected, length);
}

static void expect_end(struct feed *f)
{
    const char *line;
    size_t length;
    assert_false(feed_line(f, &line, &length));
    assert_int_equal(feed_check(f, NULL), 0);
}

static void lines_come_without_their_ends(void **unused)
{
    (void)unused;
    static const char text[] = "one\n\ntwo\r\nlast";
    struct feed *f = feed_of(text, sizeof text - 1);
    expect_line(f, "one");
    expect_line(f, "");
    expect_line(f, "two");
    struct err err;
    assert_int_equal(feed_refuse(f, &err, "wrong."), ERR_INPUT);
    assert_non_null(strstr(err.text, ", line 3: wrong."));
    expect_line(f, "last");
    expect_end(f);
    feed_close(f);
}

/* More than a window of lines, each longer than the one before. */
static void lines_pass_the_ends_of_the_window(void **unused)
{
    (void)unused;
    enum { LINES = 3000 };
    size_t length = 0;
    char *text = malloc((size_t)LINES * (LINES + 1)), *line = malloc(LINES + 1);
    for (int i = 0; i < LINES; i++) {
        memset(text + length, 'a' + i % 26, (size_t)i);
        length += (size_t)i;
        text[length++] = '\n';
    }
    struct feed *f = feed_of(text, length);
    for (int i = 0; i < LINES; i++) {
        memset(line, 'a' + i % 26, (size_t)i);
        line[i] = '\0';
        expect_line(f, line);
    }
    expect_end(f);
    assert_int_equal(feed_offset(f), length);
    feed_close(f);
    free(text);
    free(line);
}

static void a_line_without_end_is_refused(void **unused)
{
    (void)unused;
    size_t length = 3 * FEED_LINE_MAX;
    char *text = malloc(length);
    memset(text, 'x', length);
    struct feed *f = feed_of(text, length);
    const char *line;
    struct err err;
    assert_false(feed_line(f, &line, &length));
    assert_int_equal(feed_check(f, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "line 1"));
    feed_close(f);
    free(text);
}

static size_t pack(uint8_t *to, size_t room, const char *text)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)strlen(text);
    z.next_out = to;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static void gzip_may_come_in_parts(void **unused)
{
    (void)unused;
    uint8_t packed[400];
    size_t length = pack(packed, 200, "first\nsec");
    length += pack(packed + length, 200, "ond\n");
    struct feed *f = feed_of(packed, length);
    expect_line(f, "first");
    expect_line(f, "second");
    expect_end(f);
    feed_close(f);
}

static void what_is_cut_or_damaged_is_said(void **unused)
{
    (void)unused;
    uint8_t packed[400];
    const char *line;
    size_t ignored, length = pack(packed, sizeof packed, "first\nsecond\n");
    struct feed *f = feed_of(packed, length - 4);
    while (feed_line(f, &line, &ignored))
        ;
    assert_int_equal(feed_check(f, NULL), ERR_INPUT);
    feed_close(f);
    packed[length / 2] ^= 0x55;
    f = feed_of(packed, length);
    while (feed_line(f, &line, &ignored))
        ;
    assert_int_equal(feed_check(f, NULL), ERR_INPUT);
    feed_close(f);
}

static void zstd_and_the_rest_in_one_go(void **unused)
{
    (void)unused;
    uint8_t packed[400], *rest;
    size_t length = ZSTD_compress(packed, sizeof packed, "head\nall the rest", 17, 1);
    struct err err;
    assert_false(ZSTD_isError(length));
    struct feed *f = feed_of(packed, length);
    expect_line(f, "head");
    assert_int_equal(feed_rest(f, 1000, &rest, &length, &err), 0);
    assert_int_equal(length, 12);
    assert_string_equal((char *)rest, "all the rest");
    free(rest);
    feed_close(f);
    f = feed_of("0123456789", 10);
    assert_int_equal(feed_rest(f, 5, &rest, &length, &err), ERR_LIMIT);
    feed_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_come_without_their_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_pass_the_ends_of_the_window, setup, teardown),
        cmocka_unit_test_setup_teardown(a_line_without_end_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(gzip_may_come_in_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_cut_or_damaged_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(zstd_and_the_rest_in_one_go, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
