/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * classify_events: see classify_events.h.
 *
 * Whether an event is an allocation or a release no predictor can guess, so nothing asks.  The bits that say so
 * are taken from eight op bytes at a time, and a table (base/ones.h) says which of the eight places go to which list.
 */
#include "store/classify_events.h"

#include <string.h>

void classify_events_init(struct chunk_decoder_arrays *a)
{
    ones_init(&a->ones);
}

/* One at a time: some are neither allocation nor release, or have no such code. */
static void classify_events_odd(struct chunk_decoder *r, uint32_t count)
{
    struct chunk_decoder_arrays *a = r->arrays;
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
static bool classify_events_is_common(struct chunk_decoder *r, uint32_t count)
{
    struct chunk_decoder_arrays *a = r->arrays;
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

void classify_events_block(struct chunk_decoder *r, uint32_t count)
{
    const uint64_t all = UINT64_C(0x0101010101010101);
    struct chunk_decoder_arrays *a = r->arrays;
    const uint8_t *ops = r->at[COLUMN_OP];
    if (!classify_events_is_common(r, count)) {
        classify_events_odd(r, count);
        return;
    }
    uint32_t frees = 0;
    for (uint32_t i = 0; i < count; i += 8) {
        uint64_t eight = chunk_decoder_eight(ops + i, OP_FREE) / OP_FREE;
        if (__builtin_expect(count - i < 8, 0))
            eight &= (UINT64_C(1) << 8 * (count - i)) - 1;
        unsigned byte = ones_gather(eight);
        ones_note(&a->ones, a->free_at + frees, byte, i);
        ones_note(&a->ones, a->alloc_at + (i - frees), byte ^ 0xff, i);
        frees += (uint32_t)(eight * all >> 56);
    }
    r->block_allocations = count - frees;
    r->block_frees = frees;
    r->block_others = 0;
}
