/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reckon: answers from a ledger (query/entries.h) what scan would answer from the events.
 *
 * Between two moments (query/scan.h) entries are counted (query/counting.h), in parts at once where they are many
 * and there are several CPUs (query/crew.h).
 */
#ifndef HW_QUERY_RECKON_H
#define HW_QUERY_RECKON_H

#include "query/crew.h"
#include "query/entries.h"
#include "query/filter.h"
#include "query/ledger.h"
#include "query/query.h"
#include "query/scan.h"
#include "query/watch.h"
#include "store/reader.h"
#include "tool/err.h"

/* As scan_run, for a query that the ledger knows (admit_knows) and whose conditions on groups have been decided. */
int reckon_run(struct scan *s, const struct entries *l, const struct ledger_limits *limits,
               const struct query *q, const struct when *w, struct filter *f, struct watch *watch,
               const struct wake_process *p, struct query_result *result, struct err *err);

#endif
