/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * omitted: what an answer lacks that had to be made of events: allocations that
 * the recording knows only by count, as they were culled, or came when the file
 * had its size.
 */
#ifndef HW_QUERY_OMITTED_H
#define HW_QUERY_OMITTED_H

#include <stdint.h>

#include "query/result.h"
#include "query/when.h"
#include "store/reader.h"

/* How many allocations of the window are not among the events of a process; *limited: those of them that came when the file
 * was full. */
uint64_t omitted_find(const struct when *w, const struct wake_process *p, uint64_t *limited);
/* Adds them to what an answer lacks. */
void omitted_note(struct query_result *r, const struct when *w, const struct wake_process *p);

#endif
