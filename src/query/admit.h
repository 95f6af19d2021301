/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * admit: which entries of a ledger (query/ledger.h) pass the conditions of a query, and when they were.
 *
 * Both ends of a block pass or neither does.  Some thousand entries are looked at together, one short loop a condition
 * that is set, as the filter does it with events.
 */
#ifndef HW_QUERY_ADMIT_H
#define HW_QUERY_ADMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/filter.h"
#include "query/ledger.h"
#include "query/outlive.h"
#include "query/query.h"

/* What a class is to a query. */
enum {
    ADMIT_PASSES = 1,
    ADMIT_TEMPORARY = 2, /* if they do not live longer than temporary_ns */
};

struct admit {
    const struct ledger *ledger;
    const struct filter *filter;
    uint8_t *classes; /* by number: ADMIT_* */
    bool asks_classes;
    uint32_t *slacks; /* of classes; NULL unless usable sizes are asked for */
    uint8_t *chains;  /* by number: 1 = passes; NULL unless they are asked for */
    uint64_t temporary_ns;
    size_t time;       /* of the latest entry, in ledger->times */
    size_t first_time; /* of the first entry at hand */
    size_t lasting;    /* the first that is not before the entries at hand, in ledger->lasting */
    size_t link;       /* likewise in ledger->lineage.links */

    struct outlive lifetimes, chain_lifetimes;

    /* Of the entries at hand: */
    uint64_t time_ns[LEDGER_AT_ONCE];
    uint8_t pass[LEDGER_AT_ONCE];
    bool has_large; /* some that pass are as large as LEDGER_LARGE */
};

/* Which parts a ledger has to have (enum ledger_part). */
unsigned admit_needs(const struct filter *f);
/* Whether a ledger may know what the query asks for, and whether this one does. */
bool admit_suits(const struct query *q, const struct filter *f, const struct wake_process *p);
bool admit_knows(const struct ledger *l, const struct filter *f);
/* Decides conditions on groups, and takes out of a filter what every block meets.  Of a query that it knows. */
void admit_relax(struct filter *f, const struct ledger *l);

/* False: no memory.  Release whatever comes back. */
bool admit_init(struct admit *a, const struct ledger *l, const struct filter *f);
void admit_release(struct admit *a);
/* Looks at the entries first..first+count-1, LEDGER_AT_ONCE at most, which come behind those before. */
void admit_entries(struct admit *a, size_t first, size_t count);
/* The first entry that is not before ns; none is before the latest. */
size_t admit_find(const struct admit *a, uint64_t ns);

#endif
