/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * assort: see assort.h.
 *
 * Whether an event is an allocation or a release no predictor can guess, so nothing asks.  The bits that say so
 * are taken from eight op bytes at a time, and a table says which of the eight places go to which list; as many are
 * written as there could be, and the next eight begin behind those that there are.
 */
#include "store/assort.h"

#include <string.h>

void assort_init(struct replay_arrays *a)
{
    for (unsigned byte = 0; byte < 256; byte++)
        for (unsigned bit = 0, found = 0; bit < 8; bit++)
            if ((byte >> bit & 1) != 0)
                a->ones[byte][found++] = (uint16_t)bit;
}

/* One at a time: some are neither allocation nor release, or have no such code. */
static void assort_odd(struct replay *r, uint32_t count)
{
    struct replay_arrays *a = r->arrays;
    const uint8_t *ops = r->at[COLUMN_OP];
    uint64_t first = r->prelude.first_allocation + r->allocations;
    uint32_t allocations = 0, frees = 0, others = 0;
    for (uint32_t i = 0; i < count; i++) {
        unsigned code = ops[i] & OP_CODE;
        a->number[i] = first + allocations;
        if (code >= 1 && code <= OP_ALLOC_MAX) {
            a->alloc_at[allocations++] = (uint16_t)i;
        } else if (code >= OP_FREE && code <= OP_FREE_MAX) {
            a->free_at[frees++] = (uint16_t)i;
        } else {
            a->other_at[others++] = (uint16_t)i;
            a->number[i] = 0;
            r->bad = r->bad || code != OP_RARE;
        }
    }
    r->block_allocations = allocations;
    r->block_frees = frees;
    r->block_others = others;
}

/* Sixteen op bytes at a time. */
typedef uint8_t assort_bytes __attribute__((vector_size(16)));

/* Event and detail of all as if each were an allocation or a release.  Are they? */
static bool assort_is_common(struct replay *r, uint32_t count)
{
    struct replay_arrays *a = r->arrays;
    const uint8_t *ops = r->at[COLUMN_OP];
    assort_bytes odd = {0};
    for (uint32_t i = 0; i < count; i += sizeof odd) {
        assort_bytes op, event, detail;
        memcpy(&op, ops + i, sizeof op);
        event = ((op & OP_FREE) >> 4) + WAKE_ALLOC;
        detail = op & (OP_FREE - 1);
        odd |= (assort_bytes)((op & OP_CODE) == 0) | (assort_bytes)((op & OP_CODE) > OP_FREE_MAX);
        memcpy(a->event + i, &event, sizeof event);
        memcpy(a->detail + i, &detail, sizeof detail);
    }
    uint64_t halves[2];
    memcpy(halves, &odd, sizeof halves);
    return (halves[0] | halves[1]) == 0;
}

/* Eight places in a block. */
typedef uint16_t assort_places __attribute__((vector_size(16)));

/* Writes where the ones of a byte are that stands for the eight events from i on. */
static inline void assort_note(const struct replay_arrays *a, uint16_t *to, unsigned byte, uint32_t i)
{
    assort_places places;
    memcpy(&places, a->ones[byte], sizeof places);
    places += (uint16_t)i;
    memcpy(to, &places, sizeof places);
}

void assort_block(struct replay *r, uint32_t count)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    struct replay_arrays *a = r->arrays;
    const uint8_t *ops = r->at[COLUMN_OP];
    if (!assort_is_common(r, count)) {
        assort_odd(r, count);
        return;
    }
    uint32_t frees = 0;
    for (uint32_t i = 0; i < count; i += 8) {
        uint64_t eight = replay_eight(ops + i, OP_FREE) / OP_FREE;
        if (__builtin_expect(count - i < 8, 0))
            eight &= (UINT64_C(1) << 8 * (count - i)) - 1;
        /* From a bit in each byte to one byte. */
        unsigned byte = (unsigned)(eight * UINT64_C(0x0102040810204080) >> 56);
        assort_note(a, a->free_at + frees, byte, i);
        assort_note(a, a->alloc_at + (i - frees), byte ^ 0xff, i);
        frees += (uint32_t)(eight * ones >> 56);
    }
    r->block_allocations = count - frees;
    r->block_frees = frees;
    r->block_others = 0;
}
