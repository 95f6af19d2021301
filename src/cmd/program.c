/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * program: see program.h.  The right to run it is not enough: on some file systems every file has
 * that.
 */
#include "cmd/program.h"

#include "tool/file.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

bool program_is_one(const char *path)
{
    char head[SELFMAG];
    struct err err;
    uint64_t size;
    size_t got = 0;
    int fd;
    err_init(&err);
    if (access(path, X_OK) != 0 || file_open(&fd, &size, path, &err) != 0)
        return false;
    bool fine = file_read_at(fd, head, sizeof head, 0, &got) == 0 && got == sizeof head;
    file_close(fd);
    return fine && (memcmp(head, ELFMAG, SELFMAG) == 0 || memcmp(head, "#!", 2) == 0);
}

const char *program_prefix(const char *path)
{
    return strchr(path, '/') == NULL ? "./" : "";
}
