/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * addressed: see addressed.h.
 */
#include "import/addressed.h"

#include "wire/record.h"

void addressed_init(struct addressed *a, struct recast *r)
{
    *a = (struct addressed){.recast = r};
    map_init(&a->live);
}

void addressed_release(struct addressed *a)
{
    map_release(&a->live);
}

void addressed_alloc(struct addressed *a, unsigned kind, uint32_t stack, uint64_t address, uint64_t size,
                     uint64_t previous)
{
    uint64_t old;
    if (address == 0) /* it failed: no block */
        return;
    if (map_remove(&a->live, address, &old))
        recast_free_implied(a->recast, old);
    uint64_t number = recast_alloc(a->recast, kind, stack, address, size, previous);
    if (!map_set(&a->live, address, number))
        a->failed = true;
}

uint64_t addressed_free(struct addressed *a, unsigned how, uint64_t address)
{
    uint64_t number;
    if (address == 0)
        return 0;
    if (!map_remove(&a->live, address, &number)) {
        recast_free_unknown(a->recast, how, address);
        return 0;
    }
    recast_free(a->recast, how, number);
    return number + 1;
}
