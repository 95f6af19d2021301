/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * level_table: how much some stacks of a process held over its life, coarsely: it is cut
 * into LEVEL_TABLE_TICKS ticks.
 *
 * A tick is so much time and so much work: half of the ticks pass with time, half with the
 * allocations that the process makes.  Time alone would make a stall of a busy program a
 * plateau; work alone would make nothing of the hours that a server waits.
 *
 * They come from a course (store/level_sampler.h) when a process has ended, stand in the levels chunk of a
 * recording, and are read from there.
 */
#ifndef HW_STORE_LEVEL_TABLE_H
#define HW_STORE_LEVEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/level_sampler.h"
#include "store/reader.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

enum { LEVEL_TABLE_TICKS = 64 };

struct level_table_row {
    uint32_t stack;
    uint64_t floor[LEVEL_TABLE_TICKS]; /* least bytes live in the tick */
    uint64_t level[LEVEL_TABLE_TICKS]; /* bytes live when it ends */
    uint64_t freed[LEVEL_TABLE_TICKS]; /* blocks freed in the tick */
    uint64_t highest;                  /* most bytes, at the end of a (finer) tick or at the process's peak */
    uint64_t left;                     /* bytes live at the end */
    uint64_t blocks;                   /* made; 0: nothing is known of the stack, and nothing else is set */
    uint64_t first_ns;                 /* when the first was made */
    uint64_t last_ns;                  /* when the tick began in which the last was made */
    size_t first_tick;                 /* in which the first was made */
};

struct level_table {
    uint64_t from_ns, to_ns;              /* the life of the process */
    uint64_t until_ns[LEVEL_TABLE_TICKS]; /* when each tick was over */
    bool exited;                          /* it ended by itself, not by a signal */
    uint64_t made[LEVEL_TABLE_TICKS];     /* blocks of all stacks, made ... */
    uint64_t freed[LEVEL_TABLE_TICKS];    /* ... and freed in the tick */
    VEC(struct level_table_row) rows;     /* in the order in which stacks were asked for */
};

void level_table_init(struct level_table *l);
void level_table_release(struct level_table *l);

/* What a course comes to when its process ends like this.  All rows have been noted; it may go on. */
struct level_table_end {
    uint64_t end_ns, allocations, frees;
};

/* The payload of a levels chunk. */
void level_table_encode(struct strbuf *to, const struct level_sampler *c, const struct level_table_end *end);
/* Adds rows for these stacks of the process that the course is of. False: no memory. */
bool level_table_add_course(struct level_table *l, const struct wake_process *p,
                            const struct level_sampler *c, const uint32_t *stacks, size_t count);
/* The same from the levels chunk.  ERR_ABSENT: there is none, or it cannot be used, which is noted
 * among the damages; ERR_MEMORY, without a sentence. */
int level_table_read(struct level_table *l, struct wake_reader *r, uint32_t process, const uint32_t *stacks,
                     size_t count);
/* Compares the chunk with totals and end; what does not fit is noted among the damages.  0 or ERR_MEMORY. */
int level_table_verify(struct wake_reader *r, size_t process, struct err *err);

#endif
