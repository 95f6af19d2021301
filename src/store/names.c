/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * names: see names.h.
 *
 *     images[n] -> places (return addresses) ---\
 *                  places (exact addresses) -----> list -> frames -> texts
 *                                                   ^ shared by all places of a line
 *
 * Programs have many places on few lines, few files and few functions, so
 * texts are kept once, and so are whole lists of frames.  A place then costs a
 * slot in the map of its image; what it is called is mostly there already.
 *
 * Everything but the maps lives in one arena.  What is found through a 64-bit
 * hash is compared in full: two things of the same hash stand in one chain.
 */
#include "store/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/codec.h"
#include "tool/arena.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "tool/vec.h"

struct name_text {
    struct name_text *next; /* of the same hash */
    size_t length;
    char bytes[];
};

struct name_list {
    struct name_list *next;
    struct name_place place; /* frames: those that follow */
    struct name_frame frames[];
};

struct name_book {
    struct name_image image; /* first: what names_get_image gives */
    struct name_book *next;
    uint32_t number;
    struct map places[2]; /* address -> name_place; [1] = exact */
};

struct names {
    struct arena arena;
    struct map texts, lists, by_name; /* hash -> name_text, name_list, name_book */
    VEC(struct name_book *) books;    /* image n is at n - 1 */
};

struct names *names_new(void)
{
    struct names *n = memory_new_zeroed(1, sizeof *n);
    if (n == NULL)
        return NULL;
    arena_init(&n->arena);
    map_init(&n->texts);
    map_init(&n->lists);
    map_init(&n->by_name);
    return n;
}

void names_free(struct names *n)
{
    if (n == NULL)
        return;
    for (size_t i = 0; i < n->books.count; i++) {
        map_release(&n->books.data[i]->places[0]);
        map_release(&n->books.data[i]->places[1]);
    }
    vec_release(&n->books);
    map_release(&n->texts);
    map_release(&n->lists);
    map_release(&n->by_name);
    arena_release(&n->arena);
    free(n);
}

/* The first of a chain, or NULL. */
static void *names_chain(const struct map *m, uint64_t hash)
{
    const uint64_t *found = map_find(m, hash);
    return found == NULL ? NULL : (void *)(uintptr_t)*found;
}

const char *names_text(struct names *n, const char *bytes, size_t length)
{
    if (length == 0)
        return "";
    if (length > NAMES_TEXT_MAX)
        length = NAMES_TEXT_MAX;
    uint64_t hash = codec_sum(bytes, length);
    struct name_text *first = names_chain(&n->texts, hash);
    for (struct name_text *t = first; t != NULL; t = t->next) {
        if (t->length == length && memcmp(t->bytes, bytes, length) == 0)
            return t->bytes;
    }
    struct name_text *t = arena_push(&n->arena, sizeof *t + length + 1);
    if (t == NULL || !map_set(&n->texts, hash, (uintptr_t)t))
        return NULL;
    t->next = first;
    t->length = length;
    memcpy(t->bytes, bytes, length);
    return t->bytes;
}

/* ------------------------------------------------------------------ images */

static bool book_is(const struct name_book *b, const uint8_t *build_id, size_t length, const char *path)
{
    return b->image.build_id_length == length &&
           (length == 0 || memcmp(b->image.build_id, build_id, length) == 0) &&
           strcmp(b->image.path, path) == 0;
}

uint32_t names_image(struct names *n, const uint8_t *build_id, size_t build_id_length, const char *path)
{
    uint64_t hash = hash_join(codec_sum(build_id, build_id_length), codec_sum(path, strlen(path)));
    struct name_book *first = names_chain(&n->by_name, hash);
    for (struct name_book *b = first; b != NULL; b = b->next) {
        if (book_is(b, build_id, build_id_length, path))
            return b->number;
    }
    struct name_book *b = n->books.count < UINT32_MAX ? arena_push(&n->arena, sizeof *b) : NULL;
    if (b == NULL)
        return 0;
    b->image = (struct name_image){
        .build_id = (const uint8_t *)names_text(n, (const char *)build_id, build_id_length),
        .build_id_length = build_id_length,
        .path = names_text(n, path, strlen(path)),
        .remark = "",
    };
    b->next = first;
    b->number = (uint32_t)n->books.count + 1;
    if (b->image.build_id == NULL || b->image.path == NULL || !vec_push(&n->books, b))
        return 0;
    /* Without memory for this it is there, and found by its number only. */
    return map_set(&n->by_name, hash, (uintptr_t)b) ? b->number : 0;
}

bool names_is_process(const char *path, uint32_t *process)
{
    static const char before[] = "[process ";
    const char *digits = path + sizeof before - 1;
    if (strncmp(path, before, sizeof before - 1) != 0)
        return false;
    size_t length = strspn(digits, "0123456789");
    uint64_t number = length > 0 && length <= 10 ? strtoull(digits, NULL, 10) : UINT64_MAX;
    *process = (uint32_t)number;
    return number <= UINT32_MAX && strcmp(digits + length, "]") == 0;
}

size_t names_image_count(const struct names *n)
{
    return n->books.count;
}

static struct name_book *names_book(const struct names *n, uint32_t image)
{
    return image - 1u < n->books.count ? n->books.data[image - 1] : NULL;
}

