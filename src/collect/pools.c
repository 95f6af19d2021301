/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pools: see pools.h.  A key is the address, of 48 bits, below the pool.
 */
#include "collect/pools.h"

#include <string.h>

enum { POOLS_ADDRESS_BITS = 48, POOLS_MAX = 1 << 15 };

void pools_init(struct pools *p)
{
    memset(p, 0, sizeof *p);
    map_init(&p->live);
}

void pools_release(struct pools *p)
{
    map_release(&p->live);
    vec_release(&p->blocks);
    vec_release(&p->vacant);
}

static bool pools_key(uint64_t pool, uint64_t address, uint64_t *key)
{
    *key = pool << POOLS_ADDRESS_BITS | address;
    return pool < POOLS_MAX && address >> POOLS_ADDRESS_BITS == 0;
}

bool pools_add(struct pools *p, uint64_t pool, uint64_t address, const struct pools_block *block)
{
    uint64_t key;
    if (!pools_key(pool, address, &key) || map_find(&p->live, key) != NULL)
        return false;
    bool is_reused = p->vacant.count != 0;
    size_t index = is_reused ? p->vacant.data[p->vacant.count - 1] : p->blocks.count;
    if ((!is_reused && !vec_push(&p->blocks, *block)) || !map_set(&p->live, key, index))
        return false;
    p->blocks.data[index] = *block;
    p->vacant.count -= is_reused;
    return true;
}

bool pools_take(struct pools *p, uint64_t pool, uint64_t address, struct pools_block *block)
{
    uint64_t key, index;
    if (!pools_key(pool, address, &key) || !map_remove(&p->live, key, &index))
        return false;
    *block = p->blocks.data[index];
    (void)vec_push(&p->vacant, (uint32_t)index); /* without memory its place stays empty */
    return true;
}
