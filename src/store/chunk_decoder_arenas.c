/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_decoder_arenas: see chunk_decoder_arenas.h.
 *
 * The column lists the allocations of which the guess is wrong: for each, how many stand between it and the one
 * listed before (or the beginning of the chunk).  A guess changes nowhere else, so most chunks have no such
 * column at all, and cost nothing here.
 */
#include "store/chunk_decoder_arenas.h"

#include <string.h>

#include "base/varint.h"

/* after: allocations up to the one listed last, with it. */
static void chunk_decoder_arenas_step(struct chunk_decoder *r, uint64_t after)
{
    const uint8_t *at = r->at[COLUMN_ARENA], *end = r->end[COLUMN_ARENA];
    uint64_t between, most = r->prelude.allocations;
    r->arena_next = UINT64_MAX;
    if (at == end)
        return;
    at = varint_get(at, end, &between);
    if (at == NULL || after >= most || between >= most - after) {
        r->bad = true;
        return;
    }
    r->at[COLUMN_ARENA] = at;
    r->arena_next = after + between;
}

void chunk_decoder_arenas_begin(struct chunk_decoder *r)
{
    r->has_heaps = r->at[COLUMN_ARENA] != r->end[COLUMN_ARENA];
    if (!r->has_heaps)
        return;
    heaps_init(&r->heaps);
    chunk_decoder_arenas_step(r, 0);
}

void chunk_decoder_arenas_decode(struct chunk_decoder *r)
{
    struct chunk_decoder_arrays *a = r->arrays;
    if (a->has_arena)
        memset(a->arena, 0, sizeof a->arena);
    a->has_arena = r->has_heaps;
    if (!r->has_heaps)
        return;
    for (uint32_t j = 0; j < r->block_allocations; j++) {
        uint32_t i = a->alloc_at[j];
        uint8_t *other = heaps_slot(&r->heaps, a->address[i]);
        if (__builtin_expect(r->allocations + (uint64_t)j == r->arena_next, 0)) {
            *other ^= 1;
            chunk_decoder_arenas_step(r, r->arena_next + 1);
        }
        a->arena[i] = *other;
    }
}
