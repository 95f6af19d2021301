/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * output: see output.h.
 */
#include "collect/output.h"

#include "collect/unhooked.h"
#include "tool/file.h"
#include "tool/memory.h"
#include "wire/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_REST_NS UINT64_C(1000000000)

enum { OUTPUT_TRIES = 10000 };

static void output_complain(struct output *o, const struct err *err, const char *then)
{
    if (o->complaint.code == 0)
        err_set(&o->complaint, err->code, "%s %s", err->text, then);
}

void output_init(struct output *o, const char *pattern, const struct output_keeping *keeping)
{
    memset(o, 0, sizeof *o);
    if (keeping != NULL)
        o->keeping = *keeping;
    err_init(&o->complaint);
    err_init(&o->failure);
    struct err err;
    err_init(&err);
    if (pattern != NULL && name_check(pattern, &err) != 0) {
        output_complain(o, &err, "The recording goes to the current folder as " NAME_DEFAULT " instead.");
        pattern = NULL;
    }
    if (pattern == NULL && name_check("./" NAME_DEFAULT, &err) != 0) {
        err_set(&err, ERR_IO, "The current folder cannot be written to.");
        err_init(&o->complaint);
        output_complain(o, &err, "Nothing is recorded; the program runs as if alone.");
        o->is_off = true;
    }
    o->pattern = memory_copy_text(pattern == NULL ? NAME_DEFAULT : pattern);
    if (o->pattern == NULL)
        o->is_off = true;
}

static void output_file_free(struct output_file *f)
{
    if (f == NULL)
        return;
    free(f->base);
    free(f->name);
    free(f->partial);
    free(f);
}

void output_release(struct output *o)
{
    for (size_t i = 0; i < o->files.count; i++)
        output_file_free(o->files.data[i]);
    vec_release(&o->files);
    free(o->pattern);
    memset(o, 0, sizeof *o);
}

/* Reserves a name that nobody uses for the unfinished file. */
static char *output_reserve(const char *name, struct err *err)
{
    for (unsigned i = 1; i < OUTPUT_TRIES; i++) {
        struct strbuf partial;
        strbuf_init(&partial);
        strbuf_addf(&partial, i == 1 ? "%s.partial" : "%s.partial%u", name, i);
        int fd =
            partial.failed ? -1 : open(strbuf_get(&partial), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0) {
            close(fd);
            return strbuf_detach(&partial);
        }
        int error = errno;
        strbuf_release(&partial);
        if (error != EEXIST) {
            err_set(err, ERR_IO, "'%s.partial' cannot be written: %s.", name, strerror(error));
            return NULL;
        }
    }
    err_set(err, ERR_IO, "'%s.partial' cannot be written: too many of its kind.", name);
    return NULL;
}

static struct output_file *output_find(const struct output *o, const char *name)
{
    for (size_t i = o->files.count; i-- > 0;) {
        const struct output_file *f = o->files.data[i];
        if (strcmp(f->base != NULL ? f->base : f->name, name) == 0)
            return o->files.data[i];
    }
    return NULL;
}

/* Names the file as a part; takes base over. */
static bool output_number(struct output_file *f, char *base, uint32_t part)
{
    struct strbuf name;
    strbuf_init(&name);
    strbuf_addf(&name, "%s.%u", base, part);
    f->base = base;
    f->part = part;
    f->name = strbuf_detach(&name);
    return f->name != NULL;
}

static void output_look(struct output_file *f)
{
    if (lstat(f->name, &f->before) != 0)
        memset(&f->before, 0, sizeof f->before);
}

