/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_verdicts: verdicts for the sites of a report.  They take another
 * reading of the events.
 */
#ifndef HW_CMD_REPORT_VERDICTS_H
#define HW_CMD_REPORT_VERDICTS_H

#include "cmd/report_data.h"
#include "query/verdict.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the recordings are so large that nobody should wait for what was not asked for. */
bool report_verdicts_are_slow(const struct report_data *d);

/* The verdicts on these traces; a trace may be named twice.  Of several stacks and processes that one
 * is judged which held most.  ERR_MEMORY, ERR_IO. */
int report_verdicts_find(struct report_data *d, struct verdicts *v, const uint32_t *traces, size_t count,
                         struct err *err);

#endif
