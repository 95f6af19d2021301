/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * spool: turns a spool, the segment that a probe without a collector leaves in
 * a plain file, into a recording.
 */
#ifndef HW_COLLECT_SPOOL_H
#define HW_COLLECT_SPOOL_H

#include "tool/err.h"

#include <stdbool.h>

/* Does the file begin like a segment?  The descriptor's position does not move. */
bool spool_is_one(int fd);
/* Writes the recording to path (which is made, or replaced). */
int spool_convert(int fd, const char *path, struct err *err);

#endif
