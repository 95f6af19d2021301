/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * script: see script.h.
 */
#include "collect/script.h"

#include "tool/err.h"
#include "tool/file.h"

enum { SCRIPT_HEAD = 256 }; /* as much as the kernel looks at */

bool script_follow(const uint8_t *bytes, size_t length, struct strbuf *path)
{
    if (length < 3 || bytes[0] != '#' || bytes[1] != '!')
        return false;
    size_t at = 2;
    while (at < length && (bytes[at] == ' ' || bytes[at] == '\t'))
        at++;
    size_t end = at;
    while (end < length && bytes[end] != ' ' && bytes[end] != '\t' && bytes[end] != '\n' &&
           bytes[end] != '\0')
        end++;
    strbuf_clear(path);
    strbuf_add(path, bytes + at, end - at);
    return end > at;
}

/* The first bytes of a regular file; 0: there are none to be had. */
static size_t script_read(const char *path, uint8_t *bytes)
{
    int fd;
    uint64_t size;
    size_t got = 0;
    struct err ignored;
    err_init(&ignored);
    if (file_open(&fd, &size, path, &ignored) != 0)
        return 0;
    (void)file_read_at(fd, bytes, SCRIPT_HEAD, 0, &got);
    file_close(fd);
    return got;
}

bool script_find_program(const char *name, struct strbuf *program)
{
    uint8_t bytes[SCRIPT_HEAD];
    bool is_script = false;
    strbuf_clear(program);
    strbuf_add_text(program, name);
    for (int i = 0; i < SCRIPT_DEPTH; i++) {
        size_t length = script_read(strbuf_get(program), bytes);
        if (!script_follow(bytes, length, program))
            break;
        is_script = true;
    }
    return is_script && !program->failed;
}
