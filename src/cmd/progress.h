/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * progress: one line on standard error that says how far a long job has come.
 * Only on a terminal, only after the first second, and gone when the job ends.
 */
#ifndef HW_CMD_PROGRESS_H
#define HW_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    uint64_t start_ns, shown_ns;
    bool is_wanted, is_shown;
};

void progress_begin(struct progress *p);
/* what: a few words, "Reading events".  Cheap enough to be called often.  total 0: not known. */
void progress_update(struct progress *p, const char *what, uint64_t done, uint64_t total);
void progress_end(struct progress *p);

#endif
