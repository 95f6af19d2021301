/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * levels: how much some stacks of a process held over its life, coarsely: it is cut
 * into LEVELS_TICKS ticks.
 *
 * A tick is so much time and so much work: half of the ticks pass with time, half with the
 * allocations that the process makes.  Time alone would make a stall of a busy program a
 * plateau; work alone would make nothing of the hours that a server waits.
 *
 * They come from a course (store/course.h) when a process has ended, stand in the levels chunk of a
 * recording, and are read from there.
 */
#ifndef HW_STORE_LEVELS_H
#define HW_STORE_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/course.h"
#include "store/reader.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

enum { LEVELS_TICKS = 64 };

struct levels_row {
    uint32_t stack;
    uint64_t floor[LEVELS_TICKS]; /* least bytes live in the tick */
    uint64_t level[LEVELS_TICKS]; /* bytes live when it ends */
    uint64_t freed[LEVELS_TICKS]; /* blocks freed in the tick */
    uint64_t highest;             /* most bytes, at the end of a (finer) tick or at the process's peak */
    uint64_t left;                /* bytes live at the end */
    uint64_t blocks;              /* made; 0: nothing is known of the stack, and nothing else is set */
    uint64_t first_ns;            /* when the first was made */
    uint64_t last_ns;             /* when the tick began in which the last was made */
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

/* What a course comes to when its process ends like this.  All rows have been noted; it may go on. */
struct levels_end {
    uint64_t end_ns, allocations, frees;
};

/* The payload of a levels chunk. */
void levels_encode(struct strbuf *to, const struct course *c, const struct levels_end *end);
/* Adds rows for these stacks of the process that the course is of. False: no memory. */
bool levels_add_course(struct levels *l, const struct wake_process *p, const struct course *c,
                       const uint32_t *stacks, size_t count);
/* The same from the levels chunk.  ERR_ABSENT: there is none, or it cannot be used, which is noted
 * among the damages; ERR_MEMORY, without a sentence. */
int levels_read(struct levels *l, struct wake_reader *r, uint32_t process, const uint32_t *stacks,
                size_t count);
/* Compares the chunk with totals and end; what does not fit is noted among the damages.  0 or ERR_MEMORY. */
int levels_verify(struct wake_reader *r, size_t process, struct err *err);

#endif