static struct output_file *output_new(struct output *o, char *name, uint64_t start_ns, struct err *err)
{
    struct output_file *f = memory_new_zeroed(1, sizeof *f);
    if (f == NULL) {
        free(name);
        err_set(err, ERR_MEMORY, "No memory for an output file.");
        return NULL;
    }
    f->name = name;
    f->base_ns = start_ns;
    bool rotates = o->keeping.rotate_bytes != 0 || o->keeping.rotate_ns != 0;
    if (rotates && !output_number(f, name, 1)) {
        err_set(err, ERR_MEMORY, "No memory for an output name.");
        output_file_free(f);
        return NULL;
    }
    f->part_ns = start_ns;
    output_look(f);
    f->partial = file_new_check(f->name, err) == 0 ? output_reserve(f->name, err) : NULL;
    if (f->partial == NULL || (rotates ? wake_writer_open_series(&f->writer, f->partial, err)
                                       : wake_writer_open(&f->writer, f->partial, err)) != 0) {
        if (f->partial != NULL)
            unlink(f->partial);
    } else if (vec_push(&o->files, f)) {
        if (o->keeping.is_culled)
            wake_writer_cull(f->writer, &o->keeping.cull);
        if (o->keeping.max_bytes != 0)
            wake_writer_limit(f->writer, o->keeping.max_bytes);
        return f;
    }
    output_file_free(f);
    return NULL;
}

/* The file of that pattern, opened if it is not yet. */
static struct output_file *output_try(struct output *o, const char *pattern, const struct name_facts *facts,
                                      uint64_t start_ns, struct err *err)
{
    struct strbuf name;
    strbuf_init(&name);
    if (name_expand(&name, pattern, facts, err) != 0) {
        strbuf_release(&name);
        return NULL;
    }
    size_t length = name.length;
    struct output_file *f = output_find(o, strbuf_get(&name));
    for (unsigned i = 2; f != NULL && f->writer == NULL; i++) {
        strbuf_cut(&name, length);
        strbuf_addf(&name, ".%u", i);
        f = output_find(o, strbuf_get(&name));
    }
    if (f != NULL) {
        strbuf_release(&name);
        return f;
    }
    char *text = strbuf_detach(&name);
    if (text == NULL) {
        err_set(err, ERR_MEMORY, "No memory for an output name.");
        return NULL;
    }
    return output_new(o, text, start_ns, err);
}

struct output_file *output_open(struct output *o, const struct name_facts *facts, uint64_t start_ns)
{
    struct err err;
    err_init(&err);
    if (o->is_off)
        return NULL;
    struct output_file *f = NULL;
    if (!name_is_per_process(o->pattern) && o->files.count != 0)
        f = o->files.data[0]->writer == NULL ? NULL : o->files.data[0]; /* one file, named by the first */
    else
        f = output_try(o, o->pattern, facts, start_ns, &err);
    if (f == NULL && err.code != 0 && strcmp(o->pattern, NAME_DEFAULT) != 0) {
        output_complain(o, &err, "The recording goes to the current folder as " NAME_DEFAULT " instead.");
        char *usual = memory_copy_text(NAME_DEFAULT);
        if (usual != NULL) {
            free(o->pattern);
            o->pattern = usual;
            f = output_try(o, usual, facts, start_ns, &err);
        }
    }
    if (f == NULL && err.code != 0) {
        err_init(&o->complaint);
        output_complain(o, &err, "Nothing is recorded; the program runs as if alone.");
        o->is_off = true;
    }
    if (f != NULL)
        f->users++;
    return f;
}

/* Where a closed file is now. */
static const char *output_path(const struct output_file *f)
{
    return f->is_published ? f->name : f->partial;
}

