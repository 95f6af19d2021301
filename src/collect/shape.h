/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * shape: how many words a record takes (wire/record.h), by its first word.
 * The first check of everything that comes out of shared memory.
 */
#ifndef HW_COLLECT_SHAPE_H
#define HW_COLLECT_SHAPE_H

#include <stdint.h>

/* Words of records of fixed length by opcode; 0: variable, or no opcode at all. */
extern const uint8_t shape_words[256];

/* Words of any record; 0: makes no sense. */
uint32_t shape_measure(uint64_t first);

#endif
