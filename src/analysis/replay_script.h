/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * replay_script: makes a score (wire/score.h) of what a process did, so that it can be
 * played to another allocator.
 *
 *     replay_script_init(&c);
 *     replay_script_read(&c, r, process, &err);         counts
 *     memory = room for c.bytes, zeroed;
 *     replay_script_write(&c, r, memory, &err);         writes
 *     replay_script_release(&c);
 *
 * Left out is what an allocator has no part in: releases of blocks never seen
 * (they came before the recording, or were never there), mmap, munmap and brk.
 *
 * Memory goes by live blocks, threads and slots, and one bit an allocation.
 */
#ifndef HW_ANALYSIS_REPLAY_SCRIPT_H
#define HW_ANALYSIS_REPLAY_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/bitset.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

struct replay_script_part {
    uint64_t calls;       /* that it has at most, with room for the windows that it enters */
    uint64_t first, last; /* numbers of its first and its last event */
    uint64_t done;        /* calls written so far */
    uint64_t at;          /* where in the score its calls begin */
    uint64_t given_up;    /* number + 1 of the block that its latest call released for a realloc */
    uint64_t window;      /* where it is + 1; 0 = in none yet */
    uint32_t spare;       /* its slots without a block: the first + 1; 0 = none */
};

struct replay_script {
    size_t process;
    VEC(struct replay_script_part) parts; /* in the order in which they began */
    uint64_t calls;                       /* of all, as the parts count them */
    uint64_t windows, window_calls;       /* windows, and how many calls one has */
    uint64_t bytes;                       /* that the score needs */
    uint64_t peak_bytes, peak_blocks;     /* live at once, as recorded */
    uint64_t allocations, releases, left_out;
    uint32_t slots;      /* after replay_script_write */
    uint64_t crossings;  /* blocks that another thread releases than made them */
    struct map threads;  /* number of a thread -> its part */
    struct bitset cross; /* numbers of these blocks */
    VEC(uint32_t) next;  /* by slot: the next without a block + 1 */
};

void replay_script_init(struct replay_script *c);
void replay_script_release(struct replay_script *c);

/* ERR_ABSENT: no such process, or it has nothing to play; ERR_LIMIT, ERR_MEMORY. */
int replay_script_read(struct replay_script *c, struct wake_reader *r, size_t process, struct err *err);
/* After replay_script_read.  ERR_INPUT: the recording has changed meanwhile; ERR_LIMIT, ERR_MEMORY. */
int replay_script_write(struct replay_script *c, struct wake_reader *r, void *memory, struct err *err);

/* The process with most events; of no processes, 0. */
size_t replay_script_choose(const struct wake_reader *r);

#endif
