/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * item: one record of a lane, decoded and on its way through the collector
 * (lane -> order -> pair -> store).  A plain value: whatever it says was read
 * once from shared memory and cannot change any more.
 */
#ifndef HW_COLLECT_ITEM_H
#define HW_COLLECT_ITEM_H

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
};

struct item {
    uint64_t address;
    uint64_t size;
    uint64_t usable;
    uint64_t stamp;
    uint64_t old;      /* ITEM_ALLOC of kind KIND_REALLOC: the old address; of a pool: which */
    uint64_t previous; /* ... and, once known, the allocation it continues + 1 */
    union {
        struct {
            uint32_t stack;  /* as the probe calls it */
            uint32_t thread; /* as the recording calls it */
            uint32_t lane;
            uint8_t op;     /* enum item_op */
            uint8_t kind;   /* enum record_kind or record_how */
            uint8_t linked; /* ITEM_ALLOC: previous is settled */
            uint8_t traits; /* enum item_trait */
        };
        uint64_t words[2]; /* the same, for who writes it whole */
    };
};

_Static_assert(sizeof(struct item) == 64, "a line of the cache");

/* What the second of words is: lane, and what shape_events says, which must be positive. */
static inline uint64_t item_tail(uint32_t lane, int32_t shape)
{
    return lane | (uint64_t)((uint32_t)shape >> 8) << 32;
}

#endif
