/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * watch: how far a query has come, and whether somebody wants it to stop.
 */
#ifndef HW_ENGINE_WATCH_H
#define HW_ENGINE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/query.h"

enum {
    WATCH_STOP = 1,         /* what a visit gives when it was interrupted */
    WATCH_REPORT = 1 << 20, /* events between two calls of progress */
};

struct watch {
    const struct query *query;
    uint64_t done, total, reported;
    bool interrupted;
};

/* After a block of events.  0 or WATCH_STOP. */
static inline int watch_advance(struct watch *w, uint32_t events)
{
    const struct query *q = w->query;
    w->done += events;
    if (q->progress != NULL && w->done - w->reported >= WATCH_REPORT) {
        w->reported = w->done;
        q->progress(q->progress_context, w->done, w->total);
    }
    w->interrupted = w->interrupted || (q->interrupt != NULL && *q->interrupt != 0);
    return w->interrupted ? WATCH_STOP : 0;
}

#endif
