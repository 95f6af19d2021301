/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * live_report: writes the reports that a collector makes while the program runs,
 * with names: PROGRAM-PID-SEQUENCE.memlog and .json beside the recording, or the
 * file that somebody named.
 */
#ifndef HW_CMD_LIVE_REPORT_H
#define HW_CMD_LIVE_REPORT_H

#include "collect/collector.h"

struct symbolizer;

/* Zeroed: ready; nothing is opened before the first report. */
struct live_report {
    struct symbolizer *symbolizer;
};

/* A collector_report_fn; of is a struct live_report. */
int live_report_write(void *of, const struct collector_report *report, struct strbuf *where, struct err *err);
void live_report_release(struct live_report *l);

#endif
