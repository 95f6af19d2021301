/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rounds: recursion, which would fill a page with the same few lines. A round is
 * shown once, and how often it is gone through:
 *
 *     < walk  tree.c:31
 *     < visit  tree.c:40  (both 20 times)
 *     < main  tree.c:77
 */
#ifndef HW_PRESENT_ROUNDS_H
#define HW_PRESENT_ROUNDS_H

#include "analysis/trace.h"

#include <stddef.h>
#include <stdint.h>

enum {
    ROUNDS_LONGEST = 4, /* frames of a round */
    ROUNDS_NOTE_MAX = 80,
};

struct rounds {
    uint32_t places[ROUNDS_LONGEST]; /* of the first round */
    unsigned length;                 /* frames of it; 0 = the way has ended */
    size_t times;                    /* 1: it is no recursion, and has one frame */
    uint32_t last;                   /* the last place of the last round */
};

/* A way through places (not 0), each with a number that says what stands there. */
struct rounds_way {
    const void *of;
    uint32_t (*next)(const void *of, uint32_t place); /* 0 = it ends */
    uint32_t (*number)(const void *of, uint32_t place);
};

/* The round that begins at a place; the place alone where showing it once would not save two lines. */
struct rounds rounds_find(const struct rounds_way *way, uint32_t place);

/* The same for the callers in a stack that say something to a reader: own code, and gaps. */
struct rounds rounds_of_callers(const struct traces *c, uint32_t trace);
/* The first caller from here on that does, this one included; 0 = none. */
uint32_t rounds_caller(const struct traces *c, uint32_t trace);

/* From here on the first function of the program that has a name, this one included; 0 = none. */
uint32_t rounds_named(const struct traces *c, uint32_t trace);

/* What stands behind the last line of a round, with two blanks before it; "" when it is none. */
const char *rounds_note(char note[ROUNDS_NOTE_MAX], const struct rounds *r);

#endif
