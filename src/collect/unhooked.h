/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unhooked: notes on what programs use of their allocator that passes no hook (segment_head.unhooked).
 */
#ifndef HW_COLLECT_UNHOOKED_H
#define HW_COLLECT_UNHOOKED_H

#include "store/writer.h"

#include <stdint.h>

/* Writes a sentence for each bit of `what` (enum segment_unhooked) into the recording. */
void unhooked_tell(struct wake_writer *w, uint32_t what);

#endif
