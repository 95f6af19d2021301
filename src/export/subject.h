/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * subject: the process that an export is about, for formats that know of one
 * process only: of those that the query chose, the one with the highest peak.
 */
#ifndef HW_EXPORT_SUBJECT_H
#define HW_EXPORT_SUBJECT_H

#include <stdint.h>

#include "engine/result.h"
#include "export/export.h"

struct subject {
    uint32_t index; /* in the recording */
    const struct wake_process *process;
    uint64_t from_ns, to_ns; /* the part of its run that is in the window */
    struct metrics total;    /* of its rows */
};

/* Says in the job's remarks which one it is, when there are others. */
void subject_init(struct subject *s, const struct export_job *job);

#endif
