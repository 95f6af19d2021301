/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * real_publish: what has been found takes effect, as it is or, with
 * HEAPWAKE_ZERO_MEMORY, behind functions that give out zeroed memory.
 */
#include "probe/real.h"

struct real real, real_found;

/* The size of a block is what can be used of it. */
static size_t real_usable(void *block)
{
    return real_found.malloc_usable_size == NULL ? 0 : real_found.malloc_usable_size(block);
}

static void *real_zero(void *block, size_t from, size_t size)
{
    if (block != NULL && from < size)
        __builtin_memset((unsigned char *)block + from, 0, size - from);
    return block;
}

static void *real_zero_malloc(size_t size)
{
    return real_found.calloc(1, size);
}

static void *real_zero_realloc(void *old, size_t size)
{
    size_t had = old == NULL ? 0 : real_usable(old);
    return real_zero(real_found.realloc(old, size), had, size);
}

static void *real_zero_memalign(size_t alignment, size_t size)
{
    return real_zero(real_found.memalign(alignment, size), 0, size);
}

static void *real_zero_aligned_alloc(size_t alignment, size_t size)
{
    return real_zero(real_found.aligned_alloc(alignment, size), 0, size);
}

static int real_zero_posix_memalign(void **block, size_t alignment, size_t size)
{
    int result = real_found.posix_memalign(block, alignment, size);
    if (result == 0)
        (void)real_zero(*block, 0, size);
    return result;
}

static void *real_zero_valloc(size_t size)
{
    return real_zero(real_found.valloc(size), 0, size);
}

static void *real_zero_pvalloc(size_t size)
{
    return real_zero(real_found.pvalloc(size), 0, size);
}

static struct real chosen;

void real_choose(bool zero_memory)
{
    chosen = real_found;
    if (!zero_memory)
        return;
    chosen.malloc = real_zero_malloc;
    chosen.realloc = real_zero_realloc;
    chosen.memalign = real_zero_memalign;
    chosen.aligned_alloc = real_zero_aligned_alloc;
    chosen.posix_memalign = real_zero_posix_memalign;
    chosen.valloc = real_zero_valloc;
    chosen.pvalloc = real_zero_pvalloc;
}

void real_publish(void)
{
#define X(field, name, result, arguments)            \
    if ((void *)&real.field != (void *)&real.malloc) \
        __atomic_store_n(&real.field, chosen.field, __ATOMIC_RELEASE);
    REAL_FUNCTIONS(X)
#undef X
}

void real_publish_malloc(void)
{
    __atomic_store_n(&real.malloc, chosen.malloc, __ATOMIC_RELEASE);
}
