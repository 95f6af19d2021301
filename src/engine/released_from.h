/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * released_from: which blocks were released from a stack that the query asks for.
 *
 * It is known of a release that was recorded with its stack (record --free-stacks), and always of
 * one by realloc that gave another block: its stack is that of the block which continues the
 * chain (engine/query.h).  Releases of which it is not known are counted.
 *
 * One reading of the events, before all others.  Afterwards it is a condition
 * at birth like any other.
 */
#ifndef HW_ENGINE_RELEASED_FROM_H
#define HW_ENGINE_RELEASED_FROM_H

#include <stdint.h>

#include "engine/filter.h"
#include "engine/watch.h"
#include "store/reader.h"
#include "tool/err.h"

/* Fills `released` and `releases_without_stack` of a filter, if it has conditions on stacks of
 * releases.  0, WATCH_STOP, or an error. */
int released_from_run(struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
                      struct err *err);
/* Which stacks a release may have come from, by number; not 0, which is none.  For free(), whatever comes back. */
int released_from_allow(const struct filter *f, uint32_t process, uint8_t **allowed, struct err *err);

#endif
