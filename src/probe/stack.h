/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack: gives each distinct call chain a number.
 *
 * The table is a cache in private memory, of fixed size, shared by all threads
 * without a lock. A stack that is not in it is written to the lane (STACK,
 * FRAMES) under a new number before anyone can learn that number; one that has
 * been pushed out of the cache is written again under another, and the
 * collector knows by its content that it is the same.
 */
#ifndef HW_PROBE_STACK_H
#define HW_PROBE_STACK_H

#include "probe/lane.h"

#include <stdbool.h>
#include <stdint.h>

bool stack_init(uint32_t depth);

/* In a forked child: numbers begin anew. */
void stack_renew(void);

/* The number of the stack that the lane has just walked; 0 when it could not be
 * recorded. */
uint32_t stack_number(struct lane *lane);

/* The number of the stack above `frame` (frame address of a hook). */
static inline uint32_t stack_take(struct lane *lane, const void *frame)
{
    if (__builtin_expect(walk_take(lane, frame), 1) && lane->stack != 0)
        return lane->stack;
    return stack_number(lane);
}

#endif
