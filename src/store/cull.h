/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cull: holds the events of one process back until it is known whether their
 * blocks live long enough to be written.
 *
 *     wake_stream_*  ->  queue (oldest first)  ->  stream
 *                             \-> culled: counted by stack, not written
 *
 * A realloc chain is one life: it is culled as a whole when it ends younger
 * than the threshold, and written as a whole otherwise.  What is live at the
 * end is written.  So is the oldest that waits when more events wait than the
 * limit allows: memory goes by the limit and by the live blocks.
 *
 * Callers number allocations as they were made; the file numbers those that
 * are in it.  The renumbering is done here.  Of samples the number as it was
 * made decides what they count (store/weight.h): there the gaps are told too,
 * those before blocks that are in the file or live at its end.
 *
 * No memory: `failed` is set, and everything is written as it comes.
 */
#ifndef HW_STORE_CULL_H
#define HW_STORE_CULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/numbered.h"
#include "store/writer.h"
#include "tool/vec.h"

enum { CULL_VALUES = 5 }; /* numbers of an event beside those that all have */

struct cull_event {
    uint64_t time_ns;
    uint64_t values[CULL_VALUES]; /* by what it is: see cull.c */
    uint32_t chain;               /* 0: none, always written */
    uint32_t thread;
    uint32_t stack;
    uint8_t what;
    uint8_t kind; /* of an alloc; how of a free; type of a rare record */
    uint8_t count;
};

/* A realloc chain; most are one block. */
struct cull_chain {
    uint64_t start_ns;
    uint64_t last_written; /* number + 1 in the file of its latest block that was released; 0 = none */
    uint32_t users;        /* events in the queue, and 1 while it is live or may go on */
    uint32_t next_unused;
    uint8_t state;
    bool is_released; /* by realloc: may go on */
};

/* A block that realloc has released; its continuation is to come. */
struct cull_limbo {
    uint64_t number;
    uint32_t chain;
};

struct cull {
    struct wake_stream *stream;
    struct wake_cull_options options;
    struct cull_event *queue; /* a ring of a power of two */
    size_t first, count, room, room_max;
    VEC(struct cull_chain) chains;
    uint32_t unused;         /* first of the chains that are */
    struct numbered alive;   /* number -> chain, of live blocks */
    struct numbered written; /* number -> the block as it is in the file, until its release is written */
    VEC(struct cull_limbo) limbo;
    VEC(struct wake_culled_stack) culled; /* by stack */
    uint64_t blocks, bytes;               /* culled in all */
    uint64_t skipped; /* by how much the latest number that was told of is lower than it was made */
    uint64_t told;    /* of all lower numbers the gaps are told */
    bool failed;
};

struct cull *cull_new(struct wake_stream *s, const struct wake_cull_options *options);
void cull_free(struct cull *c);

/* As the calls of store/writer.h. */
void cull_add_alloc(struct cull *c, const struct cull_event *e, uint64_t number, uint64_t previous);
void cull_add_free(struct cull *c, const struct cull_event *e, uint64_t number);
void cull_add_other(struct cull *c, const struct cull_event *e);

/* The time has come to now_ns: writes what has waited long enough. */
void cull_advance(struct cull *c, uint64_t now_ns);
/* The process has ended: decides about all that waits. */
void cull_finish(struct cull *c);
/* Gives blocks that are live now the numbers that they have in the file; those whose events are not there, or not
 * yet, get higher ones than all that are. */
void cull_renumber(struct cull *c, struct wake_live_block *live, size_t count);
/* The next event goes to another file, which knows of no gaps but those of blocks that are live now. */
void cull_forget_gaps(struct cull *c);

#endif
