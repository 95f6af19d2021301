/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * linked: the first of two readings where realloc chains are asked for, and neither threads nor groups.
 *
 * All blocks are followed, since a link that does not match still makes its chain longer; but of a block that is a chain of
 * its own, as most are, no more is kept than its birth and its size.
 */
#ifndef HW_QUERY_LINKED_H
#define HW_QUERY_LINKED_H

#include <stdbool.h>
#include <stdint.h>

#include "query/bitset.h"
#include "query/filter.h"
#include "query/watch.h"
#include "tool/err.h"

/* Whether it can decide. */
bool linked_suits(const struct filter *f);
/* Fills `chosen`.  0, WATCH_STOP, or an error. */
int linked_run(struct filter *f, struct bitset *chosen, struct watch *watch, struct wake_reader *reader,
               uint32_t process, struct err *err);

#endif
