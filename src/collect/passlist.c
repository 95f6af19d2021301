/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * passlist: see passlist.h.
 */
#include "collect/passlist.h"

#include "tool/memory.h"
#include "wire/segment.h"

#include <stdlib.h>
#include <string.h>

static uint32_t passlist_bit(uint64_t address)
{
    return (uint32_t)(address / 16) & (SEGMENT_PASS_BITS - 1);
}

void passlist_add(struct passlist *p, uint64_t address)
{
    uint32_t bit = passlist_bit(address);
    if (p->counts[bit] < UINT16_MAX)
        p->counts[bit]++;
    if (p->counts[bit] == 1)
        __atomic_fetch_or(&p->bits[bit / 32], UINT32_C(1) << bit % 32, __ATOMIC_RELAXED);
}

void passlist_remove(struct passlist *p, uint64_t address)
{
    uint32_t bit = passlist_bit(address);
    if (p->counts[bit] == 0 || p->counts[bit] == UINT16_MAX || --p->counts[bit] != 0)
        return;
    __atomic_fetch_and(&p->bits[bit / 32], ~(UINT32_C(1) << bit % 32), __ATOMIC_RELAXED);
}

bool passlist_open(struct passlist *p, uint32_t *bits, const struct blocks *blocks)
{
    p->bits = bits;
    p->counts = memory_new_zeroed(SEGMENT_PASS_BITS, sizeof *p->counts);
    if (p->counts == NULL)
        return false;
    memset(bits, 0, SEGMENT_PASS_SIZE);
    for (size_t i = 0; i < blocks->room; i++) {
        const struct block *b = &blocks->slots[i];
        if (b->address != 0 && !b->ghost)
            passlist_add(p, b->address);
    }
    return true;
}

void passlist_close(struct passlist *p)
{
    free(p->counts);
    *p = (struct passlist){0};
}
