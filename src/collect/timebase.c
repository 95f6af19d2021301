/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * timebase: see timebase.h.  A pair is the middle of two clock reads around
 * one counter read, the narrowest of a few tries: an interrupt between the
 * reads would otherwise shift the pair.
 */
#include "collect/timebase.h"

#include "collect/arch.h"

#include <time.h>

enum {
    TIMEBASE_TRIES = 3,
    TIMEBASE_FIRST_LOOK_NS = 50000,
    TIMEBASE_PAST_LOOK_NS = 5000000,
};

static uint64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t timebase_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t timebase_wall(void)
{
    return clock_ns(CLOCK_REALTIME);
}

static void timebase_pair(uint64_t *stamp, uint64_t *ns)
{
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < TIMEBASE_TRIES; i++) {
        uint64_t before = timebase_now();
        uint64_t counter = arch_counter();
        uint64_t after = timebase_now();
        if (after - before < narrowest) {
            narrowest = after - before;
            *stamp = counter;
            *ns = before + (after - before) / 2;
        }
    }
}

static void timebase_take_rate(struct timebase *t, uint64_t rate)
{
    t->rate = rate;
    t->quantum = (UINT64_C(1000) << 32) / rate;
}

static void timebase_set_rate(struct timebase *t)
{
    uint64_t stamps = t->last_stamp - t->first_stamp;
    uint64_t ns = t->last_ns - t->first_ns;
    if (stamps == 0 || stamps > UINT64_MAX / 2)
        return; /* the counter went back (suspended machine): keep the rate */
    timebase_uwide rate = ((timebase_uwide)ns << 32) / stamps;
    if (rate != 0 && rate < INT64_MAX)
        timebase_take_rate(t, (uint64_t)rate);
}

static void timebase_look(struct timebase *t, uint64_t how_long)
{
    timebase_pair(&t->first_stamp, &t->first_ns);
    timebase_take_rate(t, UINT64_C(1) << 32);
    do
        timebase_pair(&t->last_stamp, &t->last_ns);
    while (t->last_ns - t->first_ns < how_long);
    timebase_set_rate(t);
}

void timebase_init(struct timebase *t)
{
    timebase_look(t, TIMEBASE_FIRST_LOOK_NS);
}

void timebase_init_past(struct timebase *t, uint64_t stamp, uint64_t ns)
{
    timebase_look(t, TIMEBASE_PAST_LOOK_NS);
    t->first_stamp = t->last_stamp = stamp;
    t->first_ns = t->last_ns = ns;
}

void timebase_update(struct timebase *t)
{
    timebase_pair(&t->last_stamp, &t->last_ns);
    timebase_set_rate(t);
}
