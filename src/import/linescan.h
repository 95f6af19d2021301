/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * linescan: the fields of a line of text, from left to right.  Like a cursor: what
 * does not fit makes it bad, and a bad one gives nothing more.
 */
#ifndef HW_IMPORT_LINESCAN_H
#define HW_IMPORT_LINESCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct linescan {
    const char *at, *end;
    bool bad;
};

static inline void linescan_init(struct linescan *s, const char *line, size_t length)
{
    s->at = line;
    s->end = line + length;
    s->bad = false;
}

static inline size_t linescan_left(const struct linescan *s)
{
    return s->bad ? 0 : (size_t)(s->end - s->at);
}

/* Takes the word if it is next. */
static inline bool linescan_skip(struct linescan *s, const char *word)
{
    size_t length = strlen(word);
    if (linescan_left(s) < length || memcmp(s->at, word, length) != 0)
        return false;
    s->at += length;
    return true;
}

/* The same where anything else makes no sense. */
static inline void linescan_expect(struct linescan *s, const char *word)
{
    if (!linescan_skip(s, word))
        s->bad = true;
}

static inline void linescan_skip_spaces(struct linescan *s)
{
    while (linescan_left(s) > 0 && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

static inline int linescan_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* A number without sign; none, or one of more than 64 bits, is bad. */
static inline uint64_t linescan_number(struct linescan *s, unsigned base)
{
    uint64_t value = 0;
    const char *begin = s->at;
    while (linescan_left(s) > 0 && (unsigned)linescan_digit(*s->at) < base) {
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, (uint64_t)linescan_digit(*s->at), &value)) {
            s->bad = true;
            return 0;
        }
        s->at++;
    }
    if (s->at == begin)
        s->bad = true;
    return s->bad ? 0 : value;
}

static inline uint64_t linescan_decimal(struct linescan *s)
{
    return linescan_number(s, 10);
}

static inline uint64_t linescan_hex(struct linescan *s)
{
    return linescan_number(s, 16);
}

/* A hexadecimal number behind 0x. */
static inline uint64_t linescan_address(struct linescan *s)
{
    linescan_expect(s, "0x");
    return linescan_hex(s);
}

/* Up to the next `stop`, which goes too, or to the end of the line. */
static inline const char *linescan_until(struct linescan *s, char stop, size_t *length)
{
    const char *begin = s->at, *found = s->bad ? NULL : memchr(s->at, stop, (size_t)(s->end - s->at));
    *length = found != NULL ? (size_t)(found - begin) : linescan_left(s);
    if (!s->bad)
        s->at = found != NULL ? found + 1 : s->end;
    return begin;
}

/* Exactly so many bytes. */
static inline const char *linescan_bytes(struct linescan *s, uint64_t length)
{
    if (linescan_left(s) < length || s->bad) {
        s->bad = true;
        return NULL;
    }
    const char *begin = s->at;
    s->at += length;
    return begin;
}

/* True where the line is over and all of it made sense. */
static inline bool linescan_is_done(const struct linescan *s)
{
    return !s->bad && s->at == s->end;
}

#endif
