/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_lifetimes: which entries of a ledger (engine/entries.h) are of blocks that lived for some time.
 *
 * Times rise, so at each of them the other ends that are neither too near nor too far are those from one time to
 * another, and these rise too.  Entries of one time share them, and their mates are compared as numbers: none
 * has to be looked up.
 */
#ifndef HW_ENGINE_ENTRY_LIFETIMES_H
#define HW_ENGINE_ENTRY_LIFETIMES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/entries.h"
#include "engine/query.h"

enum { ENTRY_LIFETIMES_FOUR = 4 };

struct entry_lifetimes {
    struct query_range lifetimes; /* ns */
    /* Of the entries at one time, numbers in entries->times: where their blocks may have been made, if these are deaths,
     * and where they may be released, if they are births.  The second is behind the last. */
    size_t made[2], gone[2];
    uint8_t
        found[ENTRIES_AT_ONCE + ENTRY_LIFETIMES_FOUR]; /* as many are written as there could be among four */
};

/* Before the first entry. */
void entry_lifetimes_init(struct entry_lifetimes *o, const struct query_range *lifetimes);
/* pass[i] &= whether it lived so long, for the entries first..first+count-1, which follow those before.  time: of the
 * first, its number.  What blocks get that are never released means nothing. */
void entry_lifetimes_look(struct entry_lifetimes *o, const struct entries *l, size_t first, size_t count,
                          size_t time, uint8_t *pass);

#endif
