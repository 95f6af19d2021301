/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_scan: answers from a ledger (engine/entries.h) what scan would answer from the events.
 *
 * Between two moments (engine/scan.h) entries are counted (engine/entry_counts.h), in parts at once where they are many
 * and there are several CPUs (engine/crew.h).
 */
#ifndef HW_ENGINE_ENTRY_SCAN_H
#define HW_ENGINE_ENTRY_SCAN_H

#include "engine/crew.h"
#include "engine/entries.h"
#include "engine/filter.h"
#include "engine/ledger.h"
#include "engine/query.h"
#include "engine/scan.h"
#include "engine/watch.h"
#include "store/reader.h"
#include "tool/err.h"

/* As scan_run, for a query that the ledger knows (entry_filter_knows) and whose conditions on groups have been decided. */
int entry_scan_run(struct scan *s, const struct entries *l, const struct ledger_limits *limits,
                   const struct query *q, const struct when *w, struct filter *f, struct watch *watch,
                   const struct wake_process *p, struct query_result *result, struct err *err);

#endif
