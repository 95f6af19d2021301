/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * naming: see naming.h.
 *
 *     nodes of all stacks -> wants, sorted by image -> for each image:
 *         open (the file in the recording, or one that is found) -> resolve each place -> names
 *
 * What is known is never made worse: an image that is not found now, or with
 * less in it than then, keeps the names it has.
 */
#include "symbol/naming.h"

#include "symbol/elf_resolver.h"
#include "symbol/perf_map.h"
#include "tool/file.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "wire/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct naming_note {
    uint32_t image;
    char *remark;
};

struct naming {
    struct naming_options options;
    const struct naming_resolver *resolver;
    struct elf_resolver *own; /* NULL: the options name another */
    struct perf_map perf_map;
    uint64_t done, total; /* places */
    bool is_stopped;
    VEC(struct naming_note) notes;
};

/* ------------------------------------------------------------------- wants */

/* Distinct places so far, by image; the index is image * 2 + exact. */
struct naming_seen {
    VEC(struct map) places;
};

static bool seen_add(struct naming_seen *s, uint32_t image, uint64_t place, bool exact)
{
    size_t at = (size_t)image * 2 + exact;
    while (s->places.count <= at) {
        struct map none;
        map_init(&none);
        if (!vec_push(&s->places, none))
            return false;
    }
    struct map *m = &s->places.data[at];
    return map_find(m, place) != NULL || map_set(m, place, 1);
}

static void seen_release(struct naming_seen *s)
{
    for (size_t i = 0; i < s->places.count; i++)
        map_release(&s->places.data[i]);
    vec_release(&s->places);
}

static bool seen_gather(struct naming_seen *s, struct wake_reader *r)
{
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        for (size_t k = 1; k < p->nodes.count; k++) {
            const struct wake_node *node = &p->nodes.data[k];
            uint32_t image = wake_reader_image(r, i, node->module);
            if (image == 0 ||
                !seen_add(s, image, wake_process_place(p, node), (node->address & RECORD_FRAME_EXACT) != 0))
                return false;
        }
    }
    return true;
}

static int want_compare(const void *a, const void *b)
{
    const struct naming_want *x = a, *y = b;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (int)x->exact - (int)y->exact;
}

int naming_list(struct naming_wants *w, struct wake_reader *r, struct err *err)
{
    struct naming_seen seen = {0};
    *w = (struct naming_wants){0};
    bool done = wake_reader_names(r) != NULL && seen_gather(&seen, r);
    for (size_t i = 0; done && i < seen.places.count; i++) {
        uint64_t place, unused;
        for (size_t at = 0; done && map_next(&seen.places.data[i], &at, &place, &unused);)
            done = vec_push(&w->list, ((struct naming_want){place, (uint32_t)(i / 2), i % 2 != 0}));
    }
    seen_release(&seen);
    if (!done) {
        vec_release(&w->list);
        return err_no_memory(err);
    }
    if (w->list.count > 0)
        qsort(w->list.data, w->list.count, sizeof *w->list.data, want_compare);
    return 0;
}

size_t naming_next_image(const struct naming_wants *w, size_t at)
{
    uint32_t image = w->list.data[at].image;
    while (at < w->list.count && w->list.data[at].image == image)
        at++;
    return at;
}

bool naming_is_fileless(const struct name_image *image)
{
    return image->build_id_length == 0 && strncmp(image->path, "[process ", 9) == 0;
}

/* ------------------------------------------------------------------ asking */

/* The places of one image. */
struct naming_job {
    struct naming *naming;
    struct wake_reader *reader;
    struct names *names;
    uint32_t image;
    const struct naming_want *wants;
    size_t count;
};

static int job_fail(struct err *err)
{
    return err_no_memory(err);
}

static bool job_is_open(const struct naming_job *j, const struct naming_want *w)
{
    return j->naming->options.again || names_find(j->names, w->image, w->place, w->exact) == NULL;
}

/* Is there anything to ask? */
static bool job_is_needed(const struct naming_job *j)
{
    for (size_t i = 0; i < j->count; i++) {
        if (job_is_open(j, &j->wants[i]))
            return true;
    }
    return false;
}

