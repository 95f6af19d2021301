/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_verdicts: verdicts for the sites of a report.
 */
#ifndef HW_CMD_REPORT_VERDICTS_H
#define HW_CMD_REPORT_VERDICTS_H

#include "cmd/report_data.h"
#include "query/verdict.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The verdicts on these traces; a trace may be named twice.  Of several stacks and processes that one
 * is judged which held most.  Where that takes a reading of the events and there are very many, it is
 * done only if somebody asked for it.  ERR_MEMORY, ERR_IO. */
int report_verdicts_find(struct report_data *d, struct verdicts *v, const uint32_t *traces, size_t count,
                         bool is_asked_for, struct err *err);

#endif
