/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symbols: see symbols.h.
 *
 *     | texts | images | image 1: place, frames; place, frames; ... | image 2: ... |
 *
 * Texts and images are numbered from 1 in their chunk; text 0 is the empty one.
 * docs/format.md draws the bytes.
 */
#include "store/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "store/format.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

enum {
    SYMBOLS_ENOUGH = 2 << 20, /* gathered bytes that are worth a chunk */
};

_Static_assert(SYMBOLS_ENOUGH + 3 * NAMES_FRAMES_MAX * (NAMES_TEXT_MAX + 16) < FORMAT_PAYLOAD_MAX,
               "the place that fills a chunk still fits into it");

/* ---------------------------------------------------------------- encoding */

/* A chunk that is being gathered. */
struct symbols_draft {
    const struct names *names;
    struct map numbers; /* address of a text -> its number */
    struct strbuf texts, images, groups, group, scratch;
    uint64_t text_count, image_count, group_count;
    uint64_t last; /* place before in this group */
    symbols_put_fn *put;
    void *put_of;
};

/* The number of a text in this chunk.  Texts of names are there once: an address is a text. */
static uint64_t draft_text(struct symbols_draft *d, const char *text)
{
    if (text[0] == '\0')
        return 0;
    const uint64_t *known = map_find(&d->numbers, (uintptr_t)text);
    if (known != NULL)
        return *known;
    size_t length = strlen(text);
    strbuf_add_varint(&d->texts, length);
    strbuf_add(&d->texts, text, length);
    if (!map_set(&d->numbers, (uintptr_t)text, ++d->text_count))
        d->texts.failed = true;
    return d->text_count;
}

static void draft_add_bytes(struct strbuf *to, const void *bytes, size_t length)
{
    strbuf_add_varint(to, length);
    strbuf_add(to, bytes, length);
}

static void draft_open_group(struct symbols_draft *d, uint32_t image)
{
    const struct name_image *i = names_get_image(d->names, image);
    strbuf_clear(&d->scratch);
    draft_add_bytes(&d->scratch, i->build_id, i->build_id_length);
    draft_add_bytes(&d->scratch, i->path, strlen(i->path));
    strbuf_add_varint(&d->scratch, i->source);
    draft_add_bytes(&d->scratch, i->remark, strlen(i->remark));
    draft_add_bytes(&d->images, d->scratch.text, d->scratch.length);
    d->images.failed |= d->scratch.failed;
    d->image_count++;
    d->group_count = d->last = 0;
    strbuf_clear(&d->group);
}

static void draft_close_group(struct symbols_draft *d)
{
    if (d->group_count == 0)
        return;
    strbuf_add_varint(&d->groups, d->image_count);
    strbuf_add_varint(&d->groups, d->group_count);
    strbuf_add(&d->groups, d->group.text, d->group.length);
    d->groups.failed |= d->group.failed;
    d->group_count = 0;
}

static void draft_add_place(struct symbols_draft *d, const struct name_entry *e)
{
    const struct name_place *p = e->name;
    strbuf_add_varint(&d->group, e->place - d->last);
    strbuf_add_varint(&d->group, (uint64_t)p->count * 2 + e->exact);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct name_frame *f = &p->frames[i];
        strbuf_add_varint(&d->group, draft_text(d, f->function));
        strbuf_add_varint(&d->group, draft_text(d, f->linkage));
        strbuf_add_varint(&d->group, draft_text(d, f->file));
        strbuf_add_varint(&d->group, (uint64_t)f->line * 2 + f->inlined);
    }
    d->last = e->place;
    d->group_count++;
}

static bool draft_is_full(const struct symbols_draft *d)
{
    return d->texts.length + d->images.length + d->groups.length + d->group.length >= SYMBOLS_ENOUGH;
}

