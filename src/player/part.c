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

#define PART_NO_WINDOW UINT64_MAX

struct part_run {
    struct play *play;
    uint64_t window;    /* where it is */
    uint64_t waited_ns; /* CPU time */
    uint64_t calls, failed;
};

/* Lets others go on, for the n-th time.  False: there is nothing to wait for any more. */
static bool part_pause(const struct part_run *run, unsigned n)
{
    const struct timespec pause = {.tv_nsec = PART_SLEEP_NS};
    if (n < PART_YIELDS)
        sched_yield();
    else
        nanosleep(&pause, NULL);
    return !atomic_load_explicit(&run->play->is_bad, memory_order_relaxed);
}

/* Another thread has still to make the block of this slot. */
static void *part_await(struct part_run *run, _Atomic(void *) *slot)
{
    uint64_t from = gauge_cpu_ns();
    void *block = NULL;
    for (unsigned i = 0; block == NULL && part_pause(run, i); i++)
        block = atomic_load_explicit(slot, memory_order_acquire);
    run->waited_ns += gauge_cpu_ns() - from;
    return block == NULL ? PART_FAILED : block;
}

/* Counts the windows that all have left.  Whoever leaves a window as its last, or waits, does this:
 * of two who leave neighbours at the same time one at least sees both. */
static uint64_t part_count_left(struct play *play)
{
    uint64_t left = atomic_load(&play->windows_left);
    while (left < play->window_count && atomic_load(&play->windows[left]) == 0) {
        if (atomic_compare_exchange_weak(&play->windows_left, &left, left + 1))
            left++;
    }
    return left;
}

static void part_leave(struct part_run *run)
{
    struct play *play = run->play;
    if (run->window != PART_NO_WINDOW && atomic_fetch_sub(&play->windows[run->window], 1) == 1)
        (void)part_count_left(play);
    run->window = PART_NO_WINDOW;
}

static void part_await_window(struct part_run *run, uint64_t window)
{
    uint64_t from = gauge_cpu_ns();
    for (unsigned i = 0; part_count_left(run->play) + run->play->lead < window && part_pause(run, i); i++)
        continue;
    run->waited_ns += gauge_cpu_ns() - from;
}

static void part_enter(struct part_run *run, uint64_t window)
{
    struct play *play = run->play;
    if (play->windows == NULL || window >= play->window_count)
        return;
    part_leave(run);
    if (atomic_load(&play->windows_left) + play->lead < window)
        part_await_window(run, window);
    run->window = window;
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
    if (score_call_verb(c) == SCORE_ENTER) {
        part_enter(run, c->slot);
        return;
    }
    run->calls++;
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
        bool is_call = score_call_verb(&calls[i]) != SCORE_ENTER;
        if (is_call && (calls[i].slot >= run->play->slot_count || calls[i].old >= run->play->slot_count))
            return false;
        part_call(run, &calls[i]);
    }
    return true;
}

void part_play(struct play *play, const struct score_part *part)
{
    struct score_call calls[PART_PIECE];
    struct part_run run = {.play = play, .window = PART_NO_WINDOW};
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
    part_leave(&run);
    atomic_fetch_add(&play->cpu_ns, gauge_cpu_ns() - from - run.waited_ns);
    atomic_fetch_add(&play->calls, run.calls);
    atomic_fetch_add(&play->failed, run.failed);
}