/* Is that what had the name from the start? */
static bool output_was_there(const struct output_file *f, const struct stat *st)
{
    const struct stat *b = &f->before;
    return b->st_nlink != 0 && st->st_dev == b->st_dev && st->st_ino == b->st_ino &&
           st->st_mtim.tv_sec == b->st_mtim.tv_sec && st->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Only if nobody has the name; otherwise errno is EEXIST. */
static bool output_rename_new(const char *partial, const char *name)
{
    struct stat st;
    if (link(partial, name) == 0) {
        (void)unlink(partial);
        return true;
    }
    if (errno == EEXIST)
        return false;
    if (lstat(name, &st) == 0) { /* a file system without links */
        errno = EEXIST;
        return false;
    }
    return rename(partial, name) == 0;
}

/* The name is another recorder's by now. */
static bool output_rename_numbered(struct output_file *f)
{
    bool is_done = false;
    errno = EEXIST;
    for (unsigned i = 2; !is_done && errno == EEXIST && i < OUTPUT_TRIES; i++) {
        struct strbuf name;
        strbuf_init(&name);
        strbuf_addf(&name, "%s.%u", f->name, i);
        is_done = !name.failed && output_rename_new(f->partial, strbuf_get(&name));
        if (is_done) {
            free(f->name);
            f->name = strbuf_detach(&name);
        } else {
            errno = name.failed ? ENOMEM : errno;
            strbuf_release(&name);
        }
    }
    return is_done;
}

/* What had the name from the start is replaced in one step; another recorder that does so in the same moment is
 * not seen. */
static bool output_rename(struct output_file *f)
{
    struct stat now;
    bool is_there = lstat(f->name, &now) == 0;
    if (is_there && output_was_there(f, &now))
        return rename(f->partial, f->name) == 0;
    if (!is_there && output_rename_new(f->partial, f->name))
        return true;
    return (is_there || errno == EEXIST) && output_rename_numbered(f);
}

static void output_publish(struct output *o, struct output_file *f)
{
    struct err other;
    if (f->is_published)
        return;
    err_init(&other);
    bool is_other = file_new_check(f->name, &other) != 0; /* by now */
    f->is_published = !is_other && output_rename(f);
    if (f->is_published || o->failure.code != 0)
        return;
    const char *why = is_other ? "that is something else" : strerror(errno);
    if (access(f->partial, F_OK) != 0 && errno == ENOENT)
        err_set(&o->failure, ERR_ABSENT, "somebody has deleted '%s' meanwhile.", f->partial);
    else
        err_set(&o->failure, ERR_IO, "'%s' keeps its name, as it cannot become '%s': %s.", f->partial,
                f->name, why);
}

/* Each of them stands in one file. */
static void output_tell_unrecorded(struct output *o, struct output_file *f)
{
    wake_writer_add_unrecorded(f->writer, o->unrecorded);
    o->unrecorded = 0;
}

void output_note_unfollowed(struct wake_writer *writer, uint64_t processes)
{
    char text[200];
    int length = snprintf(
        text, sizeof text,
        "%llu process%s not recorded: a program that had installed a seccomp filter started %s, or became "
        "%s by exec.",
        (unsigned long long)processes, processes == 1 ? " was" : "es were", processes == 1 ? "it" : "them",
        processes == 1 ? "it" : "one of them");
    wake_writer_add_unrecorded(writer, processes);
    wake_writer_add_note(writer, text, (size_t)length);
}

/* What a recording that is whole does not say of its processes: few events, or none, are no sign that they allocated
 * little. */
static void output_tell_of_processes(struct output *o, struct output_file *f)
{
    char text[320];
    int length;
    f->strangers += o->strangers;
    o->strangers = 0;
    if (f->bypassed != 0) {
        length =
            snprintf(text, sizeof text,
                     "Another malloc stands before heapwake's in %llu process%s: what it does not pass on "
                     "is not recorded.",
                     (unsigned long long)f->bypassed, f->bypassed == 1 ? "" : "es");
        wake_writer_add_note(f->writer, text, (size_t)length);
    }
    if (f->strangers != 0) {
        length =
            snprintf(text, sizeof text,
                     "%llu process%s went on as %s that cannot be recorded: statically linked, set-user-ID, "
                     "of another kind of machine, or built with a sanitizer.",
                     (unsigned long long)f->strangers, f->strangers == 1 ? "" : "es",
                     f->strangers == 1 ? "a program" : "programs");
        wake_writer_add_note(f->writer, text, (size_t)length);
    }
    unhooked_tell(f->writer, f->unhooked);
    if (f->unreached != 0) {
        length = snprintf(text, sizeof text,
                          "%llu process%s could not reach the recorder out of a network namespace: its "
                          "socket in " HELLO_FOLDER
                          " is not visible there, or belongs to another user. Where such processes "
                          "could write files they have recordings of their own.",
                          (unsigned long long)f->unreached, f->unreached == 1 ? "" : "es");
        wake_writer_add_note(f->writer, text, (size_t)length);
    }
    if (f->unfollowed != 0)
        output_note_unfollowed(f->writer, f->unfollowed);
    f->bypassed = f->strangers = f->unhooked = f->unreached = f->unfollowed = 0;
}

static void output_close_file(struct output *o, struct output_file *f, uint64_t cpu_ns, bool publish)
{
    struct err err;
    err_init(&err);
    if (f->writer == NULL)
        return;
    output_tell_unrecorded(o, f);
    output_tell_of_processes(o, f);
    if (wake_writer_close(f->writer, cpu_ns, &err) != 0 && o->failure.code == 0)
        o->failure = err;
    f->writer = NULL;
    if (publish)
        output_publish(o, f);
}

/* What a file repeats of earlier ones counts, but is half of it at the most: where it is more than the size that was asked for, each
 * file would be full at once. */
static bool output_has_size(const struct output *o, const struct output_file *f)
{
    uint64_t size = wake_writer_size(f->writer), wanted = o->keeping.rotate_bytes;
    return wanted != 0 && size >= wanted && size / 2 >= f->repeated;
}

static bool output_is_full(const struct output *o, const struct output_file *f, uint64_t now_ns)
{
    const struct output_keeping *k = &o->keeping;
    if (f->writer == NULL || f->base == NULL || now_ns < f->retry_ns || wake_writer_has_failed(f->writer))
        return false;
    return output_has_size(o, f) || (k->rotate_ns != 0 && now_ns - f->part_ns >= k->rotate_ns);
}

/* Reserves its name and opens it; false: it cannot be had. */
static bool output_open_next(struct output *o, struct output_file *f, struct output_file *next)
{
    struct err err;
    char *base = memory_copy_text(f->base);
    if (base == NULL || !output_number(next, base, f->part + 1) ||
        !vec_reserve(&o->files, o->files.count + 1) ||
        (next->partial = output_reserve(next->name, &err)) == NULL)
        return false;
    output_look(next);
    if (wake_writer_open_next(f->writer, next->partial, &err) == 0)
        return true;
    unlink(next->partial);
    return false;
}

bool output_turn(struct output *o, struct output_file *f, uint64_t now_ns)
{
    if (!output_is_full(o, f, now_ns))
        return false;
    f->part_ns = now_ns;
    f->retry_ns = now_ns + OUTPUT_REST_NS;
    output_tell_unrecorded(o, f);
    output_tell_of_processes(o, f);
    struct output_file *next = memory_new_zeroed(1, sizeof *next);
    if (next != NULL && output_open_next(o, f, next)) {
        f->next = next;
        f->retry_ns = 0;
    } else {
        output_file_free(next);
    }
    return f->next != NULL;
}

bool output_rotate(struct output *o, struct output_file *f, uint64_t cpu_ns)
{
    struct output_file *other = f->next;
    f->next = NULL;
    if (!wake_writer_rotate(f->writer, cpu_ns)) {
        unlink(other->partial);
        output_file_free(other);
        return false;
    }
    const struct output_file next = *other;
    *other = (struct output_file){
        .base = f->base, .part = f->part, .name = f->name, .partial = f->partial, .before = f->before};
    f->base = next.base;
    f->part = next.part;
    f->name = next.name;
    f->partial = next.partial;
    f->repeated = wake_writer_size(f->writer);
    f->before = next.before;
    (void)vec_push(&o->files, other); /* there is room for it */
    output_publish(o, other);
    return true;
}

void output_leave(struct output *o, struct output_file *f, uint64_t cpu_ns, bool is_last)
{
    if (--f->users == 0 && name_is_used_once(o->pattern))
        output_close_file(o, f, cpu_ns, !is_last);
}

void output_close(struct output *o, uint64_t cpu_ns)
{
    for (size_t i = 0; i < o->files.count; i++)
        output_close_file(o, o->files.data[i], cpu_ns, false);
}

void output_publish_all(struct output *o)
{
    for (size_t i = 0; i < o->files.count; i++)
        output_publish(o, o->files.data[i]);
}

void output_finish(struct output *o, output_finish_fn *finish, void *of)
{
    for (size_t i = 0; i < o->files.count; i++) {
        struct output_file *f = o->files.data[i];
        struct stat st;
        if (finish != NULL)
            finish(of, output_path(f));
        output_publish(o, f);
        o->bytes += stat(output_path(f), &st) == 0 ? (uint64_t)st.st_size : 0;
    }
}
