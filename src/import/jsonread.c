/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jsonread: see jsonread.h.  Nothing recurses.
 */
#include "import/jsonread.h"

#include <string.h>

void jsonread_init(struct jsonread *j, const char *text, size_t length)
{
    *j = (struct jsonread){.begin = text, .at = text, .end = text + length};
}

static char jsonread_peek(struct jsonread *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r'))
        j->at++;
    return j->bad || j->at == j->end ? '\0' : *j->at;
}

static bool jsonread_take(struct jsonread *j, char c)
{
    if (jsonread_peek(j) != c || c == '\0')
        return false;
    j->at++;
    return true;
}

void jsonread_open(struct jsonread *j, char bracket)
{
    if (!jsonread_take(j, bracket))
        j->bad = true;
    j->is_first = true;
}

/* To the next element of what is open; false: there is none, and the bracket is taken. */
static bool jsonread_next(struct jsonread *j, char bracket)
{
    bool is_first = j->is_first;
    j->is_first = false;
    if (jsonread_take(j, bracket) || j->bad)
        return false;
    if (!is_first && !jsonread_take(j, ','))
        j->bad = true;
    return !j->bad;
}

bool jsonread_more(struct jsonread *j)
{
    return jsonread_next(j, ']');
}

/* ----------------------------------------------------------------------- values */

static void jsonread_add_utf8(struct strbuf *to, uint32_t c)
{
    if (c < 0x80) {
        strbuf_add_char(to, (char)c);
    } else if (c < 0x800) {
        strbuf_add_char(to, (char)(0xc0 | c >> 6));
        strbuf_add_char(to, (char)(0x80 | (c & 63)));
    } else {
        strbuf_add_char(to, (char)(0xe0 | c >> 12));
        strbuf_add_char(to, (char)(0x80 | (c >> 6 & 63)));
        strbuf_add_char(to, (char)(0x80 | (c & 63)));
    }
}

/* Four hexadecimal digits.  Halves of a pair are kept as they are: nobody names functions so. */
static uint32_t jsonread_unicode(struct jsonread *j)
{
    uint32_t c = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        char lower = j->at < j->end ? (char)(*j->at | 0x20) : '\0';
        const char *found = lower == '\0' ? NULL : memchr(digits, lower, 16);
        if (found == NULL) {
            j->bad = true;
            return 0;
        }
        c = c << 4 | (uint32_t)(found - digits);
        j->at++;
    }
    return c;
}

static void jsonread_escape(struct jsonread *j, struct strbuf *to)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = j->at < j->end ? *j->at++ : '\0';
    const char *found = letter == '\0' ? NULL : strchr(letters, letter);
    if (letter == 'u')
        jsonread_add_utf8(to, jsonread_unicode(j));
    else if (found != NULL)
        strbuf_add_char(to, meant[found - letters]);
    else
        j->bad = true;
}

void jsonread_text(struct jsonread *j, struct strbuf *to)
{
    strbuf_clear(to);
    if (!jsonread_take(j, '"'))
        j->bad = true;
    while (!j->bad) {
        const char *begin = j->at;
        while (j->at < j->end && *j->at != '"' && *j->at != '\\')
            j->at++;
        strbuf_add(to, begin, (size_t)(j->at - begin));
        if (j->at == j->end) {
            j->bad = true;
        } else if (*j->at++ == '"') {
            return;
        } else {
            jsonread_escape(j, to);
        }
    }
}

bool jsonread_key(struct jsonread *j, char *key, size_t size)
{
    struct strbuf text;
    if (!jsonread_next(j, '}'))
        return false;
    strbuf_init(&text);
    jsonread_text(j, &text);
    size_t length = text.length < size ? text.length : size - 1;
    memcpy(key, strbuf_get(&text), length);
    key[length] = '\0';
    strbuf_release(&text);
    if (!jsonread_take(j, ':'))
        j->bad = true;
    return !j->bad;
}

uint64_t jsonread_number(struct jsonread *j)
{
    uint64_t value = 0;
    char c = jsonread_peek(j);
    if (c < '0' || c > '9')
        j->bad = true;
    while (!j->bad && j->at < j->end && *j->at >= '0' && *j->at <= '9') {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*j->at - '0'), &value))
            j->bad = true;
        j->at++;
    }
    if (!j->bad && j->at < j->end && *j->at == '.') {
        do
            j->at++;
        while (j->at < j->end && *j->at >= '0' && *j->at <= '9');
    }
    return j->bad ? 0 : value;
}

static bool jsonread_word(struct jsonread *j, const char *word)
{
    size_t length = strlen(word);
    (void)jsonread_peek(j);
    if (j->bad || (size_t)(j->end - j->at) < length || memcmp(j->at, word, length) != 0)
        return false;
    j->at += length;
    return true;
}

bool jsonread_bool(struct jsonread *j)
{
    bool value = jsonread_word(j, "true");
    if (!value && !jsonread_word(j, "false"))
        j->bad = true;
    return value;
}

void jsonread_skip(struct jsonread *j)
{
    struct strbuf text;
    uint64_t depth = 0;
    strbuf_init(&text);
    do {
        char c = jsonread_peek(j);
        if (c == '\0') {
            j->bad = true;
        } else if (c == '"') {
            jsonread_text(j, &text);
        } else {
            depth += c == '{' || c == '[';
            if ((c == '}' || c == ']') && depth-- == 0)
                j->bad = true;
            if (strchr("{}[],:", c) != NULL)
                j->at++;
            else
                while (j->at < j->end && strchr("{}[],: \t\r\n\"", *j->at) == NULL)
                    j->at++;
        }
    } while (!j->bad && depth > 0);
    j->is_first = false;
    strbuf_release(&text);
}