/* Hands the chunk on and begins another. */
static int draft_flush(struct symbols_draft *d)
{
    struct strbuf *out = &d->scratch;
    strbuf_clear(out);
    strbuf_add_varint(out, d->text_count);
    strbuf_add(out, d->texts.text, d->texts.length);
    strbuf_add_varint(out, d->image_count);
    strbuf_add(out, d->images.text, d->images.length);
    strbuf_add(out, d->groups.text, d->groups.length);
    if (out->failed || d->texts.failed || d->images.failed || d->groups.failed)
        return ERR_MEMORY;
    int code = d->image_count == 0 ? 0 : d->put(d->put_of, out);
    strbuf_clear(&d->texts);
    strbuf_clear(&d->images);
    strbuf_clear(&d->groups);
    strbuf_clear(&d->group);
    map_release(&d->numbers);
    d->text_count = d->image_count = d->group_count = 0;
    return code;
}

static int draft_add_image(struct symbols_draft *d, uint32_t image)
{
    struct name_entry *entries;
    size_t count;
    int code = names_list(d->names, image, &entries, &count) ? 0 : ERR_MEMORY;
    if (code == 0)
        draft_open_group(d, image);
    for (size_t i = 0; code == 0 && i < count; i++) {
        draft_add_place(d, &entries[i]);
        if (!draft_is_full(d))
            continue;
        draft_close_group(d);
        code = draft_flush(d);
        if (code == 0 && i + 1 < count)
            draft_open_group(d, image);
    }
    draft_close_group(d);
    if (code == 0 && draft_is_full(d))
        code = draft_flush(d);
    free(entries);
    return code;
}

int symbols_encode(const struct names *n, symbols_put_fn *put, void *of)
{
    struct symbols_draft d = {.names = n, .put = put, .put_of = of};
    int code = 0;
    map_init(&d.numbers);
    for (uint32_t i = 1; code == 0 && i <= names_image_count(n); i++)
        code = draft_add_image(&d, i);
    if (code == 0)
        code = draft_flush(&d);
    map_release(&d.numbers);
    strbuf_release(&d.texts);
    strbuf_release(&d.images);
    strbuf_release(&d.groups);
    strbuf_release(&d.group);
    strbuf_release(&d.scratch);
    return code;
}

/* ---------------------------------------------------------------- decoding */

struct symbols_page {
    struct names *names;
    struct cursor c;
    uint64_t *budget;
    VEC(const char *) texts; /* number n is at n */
    VEC(uint32_t) images;    /* number n is at n - 1 */
};

enum {
    SYMBOLS_TEXT_COST = 64, /* memory beside the bytes of a text */
    SYMBOLS_PLACE_COST = 96,
    SYMBOLS_IMAGE_COST = 256,
};

static bool page_spend(struct symbols_page *p, uint64_t bytes)
{
    if (bytes > *p->budget)
        return false;
    *p->budget -= bytes;
    return true;
}

static const uint8_t *page_bytes(struct cursor *c, size_t *length)
{
    uint64_t wanted = cursor_uleb(c);
    *length = wanted > FORMAT_PAYLOAD_MAX ? 0 : (size_t)wanted;
    const uint8_t *bytes = wanted > FORMAT_PAYLOAD_MAX ? NULL : cursor_take(c, *length);
    if (bytes == NULL)
        c->bad = true;
    return bytes;
}

/* A text; NULL: not there (the cursor is bad), or no memory. */
static const char *page_text(struct symbols_page *p, struct cursor *c)
{
    size_t length;
    const uint8_t *bytes = page_bytes(c, &length);
    if (bytes == NULL || !page_spend(p, length + SYMBOLS_TEXT_COST))
        return NULL;
    return names_text(p->names, (const char *)bytes, strnlen((const char *)bytes, length));
}

static int page_texts(struct symbols_page *p)
{
    uint64_t count = cursor_uleb(&p->c);
    if (count > cursor_left(&p->c))
        return ERR_INPUT;
    if (!page_spend(p, (count + 1) * sizeof(char *)) || !vec_reserve(&p->texts, count + 1))
        return ERR_MEMORY;
    (void)vec_push(&p->texts, "");
    for (uint64_t i = 0; i < count; i++) {
        const char *text = page_text(p, &p->c);
        if (text == NULL)
            return cursor_is_bad(&p->c) ? ERR_INPUT : ERR_MEMORY;
        (void)vec_push(&p->texts, text);
    }
    return 0;
}

