/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * span: ranges of addresses that lie inside one another, and which of them is
 * the innermost at an address.
 *
 *     [----------------- 0 ------------------)
 *        [---- 1 ----)      [----- 2 -----)
 *          [- 3 -)
 *
 * Filled with spans_add() in any order, sealed once, asked from then on:
 * one binary search and a few steps outwards.  Units of a program, functions
 * of a unit, inlined calls of a function and symbols are all kept so.
 */
#ifndef HW_SYMBOL_SPAN_H
#define HW_SYMBOL_SPAN_H

#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define SPAN_NONE UINT32_MAX

struct span {
    uint64_t low;
    uint64_t high;  /* first address behind it */
    uint32_t value; /* what it stands for; of two equal ranges the greater value is the inner one */
    uint32_t outer; /* index of the span around it, SPAN_NONE = there is none */
};

struct spans {
    VEC(struct span) list;
};

void spans_release(struct spans *s);
/* Empty ranges are left out.  False: no memory. */
bool spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t value);
/* Sorts; to be called after the last spans_add() and before the first spans_find(). */
void spans_seal(struct spans *s);
/* The value of the innermost span at an address, SPAN_NONE = none. */
uint32_t spans_find(const struct spans *s, uint64_t address);

#endif
