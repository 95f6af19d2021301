/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * mapline: see mapline.h.
 */
#include "tool/mapline.h"

#include "base/cursor.h"

#include <string.h>

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A hexadecimal number and the byte behind it. */
static uint64_t mapline_hex(struct cursor *c, char behind)
{
    uint64_t value = 0;
    unsigned digits = 0;
    int digit;
    while (c->at < c->end && (digit = hex_digit(*c->at)) >= 0 && digits++ < 16) {
        value = value << 4 | (unsigned)digit;
        c->at++;
    }
    if (digits == 0 || cursor_u8(c) != (uint8_t)behind)
        c->bad = true;
    return value;
}

static void mapline_skip_word(struct cursor *c)
{
    while (c->at < c->end && *c->at != ' ')
        c->at++;
}

static void mapline_skip_spaces(struct cursor *c)
{
    while (c->at < c->end && *c->at == ' ')
        c->at++;
}

bool mapline_parse(struct mapline *m, const char *line, size_t length)
{
    struct cursor c;
    cursor_init(&c, line, length);
    m->start = mapline_hex(&c, '-');
    m->end = mapline_hex(&c, ' ');
    const uint8_t *rights = cursor_take(&c, 5); /* "r-xp " */
    m->offset = mapline_hex(&c, ' ');
    if (cursor_is_bad(&c) || m->end < m->start || rights[4] != ' ')
        return false;
    m->rights = (rights[0] == 'r' ? MAPLINE_READ : 0u) | (rights[1] == 'w' ? MAPLINE_WRITE : 0u) |
                (rights[2] == 'x' ? MAPLINE_EXECUTE : 0u) | (rights[3] == 's' ? MAPLINE_SHARED : 0u);
    mapline_skip_word(&c); /* device */
    mapline_skip_spaces(&c);
    mapline_skip_word(&c); /* inode */
    mapline_skip_spaces(&c);
    m->path = (const char *)c.at;
    m->path_length = cursor_left(&c);
    return true;
}

bool mapline_is_detail(const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    return length == 0 || (colon != NULL && memchr(line, ' ', (size_t)(colon - line)) == NULL &&
                           line[0] >= 'A' && line[0] <= 'Z');
}

void mapline_undo_escapes(char *path)
{
    char *to = path;
    for (const char *at = path; *at != '\0'; at++) {
        bool is_escape = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
                         at[3] >= '0' && at[3] <= '7';
        if (is_escape) {
            *to++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            at += 3;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
}
