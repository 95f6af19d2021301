/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * real_publish: what has been found takes effect, as it is or, with
 * HEAPWAKE_ZERO_MEMORY, behind functions that give out zeroed memory.
 */
#include "probe/real.h"

struct real real, real_found;

/* HEAPWAKE_ZERO_MEMORY: what hooks call instead. All that can be used of a block is zero, since a
 * realloc may hand it out later. */
static size_t real_usable(void *block, size_t size)
{
    return real.has_usable_size ? real_found.malloc_usable_size(block) : size;
}

static void *real_zero(void *block, size_t from, size_t size)
{
    size_t usable = block == NULL ? 0 : real_usable(block, size);
    if (from < usable)
        __builtin_memset((unsigned char *)block + from, 0, usable - from);
    return block;
}

/* Another allocator's calloc may call malloc, by its name, which is ours. */
static void *real_zero_malloc(size_t size)
{
    if (!real.is_glibc)
        return real_zero(real_found.malloc(size), 0, size);
    return real_zero(real_found.calloc(1, size), size, size);
}

static void *real_zero_calloc(size_t count, size_t size)
{
    return real_zero(real_found.calloc(count, size), count * size, count * size);
}

static void *real_zero_realloc(void *old, size_t size)
{
    size_t had = old == NULL ? 0 : real_usable(old, size);
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
#define ZERO(field)               \
    if (real_found.field != NULL) \
        chosen.field = real_zero_##field;
    if (zero_memory) {
        ZERO(malloc)
        ZERO(calloc)
        ZERO(realloc)
        ZERO(memalign)
        ZERO(aligned_alloc)
        ZERO(posix_memalign)
        ZERO(valloc)
        ZERO(pvalloc)
    }
#undef ZERO
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
