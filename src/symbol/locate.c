/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * locate: see locate.h.
 *
 * Programs: sysroot + path; in each folder of the debug path: by path, by base
 * name, by build id; the debug file in their place; a server.
 *
 * Debug files, F being a folder of the debug path or sysroot/usr/lib/debug:
 *     F/.build-id/xx/yyyy.debug
 *     by the name that .gnu_debuglink gives: beside the program, in .debug/
 *     beside it, in F/folder-of-the-program/, in F
 *     F/path, F/path.debug, F/base name, F/base name.debug, by build id only
 *     a server
 *
 * Packages (.dwp): beside the debug file, beside the program, sysroot + path.dwp, F/path.dwp, F/base name.dwp,
 *     F/.build-id/xx/yyyy.dwp
 */
#include "symbol/locate.h"

#include "symbol/vdso.h"
#include "tool/file.h"
#include "tool/memory.h"

#include <elfutils/libdwelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#define LOCATE_DEBUG_ROOT "/usr/lib/debug"
#define LOCATE_DELETED " (deleted)"
#define LOCATE_MEMORY "/memfd:"

/* ------------------------------------------------------------- what to accept */

/* A file that is looked for. */
struct wanted {
    struct locate *l;
    const struct build_id *id;
    bool any_id;              /* no id is known: take what is there */
    const char *not_this;     /* path of the program itself when its debug file is wanted; may be NULL */
    const uint32_t *checksum; /* decides where neither file has an id; may be NULL */
    struct elffile *out;
    struct strbuf path;    /* of the file that is being tried */
    struct build_id other; /* of the first file that had the right name and the wrong id */
    char *other_path;
    struct err trouble; /* why the first one that is there cannot be read */
};

static bool wanted_checksum_fits(const struct elffile *f, uint32_t checksum)
{
    size_t size;
    const char *bytes = elf_rawfile(f->elf, &size);
    return bytes != NULL && lzma_crc32((const uint8_t *)bytes, size, 0) == checksum;
}

static bool wanted_fits(const struct wanted *w, const struct elffile *f)
{
    if (w->any_id)
        return true;
    if (w->id->length > 0)
        return build_id_is_equal(w->id, &f->id);
    return w->checksum != NULL && f->id.length == 0 && wanted_checksum_fits(f, *w->checksum);
}

/* Tries the file at w->path, if there is one. */
static bool wanted_try(struct wanted *w)
{
    struct elffile f;
    struct err trouble;
    const char *path = strbuf_get(&w->path);
    if (w->path.failed || (w->not_this != NULL && strcmp(w->not_this, path) == 0))
        return false;
    err_init(&trouble);
    if (elffile_open(&f, path, &trouble) != 0) {
        if (trouble.code != ERR_ABSENT && w->trouble.code == 0)
            w->trouble = trouble;
        return false;
    }
    if (wanted_fits(w, &f)) {
        *w->out = f;
        return true;
    }
    if (w->other_path == NULL) {
        w->other = f.id;
        w->other_path = memory_copy_text(path);
    }
    elffile_close(&f);
    return false;
}

static bool wanted_try_at(struct wanted *w, const char *a, const char *b, const char *c, const char *d)
{
    strbuf_clear(&w->path);
    strbuf_add_text(&w->path, a);
    strbuf_add_text(&w->path, b);
    strbuf_add_text(&w->path, c);
    strbuf_add_text(&w->path, d);
    return wanted_try(w);
}

static bool wanted_try_id(struct wanted *w, const char *root, const char *folder, const char *suffix)
{
    char hex[2 * BUILD_ID_MAX + 1];
    if (w->id->length < 2)
        return false;
    build_id_format(w->id, hex);
    strbuf_clear(&w->path);
    strbuf_addf(&w->path, "%s%s/.build-id/%.2s/%s%s", root, folder, hex, hex + 2, suffix);
    return wanted_try(w);
}

static bool wanted_download(struct wanted *w, enum download_kind kind, const char *name)
{
    struct elffile f;
    int fd = download_file(&w->l->download, kind, w->id, name);
    if (fd < 0 || elffile_open_fd(&f, fd, name, NULL) != 0)
        return false;
    if (!wanted_fits(w, &f)) {
        elffile_close(&f);
        return false;
    }
    *w->out = f;
    return true;
}

