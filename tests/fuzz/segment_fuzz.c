/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * segment_fuzz: what a hostile or dying program may leave in its segment, read
 * as a spool.
 *
 *     input:  pieces, each u16 length and so many bytes: the start of the head, of
 *             the text, of the page of lanes and free list, then of chunk 0, 1, ...
 *
 * The pieces are spread out to a segment, so that the input is not mostly gaps.
 * Whatever they are: a segment that is accepted becomes a recording that is sound.
 */
#include "collect/spool.h"
#include "store/reader.h"
#include "wire/segment.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, FRONT = 3 * PAGE, CHUNKS_MAX = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How long the segment is; its bytes stand in `segment`, which is all zero before. */
static size_t spread(uint8_t *segment, const uint8_t *data, size_t size)
{
    size_t at = 0, end = FRONT;
    for (unsigned piece = 0; size - at >= 2 && piece < 3 + CHUNKS_MAX; piece++) {
        size_t length = data[at] | (size_t)data[at + 1] << 8;
        size_t room = piece < 3 ? PAGE : SEGMENT_CHUNK_SIZE;
        size_t to = piece < 3 ? piece * PAGE : FRONT + (piece - 3) * SEGMENT_CHUNK_SIZE;
        at += 2;
        if (length > size - at)
            length = size - at;
        memcpy(segment + to, data + at, length < room ? length : room);
        at += length;
        end = to + room > end ? to + room : end;
    }
    return end;
}

static void check(const char *path)
{
    struct wake_reader *r;
    struct err err;
    err_init(&err);
    if (wake_reader_open(&r, path, &err) != 0 || wake_reader_verify(r, &err) != 0) {
        fprintf(stderr, "The recording made of it is not sound: %s\n", err.text);
        abort();
    }
    wake_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t segment[FRONT + CHUNKS_MAX * SEGMENT_CHUNK_SIZE];
    char path[64];
    struct err err;
    memset(segment, 0, sizeof segment);
    size_t length = spread(segment, data, size);
    int fd = memfd_create("segment_fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, segment, length) != (ssize_t)length)
        abort();
    snprintf(path, sizeof path, "segment_fuzz.%d.wake", (int)getpid());
    err_init(&err);
    if (spool_is_one(fd) && spool_convert(fd, path, &err) == 0)
        check(path);
    close(fd);
    unlink(path);
    return 0;
}
