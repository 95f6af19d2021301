/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libpools: an allocator that takes memory from wherever the program tells it to, and never takes it
 * back: so a program can say of each of its blocks in which mapping it lies.
 *
 *     | size, padding | block ... |
 *      16               16-aligned
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char *pools_at, *pools_end; /* where blocks come from; NULL: from here */

static char own[4 << 20] __attribute__((aligned(16)));
static size_t used;

static void *pools_take(size_t size, size_t alignment)
{
    char **at = &pools_at, *first = own + used;
    uintptr_t place = (uintptr_t)(*at != NULL ? *at : first) + 16;
    place = (place + alignment - 1) & ~(uintptr_t)(alignment - 1);
    char *block = (char *)place, *end = block + ((size + 15) & ~(size_t)15);
    if (end > (*at != NULL ? pools_end : own + sizeof own)) {
        errno = ENOMEM;
        return NULL;
    }
    if (*at != NULL)
        *at = end;
    else
        used = (size_t)(end - own);
    ((size_t *)block)[-2] = size;
    return block;
}

void *malloc(size_t size)
{
    return pools_take(size, 16);
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t size)
{
    void *block = pools_take(count * size, 16);
    return block == NULL ? NULL : memset(block, 0, count * size);
}

void *realloc(void *old, size_t size)
{
    void *block = pools_take(size, 16);
    size_t had = old == NULL ? 0 : ((size_t *)old)[-2];
    return block == NULL || old == NULL ? block : memcpy(block, old, had < size ? had : size);
}

void *memalign(size_t alignment, size_t size)
{
    return pools_take(size, alignment < 16 ? 16 : alignment);
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

size_t malloc_usable_size(void *block)
{
    return block == NULL ? 0 : ((size_t *)block)[-2];
}
