/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unknown: instead of a list that a recording cannot give.
 */
#ifndef HW_PRESENT_UNKNOWN_H
#define HW_PRESENT_UNKNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/measure.h"
#include "present/page.h"
#include "session/caveats.h"

/* True: has said so, and there is nothing to list.  why: CAVEAT_TEMPORARY or CAVEAT_LEAKED; NULL: it is known.
 * blocks: what was counted all the same, of samples as temporary by their time, else of processes that know. */
bool unknown_print(struct page *p, enum measure measure, const struct caveat *why, uint64_t blocks);

#endif
