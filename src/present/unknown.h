/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unknown: instead of a list that a recording cannot give.
 */
#ifndef HW_PRESENT_UNKNOWN_H
#define HW_PRESENT_UNKNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "present/page.h"
#include "query/measure.h"

/* Why it is not known which blocks are temporary, or leaked. */
enum unknown {
    UNKNOWN_NONE,    /* it is */
    UNKNOWN_SAMPLED, /* samples do not tell which allocation of a thread comes next */
    UNKNOWN_CULLED,  /* nor do events of which some were culled, where they had to be asked */
    UNKNOWN_MADE_UP, /* nothing is known of single blocks */
    UNKNOWN_FULL,    /* the file was full before the end, and what leaks is of a time without events */
};

/* True: has said so, and there is nothing to list.  blocks: what was counted all the same, of samples as temporary by
 * their time, else of processes that know. */
bool unknown_print(struct page *p, enum measure measure, enum unknown unknown, uint64_t blocks);

#endif
