/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * safe: see safe.h.
 */
#include "present/safe.h"

#include <stdbool.h>
#include <string.h>

size_t safe_decode(const char *text, size_t length, unsigned *point)
{
    const unsigned char *t = (const unsigned char *)text;
    if (length == 0)
        return 0;
    if (t[0] < 0x80) {
        *point = t[0];
        return 1;
    }
    size_t need = t[0] >= 0xc2 && t[0] <= 0xdf   ? 2
                  : t[0] >= 0xe0 && t[0] <= 0xef ? 3
                  : t[0] >= 0xf0 && t[0] <= 0xf4 ? 4
                                                 : 0;
    if (need == 0 || need > length)
        return 0;
    unsigned value = t[0] & (0xffu >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if ((t[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (t[i] & 0x3f);
    }
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[need] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *point = value;
    return need;
}

bool safe_is_hidden(unsigned point)
{
    static const unsigned ranges[][2] = {
        {0x7f, 0x9f},     {0xad, 0xad},     {0x34f, 0x34f},     {0x61c, 0x61c},      {0x115f, 0x1160},
        {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},   {0x2028, 0x202e},    {0x2060, 0x206f},
        {0x3164, 0x3164}, {0xe000, 0xf8ff}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},    {0xffa0, 0xffa0},
        {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (point >= ranges[i][0] && point <= ranges[i][1])
            return true;
    }
    return false;
}

void safe_add(struct strbuf *out, const char *text, size_t length)
{
    while (length > 0) {
        unsigned point;
        size_t used = safe_decode(text, length, &point);
        if (used == 0) {
            used = 1;
            strbuf_addf(out, "\\x%02x", (unsigned char)*text);
        } else if (point == '\n') {
            strbuf_add_text(out, "\\n");
        } else if (point == '\t') {
            strbuf_add_text(out, "\\t");
        } else if (point == '\\') {
            strbuf_add_text(out, "\\\\");
        } else if (point < 0x20 || point == 0x7f) {
            strbuf_addf(out, "\\x%02x", point);
        } else if (safe_is_hidden(point)) {
            strbuf_addf(out, "\\u{%04x}", point);
        } else {
            strbuf_add(out, text, used);
        }
        text += used;
        length -= used;
    }
}

void safe_add_text(struct strbuf *out, const char *text)
{
    safe_add(out, text, strlen(text));
}

static bool safe_is_plain(const char *text, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x80 && (text[i] == '\0' || strchr(letters, text[i]) == NULL))
            return false;
    }
    return length > 0;
}

/* Whether all of it can stand in a shell's single quotes and be seen for what it is. */
static bool safe_is_visible(const char *text, size_t length)
{
    unsigned point;
    for (size_t used; length > 0; text += used, length -= used) {
        used = safe_decode(text, length, &point);
        if (used == 0 || point < 0x20 || safe_is_hidden(point))
            return false;
    }
    return true;
}

/* In $'...', where shells know escapes. */
static void safe_add_escaped(struct strbuf *out, const char *text, size_t length)
{
    unsigned point;
    for (size_t used; length > 0; text += used, length -= used) {
        used = safe_decode(text, length, &point);
        if (used != 0 && point >= 0x80 && safe_is_hidden(point))
            strbuf_addf(out, point > 0xffff ? "\\U%08x" : "\\u%04x", point);
        else if (used == 1 && point == '\'')
            strbuf_add_text(out, "\\'");
        else
            safe_add(out, text, used == 0 ? 1 : used);
        used = used == 0 ? 1 : used;
    }
}

static void safe_add_argument(struct strbuf *out, const char *text, size_t length)
{
    bool is_visible = safe_is_visible(text, length);
    if (is_visible && safe_is_plain(text, length)) {
        safe_add(out, text, length);
    } else if (is_visible) {
        strbuf_add_char(out, '\'');
        for (size_t i = 0; i < length; i++)
            text[i] == '\'' ? strbuf_add_text(out, "'\\''") : strbuf_add_char(out, text[i]);
        strbuf_add_char(out, '\'');
    } else {
        strbuf_add_text(out, "$'");
        safe_add_escaped(out, text, length);
        strbuf_add_char(out, '\'');
    }
}

void safe_add_command(struct strbuf *out, const char *args, size_t length)
{
    for (bool first = true; length > 0; first = false) {
        size_t n = strnlen(args, length);
        strbuf_add_text(out, first ? "" : " ");
        safe_add_argument(out, args, n);
        args += n < length ? n + 1 : n;
        length -= n < length ? n + 1 : n;
    }
}
