/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * whole: whether a reading that is to be remembered has met all events of a process, in order.  What is damaged may be
 * left out by one question and read by the next, which wants fewer columns: nothing is remembered of that.
 */
#ifndef HW_QUERY_WHOLE_H
#define HW_QUERY_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "store/reader.h"

struct whole {
    uint64_t events; /* that the chunks say they have */
    uint64_t missed; /* of these, so far */
    uint64_t next;   /* number: all so far were smaller */
};

static inline struct whole whole_begin(const struct wake_reader *reader, uint32_t process)
{
    struct whole w = {0};
    struct wake_span span;
    for (size_t i = 0; wake_reader_span(reader, process, i, &span); i++)
        w.events += span.events;
    w.missed = w.events;
    return w;
}

/* The next events.  False: allocations are not numbered as they follow each other. */
static inline bool whole_meet(struct whole *w, const struct wake_block *b)
{
    const uint8_t *first = memchr(b->event, WAKE_ALLOC, b->count);
    bool rises = true;
    if (first != NULL) { /* within a chunk numbers rise one by one */
        const uint8_t *last = memrchr(b->event, WAKE_ALLOC, b->count);
        rises = b->number[first - b->event] >= w->next;
        w->next = b->number[last - b->event] + 1;
    }
    w->missed -= b->count;
    return rises;
}

/* seen_ns: the time of the last one. */
static inline bool whole_is_met(const struct whole *w, const struct wake_process *p, uint64_t seen_ns)
{
    return w->missed == 0 && seen_ns <= p->end.end_ns;
}

#endif
