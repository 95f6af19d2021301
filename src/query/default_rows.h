/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * default_rows: the answer about a whole run, from the totals that stand in the
 * recording.  No event is read.
 */
#ifndef HW_QUERY_DEFAULT_ROWS_H
#define HW_QUERY_DEFAULT_ROWS_H

#include "query/result.h"
#include "store/reader.h"
#include "tool/err.h"

/* Fills an initialised result: rows by process and stack, the total, the peak,
 * the largest resident set, and a timeline from the headers of the chunks.
 * Temporary bytes, slack, lifetimes and times of rows are not in the totals: 0.
 * ERR_MEMORY. */
int default_rows(const struct wake_reader *r, struct query_result *out, struct err *err);

#endif
