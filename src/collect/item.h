/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * item: one record of a lane, decoded and on its way through the collector
 * (lane -> order -> pair -> store).  A plain value: whatever it says was read
 * once from shared memory and cannot change any more.
 */
#ifndef HW_COLLECT_ITEM_H
#define HW_COLLECT_ITEM_H

#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

enum item_op {
    ITEM_ALLOC = 1,
    ITEM_FREE,    /* a free that is done with the block */
    ITEM_RELEASE, /* the first half of a realloc */
    ITEM_REALLOC_FAILED,
    ITEM_REALLOC_FREED,
    ITEM_MAP,        /* size = length, usable = prot | flags << 32 */
    ITEM_UNMAP,      /* size = length */
    ITEM_BRK,        /* size = new end */
    ITEM_LOST,       /* kind = reason, size = count */
    ITEM_NAME,       /* address, size = 16 bytes of name; stack = tid */
    ITEM_MARK,       /* kind = enum record_mark, stack = number of its text, size = request */
    ITEM_POOL_ALLOC, /* old = pool */
    ITEM_POOL_FREE,  /* old = pool */
};

enum item_trait {
    ITEM_EARLY = 1,      /* made before the probe could record */
    ITEM_SUPPRESSED = 2, /* a realloc that counts only if the old block does */
    ITEM_FOLDED = 4,     /* an ALLOC or FREE of which only this is there: address, stamp, thread, lane, op,
                          * kind, the hash of the address, and the words of the record as they are */
};

struct item {
    uint64_t address;
    union {
        uint64_t size;
        uint64_t first; /* folded: word of the record */
    };
    union {
        uint64_t usable;
        uint64_t second; /* likewise, of an allocation */
    };
    uint64_t stamp;
    uint64_t old;      /* ITEM_ALLOC of kind KIND_REALLOC: the old address; of a pool: which */
    uint64_t previous; /* ... and, once known, the allocation it continues + 1 */
    union {
        struct {
            union {
                uint32_t stack; /* as the probe calls it */
                uint32_t hash;  /* folded: blocks_hash of the address */
            };
            uint32_t thread; /* as the recording calls it */
            union {
                struct {
                    uint8_t op;     /* enum item_op */
                    uint8_t kind;   /* enum record_kind or record_how */
                    uint8_t traits; /* enum item_trait */
                    uint8_t linked; /* ITEM_ALLOC: previous is settled */
                };
                uint32_t nature; /* the same, for who reads it at once */
            };
            uint32_t lane;
        };
        uint64_t words[2]; /* the same, for who writes it whole */
    };
};

_Static_assert(sizeof(struct item) == 64, "a line of the cache");

/* Of a folded allocation; releases have none of these. */
static inline uint64_t item_folded_size(const struct item *i)
{
    return i->first >> 8 & ((UINT64_C(1) << RECORD_SIZE_BITS) - 1);
}

static inline uint32_t item_folded_stack(const struct item *i)
{
    return (uint32_t)(i->first >> 32);
}

static inline uint64_t item_folded_usable(const struct item *i)
{
    return item_folded_size(i) + (i->second >> RECORD_ADDRESS_BITS);
}

/* The item with all that it says in its place. */
static inline struct item item_unfold(const struct item *folded)
{
    struct item i = *folded;
    if ((i.traits & ITEM_FOLDED) == 0)
        return i;
    bool is_alloc = i.op == ITEM_ALLOC;
    i.size = is_alloc ? item_folded_size(folded) : 0;
    i.usable = is_alloc ? item_folded_usable(folded) : 0;
    i.stack = is_alloc ? item_folded_stack(folded) : 0;
    i.old = i.previous = 0;
    i.traits = 0;
    return i;
}

/* item.nature of a folded item, but for its kind. */
#define ITEM_NATURE_FOLDED(op) ((uint32_t)(op) | (uint32_t)ITEM_FOLDED << 16)
#define ITEM_NATURE_MASK UINT32_C(0xffff00ff)

#endif
