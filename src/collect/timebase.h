/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * timebase: turns stamps into nanoseconds of CLOCK_MONOTONIC.
 *
 * Pairs (stamp, ns) are taken again and again; the rate comes from the first
 * and the latest pair, the offset from the latest, so that no drift adds up.
 * One thread at a time.
 */
#ifndef HW_COLLECT_TIMEBASE_H
#define HW_COLLECT_TIMEBASE_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 timebase_wide;
__extension__ typedef unsigned __int128 timebase_uwide;

struct timebase {
    uint64_t first_stamp, first_ns;
    uint64_t last_stamp, last_ns;
    uint64_t rate;    /* ns per stamp, 32 bits after the point */
    uint64_t quantum; /* stamps that make a microsecond */
};

/* CLOCK_MONOTONIC and CLOCK_REALTIME in ns. */
uint64_t timebase_now(void);
uint64_t timebase_wall(void);

/* Takes the first pair, and a rate by looking at the clock for a moment (some 50 us). */
void timebase_init(struct timebase *t);
/* A timebase for stamps of the past: the rate measured now, the pair given. */
void timebase_init_past(struct timebase *t, uint64_t stamp, uint64_t ns);
/* Takes a pair.  Cheap; to be called at least every few milliseconds. */
void timebase_update(struct timebase *t);

static inline uint64_t timebase_ns(const struct timebase *t, uint64_t stamp)
{
    timebase_wide ahead = (timebase_wide)(int64_t)(stamp - t->last_stamp) * (int64_t)t->rate;
    int64_t ns = (int64_t)(ahead >> 32);
    return ns < 0 && (uint64_t)-ns > t->last_ns ? 0 : t->last_ns + (uint64_t)ns;
}

/* The times of one stream: ns since the recording began, never going back. Events
 * less than a microsecond after the last time given out share it: their order is
 * kept by their place, and equal times cost the file next to nothing. */
struct timeline {
    const struct timebase *time;
    uint64_t base_ns;  /* CLOCK_MONOTONIC when the recording began */
    uint64_t last;     /* latest time given out */
    bool is_sequence;  /* stamps are counts: times come from clock_ns */
    bool is_precise;   /* no time is shared by wish */
    uint64_t clock_ns; /* is_sequence: latest clock seen */
    uint64_t stamp;    /* the stamp that `last` was made of */
    uint64_t quantum;  /* stamps from it on that share its time */
};

/* The time of a stamp, without moving the line. */
static inline uint64_t timeline_peek(const struct timeline *l, uint64_t stamp)
{
    uint64_t ns = l->is_sequence ? l->clock_ns : timebase_ns(l->time, stamp);
    return ns > l->base_ns ? ns - l->base_ns : 0;
}

/* What follows has a later time than what was before. */
static inline void timeline_divide(struct timeline *l)
{
    l->last++;
}

/* The time of the next event of the stream. */
static inline uint64_t timeline_advance(struct timeline *l, uint64_t stamp)
{
    if (stamp - l->stamp < l->quantum)
        return l->last;
    uint64_t ns = timeline_peek(l, stamp);
    if (ns > l->last) {
        l->last = ns;
        l->stamp = stamp;
        l->quantum = l->is_sequence || l->is_precise ? 0 : l->time->quantum;
    }
    return l->last;
}

/* The time of a mark, which it shares with no event before or behind it: windows between marks add up exactly. */
static inline uint64_t timeline_mark(struct timeline *l, uint64_t stamp)
{
    timeline_divide(l);
    uint64_t time = timeline_advance(l, stamp);
    timeline_divide(l);
    return time;
}

#endif
