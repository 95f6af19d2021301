/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libfence: an allocator as people write one to find overruns: each block begins a page,
 * and the page before it cannot be read.  It has no malloc_usable_size: whoever
 * asks another allocator's finds a fence where that keeps its sizes.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 16384 };

static _Alignas(PAGE) unsigned char room[PAGES][PAGE];
static size_t sizes[PAGES]; /* of the block that begins there */
static size_t used;

void *malloc(size_t size)
{
    size_t pages = 1 + size / PAGE + 1;
    size_t at = size < sizeof room ? __atomic_fetch_add(&used, pages, __ATOMIC_RELAXED) : PAGES;
    if (at + pages > PAGES || mprotect(room[at], PAGE, PROT_NONE) != 0) {
        errno = ENOMEM;
        return NULL;
    }
    sizes[at + 1] = size;
    return room[at + 1];
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes); /* never used before */
}

void *realloc(void *block, size_t size)
{
    void *moved = malloc(size);
    if (moved != NULL && block != NULL) {
        size_t had = sizes[((uintptr_t)block - (uintptr_t)room) / PAGE];
        memcpy(moved, block, had < size ? had : size);
    }
    return moved;
}

void free(void *block)
{
    (void)block;
}