static void wanted_release(struct wanted *w)
{
    strbuf_release(&w->path);
    free(w->other_path);
}

static const char *locate_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* ------------------------------------------------------------------ the places */

bool locate_init(struct locate *l, const char *sysroot, const char *debug_path)
{
    *l = (struct locate){.sysroot = memory_copy_text(sysroot != NULL ? sysroot : "")};
    if (l->sysroot == NULL)
        return false;
    size_t length = strlen(l->sysroot);
    while (length > 0 && l->sysroot[length - 1] == '/')
        l->sysroot[--length] = '\0';
    for (const char *at = debug_path != NULL ? debug_path : ""; *at != '\0';) {
        size_t part = strcspn(at, ":");
        char *folder = part > 0 ? memory_copy_part(at, part) : NULL;
        if (part > 0 && (folder == NULL || !vec_push(&l->folders, folder))) {
            free(folder);
            return false;
        }
        at += part + (at[part] == ':');
    }
    return true;
}

void locate_release(struct locate *l)
{
    for (size_t i = 0; i < l->folders.count; i++)
        free(l->folders.data[i]);
    vec_release(&l->folders);
    free(l->sysroot);
    l->sysroot = NULL;
    download_release(&l->download);
}

/* Debug folder number i: those of the debug path, then the system's; false: no more. */
static bool locate_folder(const struct locate *l, size_t i, const char **root, const char **folder)
{
    *root = i < l->folders.count ? "" : l->sysroot;
    *folder = i < l->folders.count ? l->folders.data[i] : LOCATE_DEBUG_ROOT;
    return i <= l->folders.count;
}

/* --------------------------------------------------------------------- programs */

bool locate_is_file(const char *path, bool has_sysroot)
{
    return path[0] == '/' ? !file_is_of_a_process(path, strlen(path))
                          : !has_sysroot && strchr(path, '/') != NULL;
}

static bool locate_try_binary(struct wanted *w, const char *path)
{
    const struct locate *l = w->l;
    const char *root, *folder;
    if (file_is_of_a_process(path, strlen(path)))
        return false;
    if ((path[0] == '/' || l->sysroot[0] == '\0') && wanted_try_at(w, l->sysroot, path, "", ""))
        return true;
    for (size_t i = 0; i < l->folders.count; i++)
        if ((path[0] == '/' && wanted_try_at(w, l->folders.data[i], path, "", "")) ||
            wanted_try_at(w, l->folders.data[i], "/", locate_base(path), "") ||
            wanted_try_id(w, "", l->folders.data[i], ""))
            return true;
    for (size_t i = 0; locate_folder(l, i, &root, &folder); i++)
        if (wanted_try_id(w, root, folder, ".debug"))
            return true;
    return false;
}

static int locate_refuse(const struct wanted *w, const char *path, struct err *err)
{
    char theirs[2 * BUILD_ID_MAX + 1], ours[2 * BUILD_ID_MAX + 1];
    if (vdso_is_named(path))
        return err_set(err, ERR_ABSENT, "%s is that of another kernel.", path);
    if (path[0] == '[' || path[0] == '\0' || strncmp(path, LOCATE_MEMORY, strlen(LOCATE_MEMORY)) == 0)
        return err_set(err, ERR_ABSENT, "%s never was a file.",
                       path[0] != '\0' ? path : "Code without a name");
    if (file_is_of_a_process(path, strlen(path)))
        return err_set(err, ERR_ABSENT, "%s was the recorded process's own: what it stood for is not known.",
                       path);
    if (w->other_path == NULL && w->trouble.code != 0)
        return err_set(err, ERR_ABSENT, "%s", w->trouble.text);
    if (w->other_path == NULL)
        return err_set(err, ERR_ABSENT, "%s%s is not there.", w->l->sysroot, path);
    return err_set(err, ERR_ABSENT,
                   "%s has been replaced: its build id is %s, that of the recorded file is %s.",
                   w->other_path, build_id_format(&w->other, theirs), build_id_format(w->id, ours));
}

