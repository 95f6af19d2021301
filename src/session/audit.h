/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * audit: goes through the events of a recording and compares what they add up
 * to with what the recorder wrote.
 */
#ifndef HW_SESSION_AUDIT_H
#define HW_SESSION_AUDIT_H

#include "store/reader.h"
#include "tool/err.h"

#include <stdint.h>

typedef void audit_fn(void *of, const char *sentence);

struct audit {
    struct wake_reader *reader;
    audit_fn *problem;
    void *problem_of;
    /* So far, over all processes. */
    uint64_t events, lost;
    uint64_t made, recorded; /* allocs and frees: as the recorder counted them, and in the file */
    uint64_t culled;         /* allocs and frees that were */
    uint64_t limited;        /* events beyond the size of the file */
    uint64_t elsewhere;      /* in other files of the series */
};

void audit_init(struct audit *a, struct wake_reader *r, audit_fn *problem, void *of);
/* One process: order, times, totals.  Negative: its events cannot be read. */
int audit_process(struct audit *a, size_t process, struct err *err);
/* After all processes: the account of the whole. */
void audit_recording(struct audit *a);

#endif
