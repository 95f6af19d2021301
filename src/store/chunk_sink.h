/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_sink: the end of the writer that touches the file.
 *
 * Bytes are gathered in memory and go out in large writes.  After the first
 * failure nothing more is written until the owner has cut the file back to a
 * place of its choice.
 */
#ifndef HW_STORE_CHUNK_SINK_H
#define HW_STORE_CHUNK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/err.h"
#include "tool/file.h"
#include "tool/strbuf.h"

struct chunk_sink {
    struct file_new file;
    struct strbuf pending; /* not yet in the file */
    uint64_t written;      /* bytes in the file */
    int error;             /* errno of the first failure, 0 = none */
};

/* Creates the file with `length` bytes in it under its final name. */
int chunk_sink_open(struct chunk_sink *s, const char *path, const void *bytes, size_t length,
                    struct err *err);
/* Bytes in the file and on their way. */
uint64_t chunk_sink_size(const struct chunk_sink *s);
/* Call after adding to `pending`: writes when enough has gathered. */
bool chunk_sink_settle(struct chunk_sink *s);
/* Writes what is pending.  False: failed; `written` tells how far the file reaches. */
bool chunk_sink_flush(struct chunk_sink *s);
/* Shortens the file to `size` bytes, forgets what is pending and the error. */
void chunk_sink_cut(struct chunk_sink *s, uint64_t size);
int chunk_sink_close(struct chunk_sink *s, struct err *err);

#endif
