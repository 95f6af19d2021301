/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * outlive: which entries of a ledger (query/entries.h) are of blocks that lived for some time.
 *
 * Times rise, so at each of them the other ends that are neither too near nor too far are those from one time to
 * another, and these rise too.  Entries of one time share them, and their mates are compared as numbers: none
 * has to be looked up.
 */
#ifndef HW_QUERY_OUTLIVE_H
#define HW_QUERY_OUTLIVE_H

#include <stddef.h>
#include <stdint.h>

#include "query/entries.h"
#include "query/query.h"

enum { OUTLIVE_FOUR = 4 };

struct outlive {
    struct query_range lifetimes; /* ns */
    /* Of the entries at one time, numbers in entries->times: where their blocks may have been made, if these are deaths,
     * and where they may be released, if they are births.  The second is behind the last. */
    size_t made[2], gone[2];
    uint8_t found[ENTRIES_AT_ONCE + OUTLIVE_FOUR]; /* as many are written as there could be among four */
};

/* Before the first entry. */
void outlive_init(struct outlive *o, const struct query_range *lifetimes);
/* pass[i] &= whether it lived so long, for the entries first..first+count-1, which follow those before.  time: of the
 * first, its number.  What blocks get that are never released means nothing. */
void outlive_look(struct outlive *o, const struct entries *l, size_t first, size_t count, size_t time,
                  uint8_t *pass);

#endif
