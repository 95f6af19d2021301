/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pair_fit: the careful half of pair: realloc, and events that do not fit
 * where they stand.
 */
#ifndef HW_COLLECT_PAIR_FIT_H
#define HW_COLLECT_PAIR_FIT_H

#include "collect/pair.h"

/* Applies the item if it fits, and what was waiting for it; else parks it. */
void pair_fit(struct pair *p, const struct item *i);
/* Makes final what was parked at least `rounds` rounds ago. */
void pair_settle(struct pair *p, uint64_t rounds);

#endif
