/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * shape: how many words a record takes (wire/record.h), by its first word.
 * The first check of everything that comes out of shared memory.
 */
#ifndef HW_COLLECT_SHAPE_H
#define HW_COLLECT_SHAPE_H

#include <stdint.h>

enum { SHAPE_EVENT_WORDS_MAX = 4 };

/* Words of ALLOC and FREE by opcode, SHAPE_EVENT_WORDS_MAX at most; 0: it is neither. */
extern const uint8_t shape_event_words[256];

/* Words of any record; 0: makes no sense. */
uint32_t shape_measure(uint64_t first);

#endif
