/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * checkpoint: borders between chunks from which a scan can start: the first layer of a ledger (engine/ledger.h).
 *
 *     chunks    0   1   2 | 3   4   5 | 6   7   8 | ...          some 128 borders, whatever the size
 *     blocks    +--------------+                                 live at the first border
 *                   +----------------------------+               live at all three
 *
 * What a scan needs of all that was before a border is the blocks that are live there and the newest block of each thread.  A
 * block that is live at several borders is kept once, with the first and the last of them.  To start is to
 * read the blocks of the border as if they were made just before the chunks behind it: the scan is the same.
 *
 * Memory: 80 bytes for each block that is live at a border, 16 a thread and border.  Where that outgrows its budget every
 * other border goes, and with it the blocks that are live at none of those that stay.
 *
 * Checkpoints grow while events are read.  Whoever uses them meanwhile excludes the builder (engine/ledger.h).
 */
#ifndef HW_ENGINE_CHECKPOINT_H
#define HW_ENGINE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/filter.h"
#include "engine/thread_state.h"
#include "store/event_source.h"
#include "store/numbered.h"
#include "store/reader.h"
#include "tool/vec.h"

struct checkpoint_block {
    uint64_t number, born_ns, address, size, usable, previous;
    uint32_t stack, thread;
    uint8_t kind, arena;
    uint32_t first, last; /* borders where it is live; last: CHECKPOINT_LIVE as long as it is */
};

#define CHECKPOINT_LIVE UINT32_MAX

/* The latest block that a thread has made. */
struct checkpoint_newest {
    uint64_t number;
    uint32_t thread;
    bool is_dead;
};

struct checkpoint_border {
    size_t span;      /* the first chunk behind it */
    uint64_t time_ns; /* of the last event before it */
    VEC(struct checkpoint_newest) newest;
};

struct checkpoints {
    VEC(struct checkpoint_border) borders;
    VEC(struct checkpoint_block) blocks; /* in the order of their numbers */
};

/* A border to start from. */
struct checkpoint {
    const struct checkpoints *of;
    uint32_t border;
};

/* Accepts zeroed ones. */
void checkpoints_release(struct checkpoints *c);
/* The latest border from which a query can be answered that asks nothing of events before from_ns but for blocks that are live.
 * False: from the beginning only. */
bool checkpoints_find(const struct checkpoints *c, const struct filter *f, struct checkpoint *start);

/* For readings that start there: what is asked for begins with the blocks of the border. */
void checkpoint_begin(const struct checkpoint *start, struct event_request *request);
/* Behind those blocks: threads are as they were at the border. */
void checkpoint_restore(const struct checkpoint *start, struct thread_states *slots);

struct checkpoint_builder;
/* For `bytes` of memory at most, which rows and live blocks may exceed.  NULL: no memory. */
struct checkpoint_builder *checkpoints_build(struct checkpoints *c, uint64_t bytes, uint64_t events_apart,
                                             const struct wake_reader *reader, uint32_t process);
/* The events that follow, with all columns.  False: no more borders can be made. */
bool checkpoints_take(struct checkpoint_builder *m, const struct wake_block *b);
/* Accepts NULL. */
void checkpoint_builder_free(struct checkpoint_builder *m);

enum {
    CHECKPOINT_COLUMNS = WAKE_TIME | WAKE_SIZE | WAKE_USABLE | WAKE_STACK | WAKE_THREAD | WAKE_ARENA |
                         WAKE_ADDRESS | WAKE_PREVIOUS
};

#endif
