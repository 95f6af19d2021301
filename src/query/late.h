/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * late: one reading of the events of a process that counts each block when it dies,
 * for conditions that are known only then.
 *
 * The rows have what scan would give them after a first reading had decided.  The peak is found
 * by a ridge (query/ridge.h), unless the query asks for sums only.  Not for timelines, nor for
 * conditions on chains or groups.
 */
#ifndef HW_QUERY_LATE_H
#define HW_QUERY_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "query/filter.h"
#include "query/medians.h"
#include "query/query.h"
#include "query/ridge.h"
#include "query/slots.h"
#include "query/tally.h"
#include "query/watch.h"
#include "store/numbered.h"
#include "store/weight.h"

struct late {
    const struct query *query;
    const struct when *when;
    struct filter *filter;
    struct query_result *result;
    struct watch *watch;
    struct tally tally; /* for its rows */
    struct ridge ridge; /* not for sums only */
    struct numbered live;
    struct slots slots;
    struct medians medians;
    const uint64_t *leaked; /* in the filter's list: not below the latest number */
    bool failed;            /* no memory */
    uint64_t seen_ns;       /* time of the latest event */
    struct weight_rule rule;
    uint8_t pass[WAKE_BLOCK_MAX];
};

enum { LATE_OVER = 2 /* so much is live at once that two readings are better */ };

/* Whether it can answer. */
bool late_suits(const struct query *q, const struct filter *f);
/* What it counts into `result`: histograms.  An interrupt: blocks that have not died by then
 * are not counted.  0, LATE_OVER (nothing in it is of use), or an error. */
int late_run(struct late *l, const struct query *q, const struct when *w, struct filter *f,
             struct watch *watch, struct wake_reader *reader, uint32_t process, struct query_result *result,
             struct err *err);
/* Accepts a zeroed one. */
void late_release(struct late *l);

#endif
