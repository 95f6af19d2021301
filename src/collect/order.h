/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * order: puts the events of all lanes of a process in one order, round by
 * round, and hands them to pair.
 *
 * A round
 *  1. notes the present stamp T;
 *  2. merges the events of all lanes by stamp, up to T.  What is stamped later
 *     waits for the next round: its causes may have been published after their
 *     lane was looked at;
 *  3. before each batch of events goes on, makes sure that every definition they
 *     refer to is in the book (wire/segment.h, invariant 3).
 *
 * While only one lane has anything new there is nothing to merge, and its
 * records are streamed straight through.
 */
#ifndef HW_COLLECT_ORDER_H
#define HW_COLLECT_ORDER_H

#include "collect/drain.h"
#include "collect/item.h"
#include "collect/pair.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ORDER_BATCH = 128,
    ORDER_STREAM_BATCHES = 256, /* in one round */
};

struct order {
    struct drain *drain;
    struct pair *pair;
    struct drain_lane **heap; /* lanes with an event in next, least stamp first */
    uint32_t heap_count, heap_room;
    uint64_t taken; /* events, from several lanes */
    uint64_t batch_number;
    uint32_t batch_count;
    const struct item *batch[ORDER_BATCH]; /* merged: they lie in the lanes' rings */
    struct item stream[ORDER_BATCH];       /* of a single lane */
};

bool order_init(struct order *o, struct drain *drain, struct pair *pair);
void order_release(struct order *o);

/* One round.  last: the process is gone, nothing is held back.  Returns how
 * many events were taken. */
uint64_t order_round(struct order *o, bool last);

/* A stamp of this moment. */
uint64_t order_now(const struct order *o);
/* Has everything been taken that was published before that stamp?  Where stamps are counts, events of a
 * single thread have none: then nobody can tell, and the answer is yes. */
bool order_has_passed(struct order *o, uint64_t stamp);

#endif
