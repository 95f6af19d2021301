/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * anonymize_recording: a whole recording under a veil (analysis/anonymize.h): other names for its
 * programs, threads, marks and modules, and for every place in its code, ready
 * for store/rewrite.h.
 *
 *     anonymize_recording_init(&d, r, ANONYMIZE_FULL, &err);
 *     wake_rewrite_add(rw, r, &d.mask, &err);
 *     anonymize_recording_release(&d);
 *
 * The tokens are those of the exports of the same recording.  Texts live until
 * anonymize_recording_release; the reader must stay open until then.
 */
#ifndef HW_ANALYSIS_ANONYMIZE_RECORDING_H
#define HW_ANALYSIS_ANONYMIZE_RECORDING_H

#include "analysis/anonymize.h"
#include "store/names.h"
#include "store/reader.h"
#include "store/rewrite.h"
#include "tool/err.h"
#include "tool/vec.h"

struct anonymize_recording {
    struct rewrite_mask mask;
    struct anonymize veil;
    struct names *names;
    VEC(const char *) paths; /* new paths, by the image's number in the recording - 1 */
    struct wake_reader *reader;
};

/* level: not ANONYMIZE_NONE.  ERR_MEMORY; release it even then. */
int anonymize_recording_init(struct anonymize_recording *d, struct wake_reader *r, enum anonymize_level level,
                             struct err *err);
void anonymize_recording_release(struct anonymize_recording *d);

#endif
