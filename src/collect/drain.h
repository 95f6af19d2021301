/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * drain: reads the lanes of one segment (wire/segment.h).
 *
 * Each lane has two cursors.  `read` decodes events, and enters definitions in
 * the book on its way.  Where an event may refer to a definition in another
 * lane, `scan` runs ahead, to the end of what has been published, and enters
 * them first; read then passes over them.  When read leaves a chunk, the chunk
 * is zeroed and given back.
 *
 *     chain of chunks:  ....|######read======scan......|0000
 *                            given back      |         first zero word
 *                            already         definitions up to here are known
 *
 * Nothing in the segment is trusted.  A lane whose records make no sense is
 * closed and counted; every chunk belongs to one lane at a time (owner[]), so
 * a chain cannot run in a circle.
 */
#ifndef HW_COLLECT_DRAIN_H
#define HW_COLLECT_DRAIN_H

#include "collect/blocks.h"
#include "collect/definitions.h"
#include "collect/item.h"
#include "collect/timebase.h"
#include "collect/view.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { DRAIN_AHEAD = 32 }; /* events of a lane that are decoded at a time */

struct drain_cursor {
    const uint64_t *at;  /* NULL: the lane has no chunk yet */
    const uint64_t *end; /* of the chunk */
    uint32_t chunk;
};

struct drain_lane {
    struct drain_cursor scan, read;
    uint64_t stamp; /* latest at read */
    uint32_t thread;
    uint32_t index;
    uint32_t suppressed;     /* depth of scopes whose allocations do not count */
    bool closed;             /* made no sense: read no more */
    uint64_t batch_number;   /* of the batch in which the lane last fetched: see order.c */
    const struct item *next; /* events that are decoded and not yet taken: up to last */
    const struct item *last;
    struct item ahead[2][DRAIN_AHEAD]; /* filled in turn, so that a batch need not copy */
    struct definitions_pending pending;
};

/* A child that a FORK record tells of. */
struct drain_fork {
    uint32_t pid;
    uint8_t how; /* enum record_fork */
};

struct drain {
    struct view *view;
    struct definitions *book;
    const struct blocks *blocks; /* for prefetching */
    struct filter *filter;       /* which blocks are samples; NULL = all */
    struct timeline *line;       /* for the times of definitions */
    struct drain_lane **lanes;   /* lane_count of them, room for lane_room */
    uint32_t lane_count, lane_room;
    uint32_t *owner;              /* lane + 1 by chunk, 0 = free */
    uint32_t seen;                /* segment_head.definitions before the last look at all lanes */
    uint64_t anomalies;           /* lanes closed, records ignored */
    VEC(struct drain_fork) forks; /* not yet looked at */
    uint32_t closed_lanes;        /* whose chunks never come back */
    bool out_of_memory;
};

bool drain_init(struct drain *d, struct view *view, struct definitions *book, struct timeline *line);
void drain_release(struct drain *d);

/* Looks for new lanes.  To be called at the start of every scan. */
void drain_look(struct drain *d);
/* Is the record with this first word an allocation or a release? */
bool drain_is_event(uint64_t first);
/* Allocations and releases that are published and have not gone on: what is lost where nobody will read on. */
uint64_t drain_count_rest(const struct drain *d);
/* Has anything been published beyond the lane's scan cursor? */
bool drain_has_news(const struct drain *d, const struct drain_lane *lane);
/* To be called once events have been decoded: enters whatever they refer to.  `reading`: a lane that is
 * read as a stream and is left alone, or NULL. */
void drain_catch_up(struct drain *d, const struct drain_lane *reading);

/* Decodes further events, when lane->next has come to lane->last; false: none left.  Those before stay
 * as they are until the next call after this one. */
bool drain_fetch(struct drain *d, struct drain_lane *lane);
/* For a lane whose scan and read stand at one place: decodes up to max events
 * and enters definitions on the way; moves both cursors. */
uint32_t drain_stream(struct drain *d, struct drain_lane *lane, struct item *out, uint32_t max);

#endif
