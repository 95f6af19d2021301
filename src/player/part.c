/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * part: see part.h.
 *
 * The score is read in pieces that fit on a small stack.  A slot is empty (NULL),
 * holds a block, or PART_FAILED where there was no memory for it.
 */
#include "player/part.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "player/gauge.h"

enum {
    PART_PIECE = 512, /* calls that are read at a time: 8 KiB */
    PART_PAGE = 4096,
    PART_YIELDS = 64, /* before a thread that waits goes to sleep */
    PART_SLEEP_NS = 50000,
};

#define PART_FAILED ((void *)1)

struct part_run {
    struct play *play;
    uint64_t waited_ns; /* CPU time */
    uint64_t failed;
};

/* Another thread has still to make the block of this slot. */
static void *part_await(struct part_run *run, _Atomic(void *) *slot)
{
    const struct timespec pause = {.tv_nsec = PART_SLEEP_NS};
    uint64_t from = gauge_cpu_ns();
    void *block = NULL;
    for (unsigned i = 0; block == NULL && !atomic_load_explicit(&run->play->is_bad, memory_order_relaxed);
         i++) {
        if (i < PART_YIELDS)
            sched_yield();
        else
            nanosleep(&pause, NULL);
        block = atomic_load_explicit(slot, memory_order_acquire);
    }
    run->waited_ns += gauge_cpu_ns() - from;
    return block == NULL ? PART_FAILED : block;
}

/* Empties a slot; NULL: what was to be in it could not be made. */
static void *part_take(struct part_run *run, uint32_t number)
{
    _Atomic(void *) *slot = &run->play->slots[number];
    void *block = atomic_load_explicit(slot, memory_order_acquire);
    if (block == NULL)
        block = part_await(run, slot);
    atomic_store_explicit(slot, NULL, memory_order_relaxed);
    return block == PART_FAILED ? NULL : block;
}

static void part_touch(enum score_touch how, void *block, uint64_t size)
{
    volatile char *bytes = block;
    if (how == SCORE_TOUCH_NONE || size == 0)
        return;
    bytes[0] = 1;
    if (how == SCORE_TOUCH_FIRST)
        return;
    for (uint64_t at = PART_PAGE; at < size; at += PART_PAGE)
        bytes[at] = 1;
    bytes[size - 1] = 1;
}

static void *part_make(struct part_run *run, const struct score_call *c, uint64_t size)
{
    const struct part_allocator *a = &run->play->allocator;
    void *block = NULL, *old;
    switch (score_call_verb(c)) {
    case SCORE_CALLOC:
        return a->make_zeroed(1, size);
    case SCORE_ALIGNED:
        return a->make_aligned(&block, (size_t)1 << (score_call_align(c) % 32), size) == 0 ? block : NULL;
    case SCORE_REALLOC:
        old = part_take(run, c->old);
        block = a->change(old, size == 0 ? 1 : size);
        if (block == NULL)
            a->release(old);
        return block;
    default:
        return a->make(size);
    }
}

static void part_call(struct part_run *run, const struct score_call *c)
{
    struct play *play = run->play;
    uint64_t size = score_call_size(c);
    if (score_call_verb(c) == SCORE_FREE) {
        play->allocator.release(part_take(run, c->slot));
        return;
    }
    void *block = part_make(run, c, size);
    if (block == NULL) {
        run->failed++;
        block = PART_FAILED;
    } else {
        part_touch(play->touch, block, size);
    }
    atomic_store_explicit(&play->slots[c->slot], block, memory_order_release);
}

/* False: the score makes no sense. */
static bool part_play_piece(struct part_run *run, const struct score_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (calls[i].slot >= run->play->slot_count || calls[i].old >= run->play->slot_count)
            return false;
        part_call(run, &calls[i]);
    }
    return true;
}

void part_play(struct play *play, const struct score_part *part)
{
    struct score_call calls[PART_PIECE];
    struct part_run run = {.play = play};
    uint64_t from = gauge_cpu_ns();
    for (uint64_t done = 0; done < part->count && !play->is_bad;) {
        uint64_t left = part->count - done;
        size_t count = left < PART_PIECE ? (size_t)left : PART_PIECE;
        uint64_t offset = play->calls_offset + (part->first + done) * sizeof *calls;
        ssize_t got = pread(play->score, calls, count * sizeof *calls, (off_t)offset);
        if (got != (ssize_t)(count * sizeof *calls) || !part_play_piece(&run, calls, count))
            atomic_store(&play->is_bad, true);
        done += count;
    }
    atomic_fetch_add(&play->cpu_ns, gauge_cpu_ns() - from - run.waited_ns);
    atomic_fetch_add(&play->calls, part->count);
    atomic_fetch_add(&play->failed, run.failed);
}
