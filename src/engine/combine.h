/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * combine: the answers of several recordings to one query, as one.
 */
#ifndef HW_ENGINE_COMBINE_H
#define HW_ENGINE_COMBINE_H

#include <stdint.h>

#include "engine/result.h"
#include "tool/err.h"

/* Adds what `from` found to `to`; its processes get numbers from base on.  The
 * peak is that of the process with the highest one: the others' rows lose
 * theirs.  Timelines are taken over when `to` has none; recordings have no
 * common clock.  ERR_MEMORY. */
int combine_add(struct query_result *to, const struct query_result *from, uint32_t base, struct err *err);

#endif
