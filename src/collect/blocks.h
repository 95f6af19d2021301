/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * blocks: the live blocks of one process by address.
 *
 * An open-addressing table with linear probing; removal shifts later entries
 * back, so there are no tombstones.  An entry is three words, because memory is
 * what a table of millions of blocks costs:
 *
 *     word 0   address 48   number, bits 32..45  14   limbo 1   ghost 1
 *     word 1   stack 32     number, bits 0..31  32
 *     word 2   size
 *
 * Address 0 marks an empty slot.
 */
#ifndef HW_COLLECT_BLOCKS_H
#define HW_COLLECT_BLOCKS_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_ADDRESS_MAX ((UINT64_C(1) << 48) - 1)

struct block {
    union {
        struct {
            uint64_t address : 48, number_high : 14, limbo : 1, ghost : 1;
            uint64_t stack : 32, number_low : 32;
            uint64_t size;
        };
        uint64_t words[3]; /* written whole: narrow stores would stall the next read */
    };
};

_Static_assert(sizeof(struct block) == 24, "no padding");

/* slots[0..homes-1] are homes; runs go on into the tail behind them instead of
 * wrapping around, and the very last slot stays empty, so that no search needs
 * to look for the end. */
struct blocks {
    struct block *slots;
    size_t homes;
    size_t room; /* slots with the tail */
    size_t count;
    size_t grow_at;
    struct block *last; /* of the slots */
};

bool blocks_init(struct blocks *t);
void blocks_release(struct blocks *t);

/* Room for one more; false: no memory. */
bool blocks_grow(struct blocks *t);
/* More room behind the homes; false: no memory. */
bool blocks_stretch(struct blocks *t);
/* Empties a slot and moves entries behind it back to where a search finds them. */
void blocks_close_gap(struct blocks *t, struct block *b);

static inline uint32_t blocks_hash(uint64_t address)
{
    return (uint32_t)(hash_spread(address >> 4 | address << 60) >> 32);
}

static inline struct block *blocks_home(const struct blocks *t, uint32_t hash)
{
    return &t->slots[hash * (uint64_t)t->homes >> 32];
}

/* Always inlined: gcc takes a function that only prefetches for one without effect, and drops the call. */
static inline __attribute__((always_inline)) void blocks_prefetch(const struct blocks *t, uint32_t hash)
{
    const char *home = (const char *)blocks_home(t, hash);
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 64, 1);
}

/* The entry of address, or the empty slot where the search for it ends.  hash: of the address. */
static inline struct block *blocks_look(const struct blocks *t, uint32_t hash, uint64_t address)
{
    struct block *b = blocks_home(t, hash);
    while (b->address != address && b->address != 0)
        b++;
    return b;
}

static inline struct block *blocks_find(const struct blocks *t, uint64_t address)
{
    struct block *b = blocks_look(t, blocks_hash(address), address);
    return b->address == 0 ? NULL : b;
}

/* The entry of address, or an empty one for it (address 0) that the caller
 * fills and then counts with t->count++; NULL: no memory. */
static inline struct block *blocks_claim(struct blocks *t, uint64_t address)
{
    if (t->count >= t->grow_at && !blocks_grow(t))
        return NULL;
    struct block *b = blocks_look(t, blocks_hash(address), address);
    if (__builtin_expect(b == t->last, 0))
        return blocks_stretch(t) ? blocks_claim(t, address) : NULL;
    return b;
}

/* Takes an entry out, which the caller counts; others may move. */
static inline void blocks_take(struct blocks *t, struct block *b)
{
    if (b[1].address == 0)
        b->words[0] = 0;
    else
        blocks_close_gap(t, b);
}

static inline void blocks_remove(struct blocks *t, struct block *b)
{
    blocks_take(t, b);
    t->count--;
}

/* It is the one of address, and not in limbo. */
static inline bool block_is_at(const struct block *b, uint64_t address)
{
    const struct block limbo = {.address = BLOCKS_ADDRESS_MAX, .limbo = 1};
    return (b->words[0] & limbo.words[0]) == address;
}

static inline uint64_t block_number(const struct block *b)
{
    return (uint64_t)b->number_high << 32 | b->number_low;
}

static inline void block_set(struct block *b, uint64_t address, uint64_t size, uint64_t number,
                             uint32_t stack)
{
    b->words[0] = address | (number >> 32 & 0x3fff) << 48;
    b->words[1] = stack | number << 32;
    b->words[2] = size;
}

#endif
