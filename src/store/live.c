/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * live: see live.h.  The map holds small indexes, the blocks lie in one array
 * whose holes are filled again first.
 */
#include "store/live.h"

void wake_live_init(struct wake_live *l)
{
    *l = (struct wake_live){0};
}

void wake_live_release(struct wake_live *l)
{
    map_release(&l->slots);
    vec_release(&l->blocks);
    vec_release(&l->unused);
}

size_t wake_live_count(const struct wake_live *l)
{
    return map_count(&l->slots);
}

bool wake_live_add(struct wake_live *l, const struct wake_block *block, uint32_t i)
{
    struct wake_live_block made = {
        .allocation = block->number[i],
        .address = block->address[i],
        .size = block->size[i],
        .stack = block->stack[i],
    };
    /* Room for every index that can become unused, so that taking cannot fail. */
    if (!vec_reserve(&l->unused, l->blocks.count + 1))
        return false;
    size_t at = l->unused.count > 0 ? l->unused.data[l->unused.count - 1] : l->blocks.count;
    if (at == l->blocks.count) {
        if (at >= UINT32_MAX || !vec_push(&l->blocks, made))
            return false;
        if (!map_set(&l->slots, made.allocation, at)) {
            l->blocks.count--;
            return false;
        }
        return true;
    }
    if (!map_set(&l->slots, made.allocation, at))
        return false;
    l->unused.count--;
    l->blocks.data[at] = made;
    return true;
}

bool wake_live_take(struct wake_live *l, uint64_t number, struct wake_live_block *was)
{
    uint64_t at;
    if (!map_remove(&l->slots, number, &at))
        return false;
    *was = l->blocks.data[at];
    (void)vec_push(&l->unused, (uint32_t)at);
    return true;
}

bool wake_live_next(const struct wake_live *l, size_t *at, struct wake_live_block *block)
{
    uint64_t number, index;
    if (!map_next(&l->slots, at, &number, &index))
        return false;
    *block = l->blocks.data[index];
    return true;
}
