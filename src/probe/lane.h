/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * lane: one thread's way into the segment, and the guard of our own code.
 *
 *     TLS: tls_lane --> struct lane (private pages) --> chunk (segment)
 *
 * The gate
 *  - 0: nobody is in our code on this lane.
 *  - else: the address of the hook's frame that is inside.
 * A signal handler that allocates while the gate is taken gets a further lane
 * of the same thread (`nested`), a handler that interrupts that one another;
 * beyond eight levels events are counted as lost. A handler may leave by
 * siglongjmp and never come back: then the gate holds a frame that has been
 * given up, which the next entry notices by walking its own stack.
 *
 * lane_fork_word is 1 while recording, 2 when that has stopped, 3 when a spool has
 * been sealed, and 0 in a forked child (wipe-on-fork page): the child then begins a
 * segment of its own before anything else. A gate is open when it and that word add up to 1.
 *
 * No lock, no wait; one thread at a time owns a lane.
 */
#ifndef HW_PROBE_LANE_H
#define HW_PROBE_LANE_H

#include "probe/arch.h"
#include "probe/inner.h"
#include "probe/life.h"
#include "probe/share.h"
#include "probe/unwind/walk.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LANE_SIZE = 8192,       /* bytes of private memory at first */
    LANE_RECORD_WORDS = 6,  /* a record of up to this many words fits whenever at <= limit */
    LANE_DEPTH_FIRST = 120, /* frames remembered before the lane asks for more memory */
};

struct lane {
    uint64_t gate;
    uint64_t *at;    /* next word of the chunk */
    uint64_t *limit; /* up to here a short record and a LINK fit */
    uint64_t *first; /* word of the chunk */
    uint64_t *left;  /* while a LINK is being published: first word of the chunk that it is in */
    uint64_t clock;  /* the collector's, when the time was last told; 0 = tell it anew */
    uint64_t quiet;  /* unstamped events until the time is told again */
    uint64_t pace;   /* ... and how many there are between two times, see event.c */
    uint64_t looked; /* at the counter, when a time was last told */
    struct walk walk;
    uint32_t stack; /* id of walk's stack, 0 = not interned */
    uint32_t index; /* in the segment's lane table */
    union {
        struct {
            uint32_t tid; /* whose it is */
            uint32_t
                claims; /* how often it has changed hands: a thread may get the number of one that has ended */
        };
        uint64_t claim;
    };
    uint32_t thread;
    uint32_t epoch; /* of the process that it was made in (life.epoch) */
    uint32_t chunk; /* in which it is */
    uint32_t next;  /* while a LINK is being published: the chunk it leads to + 1 */
    struct lane *nested;
    bool is_nested;
    uint32_t pointer_tid; /* the thread that `pointer` belongs to; 0 while it is written */
    uintptr_t pointer;    /* the thread pointer, which is what a pthread_t is */
};

INNER __thread struct lane *tls_lane __attribute__((tls_model("initial-exec")));
INNER uint64_t *lane_fork_word;
/* In a child that was made by fork(): does what the kernel cannot do before 4.14, which has no
 * wipe-on-fork pages. Children made in other ways are not noticed there. */
void lane_forked(void);

/* Slow ways in: first event of a thread, nested, stale, forked, or off. NULL: do not record. */
struct lane *lane_enter_slow(const void *frame);

static inline struct lane *lane_enter(const void *frame)
{
    struct lane *lane = tls_lane;
    if (__builtin_expect(lane != NULL, 1)) {
        if (__builtin_expect(lane->gate + *lane_fork_word == 1, 1)) {
            lane->gate = (uint64_t)(uintptr_t)frame;
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            if (__builtin_expect(tls_lane == lane,
                                 1)) /* else a handler has forked since: it is the parent's */
                return lane;
        }
    }
    return lane_enter_slow(frame);
}

static inline void lane_leave(struct lane *lane)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->gate = 0;
}

/* Is it of this process? Not if our own code had entered it when a handler forked: that goes on with it, and what it
 * tells is told by the parent. */
static inline bool lane_is_own(const struct lane *lane)
{
    return lane->epoch == life.epoch;
}

/* Makes room for `words` in the current chunk, taking the next one if needed.
 * False: recording has stopped, and the event is counted as lost; or the lane is not our own. */
bool lane_reserve(struct lane *lane, unsigned words);

/* Publishes a record whose words 1.. are written: the first word last. */
static inline void lane_publish(struct lane *lane, uint64_t first, unsigned words)
{
    uint64_t *at = lane->at;
    __atomic_store_n(at, first, __ATOMIC_RELEASE);
    /* Whoever interrupts here and never returns leaves a record that lane_recover steps over;
     * the other way round it would leave a hole that ends the lane. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->at = at + words;
}

/* The stamp of an event that happens now; the second where the counter of the CPU does not tell. */
uint64_t lane_now_otherwise(void);
static inline uint64_t lane_now(void)
{
    bool is_counted = __builtin_expect(share.stamp_kind == SEGMENT_STAMP_TSC, 1);
    return is_counted ? arch_counter() : lane_now_otherwise();
}

/* From now on lane_next_tid finds the calling thread, whose lane this is. */
void lane_show(struct lane *lane);

/* The tids that have told of themselves with this thread pointer, one after the other: 0 when there are no
 * more. Begins with *at 0. All but one are those of threads that have ended, if it is any of them. */
uint32_t lane_next_tid(uintptr_t pointer, uint32_t *at);

/* Allocates what lanes need. False: no memory. */
bool lane_init(void);

/* In a forked child: forget all lanes of the parent, of which there were `count`. */
void lane_renew(uint32_t count);

/* Shuts all gates for good: from now on every event takes the slow way in and is
 * counted there. */
void lane_stop(void);

/* Is the calling thread inside our code on its own lane? */
bool lane_is_busy(void);

/* Of a spool: seals the chunk that each lane is in, up to its last record (wire/seal.h). From then on events take the
 * slow way in, until lane_unseal. */
void lane_seal(void);
void lane_unseal(void);

#endif
