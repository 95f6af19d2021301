/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ridge: the exact peak of blocks of which it is known only at their death whether they
 * count, in one reading.
 *
 * The level at a moment, as far as it is known, is the sum of the blocks that lived then and
 * have been counted since.  A block that dies now and counts raises the levels of all moments from its
 * birth until now.  So what is later never gains less than what is earlier, and a
 * moment is out of the question as soon as a later one is higher.  What remains is a slope:
 *
 *     known level
 *      |  1
 *      |     2                each moment that may still become the peak is lower
 *      |        3             than the one before it, and the latest has level 0
 *      |            4   5
 *      +--------------------> births
 *
 * A moment stands for a group: the undecided blocks born since the moment before it.  Without
 * such blocks the two would rise together for ever, and the later one is given up.  So there are no more
 * groups than undecided blocks.
 *
 * Of the rows at a moment only the difference to the moment before is kept, as a list of
 * entries; those at the first moment, the highest, stand in the rows themselves (peak_blocks, peak_bytes).
 *
 * Each block that counts has its price.  Where many do, or too many are undecided at once for the
 * caches, two readings are faster: it says so (is_over) and is of no further use.
 */
#ifndef HW_QUERY_RIDGE_H
#define HW_QUERY_RIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/tally.h"
#include "store/weight.h"
#include "tool/vec.h"

enum {
    RIDGE_BLOCKS = 1 << 16,  /* undecided at once */
    RIDGE_ENTRIES = 1 << 19, /* when no list has two of the same row */
    RIDGE_TRIAL = 1 << 14,   /* decided blocks, after which a quarter must not have counted */
};

#define RIDGE_NONE 0x7fffffffu /* no group, no entry; fits 31 bits */

/* First and last entry. */
struct ridge_list {
    uint32_t first, last;
};

/* One that was merged with a later one remains as long as blocks name it. */
struct ridge_group {
    uint32_t into; /* the group it was merged with; itself: none */
    uint32_t refs; /* undecided blocks that name it, and groups that were merged with it */
    uint32_t before, after;
    uint64_t lead;    /* how much higher the group before it is */
    uint64_t time_ns; /* of its latest birth that counts */
    struct ridge_list rows;
};

struct ridge_entry {
    uint64_t blocks, bytes; /* wrap: may be less than nothing */
    uint32_t row, next;
};

/* The entry of a row in the list that is being looked through. */
struct ridge_seen {
    uint32_t stamp, entry;
};

struct ridge {
    struct tally *tally;
    VEC(struct ridge_group) groups;
    VEC(struct ridge_entry) entries;
    VEC(struct ridge_seen) seen; /* by row */
    uint32_t stamp;
    uint32_t unused_group, unused_entry;
    size_t used, limit; /* entries; when to look for those that can be one */
    size_t blocks;      /* undecided */
    uint64_t counted, decided;
    uint32_t first, newest;
    bool has_begun;          /* the first moment is past */
    bool may_join;           /* nothing that counts has died since newest began */
    uint64_t highest;        /* level of first */
    uint64_t latest;         /* level of newest */
    struct ridge_list since; /* what has died since newest began, for the next group */
    bool failed;             /* no memory */
    bool is_over;            /* too much */
};

/* time_ns: the first moment.  The rows are those of the tally.  False: no memory. */
bool ridge_init(struct ridge *r, struct tally *t, uint64_t time_ns);
/* Accepts a zeroed one. */
void ridge_release(struct ridge *r);

/* A block is born: its group. */
uint32_t ridge_birth(struct ridge *r, uint64_t bytes);
/* The same before the first moment. */
uint32_t ridge_birth_before(struct ridge *r, uint64_t bytes);
/* A block counts; it was live from its birth until now.  is_last: no births are to come. */
void ridge_count(struct ridge *r, uint32_t group, uint32_t row, struct weight weight, uint64_t born_ns,
                 bool is_last);
/* A block is decided: the last that is heard of it. */
void ridge_drop(struct ridge *r, uint32_t group);
/* All blocks are decided: the peak goes to the tally. */
void ridge_finish(struct ridge *r);

#endif
