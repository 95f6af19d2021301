/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * classify_events: which events of a block are allocations, which releases, and which neither.
 */
#ifndef HW_STORE_CLASSIFY_EVENTS_H
#define HW_STORE_CLASSIFY_EVENTS_H

#include <stdint.h>

#include "store/chunk_decoder.h"

/* Before the first block. */
void classify_events_init(struct chunk_decoder_arrays *a);
/* The next `count` events: fills event and detail, and lists where each sort is.  Where there are others than
 * allocations and releases, `number` gets how many allocations were made before.  Ops that do not
 * exist set r->bad. */
void classify_events_block(struct chunk_decoder *r, uint32_t count);

#endif
