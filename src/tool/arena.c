/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arena: slabs in a list.
 *
 *     slabs -> | next | size | bytes ... used |....| -> | next | size | bytes | -> NULL
 *
 * Slabs grow from 4 KiB to 1 MiB, so that a small arena is small.  A block
 * larger than a quarter of a slab gets a slab of its own behind the first, and
 * the first goes on being filled.
 */
#include "tool/arena.h"

#include "tool/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARENA_SLAB_MIN = 4096,
    ARENA_SLAB_MAX = 1 << 20,
    ARENA_ALIGN = _Alignof(max_align_t),
};

struct arena_slab {
    struct arena_slab *next;
    size_t size; /* of bytes */
    _Alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_release(struct arena *a)
{
    while (a->slabs != NULL) {
        struct arena_slab *slab = a->slabs;
        a->slabs = slab->next;
        free(slab);
    }
    arena_init(a);
}

/* calloc: fresh pages from the system are zero already. */
static struct arena_slab *arena_new_slab(struct arena *a, size_t size)
{
    struct arena_slab *slab = memory_new_zeroed(1, sizeof *slab + size);
    if (slab == NULL)
        return NULL;
    slab->size = size;
    a->total += size;
    return slab;
}

static void *arena_push_alone(struct arena *a, size_t size)
{
    struct arena_slab *slab = arena_new_slab(a, size);
    if (slab == NULL)
        return NULL;
    if (a->slabs == NULL) {
        a->slabs = slab;
        a->used = size;
    } else {
        slab->next = a->slabs->next;
        a->slabs->next = slab;
    }
    return slab->bytes;
}

void *arena_push(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (a->slabs == NULL || a->slabs->size - a->used < size) {
        size_t next = a->total < ARENA_SLAB_MIN ? ARENA_SLAB_MIN : a->total;
        if (next > ARENA_SLAB_MAX)
            next = ARENA_SLAB_MAX;
        next &= ~(size_t)(ARENA_ALIGN - 1);
        if (size > next / 4)
            return arena_push_alone(a, size);
        struct arena_slab *slab = arena_new_slab(a, next);
        if (slab == NULL)
            return NULL;
        slab->next = a->slabs;
        a->slabs = slab;
        a->used = 0;
    }
    void *block = a->slabs->bytes + a->used;
    a->used += size;
    return block;
}

void *arena_push_array(struct arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return arena_push(a, bytes);
}

char *arena_push_text(struct arena *a, const void *bytes, size_t length)
{
    char *text = length == SIZE_MAX ? NULL : arena_push(a, length + 1);
    if (text != NULL && length > 0)
        memcpy(text, bytes, length);
    return text;
}
