/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_sink: see chunk_sink.h.
 *
 *     file  |############ written ############|
 *     memory                                  |### pending ###|
 */
#include "store/chunk_sink.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    CHUNK_SINK_GATHER = 256 << 10 /* pending bytes that are worth a write */
};

int chunk_sink_open(struct chunk_sink *s, const char *path, const void *bytes, size_t length, struct err *err)
{
    *s = (struct chunk_sink){.file = {.fd = -1}};
    strbuf_init(&s->pending);
    int code = file_new_open(&s->file, path, err);
    if (code != 0)
        return code;
    int error = file_write_all(s->file.fd, bytes, length, NULL);
    if (error != 0)
        code = err_set(err, file_code(-error), "%s cannot be written: %s.", path, strerror(-error));
    else
        code = file_new_publish(&s->file, err);
    if (code != 0)
        file_new_close(&s->file, NULL);
    else /* Who would add to it sees that it is not finished; without locks nobody does. */
        (void)flock(s->file.fd, LOCK_EX | LOCK_NB);
    s->written = length;
    return code;
}

uint64_t chunk_sink_size(const struct chunk_sink *s)
{
    return s->written + s->pending.length;
}

bool chunk_sink_settle(struct chunk_sink *s)
{
    if (s->error == 0 && s->pending.failed)
        s->error = ENOMEM;
    return s->error == 0 && (s->pending.length < CHUNK_SINK_GATHER || chunk_sink_flush(s));
}

bool chunk_sink_flush(struct chunk_sink *s)
{
    if (s->error == 0 && s->pending.failed)
        s->error = ENOMEM;
    if (s->error == 0 && s->pending.length > 0) {
        size_t done;
        int error = file_write_all(s->file.fd, s->pending.text, s->pending.length, &done);
        s->written += done;
        s->error = -error;
        strbuf_clear(&s->pending);
    }
    return s->error == 0;
}

void chunk_sink_cut(struct chunk_sink *s, uint64_t size)
{
    strbuf_clear(&s->pending);
    s->error = 0;
    if (s->written == size)
        return;
    if (ftruncate(s->file.fd, (off_t)size) != 0 || lseek(s->file.fd, (off_t)size, SEEK_SET) < 0)
        s->error = errno;
    s->written = size;
}

int chunk_sink_close(struct chunk_sink *s, struct err *err)
{
    strbuf_release(&s->pending);
    return file_new_close(&s->file, err);
}
