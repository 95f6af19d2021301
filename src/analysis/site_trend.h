/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * site_trend: verdicts on stacks of a process.  What they need, the levels of these stacks, the collector has mostly
 * written down; where it has not (an older or a cut recording, an import, a stack that was too small
 * to be kept), the events are read, which gives the same levels.
 */
#ifndef HW_ANALYSIS_SITE_TREND_H
#define HW_ANALYSIS_SITE_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/verdict.h"
#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"

/* One for each stack, in the same order; VERDICT_NONE: nothing is known.
 *   q: for its progress and interrupt alone.
 *   may_read: events, if need be: one reading, whose memory goes by the live blocks of the stacks.
 * ERR_MEMORY, ERR_IO; an interrupted reading is ERR_ABSENT, without a sentence. */
int site_trend_judge(struct verdict *verdicts, const struct query *q, struct wake_reader *r, uint32_t process,
                     const uint32_t *stacks, size_t count, bool may_read, struct err *err);

/* The levels of these stacks from the events. */
int site_trend_read(struct level_table *l, const struct query *q, struct wake_reader *r, uint32_t process,
                    const uint32_t *stacks, size_t count, struct err *err);

#endif