/* Code in no module: only a perf map can tell. */
static int job_ask_maps(const struct naming_job *j, struct err *err)
{
    const struct perf_map *maps = &j->naming->perf_map;
    const struct name_image *image = names_get_image(j->names, j->image);
    bool done = true;
    if (maps->entries.count == 0) {
        if (image->source == NAME_SOURCE_NONE)
            done = names_set_source(j->names, j->image, NAME_SOURCE_MISSING, "Code that belongs to no file.");
        return done ? 0 : job_fail(err);
    }
    done = names_set_source(j->names, j->image, NAME_SOURCE_SYMBOLS, "Code that belongs to no file.");
    for (size_t i = 0; done && i < j->count; i++) {
        const struct naming_want *w = &j->wants[i];
        const char *name = perf_map_find(maps, w->exact ? w->place : w->place - 1);
        const struct name_frame frame = {name, "", "", 0, false};
        if (name != NULL)
            done = names_add(j->names, w->image, w->place, w->exact, &frame, 1);
    }
    return done ? 0 : job_fail(err);
}

static int job_write(const uint8_t *bytes, size_t length, void *context)
{
    const int *fd = context;
    return file_write_all(*fd, bytes, length, NULL) == 0 ? 0 : 1;
}

/* The image's file, if the recording has it: in a file without a name; -1: it has not. */
static int job_open_embedded(const struct naming_job *j)
{
    const struct name_image *image = names_get_image(j->names, j->image);
    const char *folder = getenv("TMPDIR");
    for (size_t i = 0; i < wake_reader_binary_count(j->reader); i++) {
        const struct wake_binary *b = wake_reader_binary(j->reader, i);
        if (!b->is_whole || strcmp(b->path, image->path) != 0 ||
            b->build_id_length != image->build_id_length ||
            (b->build_id_length > 0 && memcmp(b->build_id, image->build_id, b->build_id_length) != 0))
            continue;
        int fd =
            open(folder == NULL || folder[0] == '\0' ? "/tmp" : folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0 && wake_reader_copy_binary(j->reader, i, job_write, &fd, NULL) == 0)
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

/* How much frames tell: by the same debugging information an address has the same ones at any time. */
static size_t job_worth(const struct name_frame *frames, uint32_t count)
{
    size_t worth = 0;
    for (uint32_t i = 0; i < count; i++)
        worth += (frames[i].function[0] != '\0') + (frames[i].line != 0);
    return worth;
}

/* Does what is known tell more than what is found now?  Of a file without a build id it may be what another one was called. */
static bool job_is_less(const struct naming_job *j, const struct naming_want *w,
                        const struct name_frame *frames, uint32_t count)
{
    const struct name_place *known = names_find(j->names, w->image, w->place, w->exact);
    return known != NULL && names_get_image(j->names, w->image)->build_id_length > 0 &&
           job_worth(known->frames, known->count) > job_worth(frames, count);
}

/* *kept counts the places that keep the names they have. */
static int job_resolve(const struct naming_job *j, void *opened, size_t *kept, struct err *err)
{
    struct naming *n = j->naming;
    for (size_t i = 0; i < j->count; i++) {
        const struct naming_want *w = &j->wants[i];
        const struct name_frame *frames = NULL;
        if (!job_is_open(j, w))
            continue;
        if (n->options.is_stopped != NULL && n->options.is_stopped(n->options.is_stopped_of)) {
            n->is_stopped = true;
            return 0;
        }
        if (n->options.progress != NULL)
            n->options.progress(n->options.progress_of, "Looking up names", n->done + i, n->total);
        uint32_t count = n->resolver->resolve(n->resolver->of, opened, w->place, w->exact, &frames);
        if (job_is_less(j, w, frames, count))
            *kept += 1;
        else if (count > 0 && !names_add(j->names, w->image, w->place, w->exact, frames, count))
            return job_fail(err);
    }
    return 0;
}

/* Its names stay, as what was found now is less: that is told, and not put into the recording.  False: no memory. */
static bool job_note(const struct naming_job *j, const char *remark)
{
    struct naming_note note = {j->image, memory_copy_text(remark)};
    if (note.remark != NULL && vec_push(&j->naming->notes, note))
        return true;
    free(note.remark);
    return false;
}

/* Asks the resolver about the places of an image. */
static int naming_ask(const struct naming_job *j, struct err *err)
{
    const struct naming_resolver *resolver = j->naming->resolver;
    const struct name_image *image = names_get_image(j->names, j->image);
    enum name_source source = NAME_SOURCE_MISSING;
    struct strbuf remark;
    size_t kept = 0;
    int code = 0, fd = job_open_embedded(j);
    strbuf_init(&remark);
    void *opened = resolver->open(resolver->of, image, fd, &source, &remark);
    bool is_poorer = source < image->source;
    if (!is_poorer && opened != NULL)
        code = job_resolve(j, opened, &kept, err);
    /* What is wrong with a file may show only where it is read. */
    const char *now = opened != NULL && resolver->remark != NULL ? resolver->remark(resolver->of, opened)
                                                                 : strbuf_get(&remark);
    bool is_kept = is_poorer || (kept > 0 && source <= image->source);
    if (code == 0 && !(is_kept ? job_note(j, now) : names_set_source(j->names, j->image, source, now)))
        code = job_fail(err);
    const char *lack = opened != NULL && resolver->lack != NULL ? resolver->lack(resolver->of, opened) : NULL;
    if (code == 0 && lack != NULL)
        code = err_set(err, ERR_MEMORY, "%s", lack);
    if (opened != NULL)
        resolver->close(resolver->of, opened);
    if (fd >= 0)
        close(fd);
    strbuf_release(&remark);
    return code;
}

/* --------------------------------------------------------------- interface */

static void naming_forget_notes(struct naming *n)
{
    for (size_t i = 0; i < n->notes.count; i++)
        free(n->notes.data[i].remark);
    n->notes.count = 0;
}

struct naming *naming_open(const struct naming_options *options, struct err *err)
{
    struct stat st;
    if (options->sysroot != NULL && (stat(options->sysroot, &st) != 0 || !S_ISDIR(st.st_mode))) {
        err_set(err, ERR_ABSENT, "'%s' is no folder: --sysroot names the one that the files lie below.",
                options->sysroot);
        return NULL;
    }
    struct naming *n = memory_new_zeroed(1, sizeof *n);
    if (n == NULL) {
        err_no_memory(err);
        return NULL;
    }
    n->options = *options;
    if (options->resolver == NULL)
        n->own = elf_resolver_new(options, err);
    n->resolver = n->own != NULL ? elf_resolver_get(n->own) : options->resolver;
    if (n->resolver == NULL ||
        (options->perf_map != NULL && perf_map_open(&n->perf_map, options->perf_map, err) != 0)) {
        naming_close(n);
        return NULL;
    }
    return n;
}

void naming_close(struct naming *n)
{
    if (n == NULL)
        return;
    perf_map_close(&n->perf_map);
    elf_resolver_free(n->own);
    naming_forget_notes(n);
    vec_release(&n->notes);
    free(n);
}

bool naming_is_stopped(const struct naming *n)
{
    return n->is_stopped;
}

const char *naming_get_remark(const struct naming *n)
{
    return n->own != NULL ? elf_resolver_get_remark(n->own) : "";
}

const char *naming_get_note(const struct naming *n, uint32_t image)
{
    for (size_t i = 0; i < n->notes.count; i++)
        if (n->notes.data[i].image == image)
            return n->notes.data[i].remark;
    return NULL;
}

int naming_resolve(struct naming *n, struct wake_reader *r, struct err *err)
{
    struct naming_wants wants;
    naming_forget_notes(n);
    int code = naming_list(&wants, r, err);
    n->total = wants.list.count;
    for (size_t at = 0, next; code == 0 && at < wants.list.count && !n->is_stopped; at = next) {
        next = naming_next_image(&wants, at);
        const struct naming_job job = {
            n, r, wake_reader_names(r), wants.list.data[at].image, &wants.list.data[at], next - at};
        n->done = at;
        if (!job_is_needed(&job))
            continue;
        if (n->options.maps == NULL && naming_is_fileless(names_get_image(job.names, job.image)))
            code = job_ask_maps(&job, err);
        else
            code = naming_ask(&job, err);
    }
    vec_release(&wants.list);
    return code;
}
