/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * lookup: what a recording says about its addresses: names, and the binaries
 * that are in it.  Neither is touched before somebody asks.
 *
 * A module becomes an image (store/names.h) by build id and path; the module
 * of the program itself has its path from the process.  Code in no module
 * belongs to an image that stands for its process alone, "[process 3]", since
 * such addresses mean nothing elsewhere; so does code made at run time that the
 * recording has a module for, "[jit]".
 */
#include "store/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/piece.h"
#include "store/symbols.h"
#include "tool/file.h"
#include "tool/memory.h"
#include "wire/record.h"

/* ------------------------------------------------------------------- names */

void lookup_load(struct wake_reader *r, size_t first)
{
    for (size_t i = first; r->names != NULL && i < r->index.entries.count; i++) {
        const struct index_entry *e = &r->index.entries.data[i];
        struct payload payload;
        if (e->type != FORMAT_SYMBOLS)
            continue;
        int code = recording_read(r, e, &payload);
        if (code == 0 && symbols_decode(r->names, payload.bytes, payload.length, &r->budget) != 0)
            recording_damage(r, e->offset, "The symbols chunk at byte %llu makes no sense beyond some point.",
                             (unsigned long long)e->offset);
    }
}

struct names *wake_reader_names(struct wake_reader *r)
{
    if (r->names == NULL) {
        r->names = names_new();
        lookup_load(r, 0);
    }
    return r->names;
}

static uint32_t lookup_new_image(struct wake_reader *r, uint32_t process, uint32_t module)
{
    struct names *n = wake_reader_names(r);
    const struct wake_process *p = &r->shelves.data[process]->process;
    if (n == NULL)
        return 0;
    if (module == 0 || wake_module_is_jit(&p->modules.data[module - 1])) {
        char path[32];
        snprintf(path, sizeof path, "[process %u]", process);
        return names_image(n, NULL, 0, path);
    }
    const struct wake_module *m = &p->modules.data[module - 1];
    return names_image(n, m->build_id, m->build_id_length, wake_process_module_path(p, m));
}

uint32_t wake_reader_image(struct wake_reader *r, size_t process, uint32_t module)
{
    if (process >= r->shelves.count)
        return 0;
    struct meta_decoder *shelf = r->shelves.data[process];
    if (module > shelf->process.modules.count)
        module = 0;
    size_t count = shelf->process.modules.count + 1;
    if (shelf->image_count < count) {
        uint32_t *images = memory_resize(shelf->images, count * sizeof *images);
        if (images == NULL)
            return 0;
        memset(images + shelf->image_count, 0, (count - shelf->image_count) * sizeof *images);
        shelf->images = images;
        shelf->image_count = count;
    }
    if (shelf->images[module] == 0)
        shelf->images[module] = lookup_new_image(r, (uint32_t)process, module);
    return shelf->images[module];
}

uint64_t wake_process_place(const struct wake_process *p, const struct wake_node *node)
{
    uint64_t address = node->address & ~RECORD_FRAME_EXACT;
    bool is_in_module = node->module != 0 && node->module <= p->modules.count;
    return is_in_module ? address - p->modules.data[node->module - 1].bias : address;
}

bool wake_module_is_jit(const struct wake_module *m)
{
    return m->build_id_length == 0 && strcmp(m->path, RECORD_MODULE_JIT) == 0;
}

const char *wake_process_module_path(const struct wake_process *p, const struct wake_module *m)
{
    return m->path[0] == '\0' ? p->info.exe : m->path;
}

const struct name_place *wake_reader_name(struct wake_reader *r, size_t process, const struct wake_node *node)
{
    uint32_t image = wake_reader_image(r, process, node->module);
    if (image == 0)
        return NULL;
    return names_find(r->names, image, wake_process_place(&r->shelves.data[process]->process, node),
                      (node->address & RECORD_FRAME_EXACT) != 0);
}

/* ---------------------------------------------------------------- binaries */

/* The binary that a piece belongs to, made when it is new; NULL: no memory. */
static struct embedded *lookup_binary(struct wake_reader *r, const struct piece *piece)
{
    uint64_t hash = hash_join(codec_sum(piece->build_id, piece->build_id_length),
                              codec_sum(piece->path, piece->path_length));
    const uint64_t *known = map_find(&r->binary_numbers, hash);
    if (known != NULL)
        return &r->binaries.data[*known];
    size_t cost = sizeof(struct embedded) + piece->build_id_length + piece->path_length + 2;
    struct embedded b = {0};
    if (!meta_decoder_spend(r, cost))
        return NULL;
    b.about.build_id = (const uint8_t *)arena_push_text(&r->arena, piece->build_id, piece->build_id_length);
    b.about.build_id_length = piece->build_id_length;
    b.about.path = arena_push_text(&r->arena, piece->path, piece->path_length);
    if (b.about.build_id == NULL || b.about.path == NULL ||
        !map_set(&r->binary_numbers, hash, r->binaries.count) || !vec_push(&r->binaries, b))
        return NULL;
    return &r->binaries.data[r->binaries.count - 1];
}