static int page_image(struct symbols_page *p, struct cursor *record)
{
    size_t id_length;
    const uint8_t *id = page_bytes(record, &id_length);
    const char *path = page_text(p, record);
    uint64_t source = cursor_uleb(record);
    const char *remark = page_text(p, record);
    if (cursor_is_bad(record) || source > UINT8_MAX)
        return ERR_INPUT;
    if (path == NULL || remark == NULL || !page_spend(p, id_length + SYMBOLS_IMAGE_COST))
        return ERR_MEMORY;
    uint32_t image = names_image(p->names, id, id_length < NAMES_TEXT_MAX ? id_length : NAMES_TEXT_MAX, path);
    bool done = image != 0 && names_set_source(p->names, image, (enum name_source)source, remark);
    return done && vec_push(&p->images, image) ? 0 : ERR_MEMORY;
}

static int page_images(struct symbols_page *p)
{
    uint64_t count = cursor_uleb(&p->c);
    int code = count > cursor_left(&p->c) ? ERR_INPUT : 0;
    for (uint64_t i = 0; code == 0 && i < count; i++) {
        size_t length;
        struct cursor record;
        const uint8_t *bytes = page_bytes(&p->c, &length);
        cursor_init(&record, bytes, length);
        code = bytes == NULL ? ERR_INPUT : page_image(p, &record);
    }
    return code;
}

static int page_frames(struct symbols_page *p, struct name_frame *frames, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t function = cursor_uleb(&p->c), linkage = cursor_uleb(&p->c), file = cursor_uleb(&p->c),
                 line = cursor_uleb(&p->c);
        if (cursor_is_bad(&p->c) || function >= p->texts.count || linkage >= p->texts.count ||
            file >= p->texts.count || line >> 1 > UINT32_MAX)
            return ERR_INPUT;
        frames[i] = (struct name_frame){.function = p->texts.data[function],
                                        .linkage = p->texts.data[linkage],
                                        .file = p->texts.data[file],
                                        .line = (uint32_t)(line >> 1),
                                        .inlined = (line & 1) != 0};
    }
    return 0;
}

static int page_group(struct symbols_page *p)
{
    struct name_frame frames[NAMES_FRAMES_MAX];
    uint64_t image = cursor_uleb(&p->c), count = cursor_uleb(&p->c), place = 0;
    if (image == 0 || image > p->images.count || count > cursor_left(&p->c) / 6)
        return ERR_INPUT;
    for (uint64_t i = 0; i < count; i++) {
        place += cursor_uleb(&p->c);
        uint64_t head = cursor_uleb(&p->c), depth = head >> 1;
        if (depth == 0 || depth > NAMES_FRAMES_MAX || page_frames(p, frames, depth) != 0)
            return ERR_INPUT;
        if (!page_spend(p, depth * sizeof *frames + SYMBOLS_PLACE_COST) ||
            !names_add_kept(p->names, p->images.data[image - 1], place, (head & 1) != 0, frames,
                            (uint32_t)depth))
            return ERR_MEMORY;
    }
    return 0;
}

int symbols_decode(struct names *n, const uint8_t *bytes, size_t length, uint64_t *budget)
{
    struct symbols_page p = {.names = n, .budget = budget};
    cursor_init(&p.c, bytes, length);
    int code = page_texts(&p);
    if (code == 0)
        code = page_images(&p);
    while (code == 0 && cursor_left(&p.c) > 0)
        code = page_group(&p);
    if (code == 0 && cursor_is_bad(&p.c))
        code = ERR_INPUT;
    vec_release(&p.texts);
    vec_release(&p.images);
    return code;
}
