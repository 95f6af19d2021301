/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arena: memory that dies all at once.  What a recording gives to its reader
 * lives in one arena.
 *
 * Blocks are zeroed and aligned for any type.  Not for several threads.
 */
#ifndef HW_TOOL_ARENA_H
#define HW_TOOL_ARENA_H

#include <stddef.h>

struct arena_slab;

struct arena {
    struct arena_slab *slabs; /* the newest first; the first is being filled */
    size_t used;              /* bytes of the first slab */
    size_t total;             /* bytes taken from the system */
};

void arena_init(struct arena *a);
/* Gives all memory back.  The arena may be used again. */
void arena_release(struct arena *a);

/* size zeroed bytes, or NULL: no memory.  Size 0 gives a valid pointer. */
void *arena_push(struct arena *a, size_t size);
/* count elements; NULL also when count * size overflows. */
void *arena_push_array(struct arena *a, size_t count, size_t size);
/* A copy of length bytes and a NUL after them; NULL: no memory. */
char *arena_push_text(struct arena *a, const void *bytes, size_t length);

#endif
