/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * procmaps: see procmaps.h.
 */
#include "symbol/procmaps.h"

#include "tool/file.h"
#include "tool/mapline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PROCMAPS_MAX = 64 << 20 };

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

/* -------------------------------------------------------------------- modules */

/* As a file would be called. */
static const char *procmaps_path(struct procmaps *m, const struct mapline *from)
{
    char *path = arena_push_text(&m->texts, from->path, from->path_length);
    if (path != NULL)
        mapline_undo_escapes(path);
    return path;
}

static bool procmaps_flush(struct procmaps *m, struct growing *g)
{
    bool done = !g->has_code || vec_push(&m->modules, g->module);
    *g = (struct growing){0};
    return done;
}

/* The raw path of the module that is growing is kept by the caller's text. */
static bool procmaps_add(struct procmaps *m, struct growing *g, struct mapline *last,
                         const struct mapline *now)
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
    if ((now->rights & MAPLINE_EXECUTE) != 0 && !g->has_code) {
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
    struct mapline last = {0}, now;
    size_t number = 1;
    for (size_t at = 0; at < length; number++) {
        const char *line = text + at;
        const char *newline = memchr(line, '\n', length - at);
        size_t size = newline != NULL ? (size_t)(newline - line) : length - at;
        at += size + 1;
        if (mapline_is_detail(line, size))
            continue;
        if (!mapline_parse(&now, line, size))
            return err_set(err, ERR_INPUT, "Line %zu of %s is not one of /proc/PID/maps.", number, name);
        /* Memory without a name may follow a module's data (.bss) and ends nothing. */
        if (now.path_length > 0 && !procmaps_add(m, &g, &last, &now))
            return err_no_memory(err);
    }
    if (!procmaps_flush(m, &g))
        return err_no_memory(err);
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
