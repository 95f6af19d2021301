/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * resident: when to look at a process's resident set, and which looks become samples of its recording.
 *
 * A recorder lives as long as its program, and that may be weeks: ten samples a second would be six million of them, and looking is
 * a dozen microseconds of the kernel's time.  So who is still is looked at less often, and what says nothing new is not
 * told again.
 *
 *  1. A look is told if it differs from the latest told one by more than a 256th, or if that is older than a 1024th of
 *     the process's life (100 ms at least, a minute at most).
 *  2. The highest look of all is told: what is not at once is held, and told before the next one.
 */
#ifndef HW_COLLECT_RESIDENT_H
#define HW_COLLECT_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

struct resident_look {
    uint64_t time_ns, bytes;
};

struct resident {
    uint64_t start_ns;           /* of the process */
    uint64_t events, stirred_ns; /* of the process so far, and when there was a new one */
    uint64_t next_ns;            /* no look before */
    struct resident_look told;   /* the latest; bytes 0: none yet */
    struct resident_look held;   /* higher than all that were told; bytes 0: none */
    uint64_t highest;            /* of those that were told */
};

enum { RESIDENT_TOLD_MAX = 2 };

/* All times are CLOCK_MONOTONIC. */
void resident_init(struct resident *r, uint64_t start_ns);
/* How long nothing of the process need be looked at, which has had so many events by now. */
uint64_t resident_rest_ns(struct resident *r, uint64_t now_ns, uint64_t events);
/* Whether it is time to look.  Then the next look is a rest away. */
bool resident_is_due(struct resident *r, uint64_t now_ns, uint64_t events);
/* A look that was taken.  Gives how many are to be told, and which, by rising time. */
unsigned resident_note(struct resident *r, uint64_t now_ns, uint64_t bytes,
                       struct resident_look told[RESIDENT_TOLD_MAX]);
/* The file ends here: the one that is held, if there is one.  In another file everything is new. */
unsigned resident_finish(struct resident *r, struct resident_look told[RESIDENT_TOLD_MAX]);

#endif
