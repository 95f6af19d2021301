/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * score: a recorded trace made ready to be played to another allocator, and
 * what the player tells of it.  Made by query/compose, read by src/player; both
 * are of one build, so there is no version.
 *
 *     | score_head | score_part x parts | score_window x windows | score_call x calls, part by part |
 *
 * A part is what one thread of the program did.  Parts stand in the order in
 * which they began; `ends` of the parts, taken together, lists them in the order in
 * which they ended.
 *
 * A block lives in a slot, from the call that makes it to the call that releases
 * it.
 *
 * The recorded order of all calls is cut into windows of equal length.  A part
 * enters a window only when all parts have left those that are more than the
 * *lead* before it: nobody runs far ahead, making blocks that others have still to
 * release.  With a small lead the memory in use is what it was; with a large one
 * threads run all but freely.  A score of one part has no windows.
 *
 * Invariants
 *  1. A slot is used by one part alone, again and again, or for one block alone,
 *     which one part makes and another releases.  So who finds such a slot empty
 *     only has to wait, and cannot meet another block in it.
 *  2. The recorded order of all calls keeps the order of each part, has the
 *     making of every block before its release, and what a part waits for when it enters
 *     a window or begins is before it.  So whoever waits, waits for a call that can be made.
 */
#ifndef HW_WIRE_SCORE_H
#define HW_WIRE_SCORE_H

#include <stdint.h>

#define SCORE_MAGIC UINT64_C(0x45524f4353574b48) /* "HKWSCORE" */

/* What a call does. */
enum score_verb {
    SCORE_MALLOC = 1,
    SCORE_CALLOC = 2,
    SCORE_ALIGNED = 3,
    SCORE_REALLOC = 4, /* the block of `old` goes on in `slot` */
    SCORE_FREE = 5,
    SCORE_ENTER = 6, /* no call: from here on, the part is in the window whose number is in `slot` */
};

/* Leads, in windows.  A window has a sixteenth as many calls as there were blocks at the peak, so even those
 * who run freely hold no more than twice of what the program held. */
enum score_lead {
    SCORE_LEAD_TOGETHER = 1,
    SCORE_LEAD_FREE = 16,
};

/* How much of a block is written to when it has been made. */
enum score_touch {
    SCORE_TOUCH_NONE = 0,
    SCORE_TOUCH_FIRST = 1, /* its first byte */
    SCORE_TOUCH_ALL = 2,   /* a byte of every page, and its last */
};

struct score_head {
    uint64_t magic;
    uint64_t calls; /* in all; room for them, not all of which is used */
    uint32_t parts;
    uint32_t slots;
    uint64_t windows;
};

struct score_part {
    uint64_t first; /* its calls: index of the first, and how many */
    uint64_t count;
    uint32_t after; /* begins when so many of `ends` have ended */
    uint32_t ends;  /* of part i: the number of the part that was the i-th to end */
};

struct score_window {
    uint32_t parts; /* that enter it */
};

/* size in bits 0 to 47, log2 of the alignment in 48 to 55, enum score_verb in 56 to 63 of `what`. */
struct score_call {
    uint32_t slot;
    uint32_t old;
    uint64_t what;
};

#define SCORE_SIZE_MAX ((UINT64_C(1) << 48) - 1)

static inline struct score_call score_call_of(enum score_verb verb, uint32_t slot, uint32_t old,
                                              uint64_t size, unsigned align)
{
    uint64_t fits = size < SCORE_SIZE_MAX ? size : SCORE_SIZE_MAX;
    return (struct score_call){slot, old, fits | (uint64_t)align << 48 | (uint64_t)verb << 56};
}

static inline enum score_verb score_call_verb(const struct score_call *c)
{
    return (enum score_verb)(c->what >> 56);
}

static inline unsigned score_call_align(const struct score_call *c)
{
    return (unsigned)(c->what >> 48 & 0xff);
}

static inline uint64_t score_call_size(const struct score_call *c)
{
    return c->what & SCORE_SIZE_MAX;
}

/* How a play went: the player writes one of these when it is over. */
enum score_outcome {
    SCORE_PLAYED = 1,
    SCORE_NOT_LOADED = 2, /* the loader did not find the allocator */
    SCORE_NO_MEMORY = 3,  /* for the player itself */
    SCORE_NO_THREAD = 4,  /* the system refused one */
    SCORE_BAD = 5,        /* the score makes no sense */
    SCORE_NO_RSS = 6,     /* /proc does not tell */
};

enum { SCORE_PATH_MAX = 512 };

struct score_result {
    uint64_t magic;
    uint32_t outcome; /* enum score_outcome; the rest counts for SCORE_PLAYED only */
    int32_t error;    /* errno of the others, 0 = none */
    uint64_t calls;
    uint64_t failed;           /* calls that gave no memory */
    uint64_t cpu_ns;           /* of all threads, in the allocator */
    uint64_t elapsed_ns;       /* from the first call to the last */
    uint64_t peak_rss_bytes;   /* above the player's own */
    uint64_t own_rss_bytes;    /* of the player before the first call */
    uint64_t own_cpu_ns;       /* that reading the score cost, taken off above */
    char path[SCORE_PATH_MAX]; /* of the allocator; "" = none was preloaded */
};

#endif
