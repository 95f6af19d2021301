/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * procmaps: see procmaps.h.
 *
 * A line is  start-end rwxp offset device inode [path]  with single spaces up to
 * the inode, then as many as it takes to align the path, which may hold spaces itself.
 */
#include "symbol/procmaps.h"

#include "base/cursor.h"
#include "tool/file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PROCMAPS_MAX = 64 << 20 };

struct mapping {
    uint64_t start, end, offset;
    bool is_code;
    const char *path; /* not terminated */
    size_t path_length;
};

/* A module that is still growing; it counts once it has code. */
struct growing {
    struct procmaps_module module;
    bool has_code;
};

void procmaps_init(struct procmaps *m)
{
    *m = (struct procmaps){0};
    arena_init(&m->texts);
}

void procmaps_release(struct procmaps *m)
{
    vec_release(&m->modules);
    arena_release(&m->texts);
}

/* --------------------------------------------------------------------- a line */

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A hexadecimal number and the byte behind it. */
static uint64_t line_hex(struct cursor *c, char behind)
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

static void line_skip_word(struct cursor *c)
{
    while (c->at < c->end && *c->at != ' ')
        c->at++;
}

static void line_skip_spaces(struct cursor *c)
{
    while (c->at < c->end && *c->at == ' ')
        c->at++;
}

static bool line_parse(struct mapping *m, const char *line, size_t length)
{
    struct cursor c;
    cursor_init(&c, line, length);
    m->start = line_hex(&c, '-');
    m->end = line_hex(&c, ' ');
    const uint8_t *rights = cursor_take(&c, 5); /* "r-xp " */
    m->offset = line_hex(&c, ' ');
    if (cursor_is_bad(&c) || m->end < m->start || rights[4] != ' ')
        return false;
    m->is_code = rights[2] == 'x';
    line_skip_word(&c); /* device */
    line_skip_spaces(&c);
    line_skip_word(&c); /* inode */
    line_skip_spaces(&c);
    m->path = (const char *)c.at;
    m->path_length = cursor_left(&c);
    return true;
}

/* "Rss:        4 kB", one of the lines that smaps has between those of maps. */
static bool line_is_detail(const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    return length == 0 || (colon != NULL && memchr(line, ' ', (size_t)(colon - line)) == NULL &&
                           line[0] >= 'A' && line[0] <= 'Z');
}

/* -------------------------------------------------------------------- modules */

/* The kernel writes an end of line in a path as \012. */
static const char *procmaps_path(struct procmaps *m, const struct mapping *from)
{
    char *path = arena_push_text(&m->texts, from->path, from->path_length);
    if (path == NULL)
        return NULL;
    char *to = path;
    for (const char *at = path; *at != '\0'; at++) {
        bool is_escape = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
                         at[3] >= '0' && at[3] <= '7';
        if (is_escape) {
            *to++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            at += 3;
        } else
            *to++ = *at;
    }
    *to = '\0';
    return path;
}

static bool procmaps_flush(struct procmaps *m, struct growing *g)
{
    bool done = !g->has_code || vec_push(&m->modules, g->module);
    *g = (struct growing){0};
    return done;
}

/* The raw path of the module that is growing is kept by the caller's text. */
static bool procmaps_add(struct procmaps *m, struct growing *g, struct mapping *last,
                         const struct mapping *now)
{
    bool continues = g->module.path != NULL && now->path_length == last->path_length &&
                     memcmp(now->path, last->path, now->path_length) == 0 && now->start >= g->module.end &&
                     now->offset > last->offset;
    if (!continues) {
        if (!procmaps_flush(m, g))
            return false;
        g->module = (struct procmaps_module){.start = now->start, .path = procmaps_path(m, now)};
        if (g->module.path == NULL)
            return false;
    }
    g->module.end = now->end;
    if (now->is_code && !g->has_code) {
        g->has_code = true;
        g->module.code_start = now->start;
        g->module.code_offset = now->offset;
    }
    *last = *now;
    return true;
}

int procmaps_parse(struct procmaps *m, const char *text, size_t length, const char *name, struct err *err)
{
    struct growing g = {0};
    struct mapping last = {0}, now;
    size_t number = 1;
    for (size_t at = 0; at < length; number++) {
        const char *line = text + at;
        const char *newline = memchr(line, '\n', length - at);
        size_t size = newline != NULL ? (size_t)(newline - line) : length - at;
        at += size + 1;
        if (line_is_detail(line, size))
            continue;
        if (!line_parse(&now, line, size))
            return err_set(err, ERR_INPUT, "Line %zu of %s is not one of /proc/PID/maps.", number, name);
        /* Memory without a name may follow a module's data (.bss) and ends nothing. */
        if (now.path_length > 0 && !procmaps_add(m, &g, &last, &now))
            return err_set(err, ERR_MEMORY, "There is no memory to read %s.", name);
    }
    if (!procmaps_flush(m, &g))
        return err_set(err, ERR_MEMORY, "There is no memory to read %s.", name);
    return 0;
}

int procmaps_read(struct procmaps *m, const char *path, struct err *err)
{
    char *text;
    size_t length;
    int code = file_read_text(&text, &length, path, PROCMAPS_MAX, err);
    if (code == 0)
        code = procmaps_parse(m, text, length, path, err);
    free(text);
    return code;
}
