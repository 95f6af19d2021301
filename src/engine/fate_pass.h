/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fate_pass: one pass over the events, ahead of the scan, for conditions that are known only when a block has died, its
 * realloc chain is over, or its whole group has been seen.
 *
 * It leaves one bit an allocation: set for every one that passes the conditions at birth and at death.  Conditions on
 * groups narrow the stacks of the filter.  Only the columns that are needed are decoded.
 */
#ifndef HW_ENGINE_FATE_PASS_H
#define HW_ENGINE_FATE_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/bitset.h"
#include "engine/filter.h"
#include "engine/watch.h"
#include "tool/err.h"

bool fate_pass_is_needed(const struct filter *f);
/* Fills `chosen` if the filter has conditions at death.  0, WATCH_STOP, or an error. */
int fate_pass_run(struct filter *f, struct bitset *chosen, struct watch *watch, struct wake_reader *reader,
                  uint32_t process, struct err *err);

#endif
