/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * leap: readings that leap over what is known already (query/stage.h).
 *
 * The first reading of a process makes stages of all its events.  Later ones go through the stages in
 * order as if they were events, with the same code for moments and rows (query/scan.h), and read again only
 * those in which something happens that sums do not have: the window or the moment of live blocks cuts
 * them, or the peak of some stacks is in them.  Timelines come from trails.
 */
#ifndef HW_QUERY_LEAP_H
#define HW_QUERY_LEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "query/filter.h"
#include "query/query.h"
#include "query/scan.h"
#include "query/stage.h"
#include "query/watch.h"
#include "store/reader.h"
#include "tool/err.h"

/* Whether stages can answer.  Conditions on groups must have been decided. */
bool leap_suits(const struct query *q, const struct filter *f, const struct wake_process *p);
/* What is asked for is in these stages. */
bool leap_has(const struct stages *s, const struct query *q);

/* Without a trail it would have to read all of what it is asked about. */
bool leap_needs_trail(const struct query *q, const struct filter *f);

enum { LEAP_ODD = 2 /* what a reading gives that met something stages cannot tell */ };

/* Makes stages.  w: any query on the clock of this recording.  0; WATCH_STOP: interrupted, they end there; LEAP_ODD, or an error: they are of no use. */
int leap_make(struct stages *s, const struct stage_limits *limits, const struct query *q,
              const struct when *w, struct watch *watch, struct wake_reader *reader, uint32_t process,
              struct err *err);

/* As scan_run. */
int leap_run(struct scan *s, struct stages *stages, const struct query *q, const struct when *w,
             struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
             struct query_result *result, struct err *err);

#endif
