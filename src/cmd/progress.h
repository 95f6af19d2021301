/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * progress: one line on standard error that says how far a long job has come.
 * Only on a terminal, only after the first second, and gone when the job ends.
 */
#ifndef HW_CMD_PROGRESS_H
#define HW_CMD_PROGRESS_H

#include "store/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct progress {
    uint64_t start_ns, shown_ns;
    bool is_wanted, is_shown;
    const char *what; /* is done to a recording that is watched */
    uint64_t total;   /* bytes to be read of it */
};

void progress_begin(struct progress *p);
/* what: a few words, "Reading events".  Cheap enough to be called often.  total 0: not known. */
void progress_update(struct progress *p, const char *what, uint64_t done, uint64_t total);
/* From now on all that is read of a recording is told of: so many times its size.  `p` and `what` outlast that. */
void progress_watch(struct progress *p, struct wake_reader *r, const char *what, unsigned times);
/* Takes the line away, for a sentence; it comes back. */
void progress_clear(struct progress *p);
void progress_end(struct progress *p);

#endif
