/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * share: the probe's side of the segment (wire/segment.h): makes it, hands it
 * over, takes chunks out of it.
 *
 *     window[0]   head, text, lanes, next[], chunks 0 .. W-1     mapped at birth
 *     window[i]   chunks i*W .. i*W+W-1                          mapped on demand
 *
 * The file is sparse and as large as it will ever get; windows are mapped
 * without a descriptor, by stretching a copy of the last page mapped.
 */
#ifndef HW_PROBE_SHARE_H
#define HW_PROBE_SHARE_H

#include "wire/record.h"
#include "wire/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHARE_WINDOW_CHUNKS = 2048, /* 16 MiB */
    SHARE_WINDOWS_MAX = 32,     /* 512 MiB: some 65,000 threads */
    SHARE_LANES_MAX = 65536,
};

struct share {
    struct segment_head *head; /* NULL: not recording */
    uint32_t *lanes;
    uint32_t *next;
    uint8_t *filter; /* counters of sampled blocks */
    uint8_t *window[SHARE_WINDOWS_MAX];
    size_t first_length; /* bytes mapped for window 0, head included */
    uint32_t stamp_kind;
    uint32_t growing; /* 1: a thread maps the next window */
};

extern struct share share;

/* Makes a segment and hands it to the collector. False: there is none, stay off. */
bool share_open(bool forked);

/* Unmaps it (a forked child, of its parent's). */
void share_close(void);

static inline uint64_t *share_chunk(uint32_t index)
{
    uint8_t *window = share.window[index / SHARE_WINDOW_CHUNKS];
    return (uint64_t *)(void *)(window + (size_t)(index % SHARE_WINDOW_CHUNKS) * SEGMENT_CHUNK_SIZE);
}

/* A zeroed chunk. Waits for the collector when all are in use; false once it is gone. */
bool share_take_chunk(uint32_t *index);

/* Around an exec of this very process: where it succeeds, and nothing says hello
 * afterwards, the collector knows from it when and why the events end. */
void share_exec_begin(void);
void share_exec_failed(void);

/* Stops recording for good. */
void share_stop(enum record_lost reason);
void share_count_lost(void);

#endif
