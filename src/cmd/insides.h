/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * insides: tells of programs that have an allocator of their own inside: their
 * calls of it pass no hook, so that blocks are missing, and nothing else would
 * say so.
 */
#ifndef HW_CMD_INSIDES_H
#define HW_CMD_INSIDES_H

#include "collect/collector.h"
#include "store/annex.h"
#include "store/reader.h"

/* Looks at the files of all programs and modules of the recording, below sysroot (NULL: as they were recorded), and
 * says and notes what is not among the notes that it has. */
void insides_tell(struct wake_annex *a, const struct wake_reader *r, const char *sysroot,
                  collector_say_fn *say, void *say_of);
/* Is this note of a recording one of theirs?  Whoever made the recording has said it. */
bool insides_have_said(const char *note);

#endif
