/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_blocks: `heapwake report --blocks`: the leaked blocks that a report counts, one by one.
 */
#ifndef HW_CMD_REPORT_BLOCKS_H
#define HW_CMD_REPORT_BLOCKS_H

#include "cmd/report_data.h"
#include "present/json.h"
#include "present/page.h"
#include "tool/err.h"

/* Adds the section to the page, or with --json to j; limit: blocks that are shown, 0 = all.  Errors as query_run. */
int report_blocks_add(struct report_data *d, const struct report_options *o, size_t limit, struct page *p,
                      struct json *j, struct err *err);

#endif
