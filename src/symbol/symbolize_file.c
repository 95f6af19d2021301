/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symbolize_file: looks up the names of a recording and appends them to its file, with the binaries
 * where they are wanted.
 */
#include "symbol/symbolize_file.h"

#include "store/annex.h"
#include "symbol/bundled_allocators.h"
#include "symbol/elf_id.h"
#include "symbol/locate.h"
#include "tool/file.h"

#include <string.h>

/* ---------------------------------------------------------------- binaries */

static bool symbolize_file_has(struct wake_reader *r, const struct name_image *image)
{
    for (size_t i = 0; i < wake_reader_binary_count(r); i++) {
        const struct wake_binary *b = wake_reader_binary(r, i);
        if (b->is_whole && strcmp(b->path, image->path) == 0 &&
            b->build_id_length == image->build_id_length &&
            (b->build_id_length == 0 || memcmp(b->build_id, image->build_id, b->build_id_length) == 0))
            return true;
    }
    return false;
}

static int symbolize_file_embed(const struct symbolize_file *f, struct wake_annex *a,
                                const struct name_image *image, struct err *err)
{
    int fd;
    int code = elf_id_open(&fd, f->naming.sysroot, image->path, image->build_id, image->build_id_length, err);
    if (code == 0)
        code = wake_annex_add_binary(a, image, fd, err);
    file_close(fd);
    return code;
}

/* The files of all images that occur in stacks, also of a program that was started as ./program. */
static void symbolize_file_embed_all(const struct symbolize_file *f, struct wake_annex *a,
                                     struct wake_reader *r)
{
    struct naming_wants wants;
    struct err err;
    err_init(&err);
    int code = naming_list(&wants, r, &err);
    for (size_t at = 0; code == 0 && at < wants.list.count; at = naming_next_image(&wants, at)) {
        if (f->naming.is_stopped != NULL && f->naming.is_stopped(f->naming.is_stopped_of)) {
            f->say(f->say_of, LEVEL_WARN,
                   "Interrupted: not all files that code came from are in the recording.");
            break;
        }
        const struct name_image *image = names_get_image(wake_reader_names(r), wants.list.data[at].image);
        if (locate_is_file(image->path, f->naming.sysroot != NULL) && !symbolize_file_has(r, image) &&
            symbolize_file_embed(f, a, image, &err) != 0)
            f->say(f->say_of, LEVEL_WARN, err.text);
    }
    if (code != 0)
        f->say(f->say_of, LEVEL_WARN, err.text);
    vec_release(&wants.list);
}

int symbolize_file_run(const struct symbolize_file *f, struct naming *n, const char *path, struct err *err)
{
    struct wake_reader *r;
    struct wake_annex *a;
    int code = wake_reader_open(&r, path, err);
    if (code != 0)
        return code;
    if (f->names)
        code = naming_resolve(n, r, err);
    if (code == 0 && f->show != NULL)
        f->show(f->show_of, r);
    if (code == 0)
        code = wake_annex_open(&a, path, err);
    if (code == 0) {
        if (f->embeds && !naming_is_stopped(n))
            symbolize_file_embed_all(f, a, r);
        if (!naming_is_stopped(n))
            bundled_allocators_note(a, r, f->naming.sysroot, f->say, f->say_of);
        wake_annex_add_names(a, wake_reader_names(r));
        code = wake_annex_close(a, err);
    }
    wake_reader_close(r);
    return code;
}
