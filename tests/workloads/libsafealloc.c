/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libsafealloc: an allocator that any signal handler may interrupt and call: it
 * hands out memory with one atomic add and never takes it back.  Programs
 * linked with it may allocate in handlers, so that what is tested is our code
 * and not the allocator's.
 *
 *     | size | size | block ... |
 *      8      8      16-aligned
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Atomic(uintptr_t) safe_next;
static uintptr_t safe_end;

static void safe_map(void)
{
    size_t size = (size_t)64 << 30;
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        abort();
    safe_end = (uintptr_t)at + size;
    safe_next = (uintptr_t)at;
}

static void *safe_alloc(size_t size, size_t alignment)
{
    if (safe_next == 0) /* the first call comes from the loader, before there are threads or handlers */
        safe_map();
    if (size > (size_t)1 << 40) {
        errno = ENOMEM;
        return NULL;
    }
    size_t room = (size + 16 + alignment + 15) & ~(size_t)15;
    uintptr_t at = __atomic_fetch_add((uintptr_t *)&safe_next, room, __ATOMIC_RELAXED);
    if (at + room > safe_end) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t block = (at + 16 + alignment - 1) & ~(alignment - 1);
    ((size_t *)block)[-1] = size;
    return (void *)block;
}

void *malloc(size_t size)
{
    return safe_alloc(size, 16);
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return safe_alloc(total, 16);
}

void *realloc(void *old, size_t size)
{
    void *block = safe_alloc(size, 16);
    if (old != NULL && block != NULL)
        memcpy(block, old, ((size_t *)old)[-1] < size ? ((size_t *)old)[-1] : size);
    return block;
}

void *memalign(size_t alignment, size_t size)
{
    return safe_alloc(size, alignment < 16 ? 16 : alignment);
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

void *valloc(size_t size)
{
    return memalign(4096, size);
}

void *pvalloc(size_t size)
{
    return memalign(4096, (size + 4095) & ~(size_t)4095);
}

size_t malloc_usable_size(void *block)
{
    return block == NULL ? 0 : ((size_t *)block)[-1];
}
