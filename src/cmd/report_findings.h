/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_findings: the parts of a report that conclude rather than count:
 * misuse, advice, what if.  Each takes readings of the events of its own.
 */
#ifndef HW_CMD_REPORT_FINDINGS_H
#define HW_CMD_REPORT_FINDINGS_H

#include "cmd/report_data.h"
#include "cmd/report_options.h"
#include "present/json.h"
#include "present/page.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether any is asked for. */
bool report_findings_are_wanted(const struct report_options *o);
/* How many blocks of the processes that they are about are not among the events, and so in none of them;
 * 0 also where none is asked for that leaves it to the head to say so. */
uint64_t report_findings_omitted(const struct report_data *d, const struct report_options *o);
/* Into the JSON if the options say so, else on the page.  Negative: the sentence is in err. */
int report_findings_add(struct report_data *d, const struct report_options *o, struct page *p, struct json *j,
                        struct err *err);

#endif
