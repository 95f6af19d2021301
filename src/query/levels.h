/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * levels: how much some stacks of a process held over its life, coarsely: it is cut
 * into LEVELS_TICKS ticks.
 *
 * A tick is so much time and so much work: half of the ticks pass with time, half with the
 * allocations that the process makes.  Time alone would make a stall of a busy program a
 * plateau; work alone would make nothing of the hours that a server waits.
 *
 * One reading of the events; memory goes by the live blocks of these stacks.
 */
#ifndef HW_QUERY_LEVELS_H
#define HW_QUERY_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/query.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/vec.h"

enum { LEVELS_TICKS = 64 };

struct levels_row {
    uint32_t stack;
    uint64_t floor[LEVELS_TICKS]; /* least bytes live in the tick */
    uint64_t level[LEVELS_TICKS]; /* bytes live when it ends */
    uint64_t freed[LEVELS_TICKS]; /* blocks freed in the tick */
    uint64_t highest;             /* most bytes ever */
    uint64_t left;                /* bytes live at the end */
    uint64_t blocks;              /* made */
    uint64_t first_ns, last_ns;   /* when the first and the last were made */
    size_t first_tick;            /* in which the first was made */
};

struct levels {
    uint64_t from_ns, to_ns;         /* the life of the process */
    uint64_t until_ns[LEVELS_TICKS]; /* when each tick was over */
    bool exited;                     /* it ended by itself, not by a signal */
    uint64_t made[LEVELS_TICKS];     /* blocks of all stacks, made ... */
    uint64_t freed[LEVELS_TICKS];    /* ... and freed in the tick */
    VEC(struct levels_row) rows;     /* in the order in which stacks were asked for */
};

void levels_init(struct levels *l);
void levels_release(struct levels *l);

/* q: for its progress and interrupt alone.  ERR_MEMORY; an interrupted reading is ERR_ABSENT, without a sentence. */
int levels_read(struct levels *l, const struct query *q, struct wake_reader *r, uint32_t process,
                const uint32_t *stacks, size_t count, struct err *err);

#endif
