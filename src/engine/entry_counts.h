/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_counts: adds entries of a ledger (engine/entries.h) to the rows of a scan.
 *
 * Of the entries that pass (engine/entry_filter.h) some thousand are added up at a time: first the level is followed through
 * them (engine/entry_levels.h), which is all that depends on their order.  Then births and deaths are added to their rows in
 * a loop each, which need not guess what comes next; if there is a peak among them, those before it first.
 */
#ifndef HW_ENGINE_ENTRY_COUNTS_H
#define HW_ENGINE_ENTRY_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/entries.h"
#include "engine/filter.h"
#include "engine/scan.h"

struct entry_counts;

/* For a scan that has begun, and a filter that is not changed any more.  NULL: no memory. */
struct entry_counts *entry_counts_new(struct scan *s, const struct entries *l, const struct filter *f);
/* Accepts NULL. */
void entry_counts_free(struct entry_counts *c);

/* The first entry that is not before ns; none is before the latest. */
size_t entry_counts_find(const struct entry_counts *c, uint64_t ns);
/* Adds the entries from..to-1, which come behind those before.  No moment lies between them.  Where there is no memory the
 * scan has failed. */
void entry_counts_add(struct entry_counts *c, size_t from, size_t to);

#endif
