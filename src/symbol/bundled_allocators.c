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

/* Behind the names of a file and an allocator. */
static const char bundled_allocators_words[] =
    " inside, under names of its own: what that hands out, if anything, is not recorded. "
    "Build it to use the C library's malloc to have it recorded.";

/* Behind the name of a program. */
static const char bundled_allocators_go[] =
    " is a Go program: what Go's own allocator hands out is not recorded. 'heapwake import' reads the heap "
    "profiles that Go's runtime/pprof writes.";

static bool bundled_allocators_ends_with(const char *note, const char *words)
{
    size_t length = strlen(note), end = strlen(words);
    return length > end && strcmp(note + length - end, words) == 0;
}

bool bundled_allocators_is_note(const char *note)
{
    return bundled_allocators_ends_with(note, bundled_allocators_words) ||
           bundled_allocators_ends_with(note, bundled_allocators_go);
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
    if (name == inner_go)
        strbuf_addf(&sentence, "%s%s", path, bundled_allocators_go);
    else
        strbuf_addf(&sentence, "%s has %s%s", path, name, bundled_allocators_words);
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
