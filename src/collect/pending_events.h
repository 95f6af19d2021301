/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pending_events: events that do not fit yet, in a queue for each address.
 *
 *     by_address:  address --> queue: first -> . -> . -> last
 *
 * Events of one lane stay in their order within a queue.  Entries are named by
 * index (0 = none), since the pool moves when it grows.
 */
#ifndef HW_COLLECT_PENDING_EVENTS_H
#define HW_COLLECT_PENDING_EVENTS_H

#include "collect/item.h"
#include "tool/map.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pending_events_entry {
    struct item item;
    uint64_t round; /* in which it was parked */
    uint64_t wake;  /* a release: address whose queue waits for this one, 0 = none */
    uint32_t next;
};

struct pending_events_queue {
    uint64_t address; /* 0: unused */
    uint32_t first, last;
};

struct pending_events {
    VEC(struct pending_events_entry) entries; /* [0] is never used */
    VEC(struct pending_events_queue) queues;  /* [0] is never used */
    uint32_t free_entry, free_queue;          /* chains through next and first */
    struct map by_address;                    /* -> queue */
    size_t count;                             /* entries in queues */
};

bool pending_events_init(struct pending_events *p);
void pending_events_release(struct pending_events *p);

/* The queue of an address, or 0. */
uint32_t pending_events_find(const struct pending_events *p, uint64_t address);
/* Appends; false: no memory. */
bool pending_events_push(struct pending_events *p, const struct item *item, uint64_t address, uint64_t round);
/* Takes out the entry after `before` (0: the first); an emptied queue is gone. */
void pending_events_remove(struct pending_events *p, uint32_t queue, uint32_t before);
/* The latest entry of a lane in a queue, 0 = none. */
uint32_t pending_events_find_lane(const struct pending_events *p, uint32_t queue, uint32_t lane);
/* A lane's latest release in a queue that is not stamped after `stamp`, 0 =
 * none; *before gets the entry in front of it. */
uint32_t pending_events_find_release(const struct pending_events *p, uint32_t queue, uint32_t lane,
                                     uint64_t stamp, uint32_t *before);

#endif
