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

/* Which events, and which of their columns. */
struct event_request {
    size_t process;
    size_t first, end; /* chunks first..end-1 (wake_reader_span) */
    bool has_carried;  /* what earlier files of a series have made comes first */
    uint64_t from_ns, to_ns;
    unsigned columns;     /* enum wake_column */
    wake_match_fn *match; /* NULL: all allocations match */
    const void *match_of;
};

struct event_source;

/* 0 or ERR_MEMORY. */
int event_source_open(struct event_source **source, struct wake_reader *r,
                      const struct event_request *request, struct err *err);
/* 1: here is the next batch; 0: there are no more; ERR_MEMORY.  Damage is noted in the order of the chunks. */
int event_source_next(struct event_source *source, struct wake_block *batch, struct err *err);
/* Accepts NULL. */
void event_source_close(struct event_source *source);

#endif