/* Reads what stands before a piece. */
static bool lookup_head(struct wake_reader *r, const struct index_entry *e, uint8_t *bytes,
                        struct piece *piece)
{
    size_t got, head, want = e->stored < PIECE_HEAD_MAX ? e->stored : PIECE_HEAD_MAX;
    return file_read_at(recording_fd(r, e), bytes, want, e->offset + FORMAT_CHUNK_HEADER_SIZE, &got) == 0 &&
           got == want && piece_decode_head(bytes, want, piece, &head);
}

static int lookup_add_piece(struct wake_reader *r, size_t at)
{
    uint8_t bytes[PIECE_HEAD_MAX];
    struct piece piece;
    if (!lookup_head(r, &r->index.entries.data[at], bytes, &piece))
        return ERR_INPUT;
    struct embedded *b = lookup_binary(r, &piece);
    if (b == NULL)
        return ERR_MEMORY;
    if (piece.offset == 0) {
        /* It begins again: what came before was not finished, or is older. */
        b->pieces.count = 0;
        b->about.stored = 0;
        b->about.length = piece.total;
    }
    if (piece.offset != b->about.stored || piece.total != b->about.length)
        return ERR_INPUT;
    b->about.stored += piece.length;
    b->about.is_whole = b->about.stored == b->about.length;
    return vec_push(&b->pieces, at) ? 0 : ERR_MEMORY;
}

static void lookup_binaries(struct wake_reader *r)
{
    if (r->has_binaries)
        return;
    r->has_binaries = true;
    map_init(&r->binary_numbers);
    for (size_t i = 0; i < r->index.entries.count; i++) {
        const struct index_entry *e = &r->index.entries.data[i];
        if (e->type == FORMAT_BINARY && lookup_add_piece(r, i) != 0)
            recording_damage(r, e->offset, "The binary chunk at byte %llu makes no sense and is left out.",
                             (unsigned long long)e->offset);
    }
}

void lookup_release(struct wake_reader *r)
{
    for (size_t i = 0; i < r->binaries.count; i++)
        vec_release(&r->binaries.data[i].pieces);
    vec_release(&r->binaries);
    map_release(&r->binary_numbers);
    names_free(r->names);
    r->names = NULL;
}

size_t wake_reader_binary_count(struct wake_reader *r)
{
    lookup_binaries(r);
    return r->binaries.count;
}

const struct wake_binary *wake_reader_binary(struct wake_reader *r, size_t i)
{
    lookup_binaries(r);
    return i < r->binaries.count ? &r->binaries.data[i].about : NULL;
}

/* Unpacks the piece of an index entry; 0, ERR_INPUT (noted), ERR_MEMORY. */
static int lookup_unpack(struct wake_reader *r, const struct index_entry *e, struct payload *p)
{
    struct piece piece;
    size_t head;
    int code = recording_read(r, e, p);
    if (code != 0)
        return code;
    bool sound = piece_decode_head(p->bytes, p->length, &piece, &head);
    if (sound && recording_reserve_raw(r, (size_t)piece.length + 1) == NULL)
        return ERR_MEMORY;
    if (!sound || !codec_unpack(&r->scratch.codec, r->scratch.raw, piece.length, p->bytes + head,
                                p->length - head, piece.flags)) {
        recording_damage(r, e->offset, "The binary chunk at byte %llu cannot be unpacked.",
                         (unsigned long long)e->offset);
        return ERR_INPUT;
    }
    p->bytes = r->scratch.raw;
    p->length = piece.length;
    return 0;
}

int wake_reader_copy_binary(struct wake_reader *r, size_t i, wake_bytes_fn *put, void *context,
                            struct err *err)
{
    const struct wake_binary *b = wake_reader_binary(r, i);
    if (b == NULL)
        return err_set(err, ERR_ABSENT, "%s has no binary number %zu.", r->path, i);
    int code = b->is_whole ? 0 : ERR_INPUT;
    for (size_t k = 0; code == 0 && k < r->binaries.data[i].pieces.count; k++) {
        struct payload p;
        code = lookup_unpack(r, &r->index.entries.data[r->binaries.data[i].pieces.data[k]], &p);
        if (code != 0)
            break;
        int stop = put(p.bytes, p.length, context);
        if (stop != 0)
            return stop;
    }
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    if (code != 0)
        return err_set(err, code, "A part of %s in %s is damaged or not there.", b->path, r->path);
    return 0;
}

static int lookup_ignore(const uint8_t *bytes, size_t length, void *context)
{
    (void)bytes;
    (void)length;
    (void)context;
    return 0;
}

int lookup_verify_names(struct wake_reader *r, size_t process, struct err *err)
{
    (void)process;
    return wake_reader_names(r) != NULL ? 0 : err_no_memory(err);
}

int lookup_verify_binaries(struct wake_reader *r, size_t process, struct err *err)
{
    (void)process;
    for (size_t i = 0; i < wake_reader_binary_count(r); i++) {
        if (r->binaries.data[i].pieces.count == 0)
            continue; /* noted when the list was made */
        const struct index_entry *first = &r->index.entries.data[r->binaries.data[i].pieces.data[0]];
        int code = wake_reader_copy_binary(r, i, lookup_ignore, NULL, err);
        if (code == ERR_MEMORY)
            return code;
        if (code != 0)
            recording_damage(r, first->offset, "Of the binary at byte %llu not all is there.",
                             (unsigned long long)first->offset);
    }
    return 0;
}
