/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * copy_meta: what a recording knows of a process beside its events, into
 * another recording, with the same numbers.
 */
#ifndef HW_STORE_COPY_META_H
#define HW_STORE_COPY_META_H

#include <stdbool.h>
#include <stdint.h>

#include "store/reader.h"
#include "store/writer.h"

/* Threads, modules, pools, stacks and, with has_samples, samples of the resident set.  number:
 * of the process there.  False: no memory. */
bool copy_meta(struct wake_writer *w, uint32_t number, const struct wake_process *p, bool has_samples);
/* The levels of a process that is about to end, if there are any.  False: no memory. */
bool copy_levels(struct wake_writer *w, uint32_t number, struct wake_reader *r, size_t process);

#endif
