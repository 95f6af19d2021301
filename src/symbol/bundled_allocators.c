/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * bundled_allocators: see bundled_allocators.h.
 */
#include "symbol/bundled_allocators.h"

#include "store/names.h"
#include "symbol/elf_id.h"
#include "symbol/inner.h"
#include "symbol/locate.h"
#include "tool/file.h"
#include "tool/strbuf.h"

#include <string.h>

struct bundled_allocators {
    struct wake_annex *annex;
    const struct wake_reader *reader;
    const char *sysroot;
    level_say_fn *say;
    void *say_of;
    struct names *seen; /* an image for each path, so that each is looked at once */
    uint32_t looked_at; /* of these */
};

/* The note about a file that has this allocator, a name of symbol/inner.h, inside. */
static void bundled_allocators_spell(struct strbuf *note, const char *path, const char *name)
{
    strbuf_clear(note);
    if (name == inner_go)
        strbuf_addf(
            note,
            "%s is a Go program: what Go's own allocator hands out is not recorded. 'heapwake import' "
            "reads the heap profiles that Go's runtime/pprof writes.",
            path);
    else
        strbuf_addf(note,
                    "%s has %s inside, under names of its own: what that hands out, if anything, is not "
                    "recorded. Build it to use the C library's malloc to have it recorded.",
                    path, name);
}

static bool bundled_allocators_is_about(const char *note, const char *path, struct strbuf *spelled)
{
    const char *name;
    if (path == NULL || strncmp(note, path, strlen(path)) != 0)
        return false;
    for (size_t i = 0; (name = inner_name(i)) != NULL; i++) {
        bundled_allocators_spell(spelled, path, name);
        if (strcmp(note, strbuf_get(spelled)) == 0)
            return true;
    }
    return false;
}

bool bundled_allocators_is_note(const struct wake_reader *r, const char *note)
{
    struct strbuf spelled;
    bool is_one = false;
    strbuf_init(&spelled);
    for (size_t i = 0; i < wake_reader_process_count(r) && !is_one; i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        is_one = bundled_allocators_is_about(note, p->info.exe, &spelled);
        for (size_t k = 0; k < p->modules.count && !is_one; k++)
            is_one =
                bundled_allocators_is_about(note, wake_process_module_path(p, &p->modules.data[k]), &spelled);
    }
    strbuf_release(&spelled);
    return is_one;
}

static void bundled_allocators_look(struct bundled_allocators *in, const char *path, const uint8_t *build_id,
                                    size_t length)
{
    struct strbuf sentence;
    int fd;
    if (!locate_is_file(path, in->sysroot != NULL))
        return;
    uint32_t number = names_image(in->seen, NULL, 0, path);
    if (number <= in->looked_at)
        return; /* or there is no memory */
    in->looked_at = number;
    if (elf_id_open(&fd, in->sysroot, path, build_id, length, NULL) != 0)
        return;
    const char *name = inner_find(fd, path);
    file_close(fd);
    if (name == NULL)
        return;
    strbuf_init(&sentence);
    bundled_allocators_spell(&sentence, path, name);
    if (!sentence.failed && !wake_reader_has_note(in->reader, strbuf_get(&sentence))) {
        wake_annex_add_note(in->annex, strbuf_get(&sentence));
        in->say(in->say_of, LEVEL_WARN, strbuf_get(&sentence));
    }
    strbuf_release(&sentence);
}

void bundled_allocators_note(struct wake_annex *a, const struct wake_reader *r, const char *sysroot,
                             level_say_fn *say, void *say_of)
{
    struct bundled_allocators in = {a, r, sysroot, say, say_of, names_new(), 0};
    for (size_t i = 0; in.seen != NULL && i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        for (size_t k = 0; k < p->modules.count; k++) {
            const struct wake_module *m = &p->modules.data[k];
            bundled_allocators_look(&in, wake_process_module_path(p, m), m->build_id, m->build_id_length);
        }
        /* One that allocates from inside only has no stack, and so no module. */
        bundled_allocators_look(&in, p->info.exe, NULL, 0);
    }
    names_free(in.seen);
}
