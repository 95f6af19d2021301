/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symbolizer: see symbolizer.h.
 *
 * A binary with a build id stays what it is, whatever happens to its file.  One
 * without is taken again only while the file at its path is the same: same inode, same
 * size, same time.
 */
#include "symbol/symbolizer.h"

#include "symbol/binary_make.h"
#include "symbol/elffile.h"
#include "symbol/locate.h"
#include "tool/memory.h"
#include "tool/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
    SYMBOLIZER_PATIENCE_MS = 10000,
    SYMBOLIZER_FIRST_FD = 3, /* 0, 1 and 2 are never used for files */
};

struct entry {
    struct binary *binary;
    char *path;         /* NULL: given by the caller, not found */
    struct build_id id; /* that was asked for */
    struct stat stat;   /* of the file that was found */
};

struct symbolizer {
    struct locate locate;
    VEC(struct entry) entries;
};

struct symbolizer *symbolizer_new(const struct symbolizer_options *options)
{
    struct symbolizer *s = memory_new_zeroed(1, sizeof *s);
    if (s == NULL)
        return NULL;
    if (!locate_init(&s->locate, options->sysroot, options->debug_path)) {
        symbolizer_free(s);
        return NULL;
    }
    struct download *d = &s->locate.download;
    d->is_on = options->debuginfod;
    d->patience_ms = options->patience_ms != 0 ? options->patience_ms : SYMBOLIZER_PATIENCE_MS;
    d->progress = options->progress;
    d->progress_context = options->progress_context;
    d->interrupt = options->interrupt;
    return s;
}

void symbolizer_free(struct symbolizer *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->entries.count; i++) {
        binary_free(s->entries.data[i].binary);
        free(s->entries.data[i].path);
    }
    vec_release(&s->entries);
    locate_release(&s->locate);
    free(s);
}

const char *symbolizer_get_remark(const struct symbolizer *s)
{
    const char *remark = s->locate.download.remark;
    return remark != NULL ? remark : "";
}

/* --------------------------------------------------------------------- opening */

static bool entry_is_same_file(const struct entry *e)
{
    struct stat now;
    return stat(binary_get_path(e->binary), &now) == 0 && now.st_dev == e->stat.st_dev &&
           now.st_ino == e->stat.st_ino && now.st_size == e->stat.st_size &&
           now.st_mtim.tv_sec == e->stat.st_mtim.tv_sec && now.st_mtim.tv_nsec == e->stat.st_mtim.tv_nsec;
}

static struct binary *symbolizer_find(const struct symbolizer *s, const char *path, const struct build_id *id)
{
    for (size_t i = 0; i < s->entries.count; i++) {
        const struct entry *e = &s->entries.data[i];
        if (e->path != NULL && build_id_is_equal(&e->id, id) && strcmp(e->path, path) == 0 &&
            (id->length > 0 || entry_is_same_file(e)))
            return e->binary;
    }
    return NULL;
}

/* Makes a binary of the file and keeps both; takes the file. */
static int symbolizer_keep(struct symbolizer *s, struct binary **binary, const char *path,
                           struct elffile *file, const struct build_id *id, struct err *err)
{
    struct entry e = {.id = id != NULL ? *id : file->id,
                      .stat = file->stat,
                      .path = id != NULL ? memory_copy_text(path) : NULL};
    e.binary = binary_new(file, path, &s->locate);
    if (e.binary == NULL || (id != NULL && e.path == NULL) || !vec_push(&s->entries, e)) {
        binary_free(e.binary);
        free(e.path);
        return err_no_memory(err);
    }
    *binary = e.binary;
    return 0;
}

int symbolizer_open(struct symbolizer *s, struct binary **binary, const char *path, const uint8_t *build_id,
                    size_t build_id_length, struct err *err)
{
    struct build_id id;
    struct elffile file;
    if (!build_id_set(&id, build_id, build_id_length))
        return err_set(err, ERR_ABSENT, "%s has a build id of %zu bytes, which no file has.", path,
                       build_id_length);
    *binary = symbolizer_find(s, path, &id);
    if (*binary != NULL)
        return 0;
    int code = locate_binary(&s->locate, path, &id, &file, err);
    return code != 0 ? code : symbolizer_keep(s, binary, path, &file, &id, err);
}

int symbolizer_open_memory(struct symbolizer *s, struct binary **binary, const char *path, const void *bytes,
                           size_t size, struct err *err)
{
    struct elffile file;
    void *copy = memory_new(size > 0 ? size : 1);
    if (copy == NULL)
        return err_no_memory(err);
    if (size > 0)
        memcpy(copy, bytes, size);
    int code = elffile_open_memory(&file, copy, size, path, err);
    return code != 0 ? code : symbolizer_keep(s, binary, path, &file, NULL, err);
}

int symbolizer_open_fd(struct symbolizer *s, struct binary **binary, const char *path, int fd,
                       struct err *err)
{
    struct elffile file;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, SYMBOLIZER_FIRST_FD);
    if (own < 0)
        return err_set(err, ERR_IO, "%s cannot be opened: %s.", path, strerror(errno));
    int code = elffile_open_fd(&file, own, path, err);
    return code != 0 ? code : symbolizer_keep(s, binary, path, &file, NULL, err);
}
