/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * out: see out.h.
 */
#include "export/out.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"

enum { OUT_ENOUGH = 1 << 16 };

void out_init(struct out *o, int fd)
{
    *o = (struct out){.fd = fd};
    strbuf_init(&o->buffer);
}

void out_release(struct out *o)
{
    strbuf_release(&o->buffer);
}

static void out_write(struct out *o)
{
    size_t done = 0;
    if (o->buffer.failed && o->error == 0)
        o->error = ENOMEM;
    while (o->error == 0 && done < o->buffer.length) {
        ssize_t n = write(o->fd, o->buffer.text + done, o->buffer.length - done);
        if (n < 0 && errno != EINTR)
            o->error = errno;
        else if (n > 0)
            done += (size_t)n;
    }
    o->written += done;
    strbuf_clear(&o->buffer);
}

void out_settle(struct out *o)
{
    if (o->buffer.length >= OUT_ENOUGH || o->buffer.failed)
        out_write(o);
}

void out_add(struct out *o, const void *bytes, size_t length)
{
    strbuf_add(&o->buffer, bytes, length);
    out_settle(o);
}

void out_text(struct out *o, const char *text)
{
    out_add(o, text, strlen(text));
}

void out_f(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_vaddf(&o->buffer, format, args);
    va_end(args);
    out_settle(o);
}

void out_number(struct out *o, uint64_t number)
{
    char digits[DIGITS_MAX];
    const char *end = digits_put(digits, number);
    out_add(o, digits, (size_t)(end - digits));
}

bool out_is_closed(const struct out *o)
{
    return o->error == EPIPE;
}

int out_flush(struct out *o, const char *what, struct err *err)
{
    out_write(o);
    switch (o->error) {
    case 0:
        return 0;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return err_set(err, ERR_FULL, "There is no room left to write %s: %s.", what, strerror(o->error));
    case ENOMEM:
        return err_no_memory(err);
    default:
        return err_set(err, ERR_IO, "%s cannot be written: %s.", what, strerror(o->error));
    }
}
