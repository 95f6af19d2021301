/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * decode: the private side of drain (drain.c and decode.c).
 */
#ifndef HW_COLLECT_DECODE_H
#define HW_COLLECT_DECODE_H

#include "collect/drain.h"

/* Counts the anomaly and reads the lane no more. */
void drain_close_lane(struct drain *d, struct drain_lane *lane);
/* Puts a cursor at the start of a chunk.  claim: the chunk must be nobody's
 * and becomes the lane's; else it must be the lane's already. */
bool drain_enter(struct drain *d, struct drain_lane *lane, struct drain_cursor *c, uint32_t chunk,
                 bool claim);
/* The same for the first chunk of the lane; false also when there is none yet. */
bool drain_begin(struct drain *d, struct drain_lane *lane, struct drain_cursor *c, bool claim);
void drain_give_back(struct drain *d, uint32_t chunk);
/* Enters the definition, if the record is one. */
void drain_define(struct drain *d, struct drain_lane *lane, uint64_t first, const uint64_t *at);

#endif
