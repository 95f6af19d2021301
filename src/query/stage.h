/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stage: the events of a process, cut into stages at borders of chunks, each with what it adds to the
 * rows.  One reading makes them; afterwards a stage is either added up as a whole or read again from where it
 * begins, without anything before it.
 *
 * What reading a stage again needs of earlier ones: the blocks that were live when it began and are
 * released in it (its heirlooms; others are not missed), and the newest block of each thread.
 *
 * Memory: an entry for each row that changes in a stage, one for each heirloom, and the trail.  When the first two
 * outgrow their budget, which goes by live blocks and rows, two stages become one, everywhere, and the following are
 * twice as long; when the trail does it is given up.
 */
#ifndef HW_QUERY_STAGE_H
#define HW_QUERY_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/slots.h"
#include "query/tally.h"
#include "query/trail.h"
#include "store/reader.h"
#include "tool/map.h"
#include "tool/vec.h"

/* What a stage adds to a row. */
struct stage_row {
    uint32_t row;
    uint64_t made_blocks, made_bytes, gone_blocks, gone_bytes;
    uint64_t peak_blocks, peak_bytes; /* live at the stage's peak, less what was live when it began; wraps */
    uint64_t
        highest_bytes; /* of this row, beyond what was live when the stage began; 0 where there is a trail */
    uint64_t leaked_blocks, leaked_bytes;
    uint64_t temporary_blocks, temporary_bytes;
    uint64_t slack_bytes;
    uint64_t lifetime_min_ns, lifetime_max_ns; /* as in struct tally_row, and the next two */
    uint64_t first_ns, last_ns;
};

/* A block that was live when the stage began, and is released in it. */
struct stage_heirloom {
    uint64_t number, born_ns;
    uint32_t size; /* STAGE_LARGE: see `large` */
    uint32_t row;
};

#define STAGE_LARGE UINT32_MAX

/* The latest allocation of a thread when the stage began. */
struct stage_newest {
    uint32_t thread;
    uint64_t number;
};

struct stage {
    size_t first_span, end_span;
    uint64_t first_ns, last_ns; /* of its events */
    uint64_t floor;             /* numbers from here on were allocated in it */
    uint64_t peak_bytes,
        peak_time_ns;           /* first highest level of all rows; what was live when it began counts */
    VEC(struct stage_row) rows; /* that change, by row */
    VEC(struct stage_heirloom) heirlooms;
    VEC(struct stage_newest) newest;
    size_t trail_from, trail_to; /* its words in the trail */
    bool knows_highest;          /* of each row: it never had a trail */
};

/* A block that was never freed. */
struct stage_leak {
    uint64_t number, born_ns, size, usable;
    uint32_t stack;
};

enum {
    STAGE_LIVE_BYTES = 48, /* of the most live blocks, each: three times what scan keeps of one */
    STAGE_A_ROW = 2,       /* struct stage_row of each row: less than twice what a tally has */
};

/* 0 in any of them: the usual, which memo_attach puts into those of trails and ledgers. */
struct stage_limits {
    uint64_t events;       /* in a stage, at least */
    size_t bytes;          /* for rows and heirlooms, and what the two numbers above give */
    uint64_t trail_words;  /* in all */
    uint64_t ledger_bytes; /* for entries of a ledger (query/ledger.h) */
    size_t part_count;     /* of a ledger that are counted at once (query/crew.h), at most */
    size_t part_entries;   /* in each, at least */
};

struct stages {
    VEC(struct stage) list;
    VEC(struct stage_leak) leaks; /* in the order of their birth */
    struct map large;             /* number of an heirloom -> its size, from STAGE_LARGE on */
    bool has_detail;              /* slack and the usable sizes of leaks are there */
    struct trail trail;           /* of all stages; without words where there is none */
    size_t row_count;
    uint64_t seen_ns; /* time of the last event */

    /* While they are made: */
    struct stage now;
    VEC(struct trail_long) longs;
    uint64_t distance; /* events in a stage, at least */
    struct stage_limits limits;
    size_t bytes;   /* that rows and heirlooms of the list take */
    size_t live;    /* blocks when a stage ended, at most */
    uint64_t words; /* that the trails take */
    bool failed;    /* no memory */
};

/* Whether stages of a process with so many events can have a trail. */
bool stages_may_have_trail(const struct stage_limits *limits, uint64_t events);
/* events: of the process, as far as they are known.  False: no memory. */
bool stages_init(struct stages *s, const struct stage_limits *limits, size_t rows, uint64_t events,
                 bool has_detail);
/* Accepts a zeroed one. */
void stages_release(struct stages *s);

/* A stage begins, with a chunk, behind what has been read so far. */
void stages_begin(struct stages *s, size_t span, uint64_t floor, const struct slots *slots);
/* It ends with so many live blocks: what the tally has counted since it began goes into it, and the tally is made
 * ready for the next.  Nothing happens where there was no event. */
void stages_end(struct stages *s, size_t end_span, struct tally *t, size_t live);
/* For scan, while a stage is made: a block of an earlier one is released; a block is never freed. */
void stages_inherit(struct stages *s, uint64_t number, uint64_t born_ns, uint64_t size, uint32_t row);
void stages_add_leak(struct stages *s, const struct stage_leak *leak);
/* The trail goes on with so many events: steps (query/trail.h), and what was added by stages_add_long
 * since. */
void stages_add_steps(struct stages *s, const uint32_t *steps, const uint64_t *time_ns, size_t count);
void stages_add_long(struct stages *s, const struct trail_long *l);

/* Adds a stage to a tally, but for rows that are not allowed (NULL: all are).  counts: in the window.  has_peak: its
 * peak counts too, which it can for all rows only. */
void stage_apply(const struct stage *s, struct tally *t, const uint8_t *allowed, bool counts, bool has_peak);
/* What the bytes of some rows can have risen by in a stage, at most; UINT64_MAX: is not known. */
uint64_t stage_find_rise(const struct stage *s, const uint8_t *allowed);
/* Puts heirlooms in the order of their numbers. */
void stage_sort(struct stage *s);

#endif
