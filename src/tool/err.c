/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * err: see err.h.  A text that does not fit is cut and ends in "...", never
 * inside a UTF-8 sequence.
 */
#include "tool/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void err_init(struct err *err)
{
    if (err == NULL)
        return;
    err->text[0] = '\0';
    err->code = ERR_NONE;
}

/* Ends a full buffer in "...", dropping whole UTF-8 sequences only. */
static void err_cut(struct err *err)
{
    size_t at = sizeof err->text - 4;
    while (at > 0 && ((unsigned char)err->text[at] & 0xc0) == 0x80)
        at--;
    memcpy(err->text + at, "...", 4);
}

int err_set(struct err *err, int code, const char *format, ...)
{
    va_list args;
    int saved = errno;
    if (err != NULL) {
        va_start(args, format);
        int length = vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        if (length < 0)
            err->text[0] = '\0';
        else if ((size_t)length >= sizeof err->text)
            err_cut(err);
        err->code = code;
    }
    errno = saved;
    return code;
}

int err_no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, ERR_NO_MEMORY);
}