int locate_binary(struct locate *l, const char *path, const struct build_id *id, struct elffile *out,
                  struct err *err)
{
    struct wanted w = {.l = l, .id = id, .any_id = id->length == 0, .out = out};
    const size_t suffix = strlen(LOCATE_DELETED);
    size_t length = strlen(path);
    *out = (struct elffile){0};
    bool found = (vdso_is_named(path) && vdso_open(out, id, NULL) == 0) || locate_try_binary(&w, path);
    char *kept = NULL;
    if (!found && length > suffix && strcmp(path + length - suffix, LOCATE_DELETED) == 0 && id->length > 0) {
        kept = memory_copy_part(path, length - suffix);
        found = kept != NULL && locate_try_binary(&w, kept);
    }
    const char *name = locate_base(kept != NULL ? kept : path);
    found = found || wanted_download(&w, DOWNLOAD_PROGRAM, name) || wanted_download(&w, DOWNLOAD_DEBUG, name);
    int code = found ? 0 : locate_refuse(&w, path, err);
    free(kept);
    wanted_release(&w);
    return code;
}

/* ------------------------------------------------------------------ debug files */

static bool locate_try_link(struct wanted *w, const char *program, const char *path, const char *link)
{
    const char *root, *folder;
    struct strbuf beside = {0}, recorded = {0};
    strbuf_add(&beside, program, (size_t)(locate_base(program) - program));
    strbuf_add(&recorded, path, (size_t)(locate_base(path) - path));
    const char *here = strbuf_get(&beside), *there = strbuf_get(&recorded);
    bool found = wanted_try_at(w, here, link, "", "") || wanted_try_at(w, here, ".debug/", link, "");
    for (size_t i = 0; !found && locate_folder(w->l, i, &root, &folder); i++)
        found = (there[0] == '/' && wanted_try_at(w, root, folder, there, link)) ||
                (here[0] == '/' && strcmp(here, there) != 0 && wanted_try_at(w, root, folder, here, link)) ||
                wanted_try_at(w, root, folder, "/", link);
    strbuf_release(&beside);
    strbuf_release(&recorded);
    return found;
}

static bool locate_try_names(struct wanted *w, const char *path)
{
    const char *root, *folder, *slash = path[0] == '/' ? "" : "/";
    for (size_t i = 0; locate_folder(w->l, i, &root, &folder); i++) {
        bool own = i < w->l->folders.count;
        strbuf_clear(&w->path);
        strbuf_addf(&w->path, "%s%s%s%s.debug", root, folder, slash, path);
        if (wanted_try(w) || (own && (wanted_try_at(w, folder, slash, path, "") ||
                                      wanted_try_at(w, folder, "/", locate_base(path), "") ||
                                      wanted_try_at(w, folder, "/", locate_base(path), ".debug"))))
            return true;
    }
    return false;
}

static void locate_refuse_debug(const struct wanted *w, struct err *err)
{
    char theirs[2 * BUILD_ID_MAX + 1];
    if (w->other_path == NULL)
        return;
    if (w->other.length > 0)
        err_set(err, ERR_INPUT, "%s belongs to another build: its build id is %s.", w->other_path,
                build_id_format(&w->other, theirs));
    else
        err_set(err, ERR_INPUT, "%s belongs to another build.", w->other_path);
}

bool locate_debug(struct locate *l, const struct elffile *program, const char *path, struct elffile *out,
                  struct err *err)
{
    GElf_Word checksum = 0;
    const char *root, *folder;
    const char *link = dwelf_elf_gnu_debuglink(program->elf, &checksum);
    uint32_t sum = checksum;
    struct wanted w = {.l = l,
                       .id = &program->id,
                       .checksum = link != NULL ? &sum : NULL,
                       .not_this = program->path,
                       .out = out};
    bool found = false;
    for (size_t i = 0; !found && locate_folder(l, i, &root, &folder); i++)
        found = wanted_try_id(&w, root, folder, ".debug");
    /* A link holds a base name; anything else leads out of the folders searched. */
    if (!found && link != NULL && strchr(link, '/') == NULL)
        found = locate_try_link(&w, program->path, path, link);
    if (!found && program->id.length > 0)
        found = locate_try_names(&w, path) || wanted_download(&w, DOWNLOAD_DEBUG, locate_base(path));
    if (!found)
        locate_refuse_debug(&w, err);
    wanted_release(&w);
    return found;
}

