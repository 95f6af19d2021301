/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unknown: instead of a list that a recording cannot give.
 */
#ifndef HW_PRESENT_UNKNOWN_H
#define HW_PRESENT_UNKNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "present/page.h"
#include "query/measure.h"

/* Samples do not tell which allocation of a thread comes next.  True: has said so, and there is nothing to list.
 * blocks: what was counted all the same, as temporary by their time. */
bool unknown_print(struct page *p, enum measure measure, bool is_sampled, uint64_t blocks);

#endif
