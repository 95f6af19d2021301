/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sampling: HEAPWAKE_SAMPLE=512K: only some blocks are told of, larger ones more
 * likely, so that a program in production pays next to nothing.
 *
 * Points lie on the stream of allocated bytes of each thread, on average one in
 * `rate` bytes and independent of each other (a Poisson process); a block in
 * which one lies is told of. So a block of n bytes is told of with probability
 * 1 - exp(-n / rate), whatever came before it, and readers make unbiased
 * estimates by counting it 1 / (1 - exp(-n / rate)) times (store/weight.h).
 *
 * A thread counts down the bytes to its next point: a block that is not told
 * of costs a subtraction. A free has to know whether its block was told of:
 * the segment has a table of them (wire/filter.h), which costs it one load.
 *
 * Blocks of the early pool are not told of, and must not reach the real free: the
 * table warns of the words they lie in, so that a free need not look for itself.
 */
#ifndef HW_PROBE_SAMPLING_H
#define HW_PROBE_SAMPLING_H

#include "probe/arch.h"
#include "probe/inner.h"
#include "probe/share.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes a sample on average; 0: every block is told of. Set at birth. */
INNER uint64_t sampling_rate;

/* The segment's table, from when all real functions are known until it is left. NULL: not sampling, or not
 * now. The hooks that are called most look here first, and at nothing else for a block that is passed over. */
INNER const struct filter *sampling_table;

/* As long as there is a table: how far tls_sampling.left is from the thread pointer, so that malloc has one look to make
 * and not two. 0: there is none. */
INNER intptr_t sampling_place;

static inline intptr_t sampling_find(void)
{
    return __atomic_load_n(&sampling_place, __ATOMIC_ACQUIRE);
}

static inline const struct filter *sampling_look(void)
{
    return __atomic_load_n(&sampling_table, __ATOMIC_ACQUIRE);
}

struct sampling_thread {
    uint64_t left; /* bytes before the next point */
    uint64_t seed; /* 0: no point has been drawn yet */
};

INNER __thread struct sampling_thread tls_sampling __attribute__((tls_model("initial-exec")));

static inline intptr_t sampling_place_of_left(void)
{
    return (intptr_t)((uintptr_t)&tls_sampling.left - arch_thread_pointer());
}

/* Reads the setting. */
void sampling_init(void);

/* The segment that share has counts from now on; it counts no more. */
void sampling_begin(void);
void sampling_end(void);

/* In a forked child: it has points of its own. With its parent's, all children would make the same mistake. */
void sampling_renew(void);

/* A block of the early pool: nobody frees it without a look. */
void sampling_warn_of(const void *block);

/* Draws the next point; false: it lies behind this block after all. */
bool sampling_draw(size_t size);

/* The call failed in whose bytes the next point lies: they have gone by like those of a failed call
 * without one, and the next point is drawn from here. */
void sampling_forget(void);

/* The bytes that a block counts as. */
static inline uint64_t sampling_bytes(size_t size)
{
    return (uint64_t)size + (size == 0);
}

/* Is there no point in these bytes?  Then they have gone by. A handler that allocates in between may cost
 * a few bytes of precision, nothing else. */
static inline bool sampling_passes(size_t size)
{
    uint64_t left;
    if (__builtin_expect(__builtin_sub_overflow(tls_sampling.left, sampling_bytes(size), &left), 0))
        return false;
    tls_sampling.left = left;
    return true;
}

/* The same in fewer instructions; blocks of no bytes are left to those who have the time. */
static inline bool sampling_passes_at_once(intptr_t place, size_t size)
{
    uint64_t left;
    if (__builtin_expect(size == 0 || __builtin_sub_overflow(arch_thread_word(place), size, &left), 0))
        return false;
    arch_thread_set_word(place, left);
    return true;
}

/* Is there a point in them? */
static inline bool sampling_takes(size_t size)
{
    return !sampling_passes(size) && sampling_draw(size);
}

/* This block is told of. */
static inline void sampling_mark(const void *block)
{
    filter_add(share.filter, (uint64_t)(uintptr_t)block);
}

/* False: it certainly was not. */
static inline bool sampling_may_have(const void *block)
{
    return share.filter != NULL && filter_has(share.filter, (uint64_t)(uintptr_t)block);
}

/* Its release has been told of; and it was not one after all, because the realloc failed. */
static inline void sampling_take(const void *block)
{
    if (share.filter != NULL)
        filter_take(share.filter, (uint64_t)(uintptr_t)block);
}

static inline void sampling_put_back(const void *block)
{
    if (share.filter != NULL)
        filter_name(share.filter, (uint64_t)(uintptr_t)block, false);
}

#endif
