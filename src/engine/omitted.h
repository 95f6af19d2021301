/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * omitted: what an answer lacks that had to be made of events: allocations that
 * the recording knows only by count, as they were culled, or came when the file
 * had its size.
 */
#ifndef HW_ENGINE_OMITTED_H
#define HW_ENGINE_OMITTED_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/filter.h"
#include "engine/result.h"
#include "engine/when.h"
#include "store/reader.h"

/* Allocations of a process that are not among its events. */
struct omitted {
    uint64_t culled, elsewhere; /* elsewhere: in other files of the series */
    uint64_t limited;           /* when the file was full */
};

/* Which of them a question about allocations up to a time lacks. */
struct omitted omitted_find(const struct wake_process *p, uint64_t until_ns);

/* What a question needs of a process, as it was asked. */
struct omitted_need {
    uint64_t until_ns;             /* nothing that came later */
    uint64_t moment_ns, window_ns; /* of live_*; the window's end */
    bool has_fate;                 /* it asks what became of blocks, or when others of their stack came */
};

struct omitted_need omitted_understand(const struct when *w, const struct filter *f);
/* Adds to what an answer lacks whose figures of a process are made of events. */
void omitted_note(struct query_result *r, const struct wake_process *p, const struct omitted_need *need);
/* The same of its timeline; has_culled: that counts what was culled. */
void omitted_note_timeline(struct query_result *r, const struct wake_process *p,
                           const struct omitted_need *need, bool has_culled);

#endif
