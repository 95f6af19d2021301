/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * colour: what stands out on a terminal.  Colours say what a thing is, not
 * how it should look.
 */
#ifndef HW_PRESENT_COLOUR_H
#define HW_PRESENT_COLOUR_H

#include "tool/strbuf.h"

#include <stdbool.h>

enum colour {
    COLOUR_PLAIN,
    COLOUR_TITLE,
    COLOUR_NAME,  /* the function that a site is about */
    COLOUR_PLACE, /* file and line */
    COLOUR_QUIET, /* context */
    COLOUR_ALARM, /* what should not be */
    COLOUR_COUNT
};

/* Whether the descriptor is a terminal that shows colours, and the user has not
 * refused them (NO_COLOR, TERM=dumb). */
bool colour_is_wanted(int fd);

/* The escape sequence that begins a colour, and the one that ends it. */
void colour_begin(struct strbuf *out, enum colour colour);
void colour_end(struct strbuf *out, enum colour colour);

#endif