const struct name_image *names_get_image(const struct names *n, uint32_t image)
{
    const struct name_book *b = names_book(n, image);
    return b == NULL ? NULL : &b->image;
}

bool names_set_source(struct names *n, uint32_t image, enum name_source source, const char *remark)
{
    struct name_book *b = names_book(n, image);
    const char *text = names_text(n, remark, strlen(remark));
    if (b == NULL || text == NULL)
        return false;
    b->image.source = (uint8_t)source;
    b->image.remark = text;
    return true;
}

/* ------------------------------------------------------------------ places */

static uint64_t list_hash(const struct name_frame *frames, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        hash = hash_join(hash, (uintptr_t)frames[i].function);
        hash = hash_join(hash, (uintptr_t)frames[i].linkage);
        hash = hash_join(hash, (uintptr_t)frames[i].file);
        hash = hash_join(hash, (uint64_t)frames[i].line * 2 + frames[i].inlined);
    }
    return hash;
}

/* Texts are there once: their addresses tell. */
static bool list_is(const struct name_list *l, const struct name_frame *frames, uint32_t count)
{
    if (l->place.count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct name_frame *a = &l->frames[i], *b = &frames[i];
        if (a->function != b->function || a->linkage != b->linkage || a->file != b->file ||
            a->line != b->line || a->inlined != b->inlined)
            return false;
    }
    return true;
}

static bool names_keep_frame(struct names *n, struct name_frame *to, const struct name_frame *from)
{
    bool same = strcmp(from->linkage, from->function) == 0;
    to->function = names_text(n, from->function, strlen(from->function));
    to->linkage = names_text(n, from->linkage, same ? 0 : strlen(from->linkage));
    to->file = names_text(n, from->file, strlen(from->file));
    to->line = from->line;
    to->inlined = from->inlined;
    return to->function != NULL && to->linkage != NULL && to->file != NULL;
}

/* The one copy of a list whose texts are kept already; NULL: no memory. */
static const struct name_place *names_keep_list(struct names *n, const struct name_frame *frames,
                                                uint32_t count)
{
    uint64_t hash = list_hash(frames, count);
    struct name_list *first = names_chain(&n->lists, hash);
    for (struct name_list *l = first; l != NULL; l = l->next) {
        if (list_is(l, frames, count))
            return &l->place;
    }
    struct name_list *l = arena_push(&n->arena, sizeof *l + count * sizeof *frames);
    if (l == NULL || !map_set(&n->lists, hash, (uintptr_t)l))
        return NULL;
    l->next = first;
    memcpy(l->frames, frames, count * sizeof *frames);
    l->place = (struct name_place){.frames = l->frames, .count = count};
    return &l->place;
}

bool names_add_kept(struct names *n, uint32_t image, uint64_t place, bool exact,
                    const struct name_frame *frames, uint32_t count)
{
    struct name_book *b = names_book(n, image);
    if (b == NULL)
        return false;
    if (count == 0) {
        (void)map_remove(&b->places[exact], place, NULL);
        return true;
    }
    const struct name_place *name = names_keep_list(n, frames, count);
    return name != NULL && map_set(&b->places[exact], place, (uintptr_t)name);
}

bool names_add(struct names *n, uint32_t image, uint64_t place, bool exact, const struct name_frame *frames,
               uint32_t count)
{
    struct name_frame kept[NAMES_FRAMES_MAX];
    if (count > NAMES_FRAMES_MAX) {
        frames += count - NAMES_FRAMES_MAX;
        count = NAMES_FRAMES_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!names_keep_frame(n, &kept[i], &frames[i]))
            return false;
    }
    return names_add_kept(n, image, place, exact, kept, count);
}

const struct name_place *names_find(const struct names *n, uint32_t image, uint64_t place, bool exact)
{
    const struct name_book *b = names_book(n, image);
    return b == NULL ? NULL : names_chain(&b->places[exact], place);
}

size_t names_count_image(const struct names *n, uint32_t image)
{
    const struct name_book *b = names_book(n, image);
    return b == NULL ? 0 : map_count(&b->places[0]) + map_count(&b->places[1]);
}

size_t names_count(const struct names *n)
{
    size_t count = 0;
    for (size_t i = 1; i <= n->books.count; i++)
        count += names_count_image(n, (uint32_t)i);
    return count;
}

static int entry_compare(const void *a, const void *b)
{
    const struct name_entry *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (int)x->exact - (int)y->exact;
}

bool names_list(const struct names *n, uint32_t image, struct name_entry **entries, size_t *count)
{
    const struct name_book *b = names_book(n, image);
    *count = 0;
    *entries = memory_new_zeroed(names_count_image(n, image) + 1, sizeof **entries);
    if (*entries == NULL)
        return false;
    for (unsigned exact = 0; b != NULL && exact < 2; exact++) {
        uint64_t place, name;
        for (size_t at = 0; map_next(&b->places[exact], &at, &place, &name);)
            (*entries)[(*count)++] =
                (struct name_entry){place, exact != 0, (const struct name_place *)(uintptr_t)name};
    }
    qsort(*entries, *count, sizeof **entries, entry_compare);
    return true;
}
