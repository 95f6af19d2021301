/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * feed: see feed.h.
 *
 *     file --pread--> stored [64 KiB] --unpack--> window |  taken  |  unread  |  room  |
 *                                                        0         at         end      FEED_WINDOW
 *
 * A line or a piece that is handed out lies in the window; the next call may move it.
 */
#include "import/feed.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "tool/file.h"
#include "tool/memory.h"

enum {
    FEED_STORED = 64 << 10,
    FEED_WINDOW = 2 * FEED_LINE_MAX,
    FEED_GZIP_WINDOW = 15 + 16, /* the largest, with gzip's frame around it */
    FEED_ZSTD_WINDOW = 27,      /* log2 of the memory that a zstd frame may ask for */
};

enum feed_packing { FEED_PLAIN, FEED_GZIP, FEED_ZSTD };

struct feed {
    char *path;
    int fd;
    enum feed_packing packing;
    z_stream gzip;
    bool has_gzip;
    ZSTD_DStream *zstd;
    uint64_t read, size;  /* of the file */
    feed_watch_fn *watch; /* may be NULL */
    void *watch_of;
    uint8_t *stored;
    size_t stored_at, stored_end;
    bool is_between; /* compressed frames: nothing of one is pending */
    uint8_t *window;
    size_t at, end;
    uint64_t offset; /* unpacked bytes before `at` */
    uint64_t line;
    struct err trouble;
};

/* ------------------------------------------------------------------ unpacking */

static void feed_fail(struct feed *f, int code, const char *sentence)
{
    if (f->trouble.code == 0)
        err_set(&f->trouble, code, "%s %s", f->path, sentence);
}

/* More bytes of the file, where none are pending; false: there are no more. */
static bool feed_read(struct feed *f)
{
    size_t got;
    if (f->stored_at < f->stored_end)
        return true;
    int error = file_read_at(f->fd, f->stored, FEED_STORED, f->read, &got);
    if (error != 0) {
        err_set(&f->trouble, ERR_IO, "%s cannot be read: %s.", f->path, strerror(-error));
        return false;
    }
    f->read += got;
    if (f->watch != NULL)
        f->watch(f->watch_of, f->read, f->size);
    f->stored_at = 0;
    f->stored_end = got;
    return got > 0;
}

static size_t feed_unpack_gzip(struct feed *f, uint8_t *to, size_t room)
{
    f->gzip.next_in = f->stored + f->stored_at;
    f->gzip.avail_in = (unsigned)(f->stored_end - f->stored_at);
    f->gzip.next_out = to;
    f->gzip.avail_out = (unsigned)room;
    int state = inflate(&f->gzip, Z_NO_FLUSH);
    f->stored_at = f->stored_end - f->gzip.avail_in;
    f->is_between = state == Z_STREAM_END;
    if (state == Z_STREAM_END)
        inflateReset(&f->gzip); /* another may follow */
    else if (state != Z_OK && state != Z_BUF_ERROR)
        feed_fail(f, ERR_INPUT, "is a damaged gzip file.");
    return room - f->gzip.avail_out;
}

static size_t feed_unpack_zstd(struct feed *f, uint8_t *to, size_t room)
{
    ZSTD_inBuffer in = {f->stored, f->stored_end, f->stored_at};
    ZSTD_outBuffer out = {to, room, 0};
    size_t state = ZSTD_decompressStream(f->zstd, &out, &in);
    f->stored_at = in.pos;
    f->is_between = state == 0;
    if (ZSTD_isError(state))
        feed_fail(f, ERR_INPUT, "is a damaged zstd file.");
    return out.pos;
}

static size_t feed_copy(struct feed *f, uint8_t *to, size_t room)
{
    size_t length = f->stored_end - f->stored_at < room ? f->stored_end - f->stored_at : room;
    memcpy(to, f->stored + f->stored_at, length);
    f->stored_at += length;
    return length;
}

/* Fills what room there is behind the unread bytes; false: nothing came. */
static bool feed_fill(struct feed *f)
{
    if (f->at > 0 && f->at >= FEED_WINDOW / 2) {
        memmove(f->window, f->window + f->at, f->end - f->at);
        f->end -= f->at;
        f->at = 0;
    }
    size_t before = f->end;
    while (f->trouble.code == 0 && f->end == before && f->end < FEED_WINDOW) {
        uint8_t *to = f->window + f->end;
        size_t room = FEED_WINDOW - f->end;
        if (!feed_read(f)) {
            if (f->packing != FEED_PLAIN && !f->is_between)
                feed_fail(f, ERR_INPUT, "ends in the middle of what is compressed in it.");
            break;
        }
        f->end += f->packing == FEED_GZIP   ? feed_unpack_gzip(f, to, room)
                  : f->packing == FEED_ZSTD ? feed_unpack_zstd(f, to, room)
                                            : feed_copy(f, to, room);
    }
    return f->end > before;
}

/* ------------------------------------------------------------------- interface */

static int feed_begin(struct feed *f, struct err *err)
{
    static const uint8_t zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    f->stored = memory_new(FEED_STORED);
    f->window = memory_new(FEED_WINDOW);
    bool done = f->stored != NULL && f->window != NULL;
    if (done)
        (void)feed_read(f);
    if (done && f->stored_end >= 2 && f->stored[0] == 0x1f && f->stored[1] == 0x8b) {
        f->packing = FEED_GZIP;
        f->has_gzip = done = inflateInit2(&f->gzip, FEED_GZIP_WINDOW) == Z_OK;
    } else if (done && f->stored_end >= 4 && memcmp(f->stored, zstd_magic, 4) == 0) {
        f->packing = FEED_ZSTD;
        f->zstd = ZSTD_createDStream();
        done = f->zstd != NULL &&
               !ZSTD_isError(ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax, FEED_ZSTD_WINDOW));
    }
    if (!done)
        return err_no_memory(err);
    return feed_check(f, err);
}

