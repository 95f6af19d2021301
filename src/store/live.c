/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * live: see live.h.
 */
#include "store/live.h"

struct live_entry {
    uint64_t address, size;
    uint32_t stack;
};

void wake_live_init(struct wake_live *l)
{
    numbered_init(&l->blocks);
}

void wake_live_release(struct wake_live *l)
{
    numbered_release(&l->blocks);
}

size_t wake_live_count(const struct wake_live *l)
{
    return numbered_count(&l->blocks);
}

bool wake_live_add(struct wake_live *l, const struct wake_block *block, uint32_t i)
{
    struct live_entry *e = numbered_add(&l->blocks, block->number[i], sizeof *e);
    if (e == NULL)
        return false;
    *e = (struct live_entry){
        .address = block->address[i],
        .size = block->size[i],
        .stack = block->stack[i],
    };
    return true;
}

static struct wake_live_block live_block(const struct live_entry *e, uint64_t number)
{
    return (struct wake_live_block){
        .allocation = number,
        .address = e->address,
        .size = e->size,
        .stack = e->stack,
    };
}

bool wake_live_take(struct wake_live *l, uint64_t number, struct wake_live_block *was)
{
    const struct live_entry *e = numbered_take(&l->blocks, number, sizeof *e);
    if (e != NULL)
        *was = live_block(e, number);
    return e != NULL;
}

bool wake_live_next(const struct wake_live *l, struct numbered_walk *at, struct wake_live_block *block)
{
    uint64_t number;
    const struct live_entry *e = numbered_next(&l->blocks, at, &number, sizeof *e);
    if (e != NULL)
        *block = live_block(e, number);
    return e != NULL;
}
