/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * scan: one reading of the events of a process that fills a tally.
 *
 * Time never runs backwards in a stream, so what happens at a moment (the
 * window begins or ends, a tick begins, live blocks are noted) cuts the events
 * into segments, and no event has to be asked for its time.
 */
#ifndef HW_ENGINE_SCAN_H
#define HW_ENGINE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/bitset.h"
#include "engine/filter.h"
#include "engine/medians.h"
#include "engine/query.h"
#include "engine/tally.h"
#include "engine/thread_state.h"
#include "engine/watch.h"
#include "store/numbered.h"
#include "store/weight.h"

/* A live block that matches: four fill a line of the cache.  What it stands for in a sampled process is
 * worked out a second time when it dies. */
struct scan_block {
    uint64_t born_ns;
    uint32_t size; /* SCAN_LARGE: see `large` */
    uint32_t row;
};

#define SCAN_LARGE UINT32_MAX
#define SCAN_ODD (UINT64_C(1) << 50) /* bytes of a block that no sound file has: sums may wrap */

/* The same where the number of its thread's newest block is not enough to know temporaries. */
struct scan_dated {
    struct scan_block block;
    uint32_t slot; /* of its thread */
    uint32_t made; /* by its thread when it was born, itself included */
};

struct scan {
    const struct query *query;
    const struct when *when;
    struct filter *filter;
    struct bitset *chosen; /* what conditions at death decided; NULL: there are none */
    size_t stack_count;
    struct query_result *result;
    struct watch *watch;
    struct tally tally;
    struct numbered live; /* struct scan_block or scan_dated */
    struct map large;     /* number of a live block -> its size, from SCAN_LARGE on */
    struct thread_states slots;
    struct medians medians;

    /* The next moments, each UINT64_MAX when it is past or far away. */
    uint64_t open_ns, close_ns, note_ns, tick_ns;
    bool is_open; /* inside the window */
    bool failed;  /* no memory */
    /* No split, no samples; temporary is what its thread's next allocation outlives, if anybody asks. */
    bool is_plain;
    bool has_extras;           /* a timeline, or something the query wants */
    bool has_temporaries_only; /* whatever was chosen is */
    bool asks_newest;          /* which blocks are temporary: neither all, nor is it not known */
    size_t tick;
    uint64_t allocations; /* in the current tick, this and the next four */
    uint64_t highest_bytes;
    uint64_t allocated_bytes;
    uint64_t highest_blocks;
    uint64_t frees;
    const uint64_t *leaked; /* in the filter's list: not below the latest number */
    unsigned want;          /* of the query, this and the next two */
    uint64_t temporary_ns;
    uint64_t temporary_allocations;
    bool is_restored; /* threads are as they were where the reading starts */
    uint64_t seen_ns; /* time of the latest event */
    struct weight_rule rule;

    /* Of the events of a block, by their index (engine/count_batch.c). */
    const uint16_t *match_at; /* the allocations that match, and how many these are */
    uint32_t match_count;
    uint16_t kept[WAKE_BLOCK_MAX];     /* the same, where `chosen` decides */
    uint8_t is_newest[WAKE_BLOCK_MAX]; /* releases: temporary, where that is asked for */
    uint32_t row[WAKE_BLOCK_MAX];
    uint64_t bytes[WAKE_BLOCK_MAX];   /* that it stands for, as the next */
    uint64_t blocks[WAKE_BLOCK_MAX];  /* unless is_plain: then each stands for one */
    uint64_t born_ns[WAKE_BLOCK_MAX]; /* releases */
    uint32_t slot[WAKE_BLOCK_MAX];    /* unless is_plain: of its thread, and how many that has made */
    uint32_t made[WAKE_BLOCK_MAX];
    uint32_t next_birth,
        next_free; /* of those, and in the block's list: the first that have not been counted */
    /* Of the stretch that was counted last: births and releases that match, and what the live blocks rose and fell by. */
    uint32_t birth_count, death_count;
    const uint16_t *births;
    uint64_t rise_bytes, rise_blocks, fall_bytes, fall_blocks;
    bool has_odd; /* one of the births has SCAN_ODD bytes, or more */
    uint16_t death_at[WAKE_BLOCK_MAX];
    uint16_t some[WAKE_BLOCK_MAX];   /* of those releases */
    uint64_t change[WAKE_BLOCK_MAX]; /* of live bytes, by each event; wraps */
};

/* Reads the events; afterwards the tally is settled.  What it counts into
 * `result`: histograms and the timeline. */
int scan_run(struct scan *s, const struct query *q, const struct when *w, struct filter *f,
             struct bitset *chosen, struct watch *watch, struct wake_reader *reader, uint32_t process,
             struct query_result *result, struct err *err);
/* Accepts a zeroed one. */
void scan_release(struct scan *s);

/* The parts of scan_run, for those who count without reading events (engine/entry_scan.h).
 * Begin: 0 or ERR_MEMORY. */
int scan_begin(struct scan *s, const struct query *q, const struct when *w, struct filter *f,
               struct bitset *chosen, struct watch *watch, const struct wake_process *p,
               struct query_result *result, struct err *err);
/* (count_batch.c) A block of events comes: what it can be asked before any of it is counted. */
void count_batch_begin(struct scan *s, const struct wake_block *b);
/* Its events up to end-1, from where the call before has left off: counts them, but for the level. */
void count_batch_until(struct scan *s, const struct wake_block *b, uint32_t end);
/* (window_events.c) The next moment, UINT64_MAX = none; and what happens just before the first event at or behind it. */
uint64_t scan_next_moment(const struct scan *s);
void scan_moment(struct scan *s, uint64_t moment);
/* Behind the last event. */
void scan_finish(struct scan *s, const struct wake_process *p);
int scan_no_memory(struct err *err);

#endif
