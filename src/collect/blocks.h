/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * blocks: the live blocks of one process by address.
 *
 * An open-addressing table with linear probing; removal shifts later entries
 * back, so there are no tombstones.  An entry is half a cache line:
 *
 *     word 0   address 48   time, bits 38..51  14   limbo 1   ghost 1
 *     word 1   size 48      time, bits 22..37  16
 *     word 2   number 48    time, bits 6..21   16
 *     word 3   stack 32     thread 24   reserve 2   time, bits 0..5  6
 *
 * so a time goes up to 2^52 ns (52 days; clamped above) and a thread number up
 * to 2^24 - 1.  Address 0 marks an empty slot.
 */
#ifndef HW_COLLECT_BLOCKS_H
#define HW_COLLECT_BLOCKS_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_ADDRESS_MAX ((UINT64_C(1) << 48) - 1)
#define BLOCKS_TIME_MAX ((UINT64_C(1) << 52) - 1)
#define BLOCKS_THREAD_MAX ((UINT32_C(1) << 24) - 1)

struct block {
    union {
        struct {
            uint64_t address : 48, time_high : 14, limbo : 1, ghost : 1;
            uint64_t size : 48, time_middle : 16;
            uint64_t number : 48, time_low : 16;
            uint64_t stack : 32, thread : 24, reserve : 2, time_lowest : 6;
        };
        uint64_t words[4]; /* written whole: narrow stores would stall the next read */
    };
};

_Static_assert(sizeof(struct block) == 32, "two blocks to a cache line");

/* slots[0..homes-1] are homes; runs go on into the tail behind them instead of
 * wrapping around, and the very last slot stays empty, so that no search needs
 * to look for the end. */
struct blocks {
    struct block *slots;
    size_t homes;
    size_t room; /* slots with the tail */
    size_t count;
    size_t grow_at;
};

bool blocks_init(struct blocks *t);
void blocks_release(struct blocks *t);

/* Room for one more; false: no memory. */
bool blocks_grow(struct blocks *t);
/* More room behind the homes; false: no memory. */
bool blocks_stretch(struct blocks *t);
/* Takes an entry out; others may move. */
void blocks_remove(struct blocks *t, struct block *b);

static inline size_t blocks_home(const struct blocks *t, uint64_t address)
{
    return (size_t)((hash_spread(address >> 4 ^ address << 60) >> 32) * t->homes >> 32);
}

/* Always inlined: gcc takes a function that only prefetches for one without effect, and drops the call. */
static inline __attribute__((always_inline)) void blocks_prefetch(const struct blocks *t, uint64_t address)
{
    const char *home = (const char *)&t->slots[blocks_home(t, address)];
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 64, 1);
}

static inline struct block *blocks_find(const struct blocks *t, uint64_t address)
{
    for (struct block *b = &t->slots[blocks_home(t, address)];; b++) {
        if (b->address == address)
            return b;
        if (b->address == 0)
            return NULL;
    }
}

/* The entry of address, or an empty one for it (address 0) that the caller
 * fills and then counts with t->count++; NULL: no memory. */
static inline struct block *blocks_claim(struct blocks *t, uint64_t address)
{
    if (t->count >= t->grow_at && !blocks_grow(t))
        return NULL;
    struct block *b = &t->slots[blocks_home(t, address)];
    while (b->address != address && b->address != 0)
        b++;
    if (__builtin_expect(b == &t->slots[t->room - 1], 0))
        return blocks_stretch(t) ? blocks_claim(t, address) : NULL;
    return b;
}

static inline uint64_t block_time(const struct block *b)
{
    return (uint64_t)b->time_high << 38 | (uint64_t)b->time_middle << 22 | (uint64_t)b->time_low << 6 |
           b->time_lowest;
}

static inline void block_set(struct block *b, uint64_t address, uint64_t size, uint64_t number, uint64_t time,
                             uint32_t stack, uint32_t thread)
{
    if (time > BLOCKS_TIME_MAX)
        time = BLOCKS_TIME_MAX;
    if (thread > BLOCKS_THREAD_MAX)
        thread = BLOCKS_THREAD_MAX;
    b->words[0] = address | time >> 38 << 48;
    b->words[1] = (size & BLOCKS_ADDRESS_MAX) | (time >> 22 & 0xffff) << 48;
    b->words[2] = (number & BLOCKS_ADDRESS_MAX) | (time >> 6 & 0xffff) << 48;
    b->words[3] = stack | (uint64_t)thread << 32 | (time & 0x3f) << 58;
}

#endif
