/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * changes: what every stack of a process holds now, less what it held when it was
 * last asked: the numbers of an incremental report.  A release counts for the
 * stack that allocated, so changes can be negative, and all of them together
 * add up to what is live.
 */
#ifndef HW_COLLECT_CHANGES_H
#define HW_COLLECT_CHANGES_H

#include "collect/totals.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct change {
    int64_t bytes, blocks;
    uint32_t stack;
};

struct changes_level {
    uint64_t bytes, blocks;
};

struct changes {
    VEC(struct changes_level) last; /* by stack; none: nobody has asked yet */
};

/* What was asked, once. */
struct changes_answer {
    VEC(struct change) list; /* stacks that have changed */
    uint64_t live_bytes, live_blocks;
    int64_t bytes; /* sum of the list */
};

void changes_release(struct changes *c);
/* False: no memory, and nothing is as if it had been asked. */
bool changes_take(struct changes *c, const struct totals *t, struct changes_answer *answer);

#endif
