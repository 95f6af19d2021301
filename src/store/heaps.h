/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * heaps: guesses whether a block lies in an arena other than glibc's main one, the same way in the encoder and
 * in the decoder, so that a right guess costs nothing at all.
 *
 * Other arenas consist of heaps, each of which has 64 MiB of addresses for itself and begins at a multiple of
 * that.  So the guess is what was last seen among the addresses with the same number of 64 MiB, modulo HEAPS_SLOTS;
 * of those not seen yet, the main arena.  Nothing is remembered from one chunk to the next.
 */
#ifndef HW_STORE_HEAPS_H
#define HW_STORE_HEAPS_H

#include <stdint.h>
#include <string.h>

enum { HEAPS_SHIFT = 26, HEAPS_SLOTS = 4096 };

struct heaps {
    uint8_t other[HEAPS_SLOTS]; /* 1: another arena */
};

static inline void heaps_init(struct heaps *h)
{
    memset(h, 0, sizeof *h);
}

static inline uint8_t *heaps_slot(struct heaps *h, uint64_t address)
{
    return &h->other[address >> HEAPS_SHIFT & (HEAPS_SLOTS - 1)];
}

#endif
