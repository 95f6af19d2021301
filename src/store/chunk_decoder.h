/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_decoder: an events payload back into events, a block at a time.
 */
#ifndef HW_STORE_CHUNK_DECODER_H
#define HW_STORE_CHUNK_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/ones.h"
#include "store/codec.h"
#include "store/expect.h"
#include "store/format.h"
#include "store/heaps.h"
#include "store/index.h"
#include "store/reader.h"

/* The arrays behind a struct wake_block; zeroed, and classify_events_init, before their first use. */
struct chunk_decoder_arrays {
    uint8_t event[WAKE_BLOCK_MAX];
    uint8_t detail[WAKE_BLOCK_MAX];
    uint32_t thread[WAKE_BLOCK_MAX];
    uint32_t stack[WAKE_BLOCK_MAX];
    uint64_t time_ns[WAKE_BLOCK_MAX];
    uint64_t address[WAKE_BLOCK_MAX];
    uint64_t size[WAKE_BLOCK_MAX];
    uint64_t usable[WAKE_BLOCK_MAX];
    uint64_t number[WAKE_BLOCK_MAX];
    uint64_t previous[WAKE_BLOCK_MAX];
    uint8_t arena[WAKE_BLOCK_MAX];
    uint64_t values[WAKE_BLOCK_MAX + 8]; /* of the column that is being decoded */
    /* Where in the block the allocations, releases and others are; eight are written at a time. */
    uint16_t alloc_at[WAKE_BLOCK_MAX + 8];
    uint16_t free_at[WAKE_BLOCK_MAX + 8];
    uint16_t other_at[WAKE_BLOCK_MAX];
    struct ones ones;
    bool has_previous; /* else `previous` is all 0 */
    bool has_arena;    /* likewise */
};

struct chunk_decoder {
    uint8_t *raw; /* the unpacked columns, one behind the other */
    size_t capacity;
    const uint8_t *at[COLUMN_COUNT];
    const uint8_t *end[COLUMN_COUNT];
    struct events_prelude prelude;
    uint32_t process;
    unsigned wanted; /* enum wake_column */
    uint32_t done;   /* events decoded so far */
    uint32_t allocations, frees;
    uint32_t block_allocations, block_frees, block_others; /* in the latest block */
    uint64_t time_ns, address;
    uint32_t thread, stack;
    bool is_of_one_thread; /* the latest block, as far as threads were asked for */
    bool bad;              /* the columns contradict each other */
    bool has_heaps;        /* the chunk has an arena column: */
    uint64_t arena_next;   /* which of its allocations that lists next, from 0; UINT64_MAX: none */
    struct expect expect;
    struct heaps heaps;
    struct wake_block block;
    struct chunk_decoder_arrays *arrays; /* the caller's: the next block is decoded into these */
};

void chunk_decoder_init(struct chunk_decoder *r);
void chunk_decoder_release(struct chunk_decoder *r);

/* NULL: no memory. */
struct chunk_decoder_arrays *chunk_decoder_arrays_new(void);
/* Unpacks the wanted columns of a payload whose checksum has been found right.
 * 0, or ERR_INPUT (it makes no sense), ERR_MEMORY. */
int chunk_decoder_open(struct chunk_decoder *r, struct codec *codec, uint32_t process, unsigned wanted,
                       const uint8_t *payload, size_t length);
/* Decodes the next events into r->block.  False: no more, or r->bad. */
bool chunk_decoder_next(struct chunk_decoder *r);

/* Some bits of each of eight op bytes. */
static inline uint64_t chunk_decoder_eight(const uint8_t *ops, unsigned bits)
{
    uint64_t eight;
    memcpy(&eight, ops, sizeof eight);
    return eight & bits * UINT64_C(0x0101010101010101);
}

#endif
