/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * words: see words.h.
 *
 * Words whose hashes are equal stand at the hash, the hash + 1 and so on; none
 * is ever taken out, so the first free key ends the search.
 */
#include "analysis/words.h"

#include "store/codec.h"

#include <stdint.h>
#include <string.h>

struct word {
    size_t length;
    const char *bytes;
};

void words_init(struct words *w)
{
    arena_init(&w->arena);
    map_init(&w->slots);
}

void words_release(struct words *w)
{
    map_release(&w->slots);
    arena_release(&w->arena);
}

const void *words_add(struct words *w, const void *bytes, size_t length)
{
    uint64_t key = codec_sum(bytes, length);
    for (const uint64_t *at = map_find(&w->slots, key); at != NULL; at = map_find(&w->slots, ++key)) {
        const struct word *word = (const struct word *)(uintptr_t)*at;
        if (word->length == length && memcmp(word->bytes, bytes, length) == 0)
            return word->bytes;
    }
    struct word *word = arena_push(&w->arena, sizeof *word);
    char *copy = arena_push_text(&w->arena, bytes, length);
    if (word == NULL || copy == NULL || !map_set(&w->slots, key, (uintptr_t)word))
        return NULL;
    *word = (struct word){length, copy};
    return copy;
}

const char *words_add_text(struct words *w, const char *text)
{
    static const char empty[] = ""; /* the most common one */
    return text[0] == '\0' ? empty : words_add(w, text, strlen(text));
}
