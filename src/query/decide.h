/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * decide: the first of two readings, for conditions that are known only when a
 * block has died, its chain is over, or its whole group has been seen.
 *
 * It leaves a bit for every allocation that passes the conditions at birth and
 * at death (or, is_inverse, for every one that passes at birth and not at death: where most do), and narrows the stacks of the filter to groups that pass.  It
 * reads only the columns that it needs.
 */
#ifndef HW_QUERY_DECIDE_H
#define HW_QUERY_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/bitset.h"
#include "query/filter.h"
#include "query/watch.h"
#include "tool/err.h"

/* Whether the totals in the file are those of the events in the file, and of what was left out of them on
 * purpose. */
bool decide_totals_agree(const struct wake_reader *reader, uint32_t process);
/* Whether events have to be read to decide. */
bool decide_is_needed(const struct filter *f);
/* Fills `chosen` when the filter has conditions at death.  0, WATCH_STOP, or an error. */
int decide_run(struct filter *f, struct bitset *chosen, struct watch *watch, struct wake_reader *reader,
               uint32_t process, struct err *err);

#endif
