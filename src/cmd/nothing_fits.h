/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * nothing_fits: an answer that is empty because nothing meets the conditions.  A condition that is misspelt
 * must not look like good news.
 */
#ifndef HW_CMD_NOTHING_FITS_H
#define HW_CMD_NOTHING_FITS_H

#include "engine/result.h"

#include <stdint.h>

/* Says that none of so many allocations is in the answer, where that is so.  To be called when conditions were
 * given and all has been read. */
void nothing_fits_say(const struct metrics *total, uint64_t allocations);
/* Likewise, none of so many mappings. */
void nothing_fits_say_mappings(uint64_t chosen, uint64_t mappings);

#endif
