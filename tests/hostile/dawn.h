/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * dawn: what libdawn makes before the program begins.
 */
#ifndef DAWN_H
#define DAWN_H

enum {
    DAWN_BLOCKS = 5,
    DAWN_PLAIN = 13001,       /* DAWN_BLOCKS, left to the program */
    DAWN_ZEROED = 13003,      /* one, released at once */
    DAWN_SMALL = 13007,       /* one, grown at once to ... */
    DAWN_GROWN = 13009,       /* ... this, left to the program */
    DAWN_ALIGNED = 13011,     /* one, at a multiple of 256, left to the program */
    DAWN_CONSTRUCTED = 13033, /* DAWN_BLOCKS, left to the program */
};

struct dawn {
    int is_bound, was_zero, was_kept, had_room;
    unsigned char *plain[DAWN_BLOCKS], *grown, *aligned, *constructed[DAWN_BLOCKS];
};

struct dawn *dawn_made(void);
int dawn_answer(void);

#endif
