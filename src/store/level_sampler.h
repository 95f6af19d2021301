/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * level_sampler: how much each stack of a process held over its life, gathered while the events go by, with
 * bounded memory and without knowing how long that life will be.
 *
 * Life is cut into ticks.  A tick is over when so much time has passed, or so many blocks were made,
 * as make 1/LEVEL_SAMPLER_DIVISIONS of all until then: ticks grow with the process.  When there are too
 * many, neighbours that together are shorter than that become one.  So at any time a tick is at most
 * 1/LEVEL_SAMPLER_DIVISIONS of the life, half of which is counted in time and half in blocks; but where nothing happens
 * for long, which is one tick of its own.
 *
 * A row is for one stack, and has an entry for each tick in which something happened to it.  It
 * is there from the first block of its stack on, or not at all: when rows take too much memory, those of the stacks
 * that held least are dropped for good.
 *
 * Who gathers keeps the figures of a stack within a tick, and asks at each allocation (of a release: level_sampler_is_late):
 *
 *     if (level_sampler_is_over(c, time, allocations)) {
 *         if (level_sampler_is_full(c)) { level_sampler_settle; level_sampler_note of each row; level_sampler_shrink }
 *         level_sampler_end_tick
 *     }
 *     when it is the first of its stack in this tick: level_sampler_touch, with the figures so far
 *
 * The same events give the same course, whether they come from a program or from a file.
 */
#ifndef HW_STORE_LEVEL_SAMPLER_H
#define HW_STORE_LEVEL_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/vec.h"

enum {
    LEVEL_SAMPLER_DIVISIONS =
        72, /* few: each costs a touch of all rows; but no fewer than levels have ticks */
    LEVEL_SAMPLER_TICKS_MAX = 256, /* more than twice as many: after level_sampler_shrink there is room */
    LEVEL_SAMPLER_ENTRIES_MAX = 1 << 18, /* 6 MiB; a levels chunk of them all is never too large */
    LEVEL_SAMPLER_ROWS_MAX = 1 << 15,
    LEVEL_SAMPLER_TOUCHES = 512,
};

struct level_sampler_tick {
    uint64_t end_ns;
    uint64_t allocations, frees; /* of all stacks, up to its end */
};

struct level_sampler_entry {
    uint64_t floor, level;          /* least bytes live in the tick, and those at its end */
    uint64_t tick : 16, freed : 48; /* blocks freed up to its end */
};

struct level_sampler_row {
    uint32_t stack;
    uint32_t tick;      /* the latest in which something happened; its entry may be to come */
    uint32_t last_made; /* the latest in which it is known that a block was made */
    uint64_t first_ns;  /* when the first was made */
    uint64_t made;      /* blocks, as far as noted */
    uint64_t highest;   /* most bytes at the end of a tick */
    VEC(struct level_sampler_entry) entries;
};

/* A stack, when something is about to happen to it. */
struct level_sampler_state {
    uint64_t lowest; /* bytes live, since its row was last touched */
    uint64_t level, freed, made;
};

/* A row that is to be touched. */
struct level_sampler_touch {
    uint32_t stack, tick;
    uint64_t time_ns;
    struct level_sampler_state before;
};

struct level_sampler {
    uint64_t until_ns, until_allocations; /* the tick is over */
    uint64_t from_ns;
    uint32_t tick; /* the present one; those before are in ticks */
    struct level_sampler_tick ticks[LEVEL_SAMPLER_TICKS_MAX];
    VEC(struct level_sampler_row) rows;
    VEC(uint32_t) numbers; /* by stack: its row + 1; 0 = none yet */
    size_t entries;        /* of all rows */
    size_t entries_max, rows_max;
    bool failed; /* no memory: what is here is not whole */
    uint32_t touched;
    struct level_sampler_touch touches[LEVEL_SAMPLER_TOUCHES];
};

/* Who wants all rows may raise entries_max and rows_max before the first event. */
void level_sampler_init(struct level_sampler *c, uint64_t from_ns);
void level_sampler_release(struct level_sampler *c);

/* Is it over before a release at this time?  And before an allocation, after so many of all stacks? */
static inline bool level_sampler_is_late(const struct level_sampler *c, uint64_t time_ns)
{
    return time_ns >= c->until_ns;
}

static inline bool level_sampler_is_over(const struct level_sampler *c, uint64_t time_ns,
                                         uint64_t allocations)
{
    return level_sampler_is_late(c, time_ns) || allocations >= c->until_allocations;
}

bool level_sampler_is_full(const struct level_sampler *c);
/* Does the touches that were gathered; before anybody looks at rows. */
void level_sampler_settle(struct level_sampler *c);
/* All rows have been noted, and a tick is over. */
void level_sampler_shrink(struct level_sampler *c, uint64_t time_ns, uint64_t allocations);
void level_sampler_end_tick(struct level_sampler *c, uint64_t time_ns, uint64_t allocations, uint64_t frees);

/* A stack without a row gets one: nothing has ever happened to it.  Rows lie far apart, so touches are gathered and
 * done together. */
static inline void level_sampler_touch(struct level_sampler *c, uint32_t stack, uint64_t time_ns,
                                       const struct level_sampler_state *before)
{
    if (c->touched == LEVEL_SAMPLER_TOUCHES)
        level_sampler_settle(c);
    c->touches[c->touched++] = (struct level_sampler_touch){stack, c->tick, time_ns, *before};
}

/* NULL: it has no row. */
struct level_sampler_row *level_sampler_find(const struct level_sampler *c, uint32_t stack);
/* Brings a row up to date; may be done at any time. */
void level_sampler_note(struct level_sampler *c, struct level_sampler_row *r,
                        const struct level_sampler_state *s);

#endif
