/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reckon: answers from a ledger (query/ledger.h) what scan would answer from the events.
 *
 * Of the entries that pass (query/admit.h) some thousand are added up at a time: first the level is followed through
 * them (query/ascent.h), which is all that depends on their order.  Then births and deaths are added to their rows in
 * a loop each, which need not guess what comes next; if there is a peak among them, those before it first.
 */
#ifndef HW_QUERY_RECKON_H
#define HW_QUERY_RECKON_H

#include "query/filter.h"
#include "query/ledger.h"
#include "query/query.h"
#include "query/scan.h"
#include "query/watch.h"
#include "store/reader.h"
#include "tool/err.h"

/* As scan_run, for a query that the ledger knows (admit_knows) and whose conditions on groups have been decided. */
int reckon_run(struct scan *s, const struct ledger *l, const struct query *q, const struct when *w,
               struct filter *f, struct watch *watch, const struct wake_process *p,
               struct query_result *result, struct err *err);

#endif
