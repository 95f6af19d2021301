/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * timeline: the window cut into stretches of equal length.
 *
 * The first tick reaches back to where the window begins, the last on to where
 * it ends, so that every event of the window is in one.
 */
#ifndef HW_ENGINE_TIMELINE_H
#define HW_ENGINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "engine/result.h"
#include "engine/when.h"
#include "store/reader.h"

/* Makes q->ticks empty ticks (fewer when the run has fewer nanoseconds).  False: no memory. */
bool timeline_init(struct query_result *result, const struct query *q, const struct when *w);
/* The highest that a process' resident set was in each.  A sample counts until the next, or the end: processes are sampled
 * at moments of their own and added up, and what does not change is sampled seldom. */
void timeline_add_samples(struct query_result *result, const struct when *w, const struct wake_process *p);
/* Adds a process from what the headers of its chunks say. */
void timeline_add_spans(struct query_result *result, const struct wake_reader *reader, uint32_t process);
/* Whether the chunks of a process are short enough against the ticks for that. */
bool timeline_has_fine_spans(const struct query_result *result, const struct wake_reader *reader,
                             uint32_t process);

#endif
