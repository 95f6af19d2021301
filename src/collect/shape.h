/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * shape: how many words a record takes (wire/record.h), by its first word.
 * The first check of everything that comes out of shared memory.
 */
#ifndef HW_COLLECT_SHAPE_H
#define HW_COLLECT_SHAPE_H

#include "collect/item.h"

#include <stdint.h>

enum { SHAPE_EVENT_WORDS_MAX = 4 };

/* Of ALLOC and FREE by opcode: words, SHAPE_EVENT_WORDS_MAX at most, and op, kind and traits of their item; 0: it is
 * neither.  Negative with SHAPE_MORE: there is more to say of it than of most. */
#define SHAPE_EVENT(op, kind) ((op) << 8 | (kind) << 16 | ITEM_FOLDED << 24)
#define SHAPE_MORE INT32_MIN
extern const int32_t shape_events[256];

static inline uint32_t shape_event_words(int32_t event)
{
    return (uint32_t)event & 0xff;
}

/* Words of any record; 0: makes no sense. */
uint32_t shape_measure(uint64_t first);

#endif
