/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tracked_frees: see tracked_frees.h.
 */
#include "collect/tracked_frees.h"

#include "tool/memory.h"
#include "wire/segment.h"

#include <stdlib.h>
#include <string.h>

static uint32_t tracked_frees_bit(uint64_t address)
{
    return (uint32_t)(address / 16) & (SEGMENT_PASS_BITS - 1);
}

void tracked_frees_add(struct tracked_frees *p, uint64_t address)
{
    uint32_t bit = tracked_frees_bit(address);
    if (p->counts[bit] < UINT16_MAX)
        p->counts[bit]++;
    if (p->counts[bit] == 1)
        __atomic_fetch_or(&p->bits[bit / 32], UINT32_C(1) << bit % 32, __ATOMIC_RELAXED);
}

void tracked_frees_remove(struct tracked_frees *p, uint64_t address)
{
    uint32_t bit = tracked_frees_bit(address);
    if (p->counts[bit] == 0 || p->counts[bit] == UINT16_MAX || --p->counts[bit] != 0)
        return;
    __atomic_fetch_and(&p->bits[bit / 32], ~(UINT32_C(1) << bit % 32), __ATOMIC_RELAXED);
}

bool tracked_frees_open(struct tracked_frees *p, uint32_t *bits, const struct blocks *blocks)
{
    p->bits = bits;
    p->counts = memory_new_zeroed(SEGMENT_PASS_BITS, sizeof *p->counts);
    if (p->counts == NULL)
        return false;
    memset(bits, 0, SEGMENT_PASS_SIZE);
    for (size_t i = 0; i < blocks->room; i++) {
        const struct block *b = &blocks->slots[i];
        if (b->address != 0 && !b->ghost)
            tracked_frees_add(p, b->address);
    }
    return true;
}

void tracked_frees_close(struct tracked_frees *p)
{
    free(p->counts);
    *p = (struct tracked_frees){0};
}