/* -------------------------------------------------------------------- packages */

/* FILE.dwp, and by the name without ".debug". */
static bool locate_visit_names(const char *file, locate_visit *visit, void *context)
{
    static const char suffix[] = ".debug";
    size_t length = strlen(file), rest = length - (sizeof suffix - 1);
    struct strbuf path = {0};
    strbuf_add_text(&path, file);
    strbuf_add_text(&path, ".dwp");
    bool found = visit(strbuf_get(&path), context);
    if (!found && length >= sizeof suffix && strcmp(file + rest, suffix) == 0) {
        strbuf_cut(&path, rest);
        strbuf_add_text(&path, ".dwp");
        found = visit(strbuf_get(&path), context);
    }
    strbuf_release(&path);
    return found;
}

/* Beside a file, also where a link leads. */
static bool locate_visit_beside(const char *file, locate_visit *visit, void *context)
{
    char *real = realpath(file, NULL);
    bool found = locate_visit_names(file, visit, context) ||
                 (real != NULL && strcmp(real, file) != 0 && locate_visit_names(real, visit, context));
    free(real);
    return found;
}

bool locate_package(struct locate *l, const struct elffile *program, const struct elffile *debug,
                    const char *path, locate_visit *visit, void *context)
{
    const char *root, *folder, *slash = path[0] == '/' ? "" : "/";
    char hex[2 * BUILD_ID_MAX + 1];
    struct strbuf place = {0};
    bool found = (debug->elf != NULL && locate_visit_beside(debug->path, visit, context)) ||
                 locate_visit_beside(program->path, visit, context);
    build_id_format(&program->id, hex);
    if (!found && path[0] == '/') {
        strbuf_addf(&place, "%s%s.dwp", l->sysroot, path);
        found = visit(strbuf_get(&place), context);
    }
    for (size_t i = 0; !found && locate_folder(l, i, &root, &folder); i++) {
        strbuf_clear(&place);
        strbuf_addf(&place, "%s%s%s%s.dwp", root, folder, slash, path);
        found = visit(strbuf_get(&place), context);
        strbuf_clear(&place);
        strbuf_addf(&place, "%s%s/%s.dwp", root, folder, locate_base(path));
        found = found || visit(strbuf_get(&place), context);
        strbuf_clear(&place);
        strbuf_addf(&place, "%s%s/.build-id/%.2s/%s.dwp", root, folder, hex, hex + 2);
        found = found || (program->id.length >= 2 && visit(strbuf_get(&place), context));
    }
    strbuf_release(&place);
    return found;
}

bool locate_shared(struct locate *l, const struct elffile *debug, Dwarf *dwarf, struct elffile *out)
{
    const char *name, *root, *folder;
    const void *bytes;
    struct build_id id;
    ssize_t length = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bytes);
    if (length <= 0 || !build_id_set(&id, bytes, (size_t)length))
        return false;
    struct wanted w = {.l = l, .id = &id, .out = out};
    bool found = false;
    for (size_t i = 0; !found && locate_folder(l, i, &root, &folder); i++)
        found = wanted_try_id(&w, root, folder, ".debug");
    if (!found && name[0] == '/')
        found = wanted_try_at(&w, l->sysroot, name, "", "");
    if (!found && name[0] != '/') {
        strbuf_clear(&w.path);
        strbuf_add(&w.path, debug->path, (size_t)(locate_base(debug->path) - debug->path));
        strbuf_add_text(&w.path, name);
        found = wanted_try(&w);
    }
    for (size_t i = 0; !found && i < l->folders.count; i++)
        found = wanted_try_at(&w, l->folders.data[i], "/", locate_base(name), "");
    found = found || wanted_download(&w, DOWNLOAD_DEBUG, locate_base(name));
    wanted_release(&w);
    return found;
}
