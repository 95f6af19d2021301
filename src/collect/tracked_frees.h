/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tracked_frees: the collector's side of the segment's pass list (wire/segment.h): one
 * bit for each 16 bytes of address, modulo a few million, that says whether a
 * release is to be told while recording is off.
 *
 * The bit of a block that is live and was recorded is set.  Several blocks may
 * share one, so here is counted how many do.  One thread; the program only reads.
 */
#ifndef HW_COLLECT_TRACKED_FREES_H
#define HW_COLLECT_TRACKED_FREES_H

#include "collect/blocks.h"

#include <stdbool.h>
#include <stdint.h>

struct tracked_frees {
    uint32_t *bits;   /* in the segment */
    uint16_t *counts; /* blocks at each bit; UINT16_MAX: too many to count, the bit stays */
};

/* Sets the bits of all blocks and no others; nobody may look at them meanwhile.
 * False: no memory. */
bool tracked_frees_open(struct tracked_frees *p, uint32_t *bits, const struct blocks *blocks);
/* Accepts a zeroed one. */
void tracked_frees_close(struct tracked_frees *p);

void tracked_frees_add(struct tracked_frees *p, uint64_t address);
void tracked_frees_remove(struct tracked_frees *p, uint64_t address);

#endif
