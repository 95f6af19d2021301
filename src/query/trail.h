/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * trail: how the bytes of each row rose and fell, event by event, in a word or so each: what the level
 * of any set of stacks was at any time, without the file and without following blocks.
 *
 *     31      30..bits   bits-1..0
 *     falls   row        size        a block of the row is made (0) or released (1)
 *     1       all ones   ns          time moves on by so much; all ones: nothing happens
 *     0       all ones   0           the time follows: two words, low first
 *     0       all ones   1 or 2      made (1) or released (2): row and size follow, the size in two words
 *
 * The size has as many bits as rows leave.  Whoever wants to follow a trail from the middle lets it tell the time
 * there (trail_pause).
 */
#ifndef HW_QUERY_TRAIL_H
#define HW_QUERY_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRAIL_EVENT_MAX = 7, /* words that an event can take, its time included */
};

struct trail {
    uint32_t *words; /* NULL: there is none */
    size_t count, capacity;
    unsigned bits;    /* of a size */
    uint64_t time_ns; /* of the latest event; TRAIL_NEVER: has to be told */
};

#define TRAIL_NEVER UINT64_MAX

/* A trail of that many rows with room for that many words.  False: no memory, or too many rows. */
bool trail_init(struct trail *t, size_t rows, size_t words);
void trail_release(struct trail *t);
/* The next event tells its time. */
static inline void trail_pause(struct trail *t)
{
    t->time_ns = TRAIL_NEVER;
}

/* An event whose size does not fit into a word. */
struct trail_long {
    uint32_t at, row; /* at: which of the events */
    uint64_t size;
    bool falls;
};

/* What an event is in the trail: row * 2^bits + size, + TRAIL_FALLS.  TRAIL_NONE is an event that is nothing
 * to it, or a long one. */
#define TRAIL_FALLS (UINT32_C(1) << 31)
#define TRAIL_NONE UINT32_MAX
/* Adds events with their times; the long ones are in order.  False: there is no room for all of them. */
bool trail_add(struct trail *t, const uint32_t *steps, const uint64_t *time_ns, size_t count,
               const struct trail_long *longs, size_t long_count);

/* The level of a set of rows while it is followed.  Counts are since somebody has set them to 0. */
struct trail_level {
    uint64_t bytes, blocks;
    uint64_t highest_bytes, highest_blocks; /* not below what was live at first */
    uint64_t made_blocks, made_bytes, gone_blocks;
    uint64_t time_ns;
};

/* A set of rows.  Where it has most of the events each of them is masked, otherwise those that it has are picked out
 * first. */
struct trail_set {
    uint32_t *mask; /* by row: UINT32_MAX for those that count and 0 for others; NULL: see `picks` */
    uint8_t *picks; /* by what words have above the size: 1 for rows that count, and for rarities */
};

/* allowed: by row, of as many as the trail was made for.  is_small: it has less than a quarter of the events or
 * so.  False: no memory. */
bool trail_set_init(struct trail_set *set, const struct trail *t, const uint8_t *allowed, size_t rows,
                    bool is_small);
/* Accepts a zeroed one. */
void trail_set_release(struct trail_set *set);

/* Called before the first event at or behind the moment; says when it wants to be called next. */
typedef uint64_t trail_moment_fn(struct trail_level *level, void *context);

/* Follows the words from..to-1 of a trail.  set: NULL = all rows count.  moment: the first, UINT64_MAX =
 * none. */
void trail_follow(const struct trail *t, size_t from, size_t to, struct trail_level *level,
                  const struct trail_set *set, uint64_t moment, trail_moment_fn *at_moment, void *context);
/* The highest bytes of a set on the way, not below those at the beginning. */
uint64_t trail_find_highest(const struct trail *t, size_t from, size_t to, const struct trail_set *set,
                            uint64_t bytes);

#endif
