/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ones: from flags to the list of places that have them, eight at a time and without a branch, for flags that no
 * predictor can guess.
 *
 *     eight bytes of 0 or 1 --ones_gather--> a byte --ones_note--> where its ones are, lowest first
 *
 * ONES_EIGHT places are written whatever there is; the next go behind the ones.counts[byte] that there are.
 *
 * No allocation, no libc but memcpy.
 */
#ifndef HW_BASE_ONES_H
#define HW_BASE_ONES_H

#include <stdint.h>
#include <string.h>

enum { ONES_EIGHT = 8 };

struct ones {
    uint16_t places[256][ONES_EIGHT]; /* of the ones of a byte */
    uint8_t counts[256];              /* how many these are */
};

typedef uint16_t ones_places __attribute__((vector_size(16)));

static inline void ones_init(struct ones *o)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned found = 0;
        for (unsigned bit = 0; bit < ONES_EIGHT; bit++)
            if ((byte >> bit & 1) != 0)
                o->places[byte][found++] = (uint16_t)bit;
        o->counts[byte] = (uint8_t)found;
    }
}

/* A byte of eight that are 0 or 1, the lowest first. */
static inline unsigned ones_gather(uint64_t eight)
{
    return (unsigned)(eight * UINT64_C(0x0102040810204080) >> 56);
}

/* Writes where the ones of a byte are that stands for the eight things from `first` on. */
static inline void ones_note(const struct ones *o, uint16_t *to, unsigned byte, uint32_t first)
{
    ones_places places;
    memcpy(&places, o->places[byte], sizeof places);
    places += (uint16_t)first;
    memcpy(to, &places, sizeof places);
}

#endif
