/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * strbuf: bytes that grow, always with a NUL behind them.
 *
 * Running out of memory is sticky: `failed` is set, what was added stays, and
 * further calls do nothing; ask once at the end.
 */
#ifndef HW_TOOL_STRBUF_H
#define HW_TOOL_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
    char *text; /* NULL while nothing was ever added */
    size_t length;
    size_t capacity; /* bytes at text */
    bool failed;
};

void strbuf_init(struct strbuf *b);
void strbuf_release(struct strbuf *b);

/* The text; "" when there is none. */
const char *strbuf_get(const struct strbuf *b);
/* Empties it and keeps the memory; failed is cleared. */
void strbuf_clear(struct strbuf *b);
/* Cuts it to length bytes, if it is longer. */
void strbuf_cut(struct strbuf *b, size_t length);
/* Hands the text over to the caller, who frees it; NULL after a failure. */
char *strbuf_detach(struct strbuf *b);

/* room for `more` further bytes: a pointer to write them to, then strbuf_grown(); NULL: no memory. */
char *strbuf_reserve(struct strbuf *b, size_t more);
void strbuf_grown(struct strbuf *b, size_t more);

void strbuf_add(struct strbuf *b, const void *bytes, size_t length);
void strbuf_add_text(struct strbuf *b, const char *text);
void strbuf_add_char(struct strbuf *b, char c);
/* LEB128 (base/varint.h). */
void strbuf_add_varint(struct strbuf *b, uint64_t value);
void strbuf_addf(struct strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *b, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#endif
