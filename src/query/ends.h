/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ends: the first of two readings where of groups nothing is asked for but counts, and how long it is from the
 * first allocation to the last.
 *
 * How many there were the file tells.  The first of each stack is looked for from the beginning on and the last from the end
 * backwards, chunk by chunk, until all are found: in a program that does the same over and over after a few chunks, and at
 * worst after all of them, each read once.
 */
#ifndef HW_QUERY_ENDS_H
#define HW_QUERY_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "query/filter.h"
#include "query/watch.h"
#include "tool/err.h"

/* Whether it can decide.  Where anything is missing or left out, the file does not tell what its events would. */
bool ends_suits(const struct filter *f, const struct wake_reader *reader, uint32_t process);
/* Narrows the stacks of the filter.  0, WATCH_STOP, or an error. */
int ends_run(struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
             struct err *err);

#endif
