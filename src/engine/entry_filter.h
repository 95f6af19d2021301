/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_filter: which entries of a ledger (engine/entries.h) pass the conditions of a query, and when they were.
 *
 * Both ends of a block pass or neither does.  Some thousand entries are looked at together, one short loop a condition
 * that is set, as the filter does it with events.
 */
#ifndef HW_ENGINE_ENTRY_FILTER_H
#define HW_ENGINE_ENTRY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/entries.h"
#include "engine/entry_lifetimes.h"
#include "engine/filter.h"
#include "engine/query.h"

/* What a class is to a query. */
enum {
    ENTRY_FILTER_PASSES = 1,
    ENTRY_FILTER_TEMPORARY = 2, /* if they do not live longer than temporary_ns */
};

struct entry_filter {
    const struct entries *entries;
    const struct filter *filter;
    uint8_t *classes; /* by number: ADMIT_* */
    bool asks_classes;
    uint32_t *slacks; /* of classes; NULL unless usable sizes are asked for */
    uint8_t *chains;  /* by number: 1 = passes; NULL unless they are asked for */
    uint64_t temporary_ns;
    size_t time;       /* of the latest entry, in entries->times */
    size_t first_time; /* of the first entry at hand */
    size_t lasting;    /* the first that is not before the entries at hand, in entries->lasting */
    size_t link;       /* likewise in entries->lineage.links */

    struct entry_lifetimes lifetimes, chain_lifetimes;

    /* Of the entries at hand: */
    uint64_t time_ns[ENTRIES_AT_ONCE];
    uint8_t pass[ENTRIES_AT_ONCE];
    bool has_large; /* some that pass are as large as ENTRIES_LARGE */
};

/* Whether entries may know what the query asks for, and whether these do; it is about events up to this time. */
bool entry_filter_suits(const struct query *q, const struct filter *f, const struct wake_process *p);
bool entry_filter_knows(const struct entries *l, const struct filter *f, uint64_t until_ns);
/* Decides conditions on groups, and takes out of a filter what every block meets.  Of a query that it knows. */
void entry_filter_relax(struct filter *f, const struct entries *l);

/* False: no memory.  Release whatever comes back. */
bool entry_filter_init(struct entry_filter *a, const struct entries *l, const struct filter *f);
void entry_filter_release(struct entry_filter *a);
/* Looks at the entries first..first+count-1, ENTRIES_AT_ONCE at most, which come behind those before. */
void entry_filter_entries(struct entry_filter *a, size_t first, size_t count);
/* The first entry that is not before ns; none is before the latest. */
size_t entry_filter_find(const struct entry_filter *a, uint64_t ns);

#endif
