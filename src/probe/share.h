/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * share: the probe's side of the segment (wire/segment.h): makes it, hands it
 * over, takes chunks out of it.
 *
 *     window[0]   head, text, lanes, next[], chunks 0 .. W-1     mapped at birth
 *     window[i]   chunks i*W .. i*W+W-1                          mapped on demand
 *
 * The file is sparse and as large as it will ever get; windows are mapped
 * without a descriptor, by stretching a copy of the last page mapped.
 */
#ifndef HW_PROBE_SHARE_H
#define HW_PROBE_SHARE_H

#include "probe/inner.h"
#include "wire/filter.h"
#include "wire/record.h"
#include "wire/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHARE_WINDOW_CHUNKS = 2048, /* 16 MiB */
    SHARE_WINDOWS_MAX = 32,     /* 512 MiB: some 65,000 threads */
    SHARE_LANES_MAX = 65536,
    SHARE_POOL_FIRST =
        128, /* 1 MiB: chunks that are used until the collector has come and says what there is room for */
};

/* share.stamp_kind, beside what the segment's head can say: the program may no longer look at the
 * CPU's counter. */
enum { SHARE_STAMP_CLOCK = 3 };

struct share {
    struct segment_head *head; /* NULL: not recording */
    uint32_t *lanes;
    uint32_t *next;
    struct filter *filter; /* which blocks are samples */
    uint8_t *window[SHARE_WINDOWS_MAX];
    size_t first_length;  /* bytes mapped for window 0, head included */
    uint32_t stamp_kind;  /* enum segment_stamp, or SHARE_STAMP_CLOCK */
    uint32_t growing;     /* 1: a thread maps the next window */
    uint64_t spun_ns;     /* all threads together, since one of those that waited has got a chunk */
    uint32_t pool;        /* HEAPWAKE_POOL: chunks that are used before a thread waits; 0: as the head says */
    const uint32_t *pass; /* the pass list */
    uint32_t first_control; /* what the head begins with */
    uint32_t unhooked;      /* enum segment_unhooked: so far, forks included */
};

INNER struct share share;

/* Where the head's control word is, from share_no_control on, which says FADING for ever: without a
 * head it is that one itself (the way into a lane tells that there is none). A distance, since hooks
 * run before our relocation, when no pointer of ours can be followed. */
INNER intptr_t share_control;
INNER const uint32_t share_no_control;

static inline uint32_t share_mode(void)
{
    const char *from = (const char *)&share_no_control;
    const uint32_t *word = (const void *)(from + __atomic_load_n(&share_control, __ATOMIC_RELAXED));
    return __atomic_load_n(word, __ATOMIC_RELAXED) & SEGMENT_MODE_MASK;
}

static inline enum segment_state share_state(void)
{
    return (enum segment_state)(share_mode() & SEGMENT_STATE_MASK);
}

/* Recording is on, every block is told of, and releases without stacks: the usual case, in one test. */
static inline bool share_is_plain(void)
{
    return share_mode() == SEGMENT_ON;
}

/* While OFF: may this block be one that was told of? */
static inline bool share_passes(const void *block)
{
    uint32_t bit = (uint32_t)((uintptr_t)block / 16) & (SEGMENT_PASS_BITS - 1);
    return (__atomic_load_n(&share.pass[bit / 32], __ATOMIC_RELAXED) >> bit % 32 & 1) != 0;
}

/* Somebody wants blocks left out: the collector is told before the first is. */
void share_note_gaps(void);

/* The program uses what passes no hook: releases of blocks that were not told of are to be expected. */
void share_note_unhooked(enum segment_unhooked what);

/* ON or FADING.  False: it is so already. */
bool share_switch(bool on);

/* Makes a segment and hands it to the collector. False: there is none, stay off. */
bool share_open(bool forked);

/* Once the real functions can be called: the control word counts from now on. */
void share_begin(void);
/* It counts no more: a forked child that is not to be recorded. */
void share_leave(void);

/* Unmaps it (a forked child, of its parent's). */
void share_close(void);

/* In a forked child, before one of the two around it: a mapping of the parent's head, to be dropped when it is known whether
 * the collector is reached; if it is not, the parent's head says so. NULL: no memory for it. */
struct segment_head *share_keep_head(void);
void share_drop_head(struct segment_head *parent, bool is_unreached);

/* Where a handler has forked in the middle of our own code, which goes on in the child with the addresses that it knows:
 * there is memory of the child's own from now on, which nobody reads. */
void share_abandon(void);

/* Something that events of other threads may refer to has been published, and none of them can yet. */
static inline void share_count_definition(void)
{
    __atomic_fetch_add(&share.head->definitions, 1, __ATOMIC_RELEASE);
}

static inline uint64_t *share_chunk(uint32_t index)
{
    uint8_t *window = share.window[index / SHARE_WINDOW_CHUNKS];
    return (uint64_t *)(void *)(window + (size_t)(index % SHARE_WINDOW_CHUNKS) * SEGMENT_CHUNK_SIZE);
}

/* A zeroed chunk. The first waits for the collector when all are in use, and is false once it is gone; the second
 * does not wait. */
bool share_take_chunk(uint32_t *index);
bool share_find_chunk(uint32_t *index);

/* The program is about to forbid itself the CPU's counter: stamps are made from the collector's
 * clock from now on, by all threads, so that they stay in one order. */
void share_leave_counter(void);
uint64_t share_clock_stamp(void);

/* Is this a child of vfork, which lives in its parent's memory and writes to its parent's segment? */
bool share_is_lent(void);

/* Around an exec of this very process: where it succeeds, and nothing says hello
 * afterwards, the collector knows from it when and why the events end. */
void share_exec_begin(void);
void share_exec_failed(void);

/* A number for a request of the collector, and the wait for its answer.  False: nobody
 * will answer, or waiting would need a system call that must not be made, or it is until_ns by
 * CLOCK_MONOTONIC (UINT64_MAX: never). */
uint64_t share_ask(void);
bool share_await(uint64_t request, uint64_t until_ns);

/* Has this very process a segment, and may the kernel be asked for things? Not in a child of vfork, whose memory is
 * its parent's, nor in one that we have not seen being forked: the head there is the parent's. */
bool share_is_own(void);

/* One program more is started that cannot reach the collector (or is to be; -1: it has not been). */
void share_count_unreached(int more);

/* Behind a seccomp filter: one process is started that is not followed (or one is to be; -1: it has not been). */
void share_count_unfollowed(int more);

/* Stops recording for good. */
void share_stop(enum record_lost reason);
void share_count_lost(void);

#endif
