/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * feed: the file that is imported, as lines or as bytes: plain, or compressed
 * by gzip or zstd (told by its first bytes, not by its name).
 *
 * A feed is read once, from the beginning to the end, and holds a window of a
 * fixed size; what is unpacked is never in memory as a whole.  Errors are
 * sticky: a feed that cannot go on gives no more lines and no more bytes, and
 * feed_check() says why.  One thread at a time.
 */
#ifndef HW_IMPORT_FEED_H
#define HW_IMPORT_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/err.h"

struct feed;

enum { FEED_LINE_MAX = 1 << 20 }; /* bytes of a line; a longer one is an error */

int feed_open(struct feed **f, const char *path, struct err *err);
void feed_close(struct feed *f);

const char *feed_path(const struct feed *f);

/* Whoever reads is told how many bytes of the file have been read, and how many it has. */
typedef void feed_watch_fn(void *of, uint64_t done, uint64_t total);
void feed_watch(struct feed *f, feed_watch_fn *watch, void *of);

/* The next bytes, which stay unread: up to `most` (at most FEED_LINE_MAX), fewer
 * only where the file ends. */
const char *feed_peek(struct feed *f, size_t most, size_t *length);

/* The next line without its end; a '\r' before the end goes too.  It may be
 * changed by nobody and is valid until the next call.  False: no more. */
bool feed_line(struct feed *f, const char **line, size_t *length);

/* Exactly length bytes (at most FEED_LINE_MAX), valid until the next call; NULL: so many are not there. */
const uint8_t *feed_bytes(struct feed *f, size_t length);

/* All the rest, with a NUL behind it; the caller frees.  ERR_LIMIT beyond `most` bytes. */
int feed_rest(struct feed *f, size_t most, uint8_t **bytes, size_t *length, struct err *err);

/* 0, or what keeps the file from being read further, in one sentence. */
int feed_check(const struct feed *f, struct err *err);

/* "FILE, line N: ..." for the latest line; feed_refuse_byte: "FILE, byte N: ...".
 * Give ERR_INPUT, or what feed_check() says where that is the cause. */
int feed_refuse(const struct feed *f, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int feed_refuse_byte(const struct feed *f, uint64_t offset, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Bytes taken so far, after unpacking. */
uint64_t feed_offset(const struct feed *f);

#endif
