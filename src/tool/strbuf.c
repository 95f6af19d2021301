/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * strbuf: see strbuf.h.  Invariant: when text is not NULL, length < capacity
 * and text[length] is NUL.
 */
#include "tool/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "tool/memory.h"

void strbuf_init(struct strbuf *b)
{
    *b = (struct strbuf){0};
}

void strbuf_release(struct strbuf *b)
{
    free(b->text);
    strbuf_init(b);
}

const char *strbuf_get(const struct strbuf *b)
{
    return b->text == NULL ? "" : b->text;
}

void strbuf_cut(struct strbuf *b, size_t length)
{
    if (length >= b->length)
        return;
    b->length = length;
    b->text[length] = '\0';
}

void strbuf_clear(struct strbuf *b)
{
    strbuf_cut(b, 0);
    b->failed = false;
}

char *strbuf_detach(struct strbuf *b)
{
    char *text = NULL;
    if (!b->failed && strbuf_reserve(b, 0) != NULL) {
        text = b->text;
        b->text = NULL;
    }
    strbuf_release(b);
    return text;
}

char *strbuf_reserve(struct strbuf *b, size_t more)
{
    if (b->failed)
        return NULL;
    if (b->text != NULL && b->capacity - b->length > more)
        return b->text + b->length;
    size_t need;
    if (__builtin_add_overflow(b->length + 1, more, &need) || need > PTRDIFF_MAX / 2) {
        b->failed = true;
        return NULL;
    }
    size_t wanted = b->capacity + b->capacity / 2;
    if (wanted < need)
        wanted = need < 64 ? 64 : need;
    char *moved = memory_resize(b->text, wanted);
    if (moved == NULL) {
        b->failed = true;
        return NULL;
    }
    b->text = moved;
    b->capacity = wanted;
    b->text[b->length] = '\0';
    return b->text + b->length;
}

void strbuf_grown(struct strbuf *b, size_t more)
{
    b->length += more;
    b->text[b->length] = '\0';
}

void strbuf_add(struct strbuf *b, const void *bytes, size_t length)
{
    char *to = strbuf_reserve(b, length);
    if (to == NULL || length == 0)
        return;
    memcpy(to, bytes, length);
    strbuf_grown(b, length);
}

void strbuf_add_text(struct strbuf *b, const char *text)
{
    strbuf_add(b, text, strlen(text));
}

void strbuf_add_char(struct strbuf *b, char c)
{
    strbuf_add(b, &c, 1);
}

void strbuf_add_varint(struct strbuf *b, uint64_t value)
{
    uint8_t *to = (uint8_t *)strbuf_reserve(b, VARINT_MAX);
    if (to != NULL)
        strbuf_grown(b, (size_t)(varint_put(to, value) - to));
}

void strbuf_vaddf(struct strbuf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *to = length < 0 ? NULL : strbuf_reserve(b, (size_t)length);
    if (to != NULL) {
        vsnprintf(to, (size_t)length + 1, format, again);
        strbuf_grown(b, (size_t)length);
    } else {
        b->failed = true;
    }
    va_end(again);
}

void strbuf_addf(struct strbuf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_vaddf(b, format, args);
    va_end(args);
}
