/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * part: what one thread of the recorded program did, done again.
 */
#ifndef HW_PLAYER_PART_H
#define HW_PLAYER_PART_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/score.h"

/* The allocator, or something that does nothing in its place. */
struct part_allocator {
    void *(*make)(size_t size);
    void *(*make_zeroed)(size_t count, size_t size);
    int (*make_aligned)(void **block, size_t align, size_t size);
    void *(*change)(void *block, size_t size);
    void (*release)(void *block);
};

/* A play: what all parts share. */
struct play {
    int score; /* read with pread, a piece at a time, so that it takes no memory */
    uint64_t calls_offset;
    _Atomic(void *) *slots;
    uint32_t slot_count;
    struct part_allocator allocator;
    enum score_touch touch;
    _Atomic uint32_t *windows;     /* by window, the parts that have still to leave it; NULL = nobody waits */
    _Atomic uint64_t windows_left; /* windows that all parts have left: so many, from the first on */
    uint64_t window_count;
    uint64_t lead; /* windows */
    _Atomic uint64_t cpu_ns, calls, failed;
    _Atomic bool is_bad; /* the score could not be read, or made no sense */
};

/* Plays a part to its end, on the calling thread.  Waits, where a block has not
 * been made yet by its thread; that time is not counted. */
void part_play(struct play *play, const struct score_part *part);

#endif
