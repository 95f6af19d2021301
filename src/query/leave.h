/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * leave: the first of two readings where the release of a block decides alone: when, by which thread, and
 * whether it was the newest of that thread.
 *
 * So no live block is followed, and what lies before or behind all releases that matter is not read.  It
 * leaves a bit for every allocation that passes or, where blocks that nobody released pass, for every one
 * that does not (is_inverse).
 */
#ifndef HW_QUERY_LEAVE_H
#define HW_QUERY_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "query/bitset.h"
#include "query/filter.h"
#include "query/watch.h"
#include "tool/err.h"

/* Whether it can decide. */
bool leave_suits(const struct filter *f);
/* Fills `chosen`.  0, WATCH_STOP, or an error. */
int leave_run(struct filter *f, struct bitset *chosen, struct watch *watch, struct wake_reader *reader,
              uint32_t process, struct err *err);

#endif
