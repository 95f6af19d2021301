/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * crew: several CPUs count parts of the entries of a ledger (engine/entries.h) at once.
 *
 *     size_t mine = crew_begin(&crew, from, to);   others have begun with what is behind
 *     entry_counts_add(c, from, mine);
 *     crew_end(&crew, c);                          as if c had counted up to `to`
 *
 * A part begins with rows of its own, in which nothing has happened yet.  So what it has in a row, and its level, are
 * differences to what was there before the part, and sums can be added to those before.  Its peak is where its level
 * was highest: it is everybody's if that is more than what was reached before.  So the answer is the same whatever
 * the parts are.
 *
 * Timelines are for one alone: each of their ticks has a highest level of its own.
 */
#ifndef HW_ENGINE_CREW_H
#define HW_ENGINE_CREW_H

#include <stddef.h>
#include <stdint.h>

#include "engine/entries.h"
#include "engine/entry_counts.h"
#include "engine/ledger.h"
#include "engine/scan.h"

struct crew_part;

struct crew {
    struct scan *scan; /* that what the parts find is added to */
    const struct entries *entries;
    size_t most;             /* parts, the caller's included */
    size_t least;            /* entries in a part */
    struct crew_part **list; /* behind the caller's, in order */
    size_t count;
};

/* limits: of the threads and of the entries in a part, 0 = the usual. */
void crew_init(struct crew *p, const struct ledger_limits *limits, struct scan *s, const struct entries *l);
/* No moment lies between these entries.  Up to where the caller has to count himself. */
size_t crew_begin(struct crew *p, size_t from, size_t to);
/* Adds what the others have counted to the scan of `c`.  Where there is no memory it has failed. */
void crew_end(struct crew *p, struct entry_counts *c);

#endif
