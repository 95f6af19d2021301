/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * gather: the first of two readings where of all conditions that are not known at birth there are
 * only those on groups.
 *
 * It narrows the stacks of the filter to groups that pass.  Live blocks are followed only where a group's
 * own peak is asked for.
 */
#ifndef HW_QUERY_GATHER_H
#define HW_QUERY_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "query/filter.h"
#include "query/watch.h"
#include "tool/err.h"

/* Whether it can decide. */
bool gather_suits(const struct filter *f);
/* 0, WATCH_STOP, or an error. */
int gather_run(struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
               struct err *err);

#endif
