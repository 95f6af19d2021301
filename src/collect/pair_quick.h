/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pair_quick: the private first try of pair: allocations and releases that
 * fit, of a process of which nothing special is asked, as nearly all are.  A
 * run of them is made final in one loop; what they add up to is entered when it
 * ends.
 */
#ifndef HW_COLLECT_PAIR_QUICK_H
#define HW_COLLECT_PAIR_QUICK_H

#include "collect/pair.h"

/* How many items, from the first on, were usual and are done. */
size_t pair_quick(struct pair *p, const struct item *items, size_t count);
/* The same for items that lie apart. */
size_t pair_quick_each(struct pair *p, const struct item *const *items, size_t count);

#endif
