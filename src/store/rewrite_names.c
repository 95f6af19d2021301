/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rewrite_names: names, binaries and notes of the sources together.  What the same
 * address of the same file is called is written once, and so is a binary.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/rewriting.h"

/* Code in no module has an image named by the number of its process. */
static const char *rewrite_image_path(const struct rewrite_source *x, const char *path, char *room,
                                      size_t size)
{
    uint32_t number;
    if (!names_is_process(path, &number))
        return path;
    snprintf(room, size, "[process %u]", number + x->base);
    return room;
}

static bool rewrite_copy_image(struct rewrite_source *x, const struct names *from, uint32_t image)
{
    const struct name_image *about = names_get_image(from, image);
    struct names *all = x->rewrite->names;
    struct name_entry *entries = NULL;
    size_t count = 0;
    char room[32];
    uint32_t to = names_image(all, about->build_id, about->build_id_length,
                              rewrite_image_path(x, about->path, room, sizeof room));
    if (to == 0 || !names_list(from, image, &entries, &count))
        return false;
    bool done = true;
    if (names_get_image(all, to)->source <= about->source)
        done = names_set_source(all, to, (enum name_source)about->source, about->remark);
    for (size_t i = 0; i < count && done; i++)
        done = names_add(all, to, entries[i].place, entries[i].exact, entries[i].name->frames,
                         entries[i].name->count);
    free(entries);
    return done;
}

void rewrite_gather_names(struct rewrite_source *x)
{
    const struct names *from = x->mask != NULL ? x->mask->names : wake_reader_names(x->r);
    bool done = from != NULL;
    for (uint32_t i = 1; done && i <= names_image_count(from); i++)
        done = rewrite_copy_image(x, from, i);
    if (!done)
        writer_fail(x->w, ENOMEM);
}

static void rewrite_put_binary(struct rewrite_source *x, const struct embedded *b)
{
    struct wake_rewrite *rw = x->rewrite;
    uint64_t hash = hash_join(codec_sum(b->about.build_id, b->about.build_id_length),
                              codec_sum(b->about.path, strlen(b->about.path)));
    if (!b->about.is_whole || map_find(&rw->binaries, hash) != NULL)
        return;
    if (!map_set(&rw->binaries, hash, 1))
        writer_fail(x->w, ENOMEM);
    for (size_t i = 0; i < b->pieces.count && x->w->error == 0; i++) {
        struct payload from;
        int code = recording_read(x->r, &x->r->index.entries.data[b->pieces.data[i]], &from);
        if (code == ERR_MEMORY)
            writer_fail(x->w, ENOMEM);
        if (code != 0)
            return; /* what is there of it stays without its end, and readers say so */
        if (rw->annex != NULL)
            wake_annex_add_piece(rw->annex, from.bytes, from.length, from.header.raw);
        else
            writer_stored(x->w, FORMAT_BINARY, FORMAT_NO_PROCESS, from.bytes, from.length, from.header.raw);
    }
}

void rewrite_put_binaries(struct rewrite_source *x)
{
    size_t count = x->mask != NULL ? 0 : wake_reader_binary_count(x->r);
    for (size_t i = 0; i < count; i++)
        rewrite_put_binary(x, &x->r->binaries.data[i]);
}

/* They may name anything. */
void rewrite_put_notes(struct rewrite_source *x)
{
    char text[WAKE_VEILED_NOTE];
    for (size_t i = 0; x->mask == NULL && i < wake_reader_note_count(x->r); i++)
        wake_writer_add_note(x->w, wake_reader_note(x->r, i), strlen(wake_reader_note(x->r, i)));
    if (x->mask != NULL && wake_reader_veiled_note(x->r, text)[0] != '\0')
        wake_writer_add_note(x->w, text, strlen(text));
}
