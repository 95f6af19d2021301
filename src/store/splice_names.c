/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * splice_names: names and binaries of the sources together.  What the same address
 * of the same file is called is said once, and a binary is there once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/splicing.h"

/* Code in no module has an image named by the number of its process. */
static const char *splice_image_path(const struct splice_source *x, const char *path, char *room, size_t size)
{
    uint32_t number;
    if (!names_is_process(path, &number))
        return path;
    snprintf(room, size, "[process %u]", number + x->base);
    return room;
}

static bool splice_copy_image(struct splice_source *x, const struct names *from, uint32_t image)
{
    const struct name_image *about = names_get_image(from, image);
    struct name_entry *entries = NULL;
    size_t count = 0;
    char room[32];
    uint32_t to = names_image(x->s->names, about->build_id, about->build_id_length,
                              splice_image_path(x, about->path, room, sizeof room));
    if (to == 0 || !names_list(from, image, &entries, &count))
        return false;
    bool done = true;
    if (names_get_image(x->s->names, to)->source <= about->source)
        done = names_set_source(x->s->names, to, (enum name_source)about->source, about->remark);
    for (size_t i = 0; i < count && done; i++)
        done = names_add(x->s->names, to, entries[i].place, entries[i].exact, entries[i].name->frames,
                         entries[i].name->count);
    free(entries);
    return done;
}

void splice_add_names(struct splice_source *x)
{
    const struct names *from = x->mask != NULL ? x->mask->names : wake_reader_names(x->r);
    bool done = from != NULL;
    for (uint32_t i = 1; done && i <= names_image_count(from); i++)
        done = splice_copy_image(x, from, i);
    if (!done)
        splice_fail(x->s, ENOMEM);
}

static void splice_add_binary(struct splice_source *x, const struct embedded *b)
{
    uint64_t hash = hash_join(codec_sum(b->about.build_id, b->about.build_id_length),
                              codec_sum(b->about.path, strlen(b->about.path)));
    if (!b->about.is_whole || map_find(&x->s->binaries, hash) != NULL)
        return;
    if (!map_set(&x->s->binaries, hash, 1))
        splice_fail(x->s, ENOMEM);
    for (size_t i = 0; i < b->pieces.count && x->s->error == 0; i++) {
        struct payload from;
        int code = recording_read(x->r, &x->r->index.entries.data[b->pieces.data[i]], &from);
        if (code == ERR_MEMORY)
            splice_fail(x->s, ENOMEM);
        if (code != 0)
            return; /* what is there of it stays without its end, and readers say so */
        splice_stored(x->s, FORMAT_BINARY, FORMAT_NO_PROCESS, from.bytes, from.length, from.header.raw);
    }
}

void splice_add_binaries(struct splice_source *x)
{
    size_t count = x->mask != NULL ? 0 : wake_reader_binary_count(x->r);
    for (size_t i = 0; i < count; i++)
        splice_add_binary(x, &x->r->binaries.data[i]);
}
