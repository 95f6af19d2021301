/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memory: see memory.h.
 */
#include "tool/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MEMORY_LARGE_PAGE = 2 << 20 };

static atomic_bool has_failed;

static void *memory_note(void *block)
{
    if (block == NULL)
        atomic_store_explicit(&has_failed, true, memory_order_relaxed);
    return block;
}

/* Nothing is one byte, so that NULL always means failure. */
void *memory_new(size_t size)
{
    return memory_note(malloc(size == 0 ? 1 : size));
}

void *memory_new_zeroed(size_t count, size_t size)
{
    bool is_nothing = count == 0 || size == 0;
    return memory_note(is_nothing ? calloc(1, 1) : calloc(count, size));
}

void *memory_resize(void *block, size_t size)
{
    return memory_note(realloc(block, size == 0 ? 1 : size));
}

void *memory_new_aligned(size_t alignment, size_t size)
{
    return memory_note(aligned_alloc(alignment, size));
}

void *memory_try_large(size_t size)
{
    if (size < MEMORY_LARGE_PAGE)
        return aligned_alloc(64, size == 0 ? 64 : (size + 63) / 64 * 64);
    size = (size + MEMORY_LARGE_PAGE - 1) / MEMORY_LARGE_PAGE * MEMORY_LARGE_PAGE;
    void *block = aligned_alloc(MEMORY_LARGE_PAGE, size);
    if (block != NULL)
        (void)madvise(block, size, MADV_HUGEPAGE); /* it is only advice */
    return block;
}

void *memory_new_large(size_t size)
{
    return memory_note(memory_try_large(size));
}

char *memory_copy_text(const char *text)
{
    return memory_copy_part(text, strlen(text));
}

char *memory_copy_part(const char *text, size_t length)
{
    size_t kept = strnlen(text, length);
    char *copy = memory_new(kept + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, kept);
    copy[kept] = '\0';
    return copy;
}

bool memory_has_failed(void)
{
    return atomic_load_explicit(&has_failed, memory_order_relaxed);
}
