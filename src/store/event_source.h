/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * event_source: the events of a process in order, a batch at a time, decoded and filtered ahead by all CPUs.
 *
 *     event_source_open(&source, reader, &request, &err)
 *     while ((code = event_source_next(source, &batch, &err)) > 0)    valid until the next call
 *         ...
 *     event_source_close(source)
 *
 * The source owns all that it decodes with, so several sources of one reader may be open, each for a thread of its own.
 */
#ifndef HW_STORE_EVENT_SOURCE_H
#define HW_STORE_EVENT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "store/reader.h"
#include "tool/err.h"

/* Columns of blocks that come before all chunks, as allocations. */
struct event_columns {
    uint8_t event[WAKE_BLOCK_MAX], detail[WAKE_BLOCK_MAX], arena[WAKE_BLOCK_MAX];
    uint32_t thread[WAKE_BLOCK_MAX], stack[WAKE_BLOCK_MAX];
    uint64_t time_ns[WAKE_BLOCK_MAX], address[WAKE_BLOCK_MAX], size[WAKE_BLOCK_MAX];
    uint64_t usable[WAKE_BLOCK_MAX], number[WAKE_BLOCK_MAX], previous[WAKE_BLOCK_MAX];
    uint16_t alloc_at[WAKE_BLOCK_MAX], matching[WAKE_BLOCK_MAX];
};

/* Fills the columns of the blocks from *at on, WAKE_BLOCK_MAX at most and none twice, and moves *at.  How many; 0: there are no
 * more.  `event` and `alloc_at` are set by the source. */
typedef uint32_t event_earlier_fn(const void *of, size_t *at, struct event_columns *columns);

/* Which events, and which of their columns. */
struct event_request {
    size_t process;
    size_t first, end;         /* chunks first..end-1 (wake_reader_span) */
    event_earlier_fn *earlier; /* blocks that were made before them and are live; NULL: none */
    const void *earlier_of;
    uint64_t from_ns, to_ns;
    unsigned columns;     /* enum wake_column */
    wake_match_fn *match; /* NULL: all allocations match */
    const void *match_of;
};

struct event_source;

/* All chunks of a process, and before them what earlier files of the series have made, if from_ns is not behind it. */
struct event_request event_request_all(const struct wake_reader *r, size_t process, uint64_t from_ns,
                                       uint64_t to_ns, unsigned columns);
/* Visits what a request asks for, as wake_reader_visit does. */
int event_request_visit(const struct event_request *request, struct wake_reader *r, wake_block_fn *visit,
                        void *context, struct err *err);

/* 0 or ERR_MEMORY. */
int event_source_open(struct event_source **source, struct wake_reader *r,
                      const struct event_request *request, struct err *err);
/* 1: here is the next batch; 0: there are no more; ERR_MEMORY.  Damage is noted in the order of the chunks. */
int event_source_next(struct event_source *source, struct wake_block *batch, struct err *err);
/* Accepts NULL. */
void event_source_close(struct event_source *source);

#endif
