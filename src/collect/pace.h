/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pace: whether a process's events are taken when the collector looks after it, or left to become more.
 *
 * Each round finds cold caches, so a few large ones are cheaper than many small ones.  But what is not taken fills the
 * program's buffers.  So only where events come steadily, as many as there is ample room for, some looks pass
 * without a round.  Where hardly any came there is no telling how many will.
 *
 * And how long what has been taken may gather before it goes into the file.  Each time it becomes chunks of its own, however
 * little it is: every second, a server that is watched for a week would have a million of them.
 */
#ifndef HW_COLLECT_PACE_H
#define HW_COLLECT_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    bool is_behind;           /* the latest round may have left some */
    uint64_t caught_up_ns;    /* when the latest round was that left none */
    uint64_t taken;           /* events since then */
    uint64_t flow, during_ns; /* so many came in that time, before it */
};

enum {
    PACE_A_LOT = 32768, /* events of a round that may have left some */
    PACE_SOME = 4096,   /* that make a flow; of fewer each tells its own time (image_follow_pace) */
    PACE_AMPLE = 1 << 18,
    PACE_LOOK_MS = 20, /* how often the collector looks, as a rule */
    PACE_LONGEST_MS = 80,
    PACE_FLUSH_PART = 256,  /* of the recording so far: a killed collector loses no more than that, */
    PACE_FLUSH_MOST_S = 60, /* ... or than this, but a second */
};

/* room: events that the buffers can hold. */
bool pace_is_due(const struct pace *p, uint64_t now_ns, uint64_t room);
/* Do events come in such numbers that a clock is cheaper than to have each tell its time? Also while nothing is known yet. */
bool pace_is_flow(const struct pace *p);
/* A round has taken so many. */
void pace_note(struct pace *p, uint64_t now_ns, uint64_t taken);
/* From one flush to the next, for a file of that age. */
uint64_t pace_flush_ns(uint64_t age_ns);

#endif
