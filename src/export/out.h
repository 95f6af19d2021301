/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * out: where an export writes to: buffered, in order, to a descriptor.
 *
 * Errors are sticky: after the first (disk full, a reader that went away)
 * every call does nothing, and out_flush tells.  An exporter need not look
 * before its end.  Memory is one buffer, whatever is written.
 */
#ifndef HW_EXPORT_OUT_H
#define HW_EXPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/err.h"
#include "tool/strbuf.h"

/* What a visit gives when its out has failed: there is no point in going on. */
enum { OUT_STOP = 1 };

struct out {
    int fd;
    int error; /* errno of the first failure */
    uint64_t written;
    struct strbuf buffer;
};

void out_init(struct out *o, int fd);
void out_release(struct out *o);

void out_add(struct out *o, const void *bytes, size_t length);
void out_text(struct out *o, const char *text);
void out_f(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* In decimal. */
void out_number(struct out *o, uint64_t number);
/* To be called now and then by whoever adds to o->buffer directly (a JSON writer). */
void out_settle(struct out *o);
/* Writes what is left.  0, ERR_FULL, ERR_IO, ERR_MEMORY; the sentence names `what`. */
int out_flush(struct out *o, const char *what, struct err *err);
/* The reader of a pipe has gone: no error worth a word. */
bool out_is_closed(const struct out *o);

#endif
