/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * passlist: the collector's side of the segment's pass list (wire/segment.h): one
 * bit for each 16 bytes of address, modulo a few million, that says whether a
 * release is to be told while recording is off.
 *
 * The bit of a block that is live and was recorded is set.  Several blocks may
 * share one, so here is counted how many do.  One thread; the program only reads.
 */
#ifndef HW_COLLECT_PASSLIST_H
#define HW_COLLECT_PASSLIST_H

#include "collect/blocks.h"

#include <stdbool.h>
#include <stdint.h>

struct passlist {
    uint32_t *bits;   /* in the segment */
    uint16_t *counts; /* blocks at each bit; UINT16_MAX: too many to count, the bit stays */
};

/* Sets the bits of all blocks and no others; nobody may look at them meanwhile.
 * False: no memory. */
bool passlist_open(struct passlist *p, uint32_t *bits, const struct blocks *blocks);
/* Accepts a zeroed one. */
void passlist_close(struct passlist *p);

void passlist_add(struct passlist *p, uint64_t address);
void passlist_remove(struct passlist *p, uint64_t address);

#endif
