/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * assort: which events of a block are allocations, which releases, and which neither.
 */
#ifndef HW_STORE_ASSORT_H
#define HW_STORE_ASSORT_H

#include <stdint.h>

#include "store/replay.h"

/* Before the first block. */
void assort_init(struct replay_arrays *a);
/* The next `count` events: fills event and detail, and lists where each sort is.  Where there are others than
 * allocations and releases, `number` gets how many allocations were made before.  Ops that do not
 * exist set r->bad. */
void assort_block(struct replay *r, uint32_t count);

#endif
