/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_levels: how the level goes through some entries of a ledger (engine/entries.h), and which of those that pass are births and
 * which deaths.
 *
 * Its order matters only where the level may be higher than ever, so 64 entries are added up before any of them is
 * followed: mostly all that is born among them would not reach so high.
 */
#ifndef HW_ENGINE_ENTRY_LEVELS_H
#define HW_ENGINE_ENTRY_LEVELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/ones.h"
#include "engine/entries.h"

/* Where those are that pass.  As many are written as there could be among eight. */
struct entry_levels_lists {
    uint16_t births[ENTRIES_AT_ONCE + ONES_EIGHT], deaths[ENTRIES_AT_ONCE + ONES_EIGHT];
    struct ones ones; /* ones_init comes before the first use */
};

struct entry_levels {
    uint64_t bytes;         /* before and then behind these entries */
    uint64_t highest_bytes; /* what has been reached before, and then what is reached if that is more */
    uint64_t made_bytes;
    size_t births, deaths;
    size_t births_before,
        deaths_before; /* up to where it is highest for the first time; 0: it is no higher */
};

/* Follows the entries first..first+count-1, ENTRIES_AT_ONCE at most and none with a size of ENTRIES_LARGE that passes.
 * pass: 1 or 0 for each; what is behind them is set to 0. */
void entry_levels_follow(struct entry_levels *c, struct entry_levels_lists *lists, const struct entries *l,
                         size_t first, size_t count, uint8_t *pass);

#endif
