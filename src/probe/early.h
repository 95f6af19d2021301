/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * early: memory for calls that come before the real allocator is known.
 *
 * The loader, IFUNC resolvers and dlsym itself may allocate before our birth
 * is over. They get blocks from a static pool; such a block stays one for
 * ever: free only notes it, realloc copies out of it.
 *
 * Works before our own relocation and in several threads at once: no GOT, no
 * TLS, no libc; one atomic add per block.
 */
#ifndef HW_PROBE_EARLY_H
#define HW_PROBE_EARLY_H

#include "probe/inner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane;

enum {
    EARLY_POOL_SIZE = 1 << 20,
    EARLY_ALIGNMENT = 16, /* of every block, at least */
};

INNER _Alignas(4096) unsigned char early_pool[EARLY_POOL_SIZE];

static inline bool early_owns(const void *block)
{
    return (uintptr_t)block - (uintptr_t)early_pool < EARLY_POOL_SIZE;
}

/* Zeroed; NULL when the pool is used up. */
void *early_alloc(size_t size, size_t alignment);
void early_free(void *block);
size_t early_size(const void *block);

/* All blocks lie before it. */
const unsigned char *early_end(void);

/* Writes the blocks that no lane has told of yet. */
void early_replay(struct lane *lane);

#endif
