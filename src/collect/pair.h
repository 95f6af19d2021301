/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pair: the life of every address of one process: pairs frees with
 * allocations, keeps realloc chains and totals, and hands the events in their
 * final order to the store.
 *
 * Items come in an order that is nearly right.  For one address the rule
 * alloc, free, alloc, ... decides:
 *
 *  1. An event that does not fit (alloc of a live address, free of one that is
 *     not live) is parked until the event that makes it fit has come.
 *  2. Events of one lane for one address are never reordered.
 *  3. What still does not fit two full rounds later never will: by then
 *     everything published before it has been read.  A free is then one of a
 *     block never seen, an alloc implies a free that was not seen.
 *  4. While the process has only ever had one lane, 3 holds at once.
 *  5. Where blocks are left out by somebody's wish, frees of blocks never seen are
 *     common, and another thread may be given the address before they are settled.  A free
 *     that waits is none of an allocation stamped after it.
 *
 * realloc is a release and a completion.  Between them the block is in limbo:
 * another lane may be given its address first, which frees it, and the
 * completion still finds the allocation that it continues.  A lane may have
 * released one address several times before the first completion can be
 * applied: a completion belongs to its lane's latest release of that address
 * that is not stamped after it.  A *ghost* is the limbo of a block never seen.
 */
#ifndef HW_COLLECT_PAIR_H
#define HW_COLLECT_PAIR_H

#include "collect/blocks.h"
#include "collect/definitions.h"
#include "collect/item.h"
#include "collect/pending_events.h"
#include "collect/pools.h"
#include "collect/timebase.h"
#include "collect/totals.h"
#include "collect/tracked_frees.h"
#include "collect/usage.h"
#include "store/writer.h"
#include "tool/vec.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose realloc a block in limbo is in (kept while there are several lanes). */
struct pair_limbo {
    uint64_t address;
    uint64_t stamp; /* of the release */
    uint32_t lane, thread;
};

/* A limbo block that was freed because its address was handed out again. */
struct pair_forced {
    uint64_t address;
    uint64_t previous; /* its number + 1, 0 = a ghost */
    uint64_t stamp;    /* of the release */
    uint32_t lane;     /* whose completion is to come; PAIR_ANY_LANE: not known */
};

#define PAIR_ANY_LANE UINT32_MAX

/* request: that somebody waits for, 0 = nobody. */
typedef void pair_mark_fn(void *of, enum record_mark mark, const char *name, uint64_t request);

struct pair {
    struct blocks blocks;
    struct totals totals;
    struct pending_events parked;
    struct definitions *book;
    struct wake_stream *stream;
    struct timeline *line;
    VEC(uint64_t) latest;           /* by thread: number + 1 of its latest allocation */
    VEC(struct pair_limbo) limbo;   /* few */
    VEC(struct pair_forced) forced; /* few; oldest first */
    VEC(uint64_t) work;             /* addresses whose queues are to be tried again */
    uint64_t round;
    uint64_t events; /* handed to the store */
    uint64_t made;   /* allocations among them: the number of the next */
    uint64_t released;
    uint64_t sample_rate;  /* 0: every block is told of */
    struct filter *filter; /* which blocks are samples (wire/filter.h), NULL = all */
    uint64_t unknown_frees, implied_frees;
    uint64_t undefined_stacks;  /* events whose stack was never defined */
    uint64_t noted_losses;      /* sum of LOST records */
    uint64_t dropped;           /* events that we had no memory for */
    struct tracked_frees *pass; /* kept up to date while recording is off; NULL = it is on */
    const uint32_t *has_gaps;   /* the segment's word; NULL = no block is left out */
    struct pools pools;
    struct usage *usage;   /* is told of mappings; NULL = nobody is */
    pair_mark_fn *on_mark; /* called at each mark, in the order of events; may be NULL */
    void *on_mark_of;
    bool is_alone; /* the process has only ever had one lane */
    bool out_of_memory;
};

bool pair_init(struct pair *p, struct definitions *book, struct wake_stream *stream, struct timeline *line);
void pair_release(struct pair *p);

/* Applies items in their order. */
void pair_apply(struct pair *p, const struct item *items, size_t count);
/* The same for items that lie apart. */
void pair_apply_each(struct pair *p, const struct item *const *items, size_t count);
/* A full round is over: settles what has waited too long. */
void pair_end_round(struct pair *p);
/* Settles everything that waits. */
void pair_finish(struct pair *p);
/* The blocks that are live now, in the order of their allocation; *count of
 * them.  NULL with *count 0: none; NULL with *count > 0: no memory. */
struct wake_live_block *pair_live(const struct pair *p, size_t *count);

#endif