int feed_open(struct feed **out, const char *path, struct err *err)
{
    struct feed *f = memory_new_zeroed(1, sizeof *f);
    *out = NULL;
    if (f == NULL)
        return err_no_memory(err);
    f->fd = -1;
    f->path = memory_copy_text(path);
    int code = f->path == NULL ? err_no_memory(err) : file_open(&f->fd, &f->size, path, err);
    if (code == 0)
        code = feed_begin(f, err);
    if (code == 0)
        *out = f;
    else
        feed_close(f);
    return code;
}

void feed_close(struct feed *f)
{
    if (f == NULL)
        return;
    if (f->has_gzip)
        inflateEnd(&f->gzip);
    ZSTD_freeDStream(f->zstd);
    file_close(f->fd);
    free(f->stored);
    free(f->window);
    free(f->path);
    free(f);
}

void feed_watch(struct feed *f, feed_watch_fn *watch, void *of)
{
    f->watch = watch;
    f->watch_of = of;
}

const char *feed_path(const struct feed *f)
{
    return f->path;
}

uint64_t feed_offset(const struct feed *f)
{
    return f->offset;
}

const char *feed_peek(struct feed *f, size_t most, size_t *length)
{
    while (f->end - f->at < most && feed_fill(f))
        ;
    *length = f->end - f->at < most ? f->end - f->at : most;
    return (const char *)f->window + f->at;
}

static void feed_take(struct feed *f, size_t length)
{
    f->at += length;
    f->offset += length;
}

bool feed_line(struct feed *f, const char **line, size_t *length)
{
    size_t looked = 0;
    const uint8_t *newline = NULL;
    while (newline == NULL) {
        if (f->end - f->at > looked)
            newline = memchr(f->window + f->at + looked, '\n', f->end - f->at - looked);
        looked = f->end - f->at;
        if (newline == NULL && looked > FEED_LINE_MAX)
            break;
        if (newline == NULL && !feed_fill(f))
            break;
    }
    if (f->trouble.code != 0 || (newline == NULL && looked == 0))
        return false;
    f->line++;
    if (newline == NULL && looked > FEED_LINE_MAX) {
        err_set(&f->trouble, ERR_LIMIT, "%s, line %llu: it is longer than %d bytes.", f->path,
                (unsigned long long)f->line, FEED_LINE_MAX);
        return false;
    }
    *line = (const char *)f->window + f->at;
    *length = newline == NULL ? looked : (size_t)(newline - (f->window + f->at));
    feed_take(f, *length + (newline != NULL));
    if (*length > 0 && (*line)[*length - 1] == '\r')
        (*length)--;
    return true;
}

const uint8_t *feed_bytes(struct feed *f, size_t length)
{
    size_t there;
    const char *bytes = feed_peek(f, length, &there);
    if (f->trouble.code != 0 || there < length)
        return NULL;
    feed_take(f, length);
    return (const uint8_t *)bytes;
}

int feed_rest(struct feed *f, size_t most, uint8_t **bytes, size_t *length, struct err *err)
{
    size_t capacity = 0;
    void *data = NULL;
    *bytes = NULL;
    *length = 0;
    int code = 0;
    while (code == 0 && (f->at < f->end || feed_fill(f))) {
        size_t more = f->end - f->at, need = *length + more + 1;
        if (need > most) {
            code = err_set(err, ERR_LIMIT, "%s is larger than %zu MiB when unpacked.", f->path, most >> 20);
        } else if (need > capacity) {
            capacity = need < capacity * 2 ? capacity * 2 : need;
            void *moved = memory_resize(data, capacity);
            if (moved == NULL)
                code = err_no_memory(err);
            else
                data = moved;
        }
        if (code == 0) {
            memcpy((uint8_t *)data + *length, f->window + f->at, more);
            *length += more;
            feed_take(f, more);
        }
    }
    if (code == 0)
        code = feed_check(f, err);
    if (code == 0 && data == NULL && (data = memory_new(1)) == NULL)
        code = err_no_memory(err);
    if (code != 0) {
        free(data);
        return code;
    }
    *bytes = data;
    (*bytes)[*length] = '\0';
    return 0;
}

/* ----------------------------------------------------------------------- errors */

int feed_check(const struct feed *f, struct err *err)
{
    return f->trouble.code == 0 ? 0 : err_set(err, f->trouble.code, "%s", f->trouble.text);
}

static int feed_vrefuse(const struct feed *f, const char *unit, uint64_t number, struct err *err,
                        const char *format, va_list args)
{
    char text[256];
    if (f->trouble.code != 0)
        return feed_check(f, err);
    vsnprintf(text, sizeof text, format, args);
    return err_set(err, ERR_INPUT, "%s, %s %llu: %s", f->path, unit, (unsigned long long)number, text);
}

int feed_refuse(const struct feed *f, struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int code = feed_vrefuse(f, "line", f->line, err, format, args);
    va_end(args);
    return code;
}

int feed_refuse_byte(const struct feed *f, uint64_t offset, struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int code = feed_vrefuse(f, "byte", offset, err, format, args);
    va_end(args);
    return code;
}
