/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libtrickle: an allocator that any number of threads may call at any moment, such as
 * libc does not know of too: it hands out its room from below and takes nothing back.
 * Before each block stands its size.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 64 << 20, HEAD = 16 };

static _Alignas(4096) unsigned char room[ROOM];
static size_t used;

static void *aligned(size_t alignment, size_t size)
{
    size_t wanted = size + HEAD + alignment;
    size_t at =
        wanted < ROOM ? __atomic_fetch_add(&used, (wanted + 15) & ~(size_t)15, __ATOMIC_RELAXED) : ROOM;
    if (at + wanted > ROOM) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t block = ((uintptr_t)room + at + HEAD + alignment - 1) & ~(uintptr_t)(alignment - 1);
    memcpy((void *)(block - HEAD), &size, sizeof size);
    return (void *)block;
}

void *malloc(size_t size)
{
    return aligned(HEAD, size);
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes); /* never used before */
}

size_t malloc_usable_size(void *block)
{
    size_t size = 0;
    if (block != NULL)
        memcpy(&size, (char *)block - HEAD, sizeof size);
    return size;
}

void *realloc(void *block, size_t size)
{
    void *moved = malloc(size);
    size_t had = malloc_usable_size(block);
    if (moved != NULL && block != NULL)
        memcpy(moved, block, had < size ? had : size);
    return moved;
}

void free(void *block)
{
    (void)block;
}

void *memalign(size_t alignment, size_t size)
{
    return aligned(alignment < HEAD ? HEAD : alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}
