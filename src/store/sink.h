/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sink: the end of the writer that touches the file.
 *
 * Bytes are gathered in memory and go out in large writes.  After the first
 * failure nothing more is written until the owner has cut the file back to a
 * place of its choice.
 */
#ifndef HW_STORE_SINK_H
#define HW_STORE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/err.h"
#include "tool/file.h"
#include "tool/strbuf.h"

struct sink {
    struct file_new file;
    struct strbuf pending; /* not yet in the file */
    uint64_t written;      /* bytes in the file */
    int error;             /* errno of the first failure, 0 = none */
};

/* Creates the file with `length` bytes in it under its final name. */
int sink_open(struct sink *s, const char *path, const void *bytes, size_t length, struct err *err);
/* Bytes in the file and on their way. */
uint64_t sink_size(const struct sink *s);
/* Call after adding to `pending`: writes when enough has gathered. */
bool sink_settle(struct sink *s);
/* Writes what is pending.  False: failed; `written` tells how far the file reaches. */
bool sink_flush(struct sink *s);
/* Shortens the file to `size` bytes, forgets what is pending and the error. */
void sink_cut(struct sink *s, uint64_t size);
int sink_close(struct sink *s, struct err *err);

#endif
