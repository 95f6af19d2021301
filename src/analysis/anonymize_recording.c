/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * anonymize_recording: see anonymize_recording.h.
 *
 * Places are named by image, and an image is known by build id and path.  Under
 * the veil two images may come to have the same: two folders with a library of
 * the same name, or, without build ids, a file that was replaced while the
 * program ran.  The later one then gets its number behind its path, in its
 * modules and its names alike.
 */
#include "analysis/anonymize_recording.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/role.h"
#include "tool/strbuf.h"
#include "wire/record.h"

enum {
    /* The clocks of the recorder are part of the salt; what is finer than this stays secret. */
    ANONYMIZE_RECORDING_CLOCK_NS = 1000000
};

static const char *anonymize_recording_program(void *of, const char *exe)
{
    struct anonymize_recording *d = of;
    return anonymize_text(&d->veil, ANONYMIZE_PROGRAM, exe);
}

static const char *anonymize_recording_thread(void *of, const char *name)
{
    struct anonymize_recording *d = of;
    return anonymize_text(&d->veil, ANONYMIZE_THREAD, name);
}

static const char *anonymize_recording_mark(void *of, const char *name)
{
    struct anonymize_recording *d = of;
    return anonymize_text(&d->veil, ANONYMIZE_MARK, name);
}

/* Bytes are no secret. */
static const char *anonymize_recording_pool(void *of, const char *text)
{
    struct anonymize_recording *d = of;
    return strcmp(text, "bytes") == 0 ? text : anonymize_text(&d->veil, ANONYMIZE_POOL, text);
}

static bool anonymize_recording_has_module(const struct anonymize_recording *d, const char *path)
{
    for (size_t i = 0; i < wake_reader_process_count(d->reader); i++) {
        const struct wake_process *p = wake_reader_process(d->reader, i);
        for (size_t m = 0; m < p->modules.count; m++) {
            if (strcmp(wake_process_module_path(p, &p->modules.data[m]), path) == 0)
                return true;
        }
    }
    return false;
}

/* "[heap]", "[stack]" and what else the kernel has names for are no secret; those that the program
 * gave are, and so are files that are data. */
static const char *anonymize_recording_range(void *of, const char *name)
{
    struct anonymize_recording *d = of;
    bool is_given = strncmp(name, "[anon", 5) == 0;
    if (name[0] == '[' && !is_given)
        return name;
    return anonymize_text(
        &d->veil, !is_given && anonymize_recording_has_module(d, name) ? ANONYMIZE_MODULE : ANONYMIZE_RANGE,
        name);
}

static const char *anonymize_recording_module(void *of, size_t process, uint32_t module)
{
    struct anonymize_recording *d = of;
    const struct wake_process *p = wake_reader_process(d->reader, process);
    if (wake_module_is_jit(&p->modules.data[module - 1]))
        return RECORD_MODULE_JIT; /* no secret, and its names are those of code in no module */
    uint32_t image = wake_reader_image(d->reader, process, module);
    return image == 0 || image > d->paths.count ? NULL : d->paths.data[image - 1];
}

/* An image of the new names that is nobody else's; 0: no memory. */
static uint32_t anonymize_recording_add_image(struct anonymize_recording *d, const struct name_image *about,
                                              uint32_t number)
{
    uint32_t process;
    const char *path = names_is_process(about->path, &process)
                           ? about->path
                           : anonymize_text(&d->veil, ANONYMIZE_MODULE, about->path);
    size_t id_length = d->mask.has_build_ids ? about->build_id_length : 0;
    while (path != NULL) {
        size_t before = names_image_count(d->names);
        uint32_t image = names_image(d->names, about->build_id, id_length, path);
        if (image == 0 || image > before)
            return image;
        struct strbuf other;
        strbuf_init(&other);
        strbuf_addf(&other, "%s~%u", path, number);
        path = other.failed ? NULL : words_add_text(&d->veil.words, strbuf_get(&other));
        strbuf_release(&other);
    }
    return 0;
}

static bool anonymize_recording_add_place(struct anonymize_recording *d, uint32_t image, const char *module,
                                          const struct name_entry *e)
{
    struct name_frame frames[NAMES_FRAMES_MAX];
    for (uint32_t i = 0; i < e->name->count; i++) {
        const struct name_frame *from = &e->name->frames[i];
        struct frame f = {
            .function = from->function, .linkage = from->linkage, .file = from->file, .module = module};
        f.role = (uint8_t)role_find(&f);
        if (!anonymize_frame(&d->veil, &f))
            return false;
        frames[i] = (struct name_frame){.function = f.function,
                                        .linkage = "",
                                        .file = f.file,
                                        .line = from->line,
                                        .inlined = from->inlined};
    }
    return names_add(d->names, image, e->place, e->exact, frames, e->name->count);
}

static bool anonymize_recording_image(struct anonymize_recording *d, const struct names *from,
                                      uint32_t number)
{
    const struct name_image *about = names_get_image(from, number);
    struct name_entry *entries = NULL;
    size_t count = 0;
    uint32_t image = anonymize_recording_add_image(d, about, number);
    if (image == 0 || !vec_push(&d->paths, names_get_image(d->names, image)->path) ||
        !names_set_source(d->names, image, (enum name_source)about->source, "") ||
        !names_list(from, number, &entries, &count))
        return false;
    bool done = true;
    for (size_t i = 0; i < count && done; i++)
        done = anonymize_recording_add_place(d, image, about->path, &entries[i]);
    free(entries);
    return done;
}

/* The images of all modules are among the names, whether one of their places has a name or not. */
static bool anonymize_recording_know_modules(struct wake_reader *r)
{
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        for (uint32_t m = 0; m <= p->modules.count; m++) {
            if (wake_reader_image(r, i, m) == 0)
                return false;
        }
    }
    return true;
}

int anonymize_recording_init(struct anonymize_recording *d, struct wake_reader *r, enum anonymize_level level,
                             struct err *err)
{
    *d = (struct anonymize_recording){.reader = r, .names = names_new()};
    anonymize_init(&d->veil, level, anonymize_salt(r));
    d->mask = (struct rewrite_mask){.of = d,
                                    .show_program = anonymize_recording_program,
                                    .show_thread = anonymize_recording_thread,
                                    .show_mark = anonymize_recording_mark,
                                    .show_pool = anonymize_recording_pool,
                                    .show_range = anonymize_recording_range,
                                    .show_module = anonymize_recording_module,
                                    .has_build_ids = level == ANONYMIZE_PARTIAL,
                                    .names = d->names,
                                    .clock_step = ANONYMIZE_RECORDING_CLOCK_NS};
    const struct names *from = wake_reader_names(r);
    bool done = d->names != NULL && from != NULL && anonymize_recording_know_modules(r);
    for (uint32_t i = 1; done && i <= names_image_count(from); i++)
        done = anonymize_recording_image(d, from, i);
    return done ? 0 : err_no_memory(err);
}

void anonymize_recording_release(struct anonymize_recording *d)
{
    vec_release(&d->paths);
    names_free(d->names);
    anonymize_release(&d->veil);
}
