/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * counting: adds entries of a ledger (query/entries.h) to the rows of a scan.
 *
 * Of the entries that pass (query/admit.h) some thousand are added up at a time: first the level is followed through
 * them (query/ascent.h), which is all that depends on their order.  Then births and deaths are added to their rows in
 * a loop each, which need not guess what comes next; if there is a peak among them, those before it first.
 */
#ifndef HW_QUERY_COUNTING_H
#define HW_QUERY_COUNTING_H

#include <stddef.h>
#include <stdint.h>

#include "query/entries.h"
#include "query/filter.h"
#include "query/scan.h"

struct counting;

/* For a scan that has begun, and a filter that is not changed any more.  NULL: no memory. */
struct counting *counting_new(struct scan *s, const struct entries *l, const struct filter *f);
/* Accepts NULL. */
void counting_free(struct counting *c);

/* The first entry that is not before ns; none is before the latest. */
size_t counting_find(const struct counting *c, uint64_t ns);
/* Adds the entries from..to-1, which come behind those before.  No moment lies between them.  Where there is no memory the
 * scan has failed. */
void counting_add(struct counting *c, size_t from, size_t to);

#endif
